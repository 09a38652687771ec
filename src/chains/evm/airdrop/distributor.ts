import { decodeFunctionResult, encodeFunctionData, getAbiItem, toEventSelector } from 'viem'
import { fromHex, toHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import type { DistributorClaim, Hex, PermittedReceiver } from '../../chain.js'
import { RpcError } from '../../rpc/errors.js'
import type { Call } from '../../rpc/evm.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import type { RawLog } from '../logs.js'

/**
 * Airdrop distributors (AirdropDistributor.sol): calldata of claims, decoded `Claimed` logs, and the contract's state.
 */

const WORD_BYTES = 32

/** Calldata of `claim(index, account, amount, proof)`. */
export function encodeClaim(claim: DistributorClaim): Hex {
  return encodeFunctionData({ abi: airdropDistributorAbi, functionName: 'claim', args: claimArgs(claim) })
}

/** Calldata of `claimFor(index, account, amount, proof, to, deadline, signature)`. */
export function encodeClaimFor(claim: DistributorClaim, { to, deadlineS, signature }: PermittedReceiver): Hex {
  const args = [...claimArgs(claim), to, BigInt(deadlineS), signature] as const
  return encodeFunctionData({ abi: airdropDistributorAbi, functionName: 'claimFor', args })
}

const claimArgs = ({ index, account, amount, proof }: DistributorClaim) =>
  [BigInt(index), toHex(account), amount, proof.map((hash): Hex => `0x${hash}`)] as const

/** First topic of `Claimed(uint256 index, bytes32 account, uint256 amount, address to)`; nothing is indexed. */
export const CLAIMED_TOPIC = toEventSelector(getAbiItem({ abi: airdropDistributorAbi, name: 'Claimed' }))

export interface ClaimedLog {
  index: bigint
  /** bytes32 */
  account: Buffer
  amount: bigint
  /** 20 bytes */
  to: Buffer
}

/** Decodes a `Claimed` log; null unless its data is four words. */
export function decodeClaimed({ data }: Pick<RawLog, 'data'>): ClaimedLog | null {
  const bytes = fromHex(data)
  if (bytes.length !== 4 * WORD_BYTES) return null
  const at = (i: number) => bytes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES)
  return { index: wordToBigInt(at(0)), account: at(1), amount: wordToBigInt(at(2)), to: at(3).subarray(12) }
}

/** State of a distributor contract. */
export interface DistributorState {
  merkleRoot: Hex
  token: Hex
  /** Unix time, seconds. */
  endsAtS: number
  /** Signer of permissions; the zero address for none. */
  operator: Hex
}

/** Reads a distributor's state; null where the contract is no distributor. @throws RpcError */
export async function readDistributor(call: Call, address: Hex): Promise<DistributorState | null> {
  const ask = async (functionName: 'merkleRoot' | 'token' | 'endsAt' | 'operator') => {
    const abi = airdropDistributorAbi
    const data = await call<Hex>('eth_call', [
      { to: address, data: encodeFunctionData({ abi, functionName }) },
      'latest',
    ])
    // an account without code, or with other code
    if (data.length !== 2 + 2 * WORD_BYTES) throw new RpcError('refused', `${address} has no ${functionName}()`)
    return decodeFunctionResult({ abi, functionName, data })
  }
  try {
    const [merkleRoot, token, endsAt, operator] = await Promise.all([
      ask('merkleRoot'),
      ask('token'),
      ask('endsAt'),
      ask('operator'),
    ])
    return { merkleRoot: merkleRoot as Hex, token: token as Hex, endsAtS: Number(endsAt), operator: operator as Hex }
  } catch (error) {
    if (error instanceof RpcError && error.fault === 'refused') return null
    throw error
  }
}
