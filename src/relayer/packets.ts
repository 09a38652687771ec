import type { Hex } from 'viem'
import { askedWei } from '../chains/evm/bridge/calls.js'
import { decodePacket, type Packet } from '../chains/evm/bridge/packet.js'
import { decodeLzReceiveOption, type LzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { toHex } from '../registry/primitives/bytes.js'

/** Contracts between which messages are carried. */
export interface Lane {
  hub: { eid: number; contract: Hex; isLocal: boolean }
  /** `chain`: the spoke's number in the database. */
  spokes: readonly { chain: number; eid: number; contract: Hex }[]
}

export type MessageDecision =
  | { packet: Packet; option: LzReceiveOption }
  /** Verified only, which moves no money but unblocks later packets. */
  | { packet: Packet; refusal: 'bad_options' | 'value_mismatch' }
  | { packet: null; refusal: 'foreign_packet' }

/**
 * Decides whether a message may be executed at our cost. Senders choose the options, so value is paid only as the
 * message itself asks for, and never for a packet that is not from our spoke to our hub. Local networks, which have no
 * other executor, also execute messages that the hub refuses and credits.
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
