import type { Answer } from '../http/answer.js'
import { limitOf, type PageLimit, type Query } from '../http/query.js'
import type { Route } from '../http/route.js'

/** Costs of requests that are no plain look-up, in look-ups. */
export const SIGN_IN_COST = 10
/** Cost of what asks a chain: a quote, the status of an unknown transaction, what a wallet owns there. */
export const CHAIN_COST = 5
const LOOKUPS_PER_UNIT = 100
const EVENTS_PER_UNIT = 200
const TRANSACTIONS_PER_UNIT = 10
const BYTES_PER_UNIT = 4_096

/** Least cost of a request, by the bytes of its body so far. */
export const bytesCost = (bytes: number): number => Math.max(1, bytes / BYTES_PER_UNIT)

/** Cost of a page of the feed. @throws ApiError invalid_request */
export const pageCost =
  (limit: PageLimit) =>
  (query: Query): number =>
    1 + limitOf(query, limit) / EVENTS_PER_UNIT

/** Cost of a quote on Solana, whose transactions are made one by one. */
export const solanaQuoteCost = (_query: Query, body: unknown): number =>
  CHAIN_COST + Math.max(0, elements(body) - 1) / TRANSACTIONS_PER_UNIT

/**
 * Cost of a request: as its route says, else a look-up 1, a bulk look-up 1 + n/100, a change 1 for each element.
 * @param body before it was checked
 */
export function costOf(
  { cost, auth }: Pick<Route, 'cost' | 'auth'>,
  query: Query,
  body: unknown,
): number {
  if (typeof cost === 'function') return cost(query, body)
  const count = elements(body)
  return cost ?? (auth === 'required' ? Math.max(1, count) : 1 + count / LOOKUPS_PER_UNIT)
}

/** Answer with a list whose length no request tells: its elements are owed, as those of a bulk look-up are paid. */
export const listed = (answer: Answer, count: number): Answer => ({
  ...answer,
  unspent: -count / LOOKUPS_PER_UNIT,
})

/** Number of elements of a list, or of all lists of an object. */
function elements(body: unknown): number {
  if (Array.isArray(body)) return body.length
  const lists = body && typeof body === 'object' ? Object.values(body).filter(Array.isArray) : []
  return lists.reduce((sum, list) => sum + list.length, 0)
}
