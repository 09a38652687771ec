import { type KeyObject, sign } from 'node:crypto'
import { ed25519PrivateKey, ed25519PublicKey, isSignedByEd25519 } from '../primitives/ed25519.js'
import type { LogPlace } from '../primitives/network.js'
import { type CheckSignature, cosignedText } from './cosignature.js'
import { sha256InOneCall } from './hash.js'
import {
  COSIGNER_KEY_TYPE,
  checkpointText,
  formatSignedNote,
  keyIdOf,
  type NoteSignature,
  parseNote,
  type TreeHead,
} from './note.js'

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

/** Name of a log: the service's domain, the log's place such as `mainnet/evidence`, and the log's generation. */
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
  return formatSignedNote({ text, signatures })
}

/** A witness of logs: its name, and the keys that sign, the newest first. */
export interface Cosigner {
  name: string
  keys: LogKeys
}

/** Signatures of a witness on a checkpoint's text, as of now (C2SP tlog-cosignature). */
export function cosign(text: string, { name, keys }: Cosigner): NoteSignature[] {
  const seconds = BigInt(Math.floor(Date.now() / 1_000))
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(seconds)
  const bytes = Buffer.from(cosignedText(text, seconds))
  return keys.map(({ privateKey, publicKey }) => ({
    name,
    keyId: keyIdOf(sha256InOneCall, name, publicKey, COSIGNER_KEY_TYPE),
    signature: Buffer.concat([time, sign(null, bytes, privateKey)]),
  }))
}

/** Adds a witness's signatures to a checkpoint, in place of its earlier ones. @param note that `parseNote` reads */
export function addCosignatures(note: string, cosigner: Cosigner): string {
  const { text, signatures } = parseNote(note)!
  const others = signatures.filter(({ name }) => name !== cosigner.name)
  return formatSignedNote({ text, signatures: [...others, ...cosign(text, cosigner)] })
}

/** Checks an Ed25519 signature of a note's text. */
export const isTextSigned: CheckSignature = (publicKey, signature, text) =>
  isSignedByEd25519([Buffer.from(text)], signature, publicKey)

/** Whether a log's checkpoint is signed by exactly these keys of the log. Signatures of witnesses do not count. */
export function isLogSignedBy(
  { origin, note }: { origin: string; note: string | null },
  keys: LogKeys,
): boolean {
  const logSignatures =
    parseNote(note ?? '')?.signatures.filter(({ name }) => name === origin) ?? []
  const signed = logSignatures.map(({ keyId }) => keyId)
  const wanted = keys.map(({ publicKey }) => keyIdOf(sha256InOneCall, origin, publicKey))
  return signed.length === wanted.length && wanted.every((keyId) => signed.includes(keyId))
}
