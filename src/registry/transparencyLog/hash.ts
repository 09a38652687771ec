import { hash } from 'node:crypto'
import { createTreeHasher } from './tree.js'

/** SHA-256 in one call. A hash stream, or a Buffer as the result type, takes twice the time. */
export const sha256InOneCall = (bytes: Uint8Array): Buffer =>
  Buffer.from(hash('sha256', bytes, 'binary'), 'binary')

/** SHA-256 of the leaves and nodes of the Merkle trees of logs. */
export const sha256TreeHasher = createTreeHasher(sha256InOneCall)
