import { limitsOf } from '../api/support.js'

const rate = { perSecond: 100_000, burst: 100_000 }

/** Limits that no test here reaches, so that only long polls and streams are limited. */
export const LIMITS = limitsOf(rate.burst, { address: rate, key: rate })
