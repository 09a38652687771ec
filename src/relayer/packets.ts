import type { Hex } from 'viem'
import { askedWei } from '../chains/evm/bridge/calls.js'
import { decodePacket, type Packet } from '../chains/evm/bridge/packet.js'
import { decodeLzReceiveOption, type LzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { toHex } from '../registry/primitives/bytes.js'

/** The contracts between which messages are carried. */
export interface Lane {
  hub: { eid: number; contract: Hex; isLocal: boolean }
  /** `chain`: the spoke's number in the database. */
  spokes: readonly { chain: number; eid: number; contract: Hex }[]
}

export type MessageDecision =
  | { packet: Packet; option: LzReceiveOption }
  /** Only verified. That moves no money, and the endpoint asks for it before it executes later packets. */
  | { packet: Packet; refusal: 'bad_options' | 'value_mismatch' }
  | { packet: null; refusal: 'foreign_packet' }

/**
 * Whether a message may be executed at our cost. Whoever sends a packet chooses its options, so the value is paid only
 * where the message itself asks for exactly that, and nothing at all for a packet that is not from our spoke to our
 * hub. A message that the hub refuses as a whole has its value credited: on a local network, where no other executor
 * is, it is delivered with it.
 */
export function decideMessage(
  message: { chain: number; packet: Buffer; options: Buffer },
  lane: Lane,
): MessageDecision {
  const packet = decodePacket(toHex(message.packet))
  const spoke = lane.spokes.find(({ chain }) => chain === message.chain)
  if (!packet || !spoke || !isOnLane(packet, spoke, lane)) return { packet: null, refusal: 'foreign_packet' }
  const option = decodeLzReceiveOption(toHex(message.options))
  if (!option || option.gas === 0n) return { packet, refusal: 'bad_options' }
  const asked = askedWei(packet)
  const isPaid = asked === null ? option.value === 0n || lane.hub.isLocal : option.value === asked
  return isPaid ? { packet, option } : { packet, refusal: 'value_mismatch' }
}

const isOnLane = (packet: Packet, spoke: Lane['spokes'][number], { hub }: Lane): boolean =>
  packet.srcEid === spoke.eid &&
  packet.sender === asWord(spoke.contract) &&
  packet.dstEid === hub.eid &&
  packet.receiver === asWord(hub.contract)

const asWord = (address: Hex): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
