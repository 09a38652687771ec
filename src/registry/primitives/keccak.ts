import { createKeccak } from 'hash-wasm'

// WebAssembly, compiled once when the module loads. A cluster id is computed for every registration, and the
// JavaScript implementations of our other libraries take 5 to 16 times as long, more than the rest of the fold.
const hasher = await createKeccak(256)

/** Keccak-256 (with Ethereum's padding, not FIPS 202's). @returns 32 bytes in a Buffer of its own */
export function keccak256(message: Uint8Array): Buffer {
  const digest = hasher.init().update(message).digest('binary')
  // a copy: V8 moves a small array out of the heap as soon as a Buffer is made of it, which is slow
  const bytes = Buffer.allocUnsafe(digest.length)
  bytes.set(digest)
  return bytes
}
