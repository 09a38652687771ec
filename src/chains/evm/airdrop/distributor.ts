import {
  type AbiFunction,
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { fromHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import type { DistributorClaim, Hex, PermittedReceiver } from '../../chain.js'
import { RpcError } from '../../rpc/errors.js'
import type { Call } from '../../rpc/evm.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import type { RawLog } from '../logs.js'

/** Airdrop distributors (AirdropDistributor.sol): their claims as calldata, their `Claimed` as logs, what one says of itself. */

const selectorOf = (name: 'claim' | 'claimFor'): Hex =>
  toFunctionSelector(getAbiItem({ abi: airdropDistributorAbi, name }) as AbiFunction)
const CLAIM = selectorOf('claim')
const CLAIM_FOR = selectorOf('claimFor')

const WORD_BYTES = 32
const word = (value: number | bigint): string => value.toString(16).padStart(2 * WORD_BYTES, '0')
const addressWord = (address: Hex): string =>
  address
    .slice(2)
    .toLowerCase()
    .padStart(2 * WORD_BYTES, '0')
const list = (words: readonly string[]): string => word(words.length) + words.join('')
const hexOf = (bytes: Buffer): string => bytes.toString('hex')

// Written word by word: an answer may hold hundreds, and a general encoder takes a tenth of a millisecond for each.

/** Calldata of `claim(index, account, amount, proof)`. */
export const encodeClaim = ({ index, account, amount, proof }: DistributorClaim): Hex =>
  `${CLAIM}${word(index)}${hexOf(account)}${word(amount)}${word(4 * WORD_BYTES)}${list(proof)}`

/** Calldata of `claimFor(index, account, amount, proof, to, deadline, signature)`. */
export function encodeClaimFor(
  { index, account, amount, proof }: DistributorClaim,
  { to, deadlineS, signature }: PermittedReceiver,
): Hex {
  const proofAt = 7 * WORD_BYTES
  const signatureAt = proofAt + WORD_BYTES * (1 + proof.length)
  const bytes = signature.slice(2)
  const padded = bytes.padEnd(Math.ceil(bytes.length / (2 * WORD_BYTES)) * 2 * WORD_BYTES, '0')
  const head = [
    word(index),
    hexOf(account),
    word(amount),
    word(proofAt),
    addressWord(to),
    word(deadlineS),
    word(signatureAt),
  ]
  return `${CLAIM_FOR}${head.join('')}${list(proof)}${word(bytes.length / 2)}${padded}`
}

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

/** What a `Claimed` says, null where its data isn't four words. */
export function decodeClaimed({ data }: Pick<RawLog, 'data'>): ClaimedLog | null {
  const bytes = fromHex(data)
  if (bytes.length !== 4 * WORD_BYTES) return null
  const at = (i: number) => bytes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES)
  return { index: wordToBigInt(at(0)), account: at(1), amount: wordToBigInt(at(2)), to: at(3).subarray(12) }
}

/** What a distributor says of itself. */
export interface DistributorFacts {
  merkleRoot: Hex
  token: Hex
  /** Unix time, seconds. */
  endsAtS: number
  /** Whose permissions count; the zero address for nobody's. */
  operator: Hex
}

/** Asks a contract what it says as a distributor, null where it is none. @throws RpcError */
export async function readDistributor(call: Call, address: Hex): Promise<DistributorFacts | null> {
  const ask = async (functionName: 'merkleRoot' | 'token' | 'endsAt' | 'operator') => {
    const abi = airdropDistributorAbi
    const data = await call<Hex>('eth_call', [
      { to: address, data: encodeFunctionData({ abi, functionName }) },
      'latest',
    ])
    // an account without code, or with another one's
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
