import { decodeErrorResult, zeroHash } from 'viem'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { nameToWord } from '../../../registry/primitives/name.js'
import type { Hex } from '../../chain.js'
import { errorWithCauses, revertDataOfError } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/evm.js'
import {
  communityPaymentsAbi,
  ensResolverAbi,
  hubAbi,
  layerZeroEndpointAbi,
  localMessageLibAbi,
} from '../contracts/index.js'
import { createContractReader, encodeContractCall } from '../contracts/read.js'
import { decodeHubMessage } from './hubMessage.js'
import { encodePacket, type Packet, packetPayloadHash } from './packet.js'

/** Contract call of a relayer's job: target and calldata, without the value. */
export interface BridgeCall {
  to: Hex
  data: Hex
}

/** `EndpointV2.lzReceive`: executes a verified packet, only once. Anybody may call it. Emits `PacketDelivered`. */
export const buildExecutePacketCall = (endpoint: Hex, packet: Packet): BridgeCall => ({
  to: endpoint,
  data: encodeContractCall(layerZeroEndpointAbi, 'lzReceive', [
    originOf(packet),
    receiverAddressOf(packet),
    packet.guid,
    packet.message,
    '0x',
  ]),
})

/** `LocalMessageLib.validatePacket`: verifies a packet on a local chain. Restricted to the library's verifier. */
export const buildVerifyPacketCall = (messageLib: Hex, packet: Packet): BridgeCall => ({
  to: messageLib,
  data: encodeContractCall(localMessageLibAbi, 'validatePacket', [encodePacket(packet)]),
})

/**
 * Calldata of the hub's `placeBids`, also used for a single name. Selector 0x40bee835, or 0xfdad12fd with a referral.
 * @param names canonical names, each with its bid in ETH wei
 * @param referral 32 bytes; null for the form without a referral
 */
export function encodePlaceBidsCalldata(
  names: readonly { name: string; amountWei: bigint }[],
  referral: Uint8Array | null,
): Hex {
  const amounts = names.map(({ amountWei }) => amountWei)
  const words = names.map(({ name }) => toHex(nameToWord(name)))
  const args = referral ? ([amounts, words, toHex(referral)] as const) : ([amounts, words] as const)
  return encodeContractCall(hubAbi, 'placeBids', args)
}

/**
 * Reads a packet's state from the endpoint at a block (number or tag in JSON-RPC form). The endpoint stores the hash of
 * a verified packet until the packet is executed. For each path the endpoint also stores the highest nonce that was
 * executed or skipped (`lazyInboundNonce`).
 */
export async function readPacketState(call: RpcCall, endpoint: Hex, packet: Packet, block: string) {
  const path = [receiverAddressOf(packet), packet.srcEid, packet.sender] as const
  const read = createContractReader(call, endpoint, layerZeroEndpointAbi, block)
  const [storedHash, lazy] = await Promise.all([
    read('inboundPayloadHash', [...path, packet.nonce]),
    read('lazyInboundNonce', path),
  ])
  const isExecuted = storedHash === zeroHash && lazy >= packet.nonce
  return {
    /** Also true for a packet that was skipped. */
    isExecuted,
    isVerified: isExecuted || storedHash === packetPayloadHash(packet),
    /** Number of unexecuted packets before this packet. To execute this packet, the endpoint iterates over them. */
    behind: packet.nonce > lazy ? packet.nonce - lazy - 1n : 0n,
  }
}

const originOf = ({ srcEid, sender, nonce }: Packet) => ({ srcEid, sender, nonce })
const receiverAddressOf = ({ receiver }: Packet): Hex => `0x${receiver.slice(26)}`

/** A bid that was paid on another chain: an element of the list that `Hub.deliver` takes. */
export interface PaidBid {
  /** Id of the program that took the payment (`paymentSourceId`), and the payment's number there. */
  source: Uint8Array
  sequence: bigint
  /** The payer's address, left-padded to 32 bytes. */
  from: Uint8Array
  amountWei: bigint
  /** The name, right-padded to 32 bytes. */
  name: Uint8Array
  referral: Uint8Array
}

/**
 * `Hub.deliver`: places paid bids. Skips bids that it placed earlier. Restricted to the relayer. Emits `Received` for each
 * placed bid.
 */
export const buildDeliverBidsCall = (hub: Hex, bids: readonly PaidBid[]): BridgeCall => ({
  to: hub,
  data: encodeContractCall(hubAbi, 'deliver', [bids.map(deliveryStructOf)]),
})

const deliveryStructOf = ({ source, sequence, from, amountWei, name, referral }: PaidBid) => ({
  source: toHex(source),
  sequence,
  from: toHex(from),
  amounts: [amountWei],
  names: [toHex(name)],
  referral: toHex(referral),
})

/**
 * True if all of these bids were delivered to the hub as of a block, also bids that won nothing.
 * @param block number or tag in JSON-RPC form
 */
export async function areBidsDelivered(
  call: RpcCall,
  hub: Hex,
  bids: readonly PaidBid[],
  block: string,
): Promise<boolean> {
  const read = createContractReader(call, hub, hubAbi, block)
  const taken = bids.map(({ source, sequence }) => read('isDelivered', [toHex(source), sequence]))
  return (await Promise.all(taken)).every(Boolean)
}

/**
 * Value that a packet's message needs at delivery, wei: the sum of the bids, or 0 for a withdrawal. Null for a message
 * that the hub refuses: then the hub accepts any value and credits all of it.
 */
export function deliveryValueWei(packet: Packet): bigint | null {
  const call = decodeHubMessage(fromHex(packet.message))
  if (call.kind === 'bids') return call.amountsWei.reduce((sum, amount) => sum + amount, 0n)
  return call.kind === 'withdrawal' ? 0n : null
}

const CONTRACT_ERRORS = [
  ...layerZeroEndpointAbi,
  ...hubAbi,
  ...localMessageLibAbi,
  ...communityPaymentsAbi,
  ...ensResolverAbi,
].filter(({ type }) => type === 'error')

/** Name of the contract error behind a revert, in snake_case. Null for an unknown error, or without revert data. */
export function contractErrorOfRevert(error: unknown): string | null {
  for (const cause of errorWithCauses(error)) {
    const data = revertDataOfError(cause)
    if (data !== null) return contractErrorName(data)
  }
  return null
}

function contractErrorName(data: Hex): string | null {
  try {
    const { errorName: name } = decodeErrorResult({ abi: CONTRACT_ERRORS, data })
    return name
      .replace(/^LZ_/, '')
      .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
      .toLowerCase()
  } catch {
    return null
  }
}
