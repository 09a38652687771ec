import { decodeAbiParameters, toEventSelector } from 'viem'
import type { SentMessage } from '../../../registry/bridge/message.js'
import { fromHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import { transient } from '../../rpc/errors.js'
import { type Call, inBatches } from '../../rpc/nodes.js'
import { getReceipt, type RawLog, type RawReceipt } from '../logs.js'
import { decodePacket } from './packet.js'

/** LayerZero's EndpointV2: `PacketSent(bytes encodedPayload, bytes options, address sendLibrary)`. */
const PACKET_SENT_TOPIC = toEventSelector('PacketSent(bytes,bytes,address)')

/**
 * Reads the packets behind a spoke's `Sent` logs from the receipts of their transactions. The endpoint's own events
 * have no index, and a query by range would return every application's packets.
 */
export async function readPacketSent(
  call: Call,
  endpoint: Hex,
  sentLogs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<SentMessage[]> {
  const hashes = [...new Set(sentLogs.map((log) => log.transactionHash))]
  const RECEIPTS_AT_ONCE = 16
  const read = async (hash: Hex) => [hash, await getReceipt(call, hash)] as const
  const receipts = new Map(await inBatches(hashes, RECEIPTS_AT_ONCE, read))
  return sentLogs.map((log) => {
    const receipt = receipts.get(log.transactionHash)
    if (!receipt) throw transient(`eth_getTransactionReceipt: ${log.transactionHash} has a log but no receipt yet`)
    if (receipt.blockHash !== log.blockHash) {
      throw transient(`eth_getTransactionReceipt: ${log.transactionHash} is in another block than its log`)
    }
    return sentMessage(log, receipt, endpoint, timeOf(log))
  })
}

function sentMessage(log: RawLog, receipt: RawReceipt, endpoint: Hex, sentMs: number): SentMessage {
  const [, guid, from] = log.topics as [Hex, Hex, Hex]
  const packets = receipt.logs
    .filter((other) => other.topics[0] === PACKET_SENT_TOPIC && other.address.toLowerCase() === endpoint)
    .map((other) => decodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }, { type: 'address' }], other.data))
  const ours = packets.find(([payload]) => decodePacket(payload)?.guid === guid)
  if (!ours) throw transient(`eth_getTransactionReceipt: ${log.transactionHash} lacks the packet of its message`)
  return {
    guid: fromHex(guid),
    from: fromHex(from),
    txHash: fromHex(log.transactionHash),
    block: Number(log.blockNumber),
    blockHash: fromHex(log.blockHash),
    logIndex: Number(log.logIndex),
    sentMs,
    packet: fromHex(ours[0]),
    options: fromHex(ours[1]),
  }
}
