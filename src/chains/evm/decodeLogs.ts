import { toEventSelector } from 'viem'
import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import type { CommunityNameTarget, Payment } from '../../registry/payment/payment.js'
import { fromHex, txKey, wordToBigInt } from '../../registry/primitives/bytes.js'
import type { Hex } from '../chain.js'
import type { Call } from '../rpc/evm.js'
import { readPacketSent } from './bridge/packetSent.js'
import { HELD_TOPIC, PAYMENT_TOPIC, readPayments } from './community/logs.js'
import type { LogFilter, RawLog } from './logs.js'

/**
 * Decoded logs of our contracts in some blocks. Hub: entries and received messages; spoke: sent messages; both:
 * payments.
 */
export interface DecodedLogs {
  entries: DecodedEntry[]
  received: ReceivedMessage[]
  sent: SentMessage[]
  payments: Payment<CommunityNameTarget>[]
}

/** Concatenates decoded logs in order. */
export const mergeLogs = (parts: readonly DecodedLogs[]): DecodedLogs => ({
  entries: parts.flatMap(({ entries }) => entries),
  received: parts.flatMap(({ received }) => received),
  sent: parts.flatMap(({ sent }) => sent),
  payments: parts.flatMap(({ payments }) => payments),
})

/** Number of decoded logs that lead to an entry, a message or a payment. */
export const sizeOf = ({ entries, sent, payments }: DecodedLogs): number =>
  entries.length + sent.length + payments.length

/** Event topics of hub and spoke; no argument is indexed. */
export const BID_TOPIC = toEventSelector('Bid(bytes32,uint256,bytes32)')
export const BID_WITH_REFERRAL_TOPIC = toEventSelector('Bid(bytes32,uint256,bytes32,bytes32)')
const MINIMUM_TOPIC = toEventSelector('MinimumSet(uint256)')
export const RECEIVED_TOPIC = toEventSelector('Received(bytes32,bytes32,uint256)')
const REFUSED_TOPIC = toEventSelector('MessageRefused(bytes32,bytes32,uint256)')
export const SENT_TOPIC = toEventSelector('Sent(bytes32,bytes32)')

/** Topics that make a transaction a registration, per role. */
const REGISTRATION_TOPICS = {
  hub: [BID_TOPIC, BID_WITH_REFERRAL_TOPIC, RECEIVED_TOPIC, REFUSED_TOPIC],
  spoke: [SENT_TOPIC],
} as const

/** Our contracts on a chain. */
export interface OurContracts {
  role: 'hub' | 'spoke'
  /** Hub or spoke, lower case. */
  contract: Hex
  /** Contract for community payments, lower case. */
  communityPayments?: Hex | undefined
}

/** Filter for the logs of our contracts on a chain. */
export function filterOf({ role, contract, communityPayments }: OurContracts): LogFilter {
  const topics = role === 'hub' ? [...REGISTRATION_TOPICS.hub, MINIMUM_TOPIC] : REGISTRATION_TOPICS.spoke
  if (!communityPayments) return { addresses: [contract], topics }
  return { addresses: [contract, communityPayments], topics: [...topics, PAYMENT_TOPIC, HELD_TOPIC] }
}

/** Whether a log makes its transaction a registration. */
export function isRegistrationLog(
  { role, contract, communityPayments }: OurContracts,
  log: { address: Hex; topics: readonly Hex[] },
): boolean {
  const address = log.address.toLowerCase()
  const topics: readonly Hex[] = REGISTRATION_TOPICS[role]
  const [first] = log.topics
  if (first === undefined) return false
  return (address === contract && topics.includes(first)) || (address === communityPayments && first === PAYMENT_TOPIC)
}

/** Data length of each event in words. */
const WORDS: Readonly<Record<Hex, number>> = {
  [BID_TOPIC]: 3,
  [BID_WITH_REFERRAL_TOPIC]: 4,
  [MINIMUM_TOPIC]: 1,
  [RECEIVED_TOPIC]: 3,
  [REFUSED_TOPIC]: 3,
  [SENT_TOPIC]: 2,
}

/**
 * Decodes logs in order. Words are cut out of the hex itself, because this runs once per registration. Logs whose data
 * has another length than their event are skipped as foreign.
 * @param call the node that gave the logs, asked for the receipts of a spoke's transactions
 * @param timeOf a log's block time, milliseconds
 */
export async function decodeLogs(
  call: Call,
  chain: Omit<OurContracts, 'role'> & { chain: number; endpoint?: Hex | undefined },
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<DecodedLogs> {
  const found: DecodedLogs = { entries: [], received: [], sent: [], payments: [] }
  const { contract, communityPayments } = chain
  const sentLogs: RawLog[] = []
  const paymentLogs: RawLog[] = []
  const refused = new Set<string>()
  for (const log of logs) {
    const first = log.topics[0]!
    if (communityPayments && log.address !== contract && log.address.toLowerCase() === communityPayments) {
      paymentLogs.push(log)
      continue
    }
    if (log.data.length !== 2 + 64 * WORDS[first]!) continue
    if (first === BID_TOPIC || first === BID_WITH_REFERRAL_TOPIC)
      found.entries.push(entryOf('bid', chain.chain, log, timeOf(log)))
    else if (first === MINIMUM_TOPIC) found.entries.push(entryOf('minimum', chain.chain, log, timeOf(log)))
    else if (first === SENT_TOPIC) sentLogs.push(log)
    else if (first === REFUSED_TOPIC) refused.add(log.data.slice(0, 66))
    else found.received.push(receivedMessage(log, refused.has(log.data.slice(0, 66))))
  }
  if (sentLogs.length > 0 && chain.endpoint) found.sent = await readPacketSent(call, chain.endpoint, sentLogs, timeOf)
  if (paymentLogs.length > 0) found.payments = readPayments(paymentLogs, timeOf)
  return found
}

function entryOf(kind: 'bid' | 'minimum', chain: number, log: RawLog, causeMs: number): DecodedEntry {
  const position = { chain, block: Number(log.blockNumber), logIndex: Number(log.logIndex) }
  if (kind === 'minimum') return decodeEntry({ kind, position, txKey: null, causeMs, body: fromHex(log.data) })
  const body = Buffer.from(log.transactionHash.slice(2) + log.data.slice(2), 'hex')
  return decodeEntry({ kind, position, txKey: txKey(body), causeMs, body })
}

function receivedMessage(log: RawLog, isRefused: boolean): ReceivedMessage {
  const data = fromHex(log.data)
  return {
    guid: data.subarray(0, 32),
    txHash: fromHex(log.transactionHash),
    block: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    bids: Number(wordToBigInt(data.subarray(64, 96))),
    isRefused,
  }
}
