import { type BenchChain, nameOf, walletOf } from './chain.js'
import type { LoadRequest } from './generator.js'

/** Requests of a benchmark, over registrations that are spread over the whole table. */

/** Numbers of `keys` registrations, at equal distances over all registrations. */
const spread = ({ registrations }: BenchChain, keys: number): number[] =>
  Array.from({ length: keys }, (_, i) => Math.floor((i * registrations) / keys))

export const addressRequests = (chain: BenchChain, keys: number): LoadRequest[] =>
  spread(chain, keys).map((n) => ({ path: `/v1/names/address/${walletOf(n)}` }))

export const nameRequests = (chain: BenchChain, keys: number): LoadRequest[] =>
  spread(chain, keys).map((n) => ({
    path: '/v1/names',
    body: JSON.stringify([{ name: nameOf(n) }]),
  }))

/** Requests whether a name is free. Every second name is. */
export const checkRequests = (chain: BenchChain, keys: number): LoadRequest[] =>
  spread(chain, keys).map((n, i) => ({
    path: '/v1/names/register/check',
    body: JSON.stringify([i % 2 === 0 ? nameOf(n) : `free-${n}`]),
  }))

/** Requests for the status of each registration that has its own transaction. */
export const statusRequests = ({ singles }: BenchChain): LoadRequest[] =>
  singles.map((hash) => ({ path: `/v1/names/register/tx/${hash}` }))

/** Request for the newest page of the feed. */
export const FEED_REQUEST: LoadRequest = { path: '/v1/events?orderBy=newest&limit=10' }
