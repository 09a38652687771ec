import { isSignedByEd25519 } from '../../src/registry/primitives/ed25519.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import { keyIdOf, parseNote } from '../../src/registry/transparencyLog/note.js'

/** Whether a public key has signed a note under this name. @param publicKey 32 bytes */
export function isNoteSignedBy(note: string, name: string, publicKey: Uint8Array): boolean {
  const parsed = parseNote(note)
  const keyId = keyIdOf(sha256InOneCall, name, publicKey)
  const signed = parsed?.signatures.find((one) => one.name === name && one.keyId === keyId)
  return (
    parsed !== null &&
    signed !== undefined &&
    isSignedByEd25519([Buffer.from(parsed.text)], signed.signature, publicKey)
  )
}
