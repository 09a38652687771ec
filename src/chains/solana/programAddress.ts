import { createHash } from 'node:crypto'

/**
 * Addresses of accounts that a program alone signs for: `PublicKey.findProgramAddressSync`, which takes six times as
 * long, most of it to take square roots that nobody needs.
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

const lowBits = (value: bigint): number => Number(BigInt.asUintN(32, value))

/** Tells whether a number below P is a square modulo P, by its Jacobi symbol: a tenth of an exponentiation. */
function isSquare(value: bigint): boolean {
  let [a, n] = [value, P]
  let nLow = lowBits(n)
  let isNegative = 0
  while (a !== 0n) {
    let low = lowBits(a)
    const twos = low === 0 ? 32 : 31 - Math.clz32(low & -low)
    if (twos > 0) {
      a >>= BigInt(twos)
      if (low === 0) continue
      low = lowBits(a)
      // (2 / n) is -1 for n of 3 or 5 modulo 8
      isNegative ^= twos & ((nLow >> 1) ^ (nLow >> 2))
    }
    // reciprocity: the sign changes where both are 3 modulo 4
    isNegative ^= (low & nLow) >> 1
    const rest = n % a
    n = a
    nLow = low
    a = rest
  }
  return (isNegative & 1) === 0
}
