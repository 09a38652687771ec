import { createHash } from 'node:crypto'

/**
 * Addresses of accounts that a program alone signs for. `PublicKey.findProgramAddressSync` of web3.js takes nine times
 * as long, because it takes square roots to learn whether there are any.
 */

const MARKER = Buffer.from('ProgramDerivedAddress')
const MAX_BUMP = 255

/**
 * The address of seeds under a program: the first hash, by its bump from 255 down, that is no point of Ed25519.
 * @param seeds of 32 bytes at most, 15 at most
 * @throws RangeError where there is none, which no one has seen
 */
export function findProgramAddress(seeds: readonly Uint8Array[], programId: Uint8Array): Buffer {
  const preimage = Buffer.concat([...seeds, Buffer.of(MAX_BUMP), programId, MARKER])
  const bumpAt = preimage.length - MARKER.length - programId.length - 1
  for (let bump = MAX_BUMP; bump >= 0; bump--) {
    preimage[bumpAt] = bump
    const address = createHash('sha256').update(preimage).digest()
    if (!isOnCurve(address)) return address
  }
  throw new RangeError('finding the address of a program: no bump gives one')
}

/** The field of Ed25519, and d of its equation -x² + y² = 1 + dx²y² (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const SIGN_BIT = 2n ** 255n

/**
 * Tells whether 32 bytes are a point as the Solana runtime reads it, whose y is not reduced: x² = (y² - 1) / (dy² + 1)
 * has to be a square, and a quotient is one where the product is.
 */
export function isOnCurve(bytes: Buffer): boolean {
  let y = 0n
  for (let at = 24; at >= 0; at -= 8) y = (y << 64n) | bytes.readBigUInt64LE(at)
  const y2 = (y % SIGN_BIT) ** 2n % P
  return isSquare(((y2 + P - 1n) * (D * y2 + 1n)) % P)
}

/** Bits of a limb: products of two, and sums of such, are exact in a number. */
const LIMB_BITS = 24
const LIMB = 2 ** LIMB_BITS
const LIMBS = 11
/** Rounds after which a symbol is not awaited: 32 in the mean. */
const MAX_ROUNDS = 60
const P_LIMBS = writeLimbs(P, new Float64Array(LIMBS))
// a symbol is computed without a pause
const f = new Float64Array(LIMBS)
const g = new Float64Array(LIMBS)

function writeLimbs(value: bigint, limbs: Float64Array): Float64Array {
  const bytes = Buffer.from(value.toString(16).padStart(LIMBS * 6, '0'), 'hex')
  for (let i = 0, at = bytes.length; i < LIMBS; i++)
    limbs[i] = bytes[--at]! | (bytes[--at]! << 8) | (bytes[--at]! << 16)
  return limbs
}

/**
 * Tells whether a number below P is a square modulo P, by its Jacobi symbol: a tenth of an exponentiation. Steps of a
 * binary greatest common divisor, which decide by low bits, go 24 at once over the limbs ("posdivsteps", as in
 * libsecp256k1's modinv32_impl.h).
 */
function isSquare(value: bigint): boolean {
  f.set(P_LIMBS)
  writeLimbs(value, g)
  let eta = -1
  let isNegative = 0
  for (let round = 0, length = LIMBS; round < MAX_ROUNDS; round++) {
    let [u, v, q, r] = [1, 0, 0, 1]
    let low = (f[0]! + f[1]! * LIMB) | 0
    let other = (g[0]! + g[1]! * LIMB) | 0
    for (let left = LIMB_BITS; ; ) {
      const end = other | (1 << left)
      const twos = 31 - Math.clz32(end & -end)
      other >>= twos
      u <<= twos
      v <<= twos
      eta -= twos
      left -= twos
      // (2 / f) is -1 for f of 3 or 5 modulo 8
      isNegative ^= twos & ((low >> 1) ^ (low >> 2))
      if (left === 0) break
      if (eta < 0) {
        eta = -eta
        // reciprocity: the sign changes where both are 3 modulo 4
        isNegative ^= (low & other) >> 1
        ;[low, other, u, q, v, r] = [other, low, q, u, r, v]
      }
      other = (other + low) | 0
      q += u
      r += v
    }
    length = combine({ u, v, q, r }, length)
    if (length === 1 && f[0] === 1) return (isNegative & 1) === 0
  }
  return isSquareByPower(value)
}

/** Makes f and g (u·f + v·g) / 2^24 and (q·f + r·g) / 2^24. @returns how many of their limbs are used */
function combine({ u, v, q, r }: Record<'u' | 'v' | 'q' | 'r', number>, length: number): number {
  let carryF = (u * f[0]! + v * g[0]!) / LIMB
  let carryG = (q * f[0]! + r * g[0]!) / LIMB
  for (let i = 1; i < length; i++) {
    const sumF = carryF + u * f[i]! + v * g[i]!
    const sumG = carryG + q * f[i]! + r * g[i]!
    carryF = Math.floor(sumF / LIMB)
    carryG = Math.floor(sumG / LIMB)
    f[i - 1] = sumF - carryF * LIMB
    g[i - 1] = sumG - carryG * LIMB
  }
  f[length - 1] = carryF
  g[length - 1] = carryG
  let used = length
  while (used > 1 && f[used - 1] === 0 && g[used - 1] === 0) used--
  return used
}

/** Euler's criterion, for what the steps don't bring to an end: zero. */
function isSquareByPower(value: bigint): boolean {
  let power = 1n
  for (let [exponent, square] = [(P - 1n) / 2n, value]; exponent > 0n; exponent >>= 1n, square = square ** 2n % P)
    if (exponent & 1n) power = (power * square) % P
  return power !== P - 1n
}
