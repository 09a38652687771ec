import type { Answer } from '../http/answer.js'
import { type PageLimitBounds, pageLimitOf } from '../http/query.js'
import type { Route, RoutePrice } from '../http/route.js'

const fixedPrice = (units: number): RoutePrice => ({ text: String(units), of: () => units })

/** Price of a request that calls a chain, units. */
export const CHAIN_CALL_COST = 5
const LOOKUPS_PER_UNIT = 100
/**
 * Rows that one rate-limit unit pays for, besides the price of the request: list elements that were read for a
 * response, or the hub's credits and withdrawals that the refunds route adds up.
 */
export const ROWS_PER_UNIT = 75
/** Price of a signature by a key of the service, units. */
const SIGNATURE_COST = 1
/** Number of signatures, about 1.5 ms each, that a request makes before other requests are served. */
export const SIGNATURES_AT_ONCE = 2
/** Number of names of a transaction after the first one, listed in its status or only counted, that cost one unit. */
export const STATUS_NAMES_PER_UNIT = 30
const EVENTS_PER_UNIT = 200
const BYTES_PER_UNIT = 4_096

const LOOK_UP_PRICE = fixedPrice(1)
const BULK_PRICE: RoutePrice = {
  text: '1 + n/100',
  of: (_query, body) => 1 + countElements(body) / LOOKUPS_PER_UNIT,
}
/** Price of a signed change of n elements, which takes a lock and commits. */
const CHANGE_PRICE: RoutePrice = { text: '6 + n', of: (_query, body) => 6 + countElements(body) }
/** Units of a sign-in, for the verification of the signature. */
export const SIGN_IN_COST = 10
/** Further units of a smart wallet's sign-in, for each node that checks the signature. */
export const SIGN_IN_NODE_COST = 5
export const SIGN_IN_PRICE: RoutePrice = {
  text: `${SIGN_IN_COST} + ${SIGN_IN_NODE_COST} for each node asked about a smart wallet`,
  of: () => SIGN_IN_COST,
}
/** Price of a quote, of balances on chains, and of the status of a transaction that our tables do not have. */
export const CHAIN_CALL_PRICE = fixedPrice(CHAIN_CALL_COST)
/** Price of look-ups with several statements. */
export const SEVERAL_STATEMENTS_PRICE = fixedPrice(2)
/** Price of a page of `names.search`. All matches are counted for each page. */
export const NAME_SEARCH_PRICE = fixedPrice(5)
/** Price of opening a stream, which begins with a page of events. */
export const STREAM_PRICE = fixedPrice(4)
/** Price of an ENS look-up, whose response is signed. */
export const ENS_PRICE = fixedPrice(3)
/**
 * Price of a tile or an entry bundle of a log (C2SP tlog-tiles), and of an event's proof. A bundle has 256 entries,
 * which are serialized for each request.
 */
export const LOG_BUNDLE_PRICE = fixedPrice(3)
/** Price of a checkpoint that a witness signs: two signatures, and a lock. */
export const WITNESS_SIGNATURE_PRICE = fixedPrice(6)
/** Price of a quote that builds one transaction per name. */
export const QUOTE_PER_NAME_PRICE: RoutePrice = {
  text: '5 + n',
  of: (_query, body) => CHAIN_CALL_COST + countElements(body),
}

/** Minimum cost of a request, units, by the bytes of its body: as declared, and later as received. */
export const requestBytesCost = (bytes: number): number => Math.max(1, bytes / BYTES_PER_UNIT)

/** Price of a page of the feed, by the requested maximum of events. */
export const feedPagePrice = (limit: PageLimitBounds): RoutePrice => ({
  text: `1 + \`limit\`/${EVENTS_PER_UNIT}`,
  of: (query) => 1 + pageLimitOf(query, limit) / EVENTS_PER_UNIT,
})

/** The price that a route declares, else the price of a look-up, a bulk look-up or a change. */
export function priceOfRoute({ price, method, auth, body }: Route): RoutePrice {
  if (price) return price
  if (auth === 'required' && method !== 'get') return CHANGE_PRICE
  return body ? BULK_PRICE : LOOK_UP_PRICE
}

/**
 * Charges a response for the list elements that were read, and for its signatures by the service's keys. Their numbers
 * do not follow from the request.
 */
export const chargeForListItems = (answer: Answer, count: number, signatures = 0): Answer => ({
  ...answer,
  unspent: -count / ROWS_PER_UNIT - signatures * SIGNATURE_COST,
})

/** Number of elements of a list, or of all lists in an object. */
function countElements(body: unknown): number {
  if (Array.isArray(body)) return body.length
  const lists = body && typeof body === 'object' ? Object.values(body).filter(Array.isArray) : []
  return lists.reduce((sum, list) => sum + list.length, 0)
}
