import { LRUCache } from 'lru-cache'
import { decodeFunctionResult, encodeFunctionData, getAbiItem, toEventSelector } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ClaimPermission, claimPermissionTypedData } from '../../../registry/airdrop/permission.js'
import { fromHex, toHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import type { DistributorClaim, Hex, PermissionSigner, PermittedReceiver } from '../../chain.js'
import { orIfRefused, RpcError } from '../../rpc/errors.js'
import type { Call } from '../../rpc/evm.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import type { RawLog } from '../logs.js'

/**
 * Airdrop distributors (AirdropDistributor.sol): calldata of claims, decoded `Claimed` logs, the contract's state, and
 * permissions by its operator's key.
 */

const WORD_BYTES = 32

const argsOf = ({ index, account, amount, proof }: DistributorClaim) =>
  [BigInt(index), toHex(account), amount, proof.map((hash): Hex => `0x${hash}`)] as const

/** Calldata of `claim(index, account, amount, proof)`. */
export const encodeClaim = (claim: DistributorClaim): Hex =>
  encodeFunctionData({ abi: airdropDistributorAbi, functionName: 'claim', args: argsOf(claim) })

/** Calldata of `claimFor(index, account, amount, proof, to, deadline, signature)`. */
export const encodeClaimFor = (claim: DistributorClaim, { to, deadlineS, signature }: PermittedReceiver): Hex =>
  encodeFunctionData({
    abi: airdropDistributorAbi,
    functionName: 'claimFor',
    args: [...argsOf(claim), to, BigInt(deadlineS), signature],
  })

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

/** Size of the cache: bundles request the same permissions repeatedly, and a signature takes about a millisecond. */
const KEPT_SIGNATURES = 10_000

/** Signs permissions with an operator's key and caches the newest signatures, which are deterministic (RFC 6979). */
export function createPermissionSigner(privateKey: Hex): PermissionSigner {
  const account = privateKeyToAccount(privateKey)
  const kept = new LRUCache<string, Promise<Hex>, ClaimPermission>({
    max: KEPT_SIGNATURES,
    memoMethod: (_, __, { context }) => account.signTypedData(claimPermissionTypedData(context)),
  })
  return {
    address: account.address.toLowerCase() as Hex,
    sign: (permission) => kept.memo(keyOf(permission), { context: permission }),
  }
}

const keyOf = ({ chainId, distributor, index, account, to, deadlineS }: ClaimPermission): string =>
  [chainId, distributor, index, account.toString('hex'), to, deadlineS].join()
