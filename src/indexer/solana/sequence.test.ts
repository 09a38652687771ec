import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import type { CommunityOutcome, SeenCommunityPayment } from '../../chains/solana/community/events.js'
import type { CommunityPaymentAccount } from '../../chains/solana/community/program.js'
import type { ReadTransaction } from '../../chains/solana/reads.js'
import { communityPaymentId } from '../../registry/payment/quote.js'
import { nameToWord } from '../../registry/primitives/name.js'
import type { ProgramIdentity } from './row.js'
import { communityKey, SequenceTracker } from './sequence.js'

const word = (fill: number) => Buffer.alloc(32, fill)
const identity: ProgramIdentity = { network: 'mainnet', genesisHash: word(1), programId: word(2), quoteKey: word(3) }
const payer = Keypair.generate().publicKey
const HELD_UNTIL = 1_800_003_600n
const PAID_S = 1_800_000_000

const payment = (name: string, sequence: bigint | null, changes: Partial<SeenCommunityPayment> = {}) => ({
  ...{ sequence, heldUntil: sequence === null ? null : HELD_UNTIL, payer: Buffer.from(payer.toBytes()), token: null },
  ...{ amount: 5n, recipient: word(9), community: nameToWord('club'), name: nameToWord(name), referral: word(0) },
  ...changes,
})
const outcome = (kind: CommunityOutcome['kind'], name: string, sequence: bigint): CommunityOutcome => ({
  ...{ kind, sequence, community: nameToWord('club'), name: nameToWord(name) },
})
const tx = (
  slot: number,
  communityPayments: SeenCommunityPayment[],
  communityOutcomes: CommunityOutcome[] = [],
): ReadTransaction => ({
  ...{ signature: bs58.encode(Buffer.alloc(64, slot)), slot, blockTime: PAID_S },
  ...{ payments: [], closed: [], anomalies: [], communityPayments, communityOutcomes },
})
const account = (name: string, sequence: bigint, slot: number): [string, CommunityPaymentAccount] => {
  const seen = payment(name, sequence)
  const rest = { token: null, recipient: payer, heldUntil: HELD_UNTIL, slot: BigInt(slot), isRefused: false }
  return [communityKey(seen), { ...seen, ...rest, payer, sequence }]
}
const NO_ACCOUNTS: ReadonlyMap<string, CommunityPaymentAccount> = new Map()
const trackerAt = (communityNames: number) => new SequenceTracker(identity, { names: 0, communityNames })
const advance = (tracker: SequenceTracker, txs: readonly ReadTransaction[], accounts: typeof NO_ACCOUNTS) =>
  tracker.advance(txs, { payments: new Map(), communityPayments: accounts }, 0).payments
const take = (tracker: SequenceTracker, accounts: typeof NO_ACCOUNTS, ...txs: ReadTransaction[]) =>
  advance(tracker, txs, accounts).map(({ sequence, block }) => [sequence, block])
const stateOf = (tracker: SequenceTracker) => [tracker.known.communityNames, tracker.isWhole]

describe('the sequence of payments for community names', () => {
  it('gives each as it is stored', () => {
    const tracker = trackerAt(0)
    const mint = Keypair.generate().publicKey
    const token = Buffer.from(mint.toBytes())
    const [sol, spl] = advance(
      tracker,
      [tx(7, [payment('a', 1n), payment('b', 2n, { token, referral: word(4) })])],
      NO_ACCOUNTS,
    )
    expect(sol).toEqual({
      id: communityPaymentId(word(1), word(2), 1n),
      tx: Buffer.alloc(64, 7),
      block: 7,
      blockHash: null,
      sequence: 1,
      payer: Buffer.concat([Buffer.of(2), payer.toBytes()]),
      money: { token: 'native', amount: 5n },
      target: {
        kind: 'communityName',
        recipient: bs58.encode(word(9)),
        community: nameToWord('club'),
        name: nameToWord('a'),
        heldUntilMs: Number(HELD_UNTIL) * 1_000,
      },
      referral: null,
      paidMs: PAID_S * 1_000,
    })
    expect(spl).toMatchObject({ money: { token: mint.toBase58() }, referral: word(4), sequence: 2 })
    expect(stateOf(tracker)).toEqual([2, true])
  })

  it('sees a gap, and that it is filled', () => {
    const tracker = trackerAt(3)
    take(tracker, NO_ACCOUNTS, tx(1, [payment('e', 5n)]))
    expect(stateOf(tracker)).toEqual([3, false])
    take(tracker, NO_ACCOUNTS, tx(2, [payment('d', 4n)]))
    expect(stateOf(tracker)).toEqual([5, true])
    // read once more, it is what it was
    take(tracker, NO_ACCOUNTS, tx(1, [payment('e', 5n)]))
    expect(stateOf(tracker)).toEqual([5, true])
  })

  it('counts what shows no sequence by its account, if that is of the same slot', () => {
    const tracker = trackerAt(0)
    const accounts = new Map([account('a', 1n, 10), account('b', 9n, 99)])
    expect(take(tracker, accounts, tx(10, [payment('a', null)]), tx(11, [payment('b', null)]))).toEqual([[1, 10]])
    expect(stateOf(tracker)).toEqual([1, false])
  })

  it('or by what became of it, the oldest of its name first', () => {
    const tracker = trackerAt(0)
    take(tracker, NO_ACCOUNTS, tx(1, [payment('a', null)]), tx(3, [payment('a', null)]), tx(4, [payment('b', null)]))
    expect(tracker.isWhole).toBe(false)
    const returned = tx(
      5,
      [],
      [outcome('refused', 'a', 1n), outcome('returned', 'a', 1n), outcome('released', 'b', 3n)],
    )
    expect(take(tracker, NO_ACCOUNTS, returned)).toEqual([
      [1, 1],
      [3, 4],
    ])
    expect(stateOf(tracker)).toEqual([1, false])
    const [late] = advance(tracker, [tx(6, [], [outcome('released', 'a', 2n)])], NO_ACCOUNTS)
    // a released payment can't be refused any more
    expect(late).toMatchObject({ sequence: 2, block: 3, target: { heldUntilMs: PAID_S * 1_000 } })
    expect(stateOf(tracker)).toEqual([3, true])
  })

  it('takes nothing from outcomes of payments that it knows', () => {
    const tracker = trackerAt(0)
    take(
      tracker,
      NO_ACCOUNTS,
      tx(1, [payment('a', 1n)]),
      tx(2, [], [outcome('refused', 'a', 1n)]),
      tx(3, [payment('a', null)]),
    )
    expect(take(tracker, NO_ACCOUNTS, tx(4, [], [outcome('returned', 'a', 1n)]))).toEqual([])
    expect(take(tracker, new Map([account('a', 2n, 3)]), tx(5, [], [outcome('refused', 'a', 2n)]))).toEqual([[2, 3]])
  })
})
