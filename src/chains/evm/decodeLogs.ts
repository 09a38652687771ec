import { type Log, parseEventLogs } from 'viem'
import type {
  HubCreditChange,
  ReceivedMessage,
  SentMessage,
} from '../../registry/bridge/message.js'
import { BID_REFUSAL, PAUSED_HUB_SUFFIX } from '../../registry/journal/bid.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import type {
  CommunityNameTarget,
  ConfirmedPaymentOutcome,
  Payment,
} from '../../registry/payment/payment.js'
import { addressOfWord } from '../../registry/primitives/address.js'
import { fromHex, txKeyOfHash } from '../../registry/primitives/bytes.js'
import type { Hex } from '../chain.js'
import { mapInBatches } from '../rpc/batches.js'
import { transientError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import { decodePacket } from './bridge/packet.js'
import {
  decodeCommunityPayments,
  decodePaymentOutcomes,
  PAYMENT_EVENT_TOPIC,
} from './community/logs.js'
import { layerZeroEndpointAbi } from './contracts/index.js'
import {
  CONTRACT_EVENTS,
  eventTopicsOf,
  isWellFormedContractLog,
  malformedLogError,
} from './events.js'
import {
  blockOfLogPosition,
  type LogFilter,
  logLocation,
  logPosition,
  type RawLog,
  type RawReceipt,
  readTransactionReceipt,
} from './logs.js'
import {
  type ChainContractSettings,
  type RunningHashInput,
  runningHashInputs,
} from './runningHash/hashes.js'

/**
 * Decoded logs of the configured contracts in some blocks. A hub gives entries, received messages and credits. A spoke
 * gives sent messages. A payments contract, beside hub or spoke, gives payments and their outcomes (`ends`).
 */
export interface DecodedLogs {
  entries: DecodedEntry[]
  received: ReceivedMessage[]
  sent: SentMessage[]
  payments: Payment<CommunityNameTarget>[]
  credits: HubCreditChange[]
  ends: ConfirmedPaymentOutcome[]
  /** Inputs by which the logs extend the running hashes of their contracts. */
  runningHashInputs: RunningHashInput[]
  /** Position of each log in its chain (`logPosition`), ascending. */
  places: number[]
}

export const mergeDecodedLogs = (parts: readonly DecodedLogs[]): DecodedLogs => ({
  entries: parts.flatMap(({ entries }) => entries),
  received: parts.flatMap(({ received }) => received),
  sent: parts.flatMap(({ sent }) => sent),
  payments: parts.flatMap(({ payments }) => payments),
  credits: parts.flatMap(({ credits }) => credits),
  ends: parts.flatMap(({ ends }) => ends),
  runningHashInputs: parts.flatMap((part) => part.runningHashInputs),
  places: parts.flatMap(({ places }) => places),
})

/** A block that was read by its hash, with the decoded logs of the chain's watched contracts. */
export interface DecodedBlock {
  block: number
  hash: Buffer
  parentHash: Buffer
  timestampMs: number
  decoded: DecodedLogs
}

/** Decoded logs of all blocks together, in the blocks' order. */
export const logsOfBlocks = (blocks: readonly DecodedBlock[]): DecodedLogs =>
  mergeDecodedLogs(blocks.map(({ decoded }) => decoded))

/** Numbers of the blocks that have logs, ascending. */
export const blockNumbersOfLogs = ({ places }: DecodedLogs): number[] => [
  ...new Set(places.map((place) => blockOfLogPosition(place))),
]

/** Number of decoded logs that cause an entry, a sent message or a payment, or end a payment. */
export const decodedLogCount = ({ entries, sent, payments, ends }: DecodedLogs): number =>
  entries.length + sent.length + payments.length + ends.length

const { hub: HUB_EVENTS, spoke: SPOKE_EVENTS } = CONTRACT_EVENTS
/** First topics of the events of hub and spoke. */
export const BID_EVENT_TOPIC = HUB_EVENTS.bid.topic
export const BID_WITH_REFERRAL_EVENT_TOPIC = HUB_EVENTS.bidWithReferral.topic
export const RECEIVED_EVENT_TOPIC = HUB_EVENTS.received.topic
export const SENT_EVENT_TOPIC = SPOKE_EVENTS.sent.topic

/** First topics of the logs that make a transaction a registration, by the role of the chain's contract. */
const REGISTRATION_TOPICS = {
  hub: [BID_EVENT_TOPIC, BID_WITH_REFERRAL_EVENT_TOPIC, RECEIVED_EVENT_TOPIC],
  spoke: [SENT_EVENT_TOPIC],
} as const

export interface ContractAddresses {
  role: 'hub' | 'spoke'
  /** Address of the hub or spoke, lower case. */
  contract: Hex
  /** Address of the contract that takes community payments, lower case. Absent where the chain has no such contract. */
  communityPayments?: Hex | undefined
}

export function logFilterOfContracts({
  role,
  contract,
  communityPayments,
}: ContractAddresses): LogFilter {
  const topics = eventTopicsOf(role)
  if (!communityPayments) return { addresses: [contract], topics }
  return {
    addresses: [contract, communityPayments],
    topics: [...topics, ...eventTopicsOf('payments')],
  }
}

export function isRegistrationLog(
  { role, contract, communityPayments }: ContractAddresses,
  log: { address: Hex; topics: readonly Hex[] },
): boolean {
  const address = log.address.toLowerCase()
  const topics: readonly Hex[] = REGISTRATION_TOPICS[role]
  const [first] = log.topics
  if (first === undefined) return false
  return (
    (address === contract && topics.includes(first)) ||
    (address === communityPayments && first === PAYMENT_EVENT_TOPIC)
  )
}

/**
 * False for a `Received` log whose number of bids does not fit the database column. A third-party contract may log any
 * number.
 */
const hasStorableBidCount = ({ topics: [first], data }: RawLog): boolean =>
  first !== RECEIVED_EVENT_TOPIC || Number(data) < 2 ** 31

/**
 * Decodes logs in order. Slices fields out of the hex string, which is fast: every registration passes here. Skips logs of
 * third-party contracts that clusterd's contracts could not emit.
 * @param call the node that returned the logs, which also returns the receipts of a spoke's transactions
 * @param timeOf timestamp of a log's block, ms
 * @throws RefutedAnswerError for a log that its contract can't have emitted; RpcError for a receipt that the node does
 * not return
 */
export async function decodeLogs(
  call: RpcCall,
  chain: ContractAddresses & ChainContractSettings & { chain: number; endpoint?: Hex | undefined },
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<DecodedLogs> {
  const decoded = mergeDecodedLogs([])
  const { role, contract, communityPayments } = chain
  const sentLogs: RawLog[] = []
  const paymentLogs: RawLog[] = []
  const hubLogs: RawLog[] = []
  for (const log of logs) {
    const isPayment = log.address !== contract && log.address.toLowerCase() === communityPayments
    if (!isWellFormedContractLog(isPayment ? 'payments' : role, log) || !hasStorableBidCount(log)) {
      if (!chain.watchOnly || isPayment) throw malformedLogError(log)
      continue
    }
    decoded.places.push(logPosition(log))
    if (isPayment) paymentLogs.push(log)
    else (role === 'spoke' ? sentLogs : hubLogs).push(log)
  }
  decodeHubLogs(decoded, chain.chain, hubLogs, timeOf)
  if (sentLogs.length > 0 && chain.endpoint)
    decoded.sent = await readPacketSent(call, chain.endpoint, sentLogs, timeOf)
  if (paymentLogs.length > 0) {
    decoded.payments = decodeCommunityPayments(paymentLogs, timeOf)
    decoded.ends = decodePaymentOutcomes(paymentLogs)
  }
  decoded.runningHashInputs = runningHashInputs(chain, logs, timeOf)
  return decoded
}

function decodeHubLogs(
  { entries, received, credits }: DecodedLogs,
  chain: number,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): void {
  let bid: RawLog | null = null
  for (const log of logs) {
    const [first] = log.topics
    const isBid = first === BID_EVENT_TOPIC || first === BID_WITH_REFERRAL_EVENT_TOPIC
    if (isBid) entries.push(bidEntry(chain, log, timeOf(log)))
    // the log of a refused bid directly follows the log of the bid
    else if (first === HUB_EVENTS.bidRefused.topic && bid && isRefusedByPause(log))
      entries.splice(-1, 1, bidEntry(chain, bid, timeOf(bid), PAUSED_HUB_SUFFIX))
    else if (first === HUB_EVENTS.minimumSet.topic)
      entries.push(minimumEntry(chain, log, timeOf(log)))
    else if (first === HUB_EVENTS.credited.topic || first === HUB_EVENTS.withdrawn.topic)
      credits.push(creditChange(log))
    else if (first === RECEIVED_EVENT_TOPIC) received.push(receivedMessage(log))
    bid = isBid ? log : null
  }
}

const isRefusedByPause = ({ data }: RawLog): boolean =>
  Number(`0x${data.slice(-64)}`) === BID_REFUSAL.paused

const entryPositionOf = (chain: number, { blockNumber, logIndex }: RawLog) => ({
  chain,
  block: Number(blockNumber),
  logIndex: Number(logIndex),
})

function bidEntry(chain: number, log: RawLog, causeMs: number, end?: Buffer): DecodedEntry {
  const words = Buffer.from(log.transactionHash.slice(2) + log.data.slice(2), 'hex')
  const body = end ? Buffer.concat([words, end]) : words
  return decodeEntry({
    kind: 'bid',
    position: entryPositionOf(chain, log),
    txKey: txKeyOfHash(body),
    causeMs,
    body,
  })
}

const minimumEntry = (chain: number, log: RawLog, causeMs: number): DecodedEntry =>
  decodeEntry({
    kind: 'minimum',
    position: entryPositionOf(chain, log),
    txKey: null,
    causeMs,
    body: fromHex(log.data),
  })

const receivedMessage = (log: RawLog): ReceivedMessage => ({
  ...logLocation(log),
  guid: fromHex(log.topics[1]!),
  bids: Number(log.data),
})

function creditChange(log: RawLog): HubCreditChange {
  const amount = BigInt(`0x${log.data.slice(-64)}`)
  return {
    ...logLocation(log),
    wallet: addressOfWord(fromHex(log.topics[1]!)),
    eid: Number(log.topics[2]),
    amountWei: log.topics[0] === HUB_EVENTS.credited.topic ? amount : -amount,
  }
}

/**
 * Reads the packets of a spoke's `Sent` logs from the receipts of their transactions. The endpoint's events have no
 * indexed field, so a log query over a block range would return the packets of every application.
 */
async function readPacketSent(
  call: RpcCall,
  endpoint: Hex,
  sentLogs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<SentMessage[]> {
  const hashes = [...new Set(sentLogs.map((log) => log.transactionHash))]
  const RECEIPTS_AT_ONCE = 16
  const read = async (hash: Hex) => [hash, await readTransactionReceipt(call, hash)] as const
  const receipts = new Map(await mapInBatches(hashes, RECEIPTS_AT_ONCE, read))
  return sentLogs.map((log) => {
    const receipt = receipts.get(log.transactionHash)
    if (!receipt)
      throw transientError(
        `eth_getTransactionReceipt: ${log.transactionHash} has a log but no receipt yet`,
      )
    if (receipt.blockHash !== log.blockHash) {
      throw transientError(
        `eth_getTransactionReceipt: ${log.transactionHash} is in another block than its log`,
      )
    }
    return sentMessage(log, receipt, endpoint, timeOf(log))
  })
}

function sentMessage(log: RawLog, receipt: RawReceipt, endpoint: Hex, sentMs: number): SentMessage {
  const [, guid, from] = log.topics as [Hex, Hex, Hex]
  const logs = receipt.logs as unknown as Log[]
  const ours = parseEventLogs({ abi: layerZeroEndpointAbi, eventName: 'PacketSent', logs })
    .filter(({ address }) => address.toLowerCase() === endpoint)
    .find(({ args }) => decodePacket(args.encodedPayload)?.guid === guid)?.args
  if (!ours)
    throw transientError(
      `eth_getTransactionReceipt: ${log.transactionHash} does not have the packet of its message`,
    )
  return {
    ...logLocation(log),
    guid: fromHex(guid),
    from: fromHex(from),
    blockHash: fromHex(log.blockHash),
    sentMs,
    packet: fromHex(ours.encodedPayload),
    options: fromHex(ours.options),
  }
}
