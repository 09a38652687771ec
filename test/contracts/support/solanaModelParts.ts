import type { TransactionInstruction } from '@solana/web3.js'
import { base58Of } from './solana.js'

/** An instruction's accounts by address, and their flags. */
export type Accounts = ReturnType<ReturnType<typeof accountsReader>>

/**
 * Reads the accounts of an instruction: an address that is passed twice has the flags of both (one transaction, one
 * instruction).
 * @param programs from which the runtime takes the writable flag
 */
export const accountsReader =
  (programs: readonly string[]) =>
  ({ keys }: TransactionInstruction) => {
    const has = (flag: 'isSigner' | 'isWritable', account: string) =>
      keys.some((meta) => meta[flag] && base58Of(meta.pubkey) === account)
    return {
      accounts: keys.map(({ pubkey }) => base58Of(pubkey)),
      signs: (account: string | undefined) => account !== undefined && has('isSigner', account),
      writes: (...wanted: (string | undefined)[]) =>
        wanted.every(
          (one) => one !== undefined && !programs.includes(one) && has('isWritable', one),
        ),
    }
  }

/** The sequences of a batch's data in hex, at least one; undefined where the length is another. */
export function sequencesOf(fields: string): bigint[] | undefined {
  if (fields.length < 8) return undefined
  const count = Buffer.from(fields.slice(0, 8), 'hex').readUInt32LE()
  if (count === 0 || fields.length !== 8 + 16 * count) return undefined
  return Array.from({ length: count }, (_, i) =>
    littleEndian(fields.slice(8 + 16 * i, 24 + 16 * i)),
  )
}

export function sums(...moves: [string, bigint][]): Map<string, bigint> {
  const result = new Map<string, bigint>()
  for (const [account, amount] of moves) result.set(account, (result.get(account) ?? 0n) + amount)
  return result
}

export const littleEndian = (hex: string): bigint => Buffer.from(hex, 'hex').readBigUInt64LE()
