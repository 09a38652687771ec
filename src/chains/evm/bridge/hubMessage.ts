import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  type Hex,
  parseAbi,
  zeroHash,
} from 'viem'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { nameWordText } from '../../../registry/primitives/name.js'

/**
 * A bridge message `abi.encode(bytes32 sender, bytes hubCalldata)`, decoded as the hub contract does (HubMessage.sol).
 * A message is valid if Solidity's decoder accepts it (any offset inside the data, trailing bytes allowed). Bids are valid
 * if there are 1 to 100 names, as many amounts, and a sum below 2^256. The decoder never throws.
 */
export type HubCall =
  | { kind: 'bids'; amountsWei: readonly bigint[]; nameWords: readonly Hex[] }
  | { kind: 'withdrawal' }
  /**
   * A message that the hub refuses. The hub also refuses `placeBid`, a single bid of the delivered value, because a
   * stranger could execute such a message with value 0.
   */
  | { kind: 'undecodable' }

export const MAX_BIDS_PER_MESSAGE = 100

const UNDECODABLE_CALL: HubCall = { kind: 'undecodable' }
const HUB_MESSAGE_PARAMETERS = [{ type: 'bytes32' }, { type: 'bytes' }] as const
const HUB_CALLS_ABI = parseAbi([
  'function placeBids(uint256[] amounts, bytes32[] names)',
  'function placeBids(uint256[] amounts, bytes32[] names, bytes32 referral)',
  'function withdrawRefund(address to)',
])

export const encodeHubMessage = (sender: Hex, hubCalldata: Hex): Hex =>
  encodeAbiParameters(HUB_MESSAGE_PARAMETERS, [sender, hubCalldata])

/** Returns `UNDECODABLE_CALL` if the message has no sender, or no call that the bridge allows. */
export function decodeHubMessage(message: Uint8Array): HubCall {
  try {
    const [sender, hubCalldata] = decodeAbiParameters(HUB_MESSAGE_PARAMETERS, message)
    return sender === zeroHash ? UNDECODABLE_CALL : decodeHubCalldata(fromHex(hubCalldata))
  } catch {
    return UNDECODABLE_CALL
  }
}

/**
 * Names for which a message bids on the hub, in the message's order. A name that is not canonical is given as its raw
 * 32-byte word in hex. Empty when the hub refuses the whole message. Null for a withdrawal.
 */
export function namesOfHubCall(call: HubCall): string[] | null {
  if (call.kind === 'withdrawal') return null
  return call.kind === 'bids' ? call.nameWords.map((word) => nameWordText(fromHex(word))) : []
}

export function decodeHubCalldata(calldata: Uint8Array): HubCall {
  try {
    const { functionName, args } = decodeFunctionData({ abi: HUB_CALLS_ABI, data: toHex(calldata) })
    if (functionName === 'placeBids') return bidsIfValid(args[0], args[1])
    // viem's decoder accepts any 32 bytes as an address; the hub requires twelve leading zero bytes
    const isAddress = calldata.subarray(4, 16).every((byte) => byte === 0)
    return isAddress ? { kind: 'withdrawal' } : UNDECODABLE_CALL
  } catch {
    return UNDECODABLE_CALL
  }
}

function bidsIfValid(amountsWei: readonly bigint[], nameWords: readonly Hex[]): HubCall {
  const { length } = nameWords
  const isTooMuch = amountsWei.reduce((sum, amount) => sum + amount, 0n) >> 256n !== 0n
  const isValid =
    amountsWei.length === length && length > 0 && length <= MAX_BIDS_PER_MESSAGE && !isTooMuch
  return isValid ? { kind: 'bids', amountsWei, nameWords } : UNDECODABLE_CALL
}
