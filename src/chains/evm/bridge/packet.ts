import { concatHex, encodePacked, type Hex, keccak256 } from 'viem'

/**
 * A packet of LayerZero V2. Encoding (PacketV1Codec): version u8, nonce u64, srcEid u32, sender bytes32, dstEid u32,
 * receiver bytes32, guid bytes32, message. The first 81 bytes are the header that verifiers sign.
 */
export interface Packet {
  /** Number of the packet, counted from 1 per (sender, dstEid, receiver). */
  nonce: bigint
  srcEid: number
  /** Address in 32 bytes, lower-case hex. */
  sender: Hex
  dstEid: number
  receiver: Hex
  guid: Hex
  message: Hex
}

/** Path and nonce of a packet: the input of its guid. */
export type PacketPath = Pick<Packet, 'nonce' | 'srcEid' | 'sender' | 'dstEid' | 'receiver'>

const PACKET_VERSION = 1
const HEADER_BYTES = 81
const GUID_BYTES = 32

/** Packet id: keccak256 of packed nonce u64, srcEid u32, sender bytes32, dstEid u32, receiver bytes32 (GUID.sol). */
export const packetGuid = (path: PacketPath): Hex =>
  keccak256(
    encodePacked(
      ['uint64', 'uint32', 'bytes32', 'uint32', 'bytes32'],
      [path.nonce, path.srcEid, path.sender, path.dstEid, path.receiver],
    ),
  )

export const packetHeader = (path: PacketPath): Hex =>
  encodePacked(
    ['uint8', 'uint64', 'uint32', 'bytes32', 'uint32', 'bytes32'],
    [PACKET_VERSION, path.nonce, path.srcEid, path.sender, path.dstEid, path.receiver],
  )

/** Hash that an endpoint stores for a verified packet: keccak256(guid ‖ message). */
export const packetPayloadHash = (packet: Pick<Packet, 'guid' | 'message'>): Hex =>
  keccak256(concatHex([packet.guid, packet.message]))

/** Encodes a packet as the `encodedPayload` of the event `PacketSent`. */
export const encodePacket = (packet: Packet): Hex =>
  concatHex([packetHeader(packet), packet.guid, packet.message])

/**
 * Decodes the `encodedPayload` of `PacketSent`.
 * @returns null for a payload that is short or not hex, another codec version, or a guid that is not the hash of the
 * packet's path
 */
export function decodePacket(encodedPayload: Hex): Packet | null {
  const bytes = Buffer.from(encodedPayload.slice(2), 'hex')
  if (bytes.length * 2 !== encodedPayload.length - 2) return null
  if (bytes.length < HEADER_BYTES + GUID_BYTES || bytes[0] !== PACKET_VERSION) return null
  const hex = (start: number, end?: number): Hex => `0x${bytes.toString('hex', start, end)}`
  const path: PacketPath = {
    nonce: bytes.readBigUInt64BE(1),
    srcEid: bytes.readUInt32BE(9),
    sender: hex(13, 45),
    dstEid: bytes.readUInt32BE(45),
    receiver: hex(49, HEADER_BYTES),
  }
  const guid = hex(HEADER_BYTES, HEADER_BYTES + GUID_BYTES)
  return guid === packetGuid(path)
    ? { ...path, guid, message: hex(HEADER_BYTES + GUID_BYTES) }
    : null
}
