import {
  type CheckSignature,
  parseWitnessKey,
  type WitnessKey,
} from '../registry/log/cosignature.js'
import { toBase64 } from '../registry/log/note.js'
import type { Sha256 } from '../registry/log/tree.js'

/** Witnesses of a log (C2SP tlog-cosignature). A witness signs one history of a log only. */
export interface LogWitnesses {
  /** Verifier keys, `<name>+<key id>+<key>`. */
  keys: readonly string[]
  /** How many of them must have signed each checkpoint. */
  required: number
}

/** @throws TypeError for text that is no verifier key of a witness, a key that stands twice, and an impossible number */
export function parseWitnesses(sha256: Sha256, witnesses: LogWitnesses | undefined): WitnessKey[] {
  if (!witnesses) return []
  const { keys, required } = witnesses
  const parsed = keys.map((text) => {
    const key = parseWitnessKey(sha256, text)
    if (key) return key
    throw new TypeError(`A witness’s key is like w.example+1a2b3c4d+B…, not “${text}”.`)
  })
  const { size } = new Set(parsed.map(({ publicKey }) => toBase64(publicKey)))
  if (size === keys.length && Number.isInteger(required) && required > 0 && required <= size)
    return parsed
  throw new TypeError(`Of ${size} different keys of witnesses, ${required} can not be required.`)
}

/** Checks an Ed25519 signature of a text by Web Crypto. */
export const isTextSigned: CheckSignature = async (publicKey, signature, text) => {
  const key = await crypto.subtle.importKey('raw', publicKey.slice(), 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signature.slice(), new TextEncoder().encode(text))
}
