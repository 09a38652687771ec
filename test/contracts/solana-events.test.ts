import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type DecodedTransaction,
  decodeTransaction,
  type RawTransaction,
} from '../../src/chains/solana/events.js'
import { associatedTokenAddress } from '../../src/chains/solana/tokens.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import {
  createSolanaWorld,
  EVENT_TAG,
  NOW,
  RECLAIM_SECONDS,
  type SolanaWorld,
} from './support/solana.js'
import { callsOf, LAMPORTS, type SolanaCalls, wordOf } from './support/solanaCalls.js'
import { AMOUNT, type CommunityCalls, communityOf } from './support/solanaCommunity.js'

/** Decodes transactions that the program itself executed, in the form in which a node returns them. */

let world: SolanaWorld
let calls: SolanaCalls
let club: CommunityCalls
let mint: PublicKey
beforeEach(() => {
  world = createSolanaWorld()
  calls = callsOf(world)
  club = communityOf(world)
  mint = club.setMint(Keypair.generate().publicKey)
  club.giveTokens(world.keys.alice, mint)
})

const OTHER = Keypair.generate().publicKey.toBase58()

function rawOf(
  inner: readonly Buffer[],
  change: Partial<NonNullable<RawTransaction['meta']>> = {},
): RawTransaction {
  const instructions = inner.map((data) => ({ programIdIndex: 1, data: bs58.encode(data) }))
  return {
    slot: 1,
    transaction: { signatures: [], message: { accountKeys: [OTHER, world.programId.toBase58()] } },
    meta: { err: null, innerInstructions: [{ instructions }], ...change },
  }
}

function read(...sent: TransactionInstruction[]): DecodedTransaction {
  const { error, logs, inner } = world.send(...sent)
  expect(error, logs.join('\n')).toBeUndefined()
  return decodeTransaction(world.registrar, rawOf(inner))
}

const seen = (number: bigint, isToken = false) => ({
  sequence: number,
  payer: Buffer.from(world.keys.alice.toBytes()),
  number,
  token: isToken ? Buffer.from(mint.toBytes()) : null,
  amount: AMOUNT,
  recipient: Buffer.from(world.keys.bob.toBytes()),
  community: Buffer.from(nameToWord('club')),
  name: Buffer.from(nameToWord('ann')),
  referral: wordOf('referral'),
  reclaimableAt: NOW + RECLAIM_SECONDS,
})
const NOTHING = { isOurs: true, payments: [], communityPayments: [], ends: [], unknown: [] }

describe('the events of a transaction', () => {
  it('are payments in SOL and in tokens, of both kinds', () => {
    const facts = read(club.pay(1n), calls.register(), club.payToken(mint, 2n))
    const payment = {
      sequence: 1n,
      payer: Buffer.from(world.keys.alice.toBytes()),
      quoteId: wordOf('q'),
      name: wordOf('name'),
      amountWei: (1n << 127n) + 10n ** 16n,
      lamports: LAMPORTS,
      expiresAt: NOW,
      referral: wordOf('referral'),
      reclaimableAt: NOW + RECLAIM_SECONDS,
    }
    expect(facts).toEqual({
      ...NOTHING,
      payments: [payment],
      communityPayments: [seen(1n), seen(2n, true)],
    })
  })

  it('include ends of payments for names on the hub', () => {
    read(calls.register('a'), calls.register('b'), calls.register('c'))
    world.at(RECLAIM_SECONDS)
    const facts = read(calls.settle({ a: 1n }), calls.refund({ b: 2n }), calls.reclaim('c', 3n))
    const outcomes = ['released', 'refused', 'reclaimed'] as const
    const ends = outcomes.map((outcome, i) => ({ of: 'name', outcome, sequence: BigInt(i + 1) }))
    expect(facts).toEqual({ ...NOTHING, ends })
  })

  it('include ends of payments for names of communities', () => {
    const { alice, bob } = world.keys
    const inTokens = (number: bigint) => club.paid(number, { token: mint })
    read(club.pay(1n), club.pay(2n), club.pay(3n), club.payToken(mint, 4n), club.payToken(mint, 5n))
    const refused = read(club.refuse(club.paid(1n)), club.release(club.paid(2n), inTokens(4n)))
    const of = 'communityName'
    expect(refused.ends).toEqual([
      { of, outcome: 'refused', sequence: 1n },
      { of, outcome: 'released', sequence: 2n },
      { of, outcome: 'released', sequence: 4n },
    ])
    club.giveTokens(alice, mint, 0n, 'frozen')
    expect(read(club.refuse(inTokens(5n))).ends).toEqual([{ of, outcome: 'refused', sequence: 5n }])
    world.at(RECLAIM_SECONDS)
    club.giveTokens(bob, mint, 0n)
    const claimed = read(club.claim(alice, club.paid(3n)), club.claim(bob, inTokens(4n)))
    expect(claimed).toEqual({ ...NOTHING, ends: [{ of, outcome: 'reclaimed', sequence: 3n }] })
    expect(club.tokensAt(associatedTokenAddress(bob, mint))).toBe(AMOUNT)
  })

  it('include those of a program that a versioned transaction loads', () => {
    const { inner } = world.send(calls.register())
    const raw = rawOf(inner, {
      loadedAddresses: { writable: [], readonly: [world.programId.toBase58()] },
    })
    raw.transaction.message.accountKeys = [OTHER]
    expect(decodeTransaction(world.registrar, raw).payments).toHaveLength(1)
  })

  it('are accepted only from the program', () => {
    const { inner } = world.send(calls.register())
    const foreign = rawOf(inner)
    foreign.transaction.message.accountKeys.reverse()
    expect(decodeTransaction(world.registrar, foreign)).toEqual(NOTHING)
    expect(decodeTransaction(world.registrar, rawOf(inner, { err: {} }))).toEqual(NOTHING)
    const calledByAnother = calls.register('r').data
    expect(
      decodeTransaction(
        world.registrar,
        rawOf([calledByAnother, Buffer.alloc(3), Buffer.alloc(500)]),
      ),
    ).toEqual(NOTHING)
  })

  it.each([
    ['of no known kind', Buffer.alloc(40, 7)],
    ['cut', Buffer.concat([Buffer.from([17, 19, 37, 119, 246, 83, 53, 207]), Buffer.alloc(20)])],
  ])('are reported where they are not understood: %s', (_, event) => {
    const facts = decodeTransaction(world.registrar, rawOf([Buffer.concat([EVENT_TAG, event])]))
    expect(facts).toEqual({ ...NOTHING, unknown: [event.toString('base64')] })
  })

  it('can’t be read from a node that does not record inner instructions', () => {
    const { inner } = world.send(calls.register())
    const raw = rawOf(inner, { innerInstructions: null })
    expect(() => decodeTransaction(world.registrar, raw)).toThrow('records no inner instructions')
  })
})
