import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import {
  type CommunityPaymentTerms,
  createCommunityPaymentInstructions,
  type NumberedPayment,
} from '../../../src/chains/solana/community/program.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/chains/solana/tokens.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { eventsOf, type SolanaEvent, type SolanaWorld } from './solana.js'
import { wordOf } from './solanaCalls.js'

export const COMMUNITY_PAYMENT_BYTES = 144
export const TOKEN_ACCOUNT_BYTES = 165
export const AMOUNT = 5_000_000n
/** Balance of each token per account. */
export const RICH_TOKENS = 10n ** 15n
export const DECIMALS = 6
export const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

const ACCOUNT_STATE = { missing: 0, open: 1, frozen: 2 }

export type CommunityCalls = ReturnType<typeof communityOf>
export type Calls = Parameters<SolanaWorld['send']>

/** Sends instructions that have to succeed. @returns the events */
export function accepted(world: SolanaWorld, ...calls: Calls): SolanaEvent[] {
  const outcome = world.send(...calls)
  expect(outcome.error, outcome.logs.join('\n')).toBeUndefined()
  return eventsOf(outcome)
}

/** Tokens of which alice and the stranger have much and the recipient nothing. @returns alice's account of the first */
export function stockTokens(
  { keys }: SolanaWorld,
  club: CommunityCalls,
  ...mints: [PublicKey, ...PublicKey[]]
): PublicKey {
  for (const mint of mints) {
    club.setMint(mint)
    club.giveTokens(keys.alice, mint)
    club.giveTokens(keys.stranger, mint)
  }
  return associatedTokenAddress(keys.alice, mints[0])
}

/**
 * Instructions of payments for names of communities with the right signers, and functions that create mints and token
 * accounts.
 */
export function communityOf(world: SolanaWorld) {
  const { keys, registrar } = world
  const program = createCommunityPaymentInstructions(registrar)

  const termsOf = (
    number: bigint,
    change: Partial<CommunityPaymentTerms> = {},
  ): CommunityPaymentTerms => ({
    payer: keys.alice,
    number,
    community: nameToWord('club'),
    name: nameToWord('ann'),
    recipient: keys.bob,
    amount: AMOUNT,
    referral: wordOf('referral'),
    ...change,
  })
  /** A payment of alice's to bob, whose sequence is its number. */
  const paid = (number: bigint, change: Partial<NumberedPayment> = {}): NumberedPayment => ({
    payer: keys.alice,
    number,
    sequence: number,
    token: null,
    recipient: keys.bob,
    ...change,
  })
  const setTokenAccount = (
    address: PublicKey,
    owner: PublicKey,
    mint: PublicKey,
    amount: bigint,
    state = 'open',
  ) => {
    const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES)
    data.set(mint.toBytes(), 0)
    data.set(owner.toBytes(), 32)
    data.writeBigUInt64LE(amount, 64)
    data[108] = ACCOUNT_STATE[state as keyof typeof ACCOUNT_STATE]
    world.setAccount(address, TOKEN_PROGRAM, world.rentOf(data.length), data)
    return address
  }

  return {
    program,
    paid,
    /** A mint of the SPL Token program, or of another. */
    setMint(mint: PublicKey, decimals = DECIMALS, owner = TOKEN_PROGRAM): PublicKey {
      const data = Buffer.alloc(82)
      data.writeBigUInt64LE(2n ** 60n, 36)
      data[44] = decimals
      data[45] = 1
      world.setAccount(mint, owner, world.rentOf(data.length), data)
      return mint
    },
    setTokenAccount,
    /** Rent of a payment's account. */
    rent: () => world.rentOf(COMMUNITY_PAYMENT_BYTES),
    /** Gives a wallet tokens in its associated account; `frozen`: it can do nothing with them. */
    giveTokens: (
      owner: PublicKey,
      mint: PublicKey,
      amount = RICH_TOKENS,
      state: 'open' | 'frozen' = 'open',
    ) => setTokenAccount(associatedTokenAddress(owner, mint), owner, mint, amount, state),
    /** Balance of a token account; 0 where there is none. */
    tokensAt: (address: PublicKey): bigint => {
      const data = world.accountOf(address)?.data
      return data?.length === TOKEN_ACCOUNT_BYTES ? data.readBigUInt64LE(64) : 0n
    },

    pay: (number = 1n, change?: Partial<CommunityPaymentTerms>): TransactionInstruction =>
      program.pay(termsOf(number, change)),
    payToken: (
      mint: PublicKey,
      number = 1n,
      {
        decimals = DECIMALS,
        source,
        ...change
      }: Partial<CommunityPaymentTerms> & { decimals?: number; source?: PublicKey } = {},
    ): TransactionInstruction =>
      program.pay(termsOf(number, change), { mint, decimals, ...(source ? { source } : {}) }),
    refuse: (...payments: NumberedPayment[]): TransactionInstruction =>
      program.refuse(keys.relay, payments.length > 0 ? payments : [paid(1n)]),
    release: (...payments: NumberedPayment[]): TransactionInstruction =>
      program.release(keys.relay, payments.length > 0 ? payments : [paid(1n)]),
    claim: (
      owner: PublicKey,
      payment = paid(1n),
      destination?: PublicKey,
    ): TransactionInstruction => program.claim(owner, payment, destination),
    /** The payment's account; undefined where there is none. */
    paymentAt: (number = 1n, payer = keys.alice) => {
      const account = world.accountOf(program.paymentAccount({ payer, number }))
      return account && account.data.length > 0 ? program.decodePayment(account.data) : undefined
    },
  }
}
