import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { Clock } from 'litesvm'
import { expect } from 'vitest'
import {
  type CommunityPaymentKey,
  type CommunityTerms,
  createCommunityProgram,
} from '../../../src/chains/solana/community/program.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/chains/solana/tokens.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { NOW, type SolanaWorld } from './solana.js'
import { wordOf } from './solanaCalls.js'

export const NAME_BYTES = 128
export const COMMUNITY_PAYMENT_BYTES = 208
export const TOKEN_ACCOUNT_BYTES = 165
export const HOLD_SECONDS = 3_600n
export const AMOUNT = 5_000_000n
/** Balance of each token per account. */
export const RICH_TOKENS = 10n ** 15n
export const DECIMALS = 6
export const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

const ACCOUNT_STATE = { missing: 0, open: 1, frozen: 2 }
const FIRST_SLOT = 1n

export type CommunityCalls = ReturnType<typeof communityOf>
export type Calls = Parameters<SolanaWorld['send']>

/** Sends what has to go through. @returns the events */
export function accepted(world: SolanaWorld, ...calls: Calls) {
  const { error, logs } = world.send(...calls)
  expect(error, logs.join('\n')).toBeUndefined()
  return world.eventsOf(logs)
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

/** Payments for names of communities, as those who may do it would; mints and token accounts out of nothing. */
export function communityOf(world: SolanaWorld) {
  const { keys, programData, registrar } = world
  const program = createCommunityProgram(registrar)

  const keyOf = (name = 'ann', payer = keys.alice): CommunityPaymentKey => ({
    payer,
    community: nameToWord('club'),
    name: nameToWord(name),
  })
  const termsOf = (name = 'ann', change: Partial<CommunityTerms> = {}): CommunityTerms => ({
    ...keyOf(name, change.payer),
    recipient: keys.bob,
    amount: AMOUNT,
    referral: wordOf('referral'),
    ...change,
  })
  const setTokenAccount = (address: PublicKey, owner: PublicKey, mint: PublicKey, amount: bigint, state = 'open') => {
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
    keyOf,
    termsOf,
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
    /** Rent of both accounts of a payment. */
    rents: () => world.rentOf(NAME_BYTES) + world.rentOf(COMMUNITY_PAYMENT_BYTES),
    /** Gives a wallet tokens in its associated account; `frozen`: it can do nothing with them. */
    giveTokens: (owner: PublicKey, mint: PublicKey, amount = RICH_TOKENS, state: 'open' | 'frozen' = 'open') =>
      setTokenAccount(associatedTokenAddress(owner, mint), owner, mint, amount, state),
    /** Balance of a token account; 0 where there is none. */
    tokensAt: (address: PublicKey): bigint => {
      const data = world.accountOf(address)?.data
      return data?.length === TOKEN_ACCOUNT_BYTES ? data.readBigUInt64LE(64) : 0n
    },
    /** Sets the clock to a number of seconds after the beginning. */
    at: (seconds: bigint) => {
      const time = NOW + seconds
      world.svm.setClock(new Clock(FIRST_SLOT, NOW, 0n, 0n, time))
    },

    pay: (name?: string, change?: Partial<CommunityTerms>): TransactionInstruction =>
      program.pay(termsOf(name, change)),
    payToken: (
      mint: PublicKey,
      name?: string,
      {
        decimals = DECIMALS,
        source,
        ...change
      }: Partial<CommunityTerms> & { decimals?: number; source?: PublicKey } = {},
    ): TransactionInstruction => program.pay(termsOf(name, change), { mint, decimals, ...(source ? { source } : {}) }),
    refuse: (name?: string, sequence = 1n, payer = keys.alice): TransactionInstruction =>
      program.refuse(keys.relay, keyOf(name, payer), sequence),
    release: (name?: string, to = keys.bob, payer = keys.alice): TransactionInstruction =>
      program.release({ ...keyOf(name, payer), token: null }, to),
    releaseToken: (mint: PublicKey, name?: string, to = keys.bob, destination?: PublicKey): TransactionInstruction =>
      program.release({ ...keyOf(name), token: mint }, to, destination),
    reopen: (name?: string, by = keys.deployer): TransactionInstruction => program.reopen(by, programData, keyOf(name)),
    setHold: (holdSeconds: bigint, by = keys.deployer): TransactionInstruction =>
      program.setHold(by, programData, holdSeconds),
    /** The payment's account; undefined where there is none. */
    paymentAt: (name?: string, payer = keys.alice) => {
      const account = world.accountOf(program.paymentAccount(keyOf(name, payer)))
      return account && account.data.length > 0 ? program.decodePayment(account.data) : undefined
    },
  }
}
