import type { ChangeLimit } from '../../db/journal/appendSignedChanges.js'
import { type BucketRate, ratePerDay, ratePerMinute } from '../../ops/tokenBucket.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'

/**
 * An address may make as many changes a day as this many wallets may. The limit exists because wallets cost nothing,
 * and changes are stored for ever.
 */
const WALLETS_PER_ADDRESS = 100

/** Limits of a wallet's changes on a network. */
export interface ChangeLimits {
  changesPerMinute: number
  changesPerDay: number
  clustersPerDay: number
  /** Counts names below communities that are registered without a payment. */
  namesPerDay: number
}

/** Caller of a change, who determines the buckets that the change is charged to. */
interface ChangeCaller {
  network: Network
  wallet: Buffer
  /** Community whose rules the change replaces; its owners share one limit. */
  community: string | null
  /** IP address of the client. Null where the operator gave the client's API key a rate, and without a client. */
  address: string | null
}

/** The limits of a change: buckets that all processes share. Empty where nothing is limited. */
export function limitsOfChange(limits: ChangeLimits | null, caller: ChangeCaller): ChangeLimit[] {
  if (!limits) return []
  const limitOf = (
    owner: string,
    kind: string,
    rate: BucketRate,
    per: ChangeLimit['per'] = 'changes',
  ) => ({ kind, bucket: `${kind} ${caller.network} ${owner}`, rate, per })
  const changesOf = (owner: string) => [
    limitOf(owner, 'changes-a-minute', ratePerMinute(limits.changesPerMinute)),
    limitOf(owner, 'changes-a-day', ratePerDay(limits.changesPerDay)),
  ]
  const { community, address } = caller
  const wallet = toHex(caller.wallet)
  const ofAddress = ratePerDay(WALLETS_PER_ADDRESS * limits.changesPerDay)
  return [
    ...changesOf(wallet),
    limitOf(wallet, 'clusters-a-day', ratePerDay(limits.clustersPerDay), 'clusters'),
    limitOf(wallet, 'names-a-day', ratePerDay(limits.namesPerDay), 'names'),
    ...(community === null ? [] : changesOf(`rules of ${community}`)),
    ...(address === null ? [] : [limitOf(address, 'changes-of-address', ofAddress)]),
  ]
}
