import { createKeccak } from 'hash-wasm'

// WebAssembly, compiled once when the module loads. The JavaScript implementations in our other libraries take 5 to 16
// times as long. In a fold of bids by new wallets, each of which needs a cluster id, that is more than all other work.
const hasher = await createKeccak(256)

/** Keccak-256 (with Ethereum's padding, not FIPS 202's). @returns 32 bytes in a Buffer of its own */
export function keccak256(message: Uint8Array): Buffer {
  const digest = hasher.init().update(message).digest('binary')
  // a copy: V8 moves a small array out of the heap as soon as a Buffer is made of it, which is slow
  const bytes = Buffer.allocUnsafe(digest.length)
  bytes.set(digest)
  return bytes
}
