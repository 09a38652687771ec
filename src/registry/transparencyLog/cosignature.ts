import {
  COSIGNER_KEY_TYPE,
  fromBase64,
  keyIdOf,
  type NoteSignature,
  type SignedNote,
  verifierKey,
} from './note.js'
import type { Sha256 } from './tree.js'

/**
 * Signatures of witnesses on checkpoints (C2SP tlog-cosignature, Ed25519). This module also runs in browsers. It does no
 * cryptography: callers sign, and check signatures.
 */

/** Name and public key of a witness. */
export interface WitnessKey {
  name: string
  keyId: number
  /** 32 bytes. */
  publicKey: Uint8Array
}

/** Length of a witness's signature: Unix seconds in 8 bytes, then the Ed25519 signature. */
export const COSIGNATURE_BYTES = 72
const TIME_BYTES = 8
const KEY_BYTES = 32

/** Parses a witness's verifier key, `<name>+<key id>+<base64 of type 4 and key>`; null for other text. */
export function parseWitnessKey(sha256: Sha256, text: string): WitnessKey | null {
  const name = text.split('+', 1)[0]!
  const publicKey = fromBase64(text.slice(name.length + 10))?.slice(1)
  if (!/^\S+$/.test(name) || publicKey?.length !== KEY_BYTES) return null
  if (verifierKey(sha256, name, publicKey, COSIGNER_KEY_TYPE) !== text) return null
  return { name, keyId: keyIdOf(sha256, name, publicKey, COSIGNER_KEY_TYPE), publicKey }
}

/** Text that a witness signs. @param text of the checkpoint @param seconds Unix time of the signature */
export const cosignedText = (text: string, seconds: bigint): string =>
  `cosignature/v1\ntime ${seconds}\n${text}`

/** Checks an Ed25519 signature. */
export type CheckSignature = (publicKey: Uint8Array, signature: Uint8Array, text: string) => boolean

/** The valid signatures of witnesses on a checkpoint, at most one of each key, in the keys' order. */
export function findCosignatures(
  { text, signatures }: SignedNote,
  keys: readonly WitnessKey[],
  check: CheckSignature,
): NoteSignature[] {
  return keys.flatMap(({ name, keyId, publicKey }) => {
    const line = signatures.find((one) => one.name === name && one.keyId === keyId)
    if (line?.signature.length !== COSIGNATURE_BYTES) return []
    const bytes = line.signature.slice()
    const seconds = new DataView(bytes.buffer).getBigUint64(0)
    const isValid = check(publicKey, bytes.slice(TIME_BYTES), cosignedText(text, seconds))
    return isValid ? [line] : []
  })
}
