import { keccak256, toBytes } from 'viem'
import { fromHex, txKey, wordToBigInt } from '../../registry/bytes.js'
import type { Entry } from '../../registry/entry.js'
import type { ReceivedMessage, SentMessage } from '../../registry/message.js'
import type { Hex } from '../chain.js'
import type { LogFilter, RawLog } from './logs.js'
import { readPacketSent } from './packetSent.js'
import type { Call } from './rpc.js'

/** What our contracts' logs of some blocks come to. On a hub: entries and received messages; on a spoke: sent ones. */
export interface Harvest {
  entries: Entry[]
  received: ReceivedMessage[]
  sent: SentMessage[]
}

const topic = (signature: string): Hex => keccak256(toBytes(signature))

/** Nothing is indexed: every argument of our events is a data word. */
export const BID_TOPIC = topic('Bid(bytes32,uint256,bytes32)')
export const BID_WITH_REFERRAL_TOPIC = topic('Bid(bytes32,uint256,bytes32,bytes32)')
export const MINIMUM_TOPIC = topic('MinimumSet(uint256)')
export const RECEIVED_TOPIC = topic('Received(bytes32,bytes32,uint256)')
export const REFUSED_TOPIC = topic('MessageRefused(bytes32,bytes32,uint256)')
export const SENT_TOPIC = topic('Sent(bytes32,bytes32)')

/** Logs that make a transaction a registration, a role. */
export const REGISTRATION_TOPICS = {
  hub: [BID_TOPIC, BID_WITH_REFERRAL_TOPIC, RECEIVED_TOPIC, REFUSED_TOPIC],
  spoke: [SENT_TOPIC],
} as const

/** The logs that are read of a hub or a spoke contract. */
export const filterOf = (role: 'hub' | 'spoke', contract: Hex): LogFilter => ({
  address: contract,
  topics: role === 'hub' ? [...REGISTRATION_TOPICS.hub, MINIMUM_TOPIC] : REGISTRATION_TOPICS.spoke,
})

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
 * Reads logs in order. The words are cut from the hex itself, since this runs once a registration. A log whose data has
 * another length than its event is somebody else's and is passed over.
 * @param call the node that gave the logs: packets are read from the receipts of transactions in which a spoke logged
 * @param timeOf a log's block time in milliseconds
 */
export async function harvest(
  call: Call,
  chain: { chain: number; endpoint: Hex | undefined },
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<Harvest> {
  const found: Harvest = { entries: [], received: [], sent: [] }
  const sentLogs: RawLog[] = []
  const refused = new Set<string>()
  for (const log of logs) {
    const first = log.topics[0]!
    if (log.data.length !== 2 + 64 * WORDS[first]!) continue
    if (first === BID_TOPIC || first === BID_WITH_REFERRAL_TOPIC)
      found.entries.push(bidEntry(chain.chain, log, timeOf(log)))
    else if (first === MINIMUM_TOPIC) found.entries.push(minimumEntry(chain.chain, log, timeOf(log)))
    else if (first === SENT_TOPIC) sentLogs.push(log)
    else if (first === REFUSED_TOPIC) refused.add(log.data.slice(0, 66))
    else found.received.push(receivedMessage(log, refused.has(log.data.slice(0, 66))))
  }
  if (sentLogs.length > 0 && chain.endpoint) found.sent = await readPacketSent(call, chain.endpoint, sentLogs, timeOf)
  return found
}

function bidEntry(chain: number, log: RawLog, causeMs: number): Entry {
  const position = { chain, block: Number(log.blockNumber), logIndex: Number(log.logIndex) }
  const body = Buffer.from(log.transactionHash.slice(2) + log.data.slice(2), 'hex')
  return { kind: 'bid', position, txKey: txKey(body), causeMs, body }
}

function minimumEntry(chain: number, log: RawLog, causeMs: number): Entry {
  const position = { chain, block: Number(log.blockNumber), logIndex: Number(log.logIndex) }
  return { kind: 'minimum', position, txKey: null, causeMs, body: fromHex(log.data) }
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
