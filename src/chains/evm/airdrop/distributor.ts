import { decodeFunctionResult, encodeFunctionData, getAbiItem, toEventSelector, toFunctionSelector } from 'viem'
import { bigIntToWord, fromHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import type { DistributorClaim, Hex, PermittedReceiver } from '../../chain.js'
import { orIfRefused, RpcError } from '../../rpc/errors.js'
import type { Call } from '../../rpc/evm.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import type { RawLog } from '../logs.js'

/**
 * Airdrop distributors (AirdropDistributor.sol): calldata of claims, decoded `Claimed` logs, and the contract's state.
 */

const WORD_BYTES = 32

const selectorOf = (name: 'claim' | 'claimFor') => toFunctionSelector(getAbiItem({ abi: airdropDistributorAbi, name }))
const [CLAIM, CLAIM_FOR] = [selectorOf('claim'), selectorOf('claimFor')]
const [CLAIM_HEAD_BYTES, CLAIM_FOR_HEAD_BYTES] = [4 * WORD_BYTES, 7 * WORD_BYTES]

/** A word of calldata, hex. */
const word = (value: number | bigint): string => bigIntToWord(BigInt(value)).toString('hex')

/** Index, account and amount, the first words of both functions. */
const firstWords = ({ index, account, amount }: DistributorClaim): string =>
  `${word(index)}${Buffer.from(account).toString('hex')}${word(amount)}`

/**
 * Calldata of `claim(index, account, amount, proof)`: joined from words, since an answer has a hundred of them, and
 * coding by the ABI hashes the signature for each.
 */
export const encodeClaim = (claim: DistributorClaim): Hex =>
  `${CLAIM}${firstWords(claim)}${word(CLAIM_HEAD_BYTES)}${word(claim.proof.length)}${claim.proof.join('')}`

/** Calldata of `claimFor(index, account, amount, proof, to, deadline, signature)`. */
export function encodeClaimFor(claim: DistributorClaim, { to, deadlineS, signature }: PermittedReceiver): Hex {
  const { proof } = claim
  const signed = signature.slice(2)
  const signatureAt = CLAIM_FOR_HEAD_BYTES + WORD_BYTES * (1 + proof.length)
  const head = `${firstWords(claim)}${word(CLAIM_FOR_HEAD_BYTES)}${word(BigInt(to))}${word(deadlineS)}${word(signatureAt)}`
  const tail = signed.padEnd(Math.ceil(signed.length / (2 * WORD_BYTES)) * 2 * WORD_BYTES, '0')
  return `${CLAIM_FOR}${head}${word(proof.length)}${proof.join('')}${word(signed.length / 2)}${tail}`
}

/** First topic of `Claimed(uint256 indexed index, bytes32 indexed account, uint256 amount, address to)`. */
export const CLAIMED_TOPIC = toEventSelector(getAbiItem({ abi: airdropDistributorAbi, name: 'Claimed' }))

export interface ClaimedLog {
  index: bigint
  /** bytes32 */
  account: Buffer
  amount: bigint
  /** 20 bytes */
  to: Buffer
}

/** Decodes a `Claimed` log; null unless it has two indexed words and two of data. */
export function decodeClaimed({ topics, data }: Pick<RawLog, 'topics' | 'data'>): ClaimedLog | null {
  const words = [...topics.slice(1), data].map(fromHex)
  if (words.map(({ length }) => length / WORD_BYTES).join() !== '1,1,2') return null
  const [index, account, rest] = words as [Buffer, Buffer, Buffer]
  const amount = wordToBigInt(rest.subarray(0, WORD_BYTES))
  return { index: wordToBigInt(index), account, amount, to: rest.subarray(WORD_BYTES + 12) }
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

/** Latest end of claims that a Date holds, Unix seconds: ours ends within five years. */
const LATEST_S = 8_640_000_000_000n

/** Reads a distributor's state; null where the contract is no distributor, or never ends. @throws RpcError */
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
  const parts = Promise.all([ask('merkleRoot'), ask('token'), ask('operator'), ask('endsAt')])
  const state = await orIfRefused(parts, null)
  if (!state) return null
  const [merkleRoot, token, operator, endsAt] = state
  if ((endsAt as bigint) > LATEST_S) return null
  return { merkleRoot: merkleRoot as Hex, token: token as Hex, endsAtS: Number(endsAt), operator: operator as Hex }
}
