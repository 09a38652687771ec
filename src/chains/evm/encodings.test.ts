import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../test/setup/tiers.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { keccak256 } from '../../registry/primitives/keccak.js'
import type { Hex } from '../chain.js'
import { decodeLogs } from './decodeLogs.js'
import { CONTRACT_EVENTS } from './events.js'
import { getBlockLogs, type RawLog } from './logs.js'
import { extendRunningHashes, initialRunningHashes } from './runningHash/hashes.js'

/**
 * Each history of logs has one accepted encoding. Every other encoding, which the contract can't have emitted, is
 * refused.
 */

const HUB: Hex = `0x${'11'.repeat(20)}`
const PAYMENTS: Hex = `0x${'22'.repeat(20)}`
const contracts = {
  role: 'hub',
  contract: HUB,
  communityPayments: PAYMENTS,
  chainId: 1,
  chain: 1,
} as const
const header = {
  number: 5,
  hash: `0x${'b1'.repeat(32)}`,
  parentHash: `0x${'b0'.repeat(32)}`,
  timestampMs: 1_700_000_000_000,
} as const
const OUTCOME_EVENTS = [
  CONTRACT_EVENTS.payments.refused,
  CONTRACT_EVENTS.payments.released,
  CONTRACT_EVENTS.payments.reclaimed,
]

const wordArbitrary = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => toHex(bytes).slice(2))
const smallWordArbitrary = fc
  .integer({ min: 0, max: 3 })
  .map((value) => value.toString(16).padStart(64, '0'))
const addressArbitrary = wordArbitrary.map((text) => text.slice(24).padStart(64, '0'))

type DraftLog = Pick<RawLog, 'address' | 'topics' | 'data'>
const draftLog = (from: Hex, topics: string[], words: string[]): DraftLog => ({
  address: from,
  topics: topics.map((topic, i) => (i === 0 ? topic : `0x${topic}`) as Hex),
  data: `0x${words.join('')}`,
})

const bidArbitrary = fc
  .tuple(wordArbitrary, wordArbitrary, wordArbitrary, fc.option(wordArbitrary))
  .map(([from, amount, name, referral]) => [
    draftLog(
      HUB,
      [referral ? CONTRACT_EVENTS.hub.bidWithReferral.topic : CONTRACT_EVENTS.hub.bid.topic],
      [from, amount, name, ...(referral ? [referral] : [])],
    ),
  ])
const hubLogArbitrary = fc.oneof(
  bidArbitrary,
  wordArbitrary.map((wei) => [draftLog(HUB, [CONTRACT_EVENTS.hub.minimumSet.topic], [wei])]),
  fc
    .tuple(wordArbitrary, wordArbitrary, smallWordArbitrary)
    .map(([guid, from, bids]) => [
      draftLog(HUB, [CONTRACT_EVENTS.hub.received.topic, guid, from], [bids]),
    ]),
  fc
    .tuple(wordArbitrary, smallWordArbitrary, wordArbitrary)
    .map(([from, eid, wei]) => [
      draftLog(HUB, [CONTRACT_EVENTS.hub.credited.topic, from, eid], [wei]),
    ]),
  fc
    .tuple(wordArbitrary, smallWordArbitrary, addressArbitrary, wordArbitrary)
    .map(([from, eid, to, wei]) => [
      draftLog(HUB, [CONTRACT_EVENTS.hub.withdrawn.topic, from, eid], [to, wei]),
    ]),
  fc
    .tuple(wordArbitrary, wordArbitrary, wordArbitrary, smallWordArbitrary)
    .map(([from, name, wei, reason]) => [
      draftLog(HUB, [CONTRACT_EVENTS.hub.bidRefused.topic, from, name], [wei, reason]),
    ]),
)
/** The two logs of a payment with its id (ICommunityPayments.sol, `idOf`), or the log of a payment's end. */
const paymentLogArbitrary = fc.oneof(
  fc
    .tuple(
      addressArbitrary,
      addressArbitrary,
      wordArbitrary,
      addressArbitrary,
      fc.tuple(wordArbitrary, wordArbitrary, wordArbitrary),
      smallWordArbitrary,
      smallWordArbitrary,
    )
    .map(([payer, token, amount, recipient, rest, number, until]) => {
      const words = [payer, '1'.padStart(64, '0'), token, amount, recipient, ...rest]
      const order = [number, until, ...[0, 4, 2, 3, 5, 6, 7].map((i) => words[i]!)]
      const place = ['1'.padStart(64, '0'), PAYMENTS.slice(2).padStart(64, '0')]
      const id = keccak256(Buffer.from([...order, ...place].join(''), 'hex')).toString('hex')
      return [
        draftLog(PAYMENTS, [CONTRACT_EVENTS.payments.payment.topic], words),
        draftLog(PAYMENTS, [CONTRACT_EVENTS.payments.held.topic, id], [number, until]),
      ]
    }),
  fc
    .tuple(
      fc.constantFrom(...OUTCOME_EVENTS),
      wordArbitrary,
      addressArbitrary,
      addressArbitrary,
      wordArbitrary,
    )
    .map(([end, id, side, token, amount]) => [
      draftLog(PAYMENTS, [end.topic, id, side, token], [amount]),
    ]),
)

const historyArbitrary = fc
  .array(fc.oneof(hubLogArbitrary, paymentLogArbitrary), { minLength: 1, maxLength: 6 })
  .map((groups) =>
    groups.flat().map(
      (log, i): RawLog => ({
        ...log,
        blockNumber: '0x5',
        blockHash: header.hash,
        transactionHash: `0x${'c1'.repeat(32)}`,
        logIndex: `0x${i.toString(16)}`,
      }),
    ),
  )

/** Reads a block as the indexer does: fetches its logs by hash, checks, decodes and folds them. */
async function readBlock(logs: unknown[]) {
  const call = async <T>() => structuredClone(logs) as T
  const filter = { addresses: [HUB, PAYMENTS], topics: [] }
  const raw = await getBlockLogs(call, filter, header)
  const decoded = await decodeLogs(call, contracts, raw, () => header.timestampMs)
  return {
    decoded,
    record: extendRunningHashes(initialRunningHashes(contracts), decoded.runningHashInputs),
  }
}

const changeLogAt = (logs: RawLog[], index: number, change: (log: RawLog) => object): unknown[] =>
  logs.map((log, i) => (i === index % logs.length ? { ...log, ...change(log) } : log))
const dataWordsOf = ({ data }: RawLog): string[] => data.slice(2).match(/.{64}/g) ?? []

/** Other encodings of the same history. In each, topics and data joined to one text stay the same. */
const OTHER_ENCODINGS: Record<string, (logs: RawLog[], index: number) => unknown[]> = {
  'cuts the first word of the data off as a topic': (logs, index) =>
    changeLogAt(logs, index, (log) => ({
      topics: [...log.topics, `0x${dataWordsOf(log)[0] ?? ''}`],
      data: `0x${dataWordsOf(log).slice(1).join('')}`,
    })),
  'joins the last topic to the data': (logs, index) =>
    changeLogAt(logs, index, (log) => ({
      topics: log.topics.slice(0, -1),
      data: `0x${log.topics.at(-1)!.slice(2)}${log.data.slice(2)}`,
    })),
  'has a topic of two words': (logs, index) =>
    changeLogAt(logs, index, ({ topics }) => ({
      topics: [...topics.slice(0, -1), `${topics.at(-1)}${'00'.repeat(32)}`],
    })),
  'pads the data': (logs, index) =>
    changeLogAt(logs, index, (log) => ({ data: `${log.data}${'00'.repeat(32)}` })),
  'ends in half a word': (logs, index) =>
    changeLogAt(logs, index, (log) => ({ data: `${log.data}${'00'.repeat(16)}` })),
  'has another event’s topic': (logs, index) =>
    changeLogAt(logs, index, (log) => ({
      topics: [`0x${'ee'.repeat(32)}`, ...log.topics.slice(1)],
    })),
  'has no topic': (logs, index) => changeLogAt(logs, index, () => ({ topics: [] })),
  'is of the other contract': (logs, index) =>
    changeLogAt(logs, index, ({ address }) => ({ address: address === HUB ? PAYMENTS : HUB })),
  'is of a third contract': (logs, index) =>
    changeLogAt(logs, index, () => ({ address: `0x${'33'.repeat(20)}` })),
  'is of another block': (logs, index) => changeLogAt(logs, index, () => ({ blockNumber: '0x6' })),
  'has another hash of its block': (logs, index) =>
    changeLogAt(logs, index, () => ({ blockHash: `0x${'77'.repeat(32)}` })),
  'is written in capitals': (logs, index) =>
    changeLogAt(logs, index, (log) => ({ data: `0x${'AB'.repeat(32)}${log.data.slice(66)}` })),
  'stands twice at one place, unequal': (logs, index) => [
    ...logs,
    { ...logs[index % logs.length]!, transactionHash: `0x${'99'.repeat(32)}` },
  ],
}

describe('a history of our contracts', () => {
  it('is read in its one encoding, in any order, and also with a duplicate log', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary, fc.nat(), async (logs, index) => {
        const whole = await readBlock(logs)
        expect(whole.decoded.places).toHaveLength(logs.length)
        expect(await readBlock([...logs].reverse())).toEqual(whole)
        expect(await readBlock([...logs, logs[index % logs.length]])).toEqual(whole)
      }),
      { numRuns: runsOf(200) },
    )
  })

  it.each(Object.keys(OTHER_ENCODINGS))('is refused where a log %s', async (how) => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary, fc.nat(), async (logs, index) => {
        await expect(readBlock(OTHER_ENCODINGS[how]!(logs, index))).rejects.toMatchObject({
          name: expect.stringMatching(/^(RpcError|RefutedAnswerError)$/),
        })
      }),
      { numRuns: runsOf(200) },
    )
  })

  it('with any changed digit has another record', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary, fc.nat(), fc.nat(), async (logs, index, digit) => {
        const { record } = await readBlock(logs)
        const other = changeLogAt(logs, index, ({ data }) => {
          const place = 2 + (digit % (data.length - 2))
          const changed = data[place] === '0' ? '1' : '0'
          return { data: `${data.slice(0, place)}${changed}${data.slice(place + 1)}` }
        })
        const log = logs[index % logs.length]!
        // the running hash does not cover what an end logs beside its id, and nothing reads it
        if (OUTCOME_EVENTS.some(({ topic }) => topic === log.topics[0])) return
        const result = await readBlock(other).catch((error: Error) => error.name)
        expect(typeof result === 'string' || result.record).not.toEqual(record)
      }),
      { numRuns: runsOf(300) },
    )
  })
})
