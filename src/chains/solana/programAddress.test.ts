import { ed25519 } from '@noble/curves/ed25519'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findProgramAddress, isOnCurve } from './programAddress.js'

const word = fc.uint8Array({ minLength: 32, maxLength: 32 })
const P = 2n ** 255n - 19n

/** As curve25519-dalek reads points, and the runtime with it: y need not be reduced, and x may be -0. */
function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

const bytesOf = (y: bigint, sign: bigint): Buffer =>
  Buffer.from((y + (sign << 255n)).toString(16).padStart(64, '0'), 'hex').reverse()

it('tells points from other words', () => {
  fc.assert(
    fc.property(word, (bytes) => {
      expect(isOnCurve(Buffer.from(bytes))).toBe(isPoint(bytes))
      expect(isOnCurve(Buffer.from(ed25519.getPublicKey(bytes)))).toBe(true)
    }),
  )
})

it.each([0n, 1n, 2n, 3n, 4n, 2n ** 32n, 2n ** 64n, 2n ** 200n, P - 2n, P - 1n, P, P + 1n, P + 2n, 2n ** 255n - 1n])(
  'tells points from other words at the edges: y = %d',
  (y) => {
    for (const sign of [0n, 1n]) expect(isOnCurve(bytesOf(y, sign))).toBe(isPoint(bytesOf(y, sign)))
  },
)

it('finds the addresses that web3.js finds', () => {
  const seeds = fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 3 })
  fc.assert(
    fc.property(seeds, word, (of, programId) => {
      const [address] = PublicKey.findProgramAddressSync(of, new PublicKey(programId))
      expect(new PublicKey(findProgramAddress(of, programId)).toBase58()).toBe(address.toBase58())
    }),
  )
})
