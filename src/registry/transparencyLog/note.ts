import { HASH_BYTES, type Sha256 } from './tree.js'

/**
 * Signed notes (C2SP signed-note) and checkpoints (C2SP tlog-checkpoint). This module also runs in browsers. It does no
 * cryptography: callers sign, and check signatures.
 */

/** Size and root of a log's tree, as in its checkpoint. */
export interface TreeHead {
  /** Name of the log, such as `names.example/mainnet/5`, or `names.example/mainnet/evidence/5`. */
  origin: string
  size: number
  /** 32 bytes. */
  root: Uint8Array
}

export interface NoteSignature {
  /** Name of the key. */
  name: string
  /** First 4 bytes of the key's hash, as a number. */
  keyId: number
  /** Ed25519: 64 bytes. */
  signature: Uint8Array
}

export interface SignedNote {
  /** The signed text, with its last line break. */
  text: string
  signatures: readonly NoteSignature[]
}

/** Types of Ed25519 keys in a signed note: of a log, and of a witness (C2SP tlog-cosignature). */
const LOG_KEY_TYPE = 1
export const COSIGNER_KEY_TYPE = 4
/** Limits for notes from other services. The standard requires support for 16 signatures. */
const MAX_NOTE_CHARACTERS = 65_536
const MAX_SIGNATURES = 64

const SIGNATURE_LINE_PATTERN = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/
const CHECKPOINT_PATTERN = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n((?:[^\n]+\n)*)$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the standard bans them
const CONTROL_CHARACTER_PATTERN = /[\u0000-\u0009\u000b-\u001f]/

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Bytes of strict base64 (RFC 4648 section 4); null for other text. */
export function fromBase64(text: string): Uint8Array | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return toBase64(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

export const checkpointText = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${toBase64(root)}\n`

/** Parses a checkpoint; null for other text. Extension lines are ignored. */
export function parseCheckpoint(text: string): TreeHead | null {
  const [, origin, digits, hash] = CHECKPOINT_PATTERN.exec(text) ?? []
  const root = hash === undefined ? null : fromBase64(hash)
  const size = Number(digits)
  if (origin === undefined || root?.length !== HASH_BYTES || !Number.isSafeInteger(size))
    return null
  return { origin, size, root }
}

/** Key id of an Ed25519 key: the first 4 bytes of SHA-256 over its name, type and bytes, as a number. */
export function keyIdOf(
  sha256: Sha256,
  name: string,
  publicKey: Uint8Array,
  type = LOG_KEY_TYPE,
): number {
  const head = new TextEncoder().encode(`${name}\n`)
  const bytes = new Uint8Array([...head, type, ...publicKey])
  const hash = sha256(bytes)
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0)
}

const hexOfId = (keyId: number): string => keyId.toString(16).padStart(8, '0')

/** A public key in the form of Go's `note.NewVerifier`: `<name>+<key id>+<base64 of type and key>`. */
export const verifierKey = (
  sha256: Sha256,
  name: string,
  publicKey: Uint8Array,
  type = LOG_KEY_TYPE,
): string =>
  `${name}+${hexOfId(keyIdOf(sha256, name, publicKey, type))}+${toBase64(new Uint8Array([type, ...publicKey]))}`

export const signatureLine = ({ name, keyId, signature }: NoteSignature): string => {
  const id = new Uint8Array(4)
  new DataView(id.buffer).setUint32(0, keyId)
  return `— ${name} ${toBase64(new Uint8Array([...id, ...signature]))}\n`
}

/** Text of a signed note (C2SP signed-note): the signed text, an empty line, and a line for each signature. */
export const formatSignedNote = ({ text, signatures }: SignedNote): string =>
  `${text}\n${signatures.map(signatureLine).join('')}`

/** Parses a signed note; null for other text. Signatures of unknown keys are returned too; the caller ignores them. */
export function parseNote(note: string): SignedNote | null {
  if (note.length > MAX_NOTE_CHARACTERS || CONTROL_CHARACTER_PATTERN.test(note)) return null
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return null
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) return null
  const signatures: NoteSignature[] = []
  for (const line of lines) {
    const [, name, encoded] = SIGNATURE_LINE_PATTERN.exec(line) ?? []
    const bytes = encoded === undefined ? null : fromBase64(encoded)
    if (name === undefined || !bytes || bytes.length < 5) return null
    const keyId = new DataView(bytes.buffer).getUint32(0)
    signatures.push({ name, keyId, signature: bytes.slice(4) })
  }
  return { text: note.slice(0, end + 1), signatures }
}
