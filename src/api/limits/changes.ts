import { type BucketFullTimes, readBuckets, writeBuckets } from '../../db/auth/limitBuckets.js'
import type { ChangeRateLimit } from '../../db/journal/appendSignedChanges.js'
import type { RowChanges } from '../../registry/fold/rows.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { type BucketRate, ratePerDay, ratePerMinute } from './bucket.js'
import type { BucketQuota } from './meter.js'
import { withdrawCharges } from './shared.js'

/**
 * An address may make as many changes a day as this number of wallets: wallets cost nothing, and changes are stored
 * for ever.
 */
const WALLETS_OF_ADDRESS = 100

/** Limits of a wallet's changes on a network. */
export interface ChangeLimits {
  changesPerMinute: number
  changesPerDay: number
  clustersPerDay: number
  /** Names below communities that are registered without a payment. */
  namesPerDay: number
}

/** Journal bytes of a change per unit. */
const BYTES_PER_CHANGE = 1_024

/**
 * Units of a change, by what is counted. `changes` are its events, its rows of private wallets (which have no events)
 * or its KiB, whichever is largest: a community's rules may be long.
 */
function unitsOf({ journal, clusters, communityNames, ...rows }: RowChanges) {
  const events = journal.reduce((sum, { publicCount }) => sum + publicCount, 0)
  const written = rows.wallets.length + rows.walletUpdates.length + rows.walletRemovals.length
  const size = Math.ceil(journal.reduce((sum, { body }) => sum + body.length, 0) / BYTES_PER_CHANGE)
  return {
    changes: Math.max(1, events, written, size),
    clusters: clusters.length,
    names: communityNames.length,
  }
}

/** A bucket of a change, and what is counted in it. */
interface ChangeQuota extends BucketQuota {
  counts: keyof ReturnType<typeof unitsOf>
}

/** Caller of a change, whose buckets the change is charged to. */
interface Changer {
  network: Network
  wallet: Buffer
  /** Community whose rules the change replaces; its owners share one limit. */
  community: string | null
  /** Address of the client; null where the operator gave the client's key its own limits. */
  address: string | null
}

function quotasOf(limits: ChangeLimits, changer: Changer): ChangeQuota[] {
  const quotaOf = (
    owner: string,
    kind: string,
    rate: BucketRate,
    counts: ChangeQuota['counts'] = 'changes',
  ) => ({ kind, bucket: `${kind} ${changer.network} ${owner}`, rate, counts })
  const changesOf = (owner: string) => [
    quotaOf(owner, 'changes-a-minute', ratePerMinute(limits.changesPerMinute)),
    quotaOf(owner, 'changes-a-day', ratePerDay(limits.changesPerDay)),
  ]
  const { community, address } = changer
  const wallet = toHex(changer.wallet)
  const ofAddress = ratePerDay(WALLETS_OF_ADDRESS * limits.changesPerDay)
  return [
    ...changesOf(wallet),
    quotaOf(wallet, 'clusters-a-day', ratePerDay(limits.clustersPerDay), 'clusters'),
    quotaOf(wallet, 'names-a-day', ratePerDay(limits.namesPerDay), 'names'),
    ...(community === null ? [] : changesOf(`rules of ${community}`)),
    ...(address === null ? [] : [quotaOf(address, 'changes-of-address', ofAddress)]),
  ]
}

/** Limit of one change, by buckets that all processes share. */
export function createChangeLimit(limits: ChangeLimits, changer: Changer): ChangeRateLimit {
  const quotas = quotasOf(limits, changer)
  const buckets = quotas.map(({ bucket }) => bucket)
  let before: BucketFullTimes
  let fullMs: readonly number[]
  return {
    async read(db) {
      before = await readBuckets(db, buckets)
    },
    /** @throws ApiError rate_limited */
    charge(changes) {
      const units = unitsOf(changes)
      const charges = quotas.map((quota) => ({ ...quota, units: units[quota.counts] }))
      fullMs = withdrawCharges(charges, before)
    },
    write: (db) => writeBuckets(db, buckets, fullMs),
  }
}
