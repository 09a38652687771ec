import { concatHex, encodePacked, type Hex, size } from 'viem'

/**
 * The `lzReceive` option of a packet. clusterd builds and executes packets with exactly one such option, and no other.
 * Encoding of options (type 3 of LayerZero's OptionsBuilder, ExecutorOptions): type u16, then for each option worker u8,
 * size u16 (of kind and data), kind u8 and data. The data is gas u128, and value u128 unless zero.
 */
export interface LzReceiveOption {
  /** Gas for the receiver's call. */
  gas: bigint
  /** Value delivered with the message, wei on the destination chain. */
  value: bigint
}

const PACKET_OPTIONS_TYPE = 3
const EXECUTOR_WORKER_ID = 1
const LZ_RECEIVE_KIND = 1
const GAS_FIELD_BYTES = 16
/** Largest value that an option can deliver: 128 bits. */
export const MAX_DELIVERED_VALUE_WEI = (1n << 128n) - 1n

/**
 * Encodes options with one lzReceive option.
 * @throws IntegerOutOfRangeError (viem) for a field of more than 128 bits
 */
export function encodeLzReceiveOption({ gas, value }: LzReceiveOption): Hex {
  const data =
    value === 0n
      ? encodePacked(['uint128'], [gas])
      : encodePacked(['uint128', 'uint128'], [gas, value])
  const head = encodePacked(
    ['uint16', 'uint8', 'uint16', 'uint8'],
    [PACKET_OPTIONS_TYPE, EXECUTOR_WORKER_ID, size(data) + 1, LZ_RECEIVE_KIND],
  )
  return concatHex([head, data])
}

/**
 * Decodes options that consist of exactly one lzReceive option. The sender chooses the options, so nothing ambiguous is
 * accepted.
 * @returns null for another type, worker or kind, for several options (an executor adds them up), wrong sizes or
 * trailing bytes
 */
export function decodeLzReceiveOption(options: Hex): LzReceiveOption | null {
  const bytes = Buffer.from(options.slice(2), 'hex')
  if (bytes.length * 2 !== options.length - 2 || bytes.length < 6) return null
  const data = bytes.subarray(6)
  const isOne =
    bytes.readUInt16BE(0) === PACKET_OPTIONS_TYPE &&
    bytes[2] === EXECUTOR_WORKER_ID &&
    bytes.readUInt16BE(3) === data.length + 1 &&
    bytes[5] === LZ_RECEIVE_KIND
  if (!isOne || (data.length !== GAS_FIELD_BYTES && data.length !== 2 * GAS_FIELD_BYTES))
    return null
  const uint = (part: Buffer): bigint =>
    part.length === 0 ? 0n : BigInt(`0x${part.toString('hex')}`)
  return {
    gas: uint(data.subarray(0, GAS_FIELD_BYTES)),
    value: uint(data.subarray(GAS_FIELD_BYTES)),
  }
}
