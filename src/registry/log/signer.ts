import { type KeyObject, sign } from 'node:crypto'
import { ed25519PrivateKey, ed25519PublicKey } from '../primitives/ed25519.js'
import type { LogPlace } from '../primitives/network.js'
import { sha256InOneCall } from './hash.js'
import { checkpointText, formatNote, keyIdOf, parseNote, type TreeHead } from './note.js'

/** An Ed25519 key of a service's logs (RFC 8032). */
interface LogKey {
  privateKey: KeyObject
  /** 32 bytes. */
  publicKey: Buffer
}

/** Keys that sign each checkpoint, the newest first. While a key is being replaced, the old one signs too. */
export type LogKeys = readonly LogKey[]

/** Log keys of Ed25519 seeds. @param seeds 32 bytes each */
export const logKeysOfSeeds = (seeds: readonly Uint8Array[]): LogKeys =>
  seeds.map((seed) => ({ privateKey: ed25519PrivateKey(seed), publicKey: ed25519PublicKey(seed) }))

/** Name of a log, from the service's domain, its place and the generation of the feed. */
export const logOrigin = (domain: string, place: LogPlace, generation: number): string =>
  `${domain}/${place}/${generation}`

/** Signed checkpoint of a log (C2SP tlog-checkpoint); null without a key. */
export function signCheckpoint(head: TreeHead, keys: LogKeys): string | null {
  if (keys.length === 0) return null
  const text = checkpointText(head)
  const signatures = keys.map(({ privateKey, publicKey }) => ({
    name: head.origin,
    keyId: keyIdOf(sha256InOneCall, head.origin, publicKey),
    signature: sign(null, Buffer.from(text), privateKey),
  }))
  return formatNote({ text, signatures })
}

/** Whether a log's checkpoint is signed by exactly these keys. */
export function isLogSignedBy(
  { origin, note }: { origin: string; note: string | null },
  keys: LogKeys,
): boolean {
  const signed = note === null ? [] : (parseNote(note)?.signatures.map(({ keyId }) => keyId) ?? [])
  const wanted = keys.map(({ publicKey }) => keyIdOf(sha256InOneCall, origin, publicKey))
  return signed.length === wanted.length && wanted.every((keyId) => signed.includes(keyId))
}
