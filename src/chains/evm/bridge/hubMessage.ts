import { encodeAbiParameters, type Hex, toFunctionSelector } from 'viem'
import { toHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import { wordToName } from '../../../registry/primitives/name.js'

/**
 * Bridge messages: `abi.encode(bytes32 sender, bytes hubCalldata)`, decoded word by word as the hub contract does
 * (HubMessage.sol). Valid means: accepted by Solidity's decoder (any offset inside the data, trailing bytes allowed), 1
 * to 100 names, as many amounts as names, and a sum below 2^256. The decoder never throws.
 */
export interface BridgeMessage {
  /** Sender, 32 bytes. */
  from: Buffer
  call: HubCall
}

export type HubCall =
  | { kind: 'bids'; amountsWei: bigint[]; nameWords: Buffer[]; referral: Buffer | null }
  /** Bid of the delivered value. Our hub refuses it in a message, because a stranger could execute it with value 0. */
  | { kind: 'bid'; nameWord: Buffer; referral: Buffer | null }
  /** Address, 20 bytes. */
  | { kind: 'withdrawal'; to: Buffer }
  | { kind: 'undecodable' }

export const MAX_BIDS = 100

const WORD = 32
const UNDECODABLE: HubCall = { kind: 'undecodable' }
const SELECTOR = {
  bids: toFunctionSelector('placeBids(uint256[],bytes32[])'),
  bidsWithReferral: toFunctionSelector('placeBids(uint256[],bytes32[],bytes32)'),
  bid: toFunctionSelector('placeBid(bytes32)'),
  bidWithReferral: toFunctionSelector('placeBid(bytes32,bytes32)'),
  withdrawal: toFunctionSelector('withdrawRefund(address)'),
}

/** Message of a spoke: `abi.encode(bytes32 sender, bytes hubCalldata)`. */
export const encodeMessage = (sender: Hex, hubCalldata: Hex): Hex =>
  encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [sender, hubCalldata])

/**
 * Decodes a bridge message. Undecodable, hence refused by the hub: no sender, or no call that is allowed over the
 * bridge.
 */
export function decodeMessage(message: Uint8Array): BridgeMessage {
  const bytes = Buffer.from(message)
  const from = Buffer.alloc(WORD)
  if (bytes.length < WORD) return { from, call: UNDECODABLE }
  bytes.copy(from, 0, 0, WORD)
  const inner = bytes.length < 2 * WORD ? null : find(bytes, WORD, 1)
  if (!inner || from.every((byte) => byte === 0)) return { from, call: UNDECODABLE }
  return { from, call: decodeHubCalldata(bytes.subarray(inner.start, inner.start + inner.length)) }
}

/**
 * Names that a message bids for on our hub, in order, canonical or as raw words in hex. Empty when the hub refuses the
 * whole message, null for a withdrawal.
 */
export function messageNames({ call }: BridgeMessage): string[] | null {
  if (call.kind === 'withdrawal') return null
  return call.kind === 'bids' ? call.nameWords.map((word) => wordToName(word) ?? toHex(word)) : []
}

/** Decodes a call to the hub. */
export function decodeHubCalldata(calldata: Uint8Array): HubCall {
  const bytes = Buffer.from(calldata)
  const args = bytes.subarray(4)
  switch (`0x${bytes.toString('hex', 0, 4)}`) {
    case SELECTOR.bids:
      return readBids(args, false)
    case SELECTOR.bidsWithReferral:
      return readBids(args, true)
    case SELECTOR.bid:
      return args.length < WORD ? UNDECODABLE : { kind: 'bid', nameWord: args.subarray(0, WORD), referral: null }
    case SELECTOR.bidWithReferral:
      if (args.length < 2 * WORD) return UNDECODABLE
      return { kind: 'bid', nameWord: args.subarray(0, WORD), referral: referralAt(args, WORD) }
    case SELECTOR.withdrawal:
      if (args.length < WORD || args.subarray(0, 12).some((byte) => byte !== 0)) return UNDECODABLE
      return { kind: 'withdrawal', to: args.subarray(12, WORD) }
    default:
      return UNDECODABLE
  }
}

function readBids(args: Buffer, hasReferral: boolean): HubCall {
  if (args.length < (hasReferral ? 3 : 2) * WORD) return UNDECODABLE
  const amounts = find(args, 0, WORD)
  const names = find(args, WORD, WORD)
  if (!amounts || !names || amounts.length !== names.length) return UNDECODABLE
  if (amounts.length === 0 || amounts.length > MAX_BIDS) return UNDECODABLE
  const amountsWei = words(args, amounts).map(wordToBigInt)
  if (amountsWei.reduce((sum, amount) => sum + amount, 0n) >> 256n !== 0n) return UNDECODABLE
  const referral = hasReferral ? referralAt(args, 2 * WORD) : null
  return { kind: 'bids', amountsWei, nameWords: words(args, names), referral }
}

interface Span {
  start: number
  length: number
}

/**
 * Finds the dynamic value whose offset is at `head`: start and number of its elements; null if any part lies outside
 * the data.
 */
function find(data: Buffer, head: number, elementBytes: number): Span | null {
  const offset = wordToBigInt(data.subarray(head, head + WORD))
  if (offset > BigInt(data.length - WORD)) return null
  const start = Number(offset) + WORD
  const length = wordToBigInt(data.subarray(start - WORD, start))
  return length > BigInt(Math.floor((data.length - start) / elementBytes)) ? null : { start, length: Number(length) }
}

const words = (data: Buffer, { start, length }: Span): Buffer[] =>
  Array.from({ length }, (_, i) => data.subarray(start + i * WORD, start + (i + 1) * WORD))

/** Referral word; null for zero, which the hub logs in the form without referral. */
function referralAt(args: Buffer, at: number): Buffer | null {
  const word = args.subarray(at, at + WORD)
  return word.every((byte) => byte === 0) ? null : word
}
