import type { paths as Paths01 } from './generated/v0.1.js'
import type { components, paths as Paths1 } from './generated/v1.js'

/** Types of every route, generated from the routes' schemas (src/client/generated). */

type Paths = Paths1 & Paths01

/** Named schemas of the HTTP API: `Schemas['Cluster']`. */
export type Schemas = components['schemas']

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Path templates of the routes with method `M`: `/v1/names/address/{address}`. */
export type PathOf<M extends Method> = {
  [P in keyof Paths]: Paths[P] extends Record<Lowercase<M>, { responses: unknown }> ? P : never
}[keyof Paths]

type Operation<M extends Method, P extends PathOf<M>> =
  Paths[P] extends Record<Lowercase<M>, infer O> ? O : never

type OperationParameters<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { parameters: infer T } ? Required<T> : unknown

/** Options of every call; `signal` cancels it. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Time limit of a call including its retries, milliseconds; default: the client's. */
  timeoutMs?: number | undefined
}

/** Input of a route: `params` of its path, `query`, `body`. */
export type Input<M extends Method, P extends PathOf<M>> = CallOptions &
  (OperationParameters<M, P> extends { path: infer T } ? { params: T } : { params?: undefined }) &
  (OperationParameters<M, P> extends { query: infer T } ? { query?: T } : { query?: undefined }) &
  (Operation<M, P> extends { requestBody: { content: { 'application/json': infer T } } }
    ? { body: T }
    : { body?: undefined })

/** Body of a route's response with status 200. */
export type Answer<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { responses: { 200: { content: infer C } } } ? C[keyof C] : never

type FamilyOf<Path> = Path extends `/v1/names/register/${infer Family}`
  ? Exclude<Family, 'check'>
  : never
/** Chain families that have a route for quotes. */
export type QuoteFamily = FamilyOf<PathOf<'POST'>>
export type QuoteOfFamily<Family extends QuoteFamily> = Answer<
  'POST',
  `/v1/names/register/${Family}`
>

export type FeedEvent = Schemas['Event']
export type TransactionStatus = Schemas['TransactionStatus']
export type StatusWord = TransactionStatus['status']
