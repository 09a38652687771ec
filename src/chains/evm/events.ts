import { toEventSelector } from 'viem'
import type { Hex } from '../chain.js'
import { RefutedError } from '../rpc/errors.js'
import type { RawLog } from './logs.js'

/** Contract of ours on a chain. */
export type ContractKind = 'hub' | 'spoke' | 'payments'

/** Types of an event's words, as far as their padding differs. */
type WordType = 'bytes32' | 'address' | 'uint64' | 'uint32' | 'uint8'

/** Leading zeros of each type's word, hex digits. */
const PADDING: Readonly<Record<WordType, number>> = {
  bytes32: 0,
  address: 24,
  uint64: 48,
  uint32: 56,
  uint8: 62,
}

interface EventShape {
  topic: Hex
  /** In the contract's order. */
  indexed: readonly WordType[]
  data: readonly WordType[]
}

/** Shape of an event, from its declaration: `Sent(bytes32 indexed,bytes32 indexed)`. */
function shapeOf(declaration: string): EventShape {
  const types = declaration.slice(declaration.indexOf('(') + 1, -1).split(',')
  const typeOf = (type: string): WordType => {
    const [name = ''] = type.split(' ')
    return name === 'uint256' ? 'bytes32' : (name as WordType)
  }
  const isIndexed = (type: string): boolean => type.endsWith(' indexed')
  return {
    topic: toEventSelector(declaration.replaceAll(' indexed', '')),
    indexed: types.filter(isIndexed).map(typeOf),
    data: types.filter((type) => !isIndexed(type)).map(typeOf),
  }
}

/** Every event that is read of our contracts (contracts/evm/src/interfaces). */
export const EVENTS = {
  bid: shapeOf('Bid(bytes32,uint256,bytes32)'),
  bidWithReferral: shapeOf('Bid(bytes32,uint256,bytes32,bytes32)'),
  bidRefused: shapeOf('BidRefused(bytes32 indexed,uint256,bytes32 indexed,uint8)'),
  minimumSet: shapeOf('MinimumSet(uint256)'),
  received: shapeOf('Received(bytes32 indexed,bytes32 indexed,uint256)'),
  credited: shapeOf('Credited(bytes32 indexed,uint32 indexed,uint256)'),
  withdrawn: shapeOf('RefundWithdrawn(bytes32 indexed,uint32 indexed,address,uint256)'),
  sent: shapeOf('Sent(bytes32 indexed,bytes32 indexed)'),
  payment: shapeOf('Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)'),
  held: shapeOf('Held(bytes32 indexed,uint64,uint64)'),
  refused: shapeOf('Refused(bytes32 indexed,address indexed,address indexed,uint256)'),
  released: shapeOf('Released(bytes32 indexed,address indexed,address indexed,uint256)'),
  reclaimed: shapeOf('Reclaimed(bytes32 indexed,address indexed,address indexed,uint256)'),
}

/** Events that are read of each contract; a filter asks for these topics alone. */
const OF_CONTRACT: Readonly<Record<ContractKind, readonly EventShape[]>> = {
  hub: [
    EVENTS.bid,
    EVENTS.bidWithReferral,
    EVENTS.received,
    EVENTS.minimumSet,
    EVENTS.bidRefused,
    EVENTS.credited,
    EVENTS.withdrawn,
  ],
  spoke: [EVENTS.sent],
  payments: [EVENTS.payment, EVENTS.held, EVENTS.refused, EVENTS.released, EVENTS.reclaimed],
}

export const topicsOf = (kind: ContractKind): readonly Hex[] =>
  OF_CONTRACT[kind].map(({ topic }) => topic)

const byTopic = (kind: ContractKind): ReadonlyMap<Hex | undefined, EventShape> =>
  new Map(OF_CONTRACT[kind].map((shape) => [shape.topic, shape]))

const SHAPES = { hub: byTopic('hub'), spoke: byTopic('spoke'), payments: byTopic('payments') }

/** Hex digits of a word. */
const DIGITS = 64

/**
 * Words of a log by its event's table of fields: those of the topics after the first, then those of the data, in hex
 * without prefix.
 * @returns null for a log that this contract can't have emitted: another topic, number of words or padding
 */
export function eventWords(kind: ContractKind, { topics, data }: RawLog): string[] | null {
  const shape = SHAPES[kind].get(topics[0])
  if (
    !shape ||
    topics.length !== 1 + shape.indexed.length ||
    data.length !== 2 + DIGITS * shape.data.length
  )
    return null
  const words: string[] = []
  for (const [i, type] of shape.indexed.entries()) {
    const word = topics[i + 1]!.slice(2)
    if (word.length !== DIGITS || !isPadded(word, type)) return null
    words.push(word)
  }
  for (const [i, type] of shape.data.entries()) {
    const word = data.slice(2 + DIGITS * i, 2 + DIGITS * (i + 1))
    if (!isPadded(word, type)) return null
    words.push(word)
  }
  return words
}

const ZEROS = '0'.repeat(DIGITS)

const isPadded = (word: string, type: WordType): boolean =>
  PADDING[type] === 0 || word.startsWith(ZEROS.slice(0, PADDING[type]))

/** Error for a log that is not its contract's. */
export const misshapen = ({ address, blockNumber, logIndex }: RawLog): Error =>
  new RefutedError(
    `eth_getLogs: log ${Number(logIndex)} of block ${Number(blockNumber)} is not one that ${address} emits`,
  )
