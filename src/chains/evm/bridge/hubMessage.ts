import { decodeAbiParameters, decodeFunctionData, encodeAbiParameters, type Hex, parseAbi, zeroHash } from 'viem'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { wordToName } from '../../../registry/primitives/name.js'

/**
 * Bridge messages: `abi.encode(bytes32 sender, bytes hubCalldata)`, decoded as the hub contract does (HubMessage.sol).
 * Valid means: accepted by Solidity's decoder (any offset inside the data, trailing bytes allowed), 1 to 100 names, as
 * many amounts as names, and a sum below 2^256. The decoder never throws.
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
const MESSAGE = [{ type: 'bytes32' }, { type: 'bytes' }] as const
const CALLS = parseAbi([
  'function placeBids(uint256[] amounts, bytes32[] names)',
  'function placeBids(uint256[] amounts, bytes32[] names, bytes32 referral)',
  'function placeBid(bytes32 name)',
  'function placeBid(bytes32 name, bytes32 referral)',
  'function withdrawRefund(address to)',
])

/** Message of a spoke: `abi.encode(bytes32 sender, bytes hubCalldata)`. */
export const encodeMessage = (sender: Hex, hubCalldata: Hex): Hex => encodeAbiParameters(MESSAGE, [sender, hubCalldata])

/**
 * Decodes a bridge message. Undecodable, hence refused by the hub: no sender, or no call that is allowed over the
 * bridge.
 */
export function decodeMessage(message: Uint8Array): BridgeMessage {
  const from = Buffer.alloc(WORD)
  if (message.length < WORD) return { from, call: UNDECODABLE }
  from.set(message.subarray(0, WORD))
  try {
    const [sender, hubCalldata] = decodeAbiParameters(MESSAGE, message)
    return { from, call: sender === zeroHash ? UNDECODABLE : decodeHubCalldata(fromHex(hubCalldata)) }
  } catch {
    return { from, call: UNDECODABLE }
  }
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
  try {
    const { functionName, args } = decodeFunctionData({ abi: CALLS, data: toHex(calldata) })
    if (functionName === 'placeBid') return { kind: 'bid', nameWord: fromHex(args[0]), referral: referralOf(args[1]) }
    if (functionName === 'placeBids') return bidsOf(args[0], args[1], args[2])
    // viem takes any word for an address
    const isAddress = calldata.subarray(4, 16).every((byte) => byte === 0)
    return isAddress ? { kind: 'withdrawal', to: fromHex(args[0]) } : UNDECODABLE
  } catch {
    return UNDECODABLE
  }
}

function bidsOf(amounts: readonly bigint[], names: readonly Hex[], referral?: Hex): HubCall {
  const isTooMuch = amounts.reduce((sum, amount) => sum + amount, 0n) >> 256n !== 0n
  if (amounts.length !== names.length || amounts.length === 0 || amounts.length > MAX_BIDS || isTooMuch)
    return UNDECODABLE
  return { kind: 'bids', amountsWei: [...amounts], nameWords: names.map(fromHex), referral: referralOf(referral) }
}

/** Referral word; null for zero, which the hub logs in the form without referral. */
const referralOf = (word: Hex = zeroHash): Buffer | null => (word === zeroHash ? null : fromHex(word))
