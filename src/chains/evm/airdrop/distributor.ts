import { getAbiItem, type Log, parseEventLogs, toEventSelector } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type ClaimPermission,
  claimPermissionTypedData,
} from '../../../registry/airdrop/permission.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { AirdropDistributorClaim, Hex, PermittedClaimReceiver } from '../../chain.js'
import { fallbackIfRefused } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/evm.js'
import { cacheAnswersByKey } from '../../rpc/served.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import { createContractReader, encodeContractCall } from '../contracts/read.js'
import type { RawLog } from '../logs.js'

const claimArguments = ({ index, account, amount, proof }: AirdropDistributorClaim) =>
  [BigInt(index), toHex(account), amount, proof.map((hash): Hex => `0x${hash}`)] as const

/** Calldata of `claim(index, account, amount, proof)`. */
export const encodeClaimCalldata = (claim: AirdropDistributorClaim): Hex =>
  encodeContractCall(airdropDistributorAbi, 'claim', claimArguments(claim))

/** Calldata of `claimFor(index, account, amount, proof, to, deadline, signature)`. */
export const encodeClaimForCalldata = (
  claim: AirdropDistributorClaim,
  { to, deadlineS, signature }: PermittedClaimReceiver,
): Hex =>
  encodeContractCall(airdropDistributorAbi, 'claimFor', [
    ...claimArguments(claim),
    to,
    BigInt(deadlineS),
    signature,
  ])

const CLAIMED_EVENT = getAbiItem({ abi: airdropDistributorAbi, name: 'Claimed' })
/** First topic of `Claimed(uint256 indexed index, bytes32 indexed account, uint256 amount, address to)`. */
export const CLAIMED_EVENT_TOPIC = toEventSelector(CLAIMED_EVENT)

/** Decodes index, account, amount and receiver of a `Claimed` log. Null for a log of another form. */
export const decodeClaimedLog = (log: RawLog) =>
  parseEventLogs({ abi: [CLAIMED_EVENT], logs: [log as unknown as Log] })[0]?.args ?? null

/** Latest end of claims that a JavaScript Date can hold, Unix seconds. Airdrops of clusterd end within five years. */
const MAX_CLAIM_END_S = 8_640_000_000_000n

/**
 * Reads an airdrop distributor's terms: tree root, token, end of claims and operator. Null where the contract is not a
 * distributor, or its claims end after `MAX_CLAIM_END_S`.
 * @throws RpcError
 */
export async function readDistributorTerms(call: RpcCall, address: Hex) {
  const read = createContractReader(call, address, airdropDistributorAbi)
  const parts = Promise.all([read('merkleRoot'), read('token'), read('operator'), read('endsAt')])
  const state = await fallbackIfRefused(parts, null)
  if (!state) return null
  const [merkleRoot, token, operator, endsAt] = state
  if (endsAt > MAX_CLAIM_END_S) return null
  return {
    merkleRoot,
    token,
    /** Unix seconds. */
    endsAtS: Number(endsAt),
    /** Account that signs claim permissions. The zero address where the distributor has no operator. */
    operator,
  }
}

/**
 * Lifetime (ms) and size of the cache of signatures. Clients request a claim permission repeatedly, and signing takes
 * about 1 ms.
 */
const SIGNATURE_CACHE_OPTIONS = { forMs: () => 86_400_000, most: 10_000 }

/** Creates a signer of claim permissions that caches the newest signatures, which are deterministic (RFC 6979). */
export function createClaimPermissionSigner(privateKey: Hex) {
  const account = privateKeyToAccount(privateKey)
  return {
    address: account.address.toLowerCase() as Hex,
    sign: cacheAnswersByKey(
      (permission: ClaimPermission) => account.signTypedData(claimPermissionTypedData(permission)),
      { ...SIGNATURE_CACHE_OPTIONS, keyOf: permissionCacheKey },
    ),
  }
}

const permissionCacheKey = ({
  chainId,
  distributor,
  index,
  account,
  to,
  deadlineS,
}: ClaimPermission): string =>
  [chainId, distributor, index, account.toString('hex'), to, deadlineS].join()
