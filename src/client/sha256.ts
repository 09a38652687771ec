/** Round constants of FIPS 180-4: the first 32 bits of the fractions of the cube roots of the first 64 primes. */
const ROUNDS = new Uint32Array(64)
/** Initial hash of FIPS 180-4: the first 32 bits of the fractions of the square roots of the first 8 primes. */
const START = new Uint32Array(8)

for (let prime = 2, found = 0; found < 64; prime++) {
  let isPrime = true
  for (let factor = 2; factor * factor <= prime; factor++) if (prime % factor === 0) isPrime = false
  if (!isPrime) continue
  ROUNDS[found] = fractionOf(prime ** (1 / 3))
  if (found < 8) START[found] = fractionOf(prime ** (1 / 2))
  found++
}

function fractionOf(root: number): number {
  return Math.floor((root % 1) * 2 ** 32)
}

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

/** SHA-256 (FIPS 180-4). Web Crypto is not used, because it needs a promise for each hash. @returns 32 bytes */
export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n)
  const state = START.slice()
  const words = new Uint32Array(64)
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i)
    compress(state, words)
  }
  const hash = new DataView(new ArrayBuffer(32))
  for (const [i, word] of state.entries()) hash.setUint32(4 * i, word)
  return new Uint8Array(hash.buffer)
}

/** Updates the hash by one block. @param words the block's 16 words of 32 bits, with room for 48 more */
function compress(state: Uint32Array, words: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const early = words[i - 15]!
    const late = words[i - 2]!
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    words[i] = words[i - 16]! + small0 + words[i - 7]! + small1
  }
  const work = state.slice()
  for (let i = 0; i < 64; i++) {
    const [a = 0, b = 0, c = 0, , e = 0, f = 0, g = 0, h = 0] = work
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = h + big1 + choice + ROUNDS[i]! + words[i]!
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    work.copyWithin(1, 0, 7)
    work[4]! += first
    work[0] = first + big0 + majority
  }
  for (let i = 0; i < 8; i++) state[i]! += work[i]!
}
