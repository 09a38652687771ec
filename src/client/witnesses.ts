import { ed25519 } from '@noble/curves/ed25519.js'
import {
  type CheckSignature,
  COSIGNATURE_BYTES,
  findCosignatures,
  parseWitnessKey,
  type WitnessKey,
} from '../registry/transparencyLog/cosignature.js'
import { type NoteSignature, type SignedNote, toBase64 } from '../registry/transparencyLog/note.js'
import type { Sha256 } from '../registry/transparencyLog/tree.js'
import { logMismatchError } from './error.js'

/** Maximum number of witnesses' signatures of a checkpoint that are kept, verified or not. */
const KEPT_COSIGNATURES = 16

/** Witnesses of a transparency log (C2SP tlog-cosignature). A witness signs only one history of a log. */
export interface LogWitnesses {
  /** Verifier keys, `<name>+<key id>+<key>`. */
  keys: readonly string[]
  /** Minimum number of the witnesses that must have signed each checkpoint. */
  required: number
}

/** Witnesses with parsed keys. */
export interface RequiredWitnesses {
  keys: readonly WitnessKey[]
  required: number
}

/**
 * Parses the keys of witnesses. @throws TypeError for text that is no verifier key of a witness, a repeated key, and an
 * impossible number
 */
export function parseWitnesses(
  sha256: Sha256,
  witnesses: LogWitnesses | undefined,
): RequiredWitnesses {
  if (!witnesses) return { keys: [], required: 0 }
  const { keys, required } = witnesses
  const parsed = keys.map((text) => {
    const key = parseWitnessKey(sha256, text)
    if (key) return key
    throw new TypeError(`A witness’s key is like w.example+1a2b3c4d+B…, not “${text}”.`)
  })
  const { size } = new Set(parsed.map(({ publicKey }) => toBase64(publicKey)))
  if (size === keys.length && Number.isInteger(required) && required > 0 && required <= size)
    return { keys: parsed, required }
  throw new TypeError(`Of ${size} different keys of witnesses, ${required} can not be required.`)
}

/** Checks an Ed25519 signature strictly (RFC 8032), in JavaScript: not every runtime's `crypto.subtle` has Ed25519. */
export const isTextSigned: CheckSignature = (publicKey, signature, text) => {
  try {
    return ed25519.verify(signature, new TextEncoder().encode(text), publicKey, { zip215: false })
  } catch {
    return false
  }
}

/**
 * Signatures of witnesses to keep of a checkpoint, at most `KEPT_COSIGNATURES`: the valid ones, then signatures that
 * were not verified.
 * @param origin name of the log
 * @throws ClusterdError log_mismatch where too few of the required witnesses have signed
 */
export function requireWitnesses(
  { keys, required }: RequiredWitnesses,
  note: SignedNote,
  origin: string,
): NoteSignature[] {
  const valid = findCosignatures(note, keys, isTextSigned)
  if (valid.length < required)
    throw logMismatchError(
      `Of ${keys.length} witnesses, ${valid.length} have signed the checkpoint, and ${required} must have.`,
    )
  const rest = note.signatures.filter(
    ({ name, signature }) => name !== origin && signature.length === COSIGNATURE_BYTES,
  )
  return [...new Set([...valid, ...rest])].slice(0, KEPT_COSIGNATURES)
}
