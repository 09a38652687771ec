const rate = { perSecond: 100_000, burst: 100_000 }

/** Limits that no test here reaches, so that only long polls and streams are limited. */
export const LIMITS = {
  address: rate,
  key: rate,
  keysPerDay: 1,
  changesPerMinute: 1,
  changesPerDay: 1,
  clustersPerDay: 1,
  namesPerDay: 1,
}
