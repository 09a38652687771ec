import { LRUCache } from 'lru-cache'
import { privateKeyToAccount } from 'viem/accounts'
import { type ClaimPermission, claimPermissionTypedData } from '../../../registry/airdrop/permission.js'
import type { Hex, PermissionSigner } from '../../chain.js'

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
