import { encodeFunctionData } from 'viem'
import { toHex } from '../../registry/bytes.js'
import { nameToWord } from '../../registry/name.js'
import type { Hex } from '../chain.js'

/** The two forms of `placeBids` that are ever built, for one name too (0x40bee835, and with referral 0xfdad12fd). */
const placeBidsAbi = [
  {
    type: 'function',
    name: 'placeBids',
    stateMutability: 'payable',
    inputs: [
      { name: 'amounts', type: 'uint256[]' },
      { name: 'names', type: 'bytes32[]' },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'placeBids',
    stateMutability: 'payable',
    inputs: [
      { name: 'amounts', type: 'uint256[]' },
      { name: 'names', type: 'bytes32[]' },
      { name: 'referral', type: 'bytes32' },
    ],
    outputs: [],
  },
] as const

/**
 * Calldata of the hub's `placeBids`.
 * @param names canonical names, each with its bid in ETH wei
 * @param referral 32 bytes of who is credited, null for the two-argument form
 */
export function encodePlaceBids(
  names: readonly { name: string; amountWei: bigint }[],
  referral: Uint8Array | null,
): Hex {
  const amounts = names.map(({ amountWei }) => amountWei)
  const words = names.map(({ name }) => toHex(nameToWord(name)))
  return referral
    ? encodeFunctionData({ abi: placeBidsAbi, functionName: 'placeBids', args: [amounts, words, toHex(referral)] })
    : encodeFunctionData({ abi: placeBidsAbi, functionName: 'placeBids', args: [amounts, words] })
}
