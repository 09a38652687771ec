import { createHash } from 'node:crypto'
import type { AccountMeta, PublicKey } from '@solana/web3.js'
import {
  acceptAdminInstruction,
  proposeAdminInstruction,
  setAuthoritiesInstruction,
  withdrawTreasuryInstruction,
} from '../../../src/chains/solana/admin.js'
import { NOW, type SolanaWorld } from './solana.js'

export const PAYMENT_BYTES = 104
export const TREASURY_BYTES = 8
/** Price of a name in these tests. */
export const LAMPORTS = 70_000_000n

/** A word made from a text: of a quote id, a name, a referral. */
export const wordOf = (text: string): Buffer => createHash('sha256').update(text).digest()

export const writes = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: false,
  isWritable: true,
})
export const reads = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: false,
  isWritable: false,
})

const termsOf = (payer: PublicKey) => ({
  payer: payer.toBytes(),
  name: wordOf('name'),
  amountWei: (1n << 127n) + 10n ** 16n,
  lamports: LAMPORTS,
  expiresAt: NOW,
  referral: wordOf('referral'),
})

export type SolanaCalls = ReturnType<typeof callsOf>

/** The instructions with the right signers. Quotes are named by a text, and alice pays. */
export function callsOf({ registrar, keys }: SolanaWorld) {
  const keyOf = (quote = 'q', sequence = 1n, payer = keys.alice) => ({
    quoteId: wordOf(quote),
    payer,
    sequence,
  })
  const keysOf = (quotes: Record<string, bigint>) =>
    Object.entries(quotes).map(([quote, sequence]) => keyOf(quote, sequence))
  return {
    keyOf,
    register: (quote = 'q', change: Partial<ReturnType<typeof termsOf>> = {}, payer = keys.alice) =>
      registrar.register({ ...termsOf(payer), ...change }, wordOf(quote)),
    /** @param quotes with the sequences of their payments */
    settle: (quotes: Record<string, bigint>) => registrar.settle(keys.relay, keysOf(quotes)),
    refund: (quotes: Record<string, bigint> = { q: 1n }) =>
      registrar.refund(keys.relay, keysOf(quotes)),
    reclaim: (quote = 'q', sequence = 1n) => registrar.reclaim(keyOf(quote, sequence)),
    withdraw: (lamports: bigint, destination = keys.bob) =>
      withdrawTreasuryInstruction(registrar, keys.treasurer, destination, lamports),
    setAuthorities: (relay: PublicKey, treasury: PublicKey, by = keys.admin) =>
      setAuthoritiesInstruction(registrar, by, { relay, treasury }),
    proposeAdmin: (proposed: PublicKey, by = keys.admin) =>
      proposeAdminInstruction(registrar, by, proposed),
    acceptAdmin: (by: PublicKey) => acceptAdminInstruction(registrar, by),
    paymentAt: (quote = 'q', payer = keys.alice) =>
      registrar.payment({ quoteId: wordOf(quote), payer }),
  }
}
