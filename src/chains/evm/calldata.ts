import { encodeFunctionData } from 'viem'
import { toHex } from '../../registry/primitives/bytes.js'
import { nameToWord } from '../../registry/primitives/name.js'
import type { Hex } from '../chain.js'
import { hubAbi } from './contracts/index.js'

/**
 * Calldata of the hub's `placeBids`, built for a single name as well (0x40bee835, with referral 0xfdad12fd).
 * @param names canonical names, each with its bid in ETH wei
 * @param referral referrer as 32 bytes, null for the two-argument form
 */
export function encodePlaceBids(
  names: readonly { name: string; amountWei: bigint }[],
  referral: Uint8Array | null,
): Hex {
  const amounts = names.map(({ amountWei }) => amountWei)
  const words = names.map(({ name }) => toHex(nameToWord(name)))
  return referral
    ? encodeFunctionData({ abi: hubAbi, functionName: 'placeBids', args: [amounts, words, toHex(referral)] })
    : encodeFunctionData({ abi: hubAbi, functionName: 'placeBids', args: [amounts, words] })
}
