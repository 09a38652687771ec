import { type Hex, keccak256, toHex } from 'viem'
import { HELD_EVENT_TOPIC, PAYMENT_EVENT_TOPIC } from '../../../src/chains/evm/community/logs.js'
import {
  BID_EVENT_TOPIC,
  BID_WITH_REFERRAL_EVENT_TOPIC,
} from '../../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../../src/chains/evm/logs.js'
import {
  contractsWithRunningHash,
  extendRunningHashes,
  initialRunningHashes,
  runningHashInputs,
} from '../../../src/chains/evm/runningHash/hashes.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import type { RawBlock, Recording } from './recording.js'

/** Name and transaction of an invented bid. */
export const FORGED_NAME = 'nobody-bid-this'
export const FORGED_TX: Hex = `0x${'f0'.repeat(32)}`

/** The chain that a liar shows instead of the true one. */
interface ShownChain {
  recording: Recording
  /** Its newest block, relative to the true one. */
  headOffset: number
}

/** The true recording, the block that the lie is about, and the run's random numbers. */
interface Truth {
  recording: Recording
  block: number
  random: () => number
}

/** A lie about logs: the logs that a node shows in place of one. @param previous the chain's previous log */
type LogLie = (log: RawLog, random: () => number, previous?: RawLog) => RawLog[]

const WORD = 64
/** The data of a log with another word in one place. */
const withWord = (log: RawLog, index: number, word: string): RawLog => {
  const at = 2 + WORD * index
  return { ...log, data: `${log.data.slice(0, at)}${word}${log.data.slice(at + WORD)}` as Hex }
}
const wordAt = (log: RawLog, index: number): string =>
  log.data.slice(2 + WORD * index, 2 + WORD * (index + 1))
const wordOf = (value: bigint): string => value.toString(16).padStart(WORD, '0')
const plusOne = (word: string): string => wordOf(BigInt(`0x${word}`) + 1n)

const isBid = ({ topics: [first] }: RawLog): boolean =>
  first === BID_EVENT_TOPIC || first === BID_WITH_REFERRAL_EVENT_TOPIC
const isPayment = ({ topics: [first] }: RawLog): boolean => first === PAYMENT_EVENT_TOPIC
const nameWord = toHex(nameToWord(FORGED_NAME)).slice(2)
const STRANGER = '66'.repeat(20).padStart(WORD, '0')

/** Places of the words of a payment's `Bid` (ICommunityPayments.sol). */
const PAYMENT_WORDS = { payer: 0, tokenChainId: 1, amount: 3, recipient: 4, community: 5, name: 6 }

/** Id of a payment (ICommunityPayments.sol, `idOf`). */
function idOf(bid: RawLog, held: RawLog): Hex {
  const payment = [0, 4, 2, 3, 5, 6, 7].map((i) => wordAt(bid, i))
  const place = [wordAt(bid, 1), held.address.slice(2).padStart(WORD, '0')]
  return keccak256(`0x${[wordAt(held, 0), wordAt(held, 1), ...payment, ...place].join('')}`)
}

/** A payment with its own id, added to a true one. */
function inventedPayment(bid: RawLog, held: RawLog): RawLog[] {
  const later = (log: RawLog): RawLog => ({
    ...log,
    transactionHash: FORGED_TX,
    logIndex: toHex(Number(log.logIndex) + 500),
  })
  const otherBid = later(withWord(withWord(bid, PAYMENT_WORDS.payer, STRANGER), 6, nameWord))
  const otherHeld = later(withWord(held, 0, plusOne(wordAt(held, 0))))
  const id = idOf(otherBid, otherHeld)
  return [otherBid, { ...otherHeld, topics: [HELD_EVENT_TOPIC, id] }]
}

const changed = (log: RawLog, change: (log: RawLog) => RawLog, is = isBid): RawLog[] => [
  is(log) ? change(log) : log,
]

/** Lies about the logs of one block, by what they do. */
const LOG_LIES: Readonly<Record<string, LogLie>> = {
  'invents a bid': (log) =>
    isBid(log)
      ? [
          log,
          {
            ...withWord(withWord(log, 0, STRANGER), 2, nameWord),
            transactionHash: FORGED_TX,
            logIndex: toHex(Number(log.logIndex) + 500),
          },
        ]
      : [log],
  'alters the amount of a bid': (log) =>
    changed(log, (bid) => withWord(bid, 1, plusOne(wordAt(bid, 1)))),
  'alters the owner of a bid': (log) => changed(log, (bid) => withWord(bid, 0, STRANGER)),
  'alters the name of a bid': (log) => changed(log, (bid) => withWord(bid, 2, nameWord)),
  'cuts topics and data elsewhere': (log) => [
    {
      ...log,
      topics: [...log.topics, log.data.slice(0, 2 + WORD) as Hex],
      data: `0x${log.data.slice(2 + WORD)}`,
    },
  ],
  'hides a log': (log, random) => (random() < 0.5 ? [] : [log]),
  'hides all logs': () => [],
  'moves logs to another transaction': (log) => [{ ...log, transactionHash: FORGED_TX }],
  'invents a payment': (log, _, previous) =>
    log.topics[0] === HELD_EVENT_TOPIC && previous
      ? [log, ...inventedPayment(previous, log)]
      : [log],
  'alters the chain of a token': (log) =>
    changed(
      log,
      (bid) => withWord(bid, PAYMENT_WORDS.tokenChainId, plusOne(wordAt(bid, 1))),
      isPayment,
    ),
  'alters the amount of a payment': (log) =>
    changed(log, (bid) => withWord(bid, PAYMENT_WORDS.amount, wordOf(10n ** 9n)), isPayment),
  'alters the name of a payment': (log) =>
    changed(log, (bid) => withWord(bid, PAYMENT_WORDS.name, nameWord), isPayment),
  'alters the payer of a payment': (log) =>
    changed(log, (bid) => withWord(bid, PAYMENT_WORDS.payer, STRANGER), isPayment),
  'alters the time limit of a payment': (log) =>
    changed(
      log,
      (held) => withWord(held, 1, plusOne(wordAt(held, 1))),
      ({ topics: [first] }) => first === HELD_EVENT_TOPIC,
    ),
}

const withLogs = ({ recording, block, random }: Truth, lie: LogLie): Recording => ({
  ...recording,
  logs: recording.logs.flatMap((log, i) =>
    Number(log.blockNumber) === block ? lie(log, random, recording.logs[i - 1]) : [log],
  ),
})

/**
 * The records that a chain with the recording's logs keeps. Falls back to the true chain's records where the logs make
 * none.
 */
function withRecords(recording: Recording): Recording {
  const { config, blocks, logs } = recording
  const timeOf = ({ blockNumber }: RawLog) => Number(blocks[Number(blockNumber)]!.timestamp) * 1_000
  try {
    const records = new Map(recording.records)
    for (const [i, { address }] of contractsWithRunningHash(config).entries()) {
      const hashes: Hex[] = []
      let record = initialRunningHashes(config)
      let next = 0
      for (const block of blocks.keys()) {
        const start = next
        while (next < logs.length && Number(logs[next]!.blockNumber) <= block) next += 1
        if (next > start)
          record = extendRunningHashes(
            record,
            runningHashInputs(config, logs.slice(start, next), timeOf),
          )
        const isDeployed = recording.records.get(address)![block] !== '0x'
        hashes.push(isDeployed ? (toHex(record[i]!) as Hex) : '0x')
      }
      records.set(address, hashes)
    }
    return { ...recording, records }
  } catch {
    return recording
  }
}

/** A chain with other hashes from a block on: consistent headers, and the same logs. */
function forked({ recording, block }: Truth, change: (header: RawBlock) => object): Recording {
  const blocks = [...recording.blocks]
  const other = { ...blocks[block]!, ...change(blocks[block]!) } as RawBlock
  blocks[block] = other
  const next = blocks[block + 1]
  if (next) blocks[block + 1] = { ...next, parentHash: other.hash }
  const logs = recording.logs.map((log) =>
    Number(log.blockNumber) === block
      ? { ...log, blockHash: other.hash, blockTimestamp: other.timestamp }
      : log,
  )
  return { ...recording, blocks, logs }
}

const inventedHash = (number: number): Hex => toHex(0xabcd_0000 + number, { size: 32 })

/** The chain with invented blocks above its head. The first has a copy of a bid or payment. */
function extended({ recording, block }: Truth, head: number, count: number): Recording {
  const blocks = recording.blocks.slice(0, head + 1)
  for (let number = head + 1; number <= head + count; number++) {
    const before = blocks[number - 1]!
    blocks.push({
      ...before,
      number: toHex(number),
      hash: inventedHash(number),
      parentHash: before.hash,
      timestamp: toHex(Number(before.timestamp) + 1),
    })
  }
  const place = { blockNumber: toHex(head + 1), blockHash: inventedHash(head + 1) }
  const invented = recording.logs
    .filter((log) => Number(log.blockNumber) === block)
    .map((log) => ({ ...log, ...place, transactionHash: FORGED_TX }))
  const known = recording.logs.filter((log) => Number(log.blockNumber) <= head)
  const records = new Map(
    [...recording.records].map(([address, hashes]) => [
      address,
      [...hashes.slice(0, head + 1), ...Array(count).fill(hashes[head])],
    ]),
  )
  return { ...recording, blocks, logs: [...known, ...invented], records }
}

/** Lies about other data than logs. */
const OTHER_LIES: Readonly<Record<string, (truth: Truth, head: number) => ShownChain>> = {
  'invents a record hash': (truth) => {
    const { recording, block } = truth
    const records = new Map(
      [...recording.records].map(([address, hashes]) => [
        address,
        hashes.map((hash, i) => (i >= block ? inventedHash(i) : hash)),
      ]),
    )
    return { recording: { ...recording, records }, headOffset: 0 }
  },
  'gives a block another hash': (truth) => ({
    recording: forked(truth, () => ({ hash: inventedHash(truth.block) })),
    headOffset: 0,
  }),
  'gives a block another time': (truth) => ({
    recording: forked(truth, ({ timestamp }) => ({ timestamp: toHex(Number(timestamp) - 86_400) })),
    headOffset: 0,
  }),
  'hides its newest blocks': (truth) => ({
    recording: truth.recording,
    headOffset: -integerBetween(truth.random(), 1, 20),
  }),
  'invents newer blocks': (truth, head) => {
    const count = integerBetween(truth.random(), 1, 90)
    return { recording: extended(truth, head, count), headOffset: count }
  },
}

const LIES = [...Object.keys(LOG_LIES), ...Object.keys(OTHER_LIES)]

/** True unless the lie changes no record: then the contracts can't refute it. */
const isRefutable = (kind: string): boolean =>
  LOG_LIES[kind] !== undefined && kind !== 'moves logs to another transaction'

interface Lie {
  kind: string
  /** True if the liar's record matches its logs. */
  hasOwnRecord: boolean
  /** True if the contracts' record refutes the logs. */
  isRefuted: boolean
  at(head: number): ShownChain
}

/** Draws a lie about one of some blocks. */
export function drawLie(
  recording: Recording,
  blocks: readonly number[],
  random: () => number,
): Lie {
  const changesLogOf = (kind: string, block: number): boolean =>
    recording.logs.some((log, i) => {
      if (Number(log.blockNumber) !== block) return false
      const shown = LOG_LIES[kind]!(log, () => 0, recording.logs[i - 1])
      return shown.length !== 1 || shown[0] !== log
    })
  const fittingBlocks = (kind: string): readonly number[] =>
    LOG_LIES[kind] ? blocks.filter((block) => changesLogOf(kind, block)) : blocks
  const kind = pickElement(
    random(),
    LIES.filter((one) => fittingBlocks(one).length > 0),
  )
  const logLie = LOG_LIES[kind]
  const hasOwnRecord = random() < 0.5
  const block = pickElement(random(), fittingBlocks(kind))
  const truth = { recording, block, random }
  if (!logLie) {
    const byHead = new Map<number, ShownChain>()
    const at = (head: number): ShownChain => {
      const shownChain = byHead.get(head) ?? OTHER_LIES[kind]!(truth, head)
      byHead.set(head, shownChain)
      return shownChain
    }
    return { kind, hasOwnRecord: false, isRefuted: false, at }
  }
  const shown = withLogs(truth, logLie)
  const shownChain = { recording: hasOwnRecord ? withRecords(shown) : shown, headOffset: 0 }
  const isRefuted = recording.config.role === 'hub' && !hasOwnRecord && isRefutable(kind)
  return { kind, hasOwnRecord, isRefuted, at: () => shownChain }
}
