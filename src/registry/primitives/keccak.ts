import { createKeccak } from 'hash-wasm'

// WebAssembly, compiled once while the module loads: a cluster id is computed for every registration, and the
// JavaScript implementations of our other libraries take 5 to 16 times as long, more than all the rest of the fold
const hasher = await createKeccak(256)

/** Keccak-256 (the padding of Ethereum, not of FIPS 202). @returns 32 bytes of their own */
export function keccak256(message: Uint8Array): Buffer {
  const digest = hasher.init().update(message).digest('binary')
  // a copy: small arrays get memory of their own outside the heap as soon as a Buffer is made of it
  const bytes = Buffer.allocUnsafe(digest.length)
  bytes.set(digest)
  return bytes
}
