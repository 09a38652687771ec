import { toEventSelector } from 'viem'
import type { Hex } from '../chain.js'
import { RefutedAnswerError } from '../rpc/errors.js'
import type { RawLog } from './logs.js'

/** Solidity types of event fields. Their 32-byte words differ only in their padding. */
type WordType = 'bytes32' | 'uint256' | 'address' | 'uint64' | 'uint32' | 'uint8'

/** Number of leading zero hex digits of each type's 32-byte word. */
const LEADING_ZERO_DIGITS_BY_TYPE: Readonly<Record<WordType, number>> = {
  bytes32: 0,
  uint256: 0,
  address: 24,
  uint64: 48,
  uint32: 56,
  uint8: 62,
}

interface EventShape {
  topic: Hex
  /** For each indexed field, in order: the zero hex digits with which its word must begin. */
  indexed: readonly string[]
  /** For each field that is not indexed, in order: the zero hex digits with which its word must begin. */
  data: readonly string[]
}

/** Shape of an event, parsed from a declaration such as `Sent(bytes32 indexed,bytes32 indexed)`. */
function parseEventShape(declaration: string): EventShape {
  const types = declaration.slice(declaration.indexOf('(') + 1, -1).split(',')
  const paddingOf = (type: string): string => {
    const [name = ''] = type.split(' ')
    return '0'.repeat(LEADING_ZERO_DIGITS_BY_TYPE[name as WordType])
  }
  const isIndexed = (type: string): boolean => type.endsWith(' indexed')
  return {
    topic: toEventSelector(declaration.replaceAll(' indexed', '')),
    indexed: types.filter(isIndexed).map(paddingOf),
    data: types.filter((type) => !isIndexed(type)).map(paddingOf),
  }
}

/**
 * Every event that is read from hub, spoke and payments contract (contracts/evm/src/interfaces). Log filters request
 * only these events.
 */
export const CONTRACT_EVENTS = {
  hub: {
    bid: parseEventShape('Bid(bytes32,uint256,bytes32)'),
    bidWithReferral: parseEventShape('Bid(bytes32,uint256,bytes32,bytes32)'),
    received: parseEventShape('Received(bytes32 indexed,bytes32 indexed,uint256)'),
    minimumSet: parseEventShape('MinimumSet(uint256)'),
    bidRefused: parseEventShape('BidRefused(bytes32 indexed,uint256,bytes32 indexed,uint8)'),
    credited: parseEventShape('Credited(bytes32 indexed,uint32 indexed,uint256)'),
    withdrawn: parseEventShape('RefundWithdrawn(bytes32 indexed,uint32 indexed,address,uint256)'),
  },
  spoke: { sent: parseEventShape('Sent(bytes32 indexed,bytes32 indexed)') },
  payments: {
    payment: parseEventShape(
      'Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)',
    ),
    held: parseEventShape('Held(bytes32 indexed,uint64,uint64)'),
    refused: parseEventShape('Refused(bytes32 indexed,address indexed,address indexed,uint256)'),
    released: parseEventShape('Released(bytes32 indexed,address indexed,address indexed,uint256)'),
    reclaimed: parseEventShape(
      'Reclaimed(bytes32 indexed,address indexed,address indexed,uint256)',
    ),
  },
}

/** Kind of a clusterd contract on a chain. */
type ContractKind = keyof typeof CONTRACT_EVENTS

const eventShapesOf = (kind: ContractKind): EventShape[] => Object.values(CONTRACT_EVENTS[kind])

export const eventTopicsOf = (kind: ContractKind): readonly Hex[] =>
  eventShapesOf(kind).map(({ topic }) => topic)

const eventShapesByTopic = (kind: ContractKind): ReadonlyMap<Hex | undefined, EventShape> =>
  new Map(eventShapesOf(kind).map((shape) => [shape.topic, shape]))

const EVENT_SHAPES_BY_KIND_AND_TOPIC = {
  hub: eventShapesByTopic('hub'),
  spoke: eventShapesByTopic('spoke'),
  payments: eventShapesByTopic('payments'),
}

/** Hex digits of a 32-byte word. */
const WORD_DIGITS = 64

/**
 * True if a log has exactly the fields of its event, so that topics and data joined together are these fields. False
 * for a log that the contract can't have emitted: another topic, another number of words, or wrong padding.
 */
export function isWellFormedContractLog(kind: ContractKind, { topics, data }: RawLog): boolean {
  const shape = EVENT_SHAPES_BY_KIND_AND_TOPIC[kind].get(topics[0])
  return (
    shape !== undefined &&
    topics.length === 1 + shape.indexed.length &&
    data.length === 2 + WORD_DIGITS * shape.data.length &&
    shape.indexed.every((padding, i) => isPaddedWord(topics[i + 1]!, padding)) &&
    shape.data.every((padding, i) => data.startsWith(padding, 2 + WORD_DIGITS * i))
  )
}

const isPaddedWord = (topic: Hex, padding: string): boolean =>
  topic.length === 2 + WORD_DIGITS && topic.startsWith(padding, 2)

/** Error for a log that its contract can't have emitted. */
export const malformedLogError = ({ address, blockNumber, logIndex }: RawLog): Error =>
  new RefutedAnswerError(
    `eth_getLogs: log ${Number(logIndex)} of block ${Number(blockNumber)} is not one that ${address} emits`,
  )
