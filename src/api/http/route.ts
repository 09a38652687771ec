import type { z } from 'zod'
import type { StoredSession } from '../../db/auth/sessions.js'
import type { KindName } from '../../registry/auth/kinds.js'
import type { SharedLimit } from '../limits/gate.js'
import type { Answer } from './answer.js'
import type { Context } from './context.js'
import type { Bad, Dearest } from './dearest.js'
import type { ErrorCode } from './errors.js'
import type { HeaderName } from './headers.js'
import type { Query } from './query.js'

/** The wallet behind a request, proven by its authentication key on both networks. */
export interface Session extends StoredSession {
  type: KindName
  /** The wallet's stored form. */
  wallet: Buffer
  /** The wallet as answers show it. */
  address: string
  /** SHA-256 of the authentication key: the session's primary key. */
  keyHash: Buffer
}

/**
 * Says whether a route looks at the authentication key. `required`: 401 without a valid key. `optional`: an invalid key
 * counts as none. Answers of both depend on the key, and say so to caches.
 */
export type AuthRule = 'required' | 'optional' | undefined

/** The session that a handler gets under a rule. */
type SessionOf<Auth extends AuthRule> = Auth extends 'required'
  ? Session
  : Auth extends 'optional'
    ? Session | null
    : null

/** The part of a request that handlers see. */
export interface RouteRequest<Body = unknown, Auth extends AuthRule = AuthRule> {
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  query: Query
  /** The query says `testnet=true`. */
  isTestnet: boolean
  /** Body, checked against the route's schema. */
  body: Body
  /** The caller, as the route's rule promises it. */
  session: SessionOf<Auth>
}

/**
 * Source of a route's answers while the network is caught up: the journal, or unconfirmed bids too.
 */
export type Kept = 'journal' | 'facts'

/** Longest wait that a request may ask for. */
export const MAX_LONG_POLL_MS = 30_000

/**
 * Price of a route's requests, in units: a unit is what the look-up of a name takes of processors. test/api/costs.test.ts
 * holds every price to at most three times that; docs/use/limits.md shows them.
 */
export interface Price {
  /** The price as the document says it, of n elements. */
  text: string
  /** @param body before it was checked @throws ApiError invalid_request */
  of(query: Query, body: unknown): number
}

/**
 * Whom an answer shows what is private: `caller`, the wallet whose key is sent, what is its own; `members`, the verified
 * wallets of a cluster its private ones, too; null for nobody.
 */
type PrivateTo = 'caller' | 'members' | null

/** Example of a request. */
export interface Example {
  /** Status of its answer, where that is not a good one. */
  status?: number
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

/** Its schemas are the source of the OpenAPI documents. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path in Express's form: `/v1/names/address/:address`. */
  path: string
  /** Other paths that answer the same. */
  aliases?: readonly string[]
  summary: string
  description?: string
  /** What it answers beyond the document of the interface, or in another way, in sentences (docs/use/interface-v0.1.md). */
  beyond?: string
  auth?: AuthRule
  /** Path of the route that replaces this one, which is deprecated: its answers carry `Deprecation` and a link there. */
  successor?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType | undefined
  /** Answers by status; `type` is their media type, JSON by default; `headers` come on top. */
  responses: Readonly<
    Record<
      number,
      { description: string; schema: z.ZodType; type?: string; headers?: readonly HeaderName[] }
    >
  >
  /**
   * Errors beside those of every route (`invalid_request`, `rate_limited`, `internal`, `unavailable`; `unauthorized`
   * where a key is required).
   */
  errors?: readonly ErrorCode[]
  /** Its dearest request, by which a test holds its cost to processor time. */
  dearest: Dearest
  /** A request that it refuses; null where it refuses only what every route does. */
  bad: Bad | null
  /** Whom its answers show private data. Without a key there is nobody whom they could. */
  privateTo?: PrivateTo
  /** Bounds of the lists in its answers, by the lists' places: each is `page`, `asked`, `rule` or `set up: …`. */
  bounds?: Readonly<Record<string, string>>
  /** Example of a request, where the schemas' own examples don't make one. The local world answers it. */
  example?: Example
  /** Price of a request; default: by `priceOf`. */
  price?: Price
  /** Parameter of the query that lets a request stay, for at most `MAX_STAY_MS` beyond the deadline. */
  longPollParam?: string
  /** Its answers, but passing ones, are kept until that moves. No route with a key may say so: they are everybody's. */
  kept?: Kept
  /** Its answers name the head that they reflect (`x-clusterd-as-of`). */
  isLookup?: true
  /** Its answers are streams, which stay until one side ends them. */
  isStream?: true
  /** Its body is a list of up to 8 MiB, also in lines: its cost is owed, and few are under way at once. */
  isBulk?: true
  /** Limit that is counted in the database too, for all processes. */
  countedTogether?: SharedLimit
  /** Answers a request whose body fits the schema; `session` is never null where `auth` is `required`. */
  handle(request: RouteRequest<unknown, 'optional'>, context: Context): Promise<Answer>
}

type Definition<Auth extends AuthRule, Body extends z.ZodType> = Omit<
  Route,
  'method' | 'path' | 'body' | 'auth' | 'bad' | 'privateTo' | 'kept' | 'handle'
> & {
  auth?: Auth
  bad: Auth extends 'required' ? Bad : z.ZodUnknown extends Body ? Bad | null : Bad
  kept?: Auth extends undefined ? Kept : never
  body?: Body
  handle(request: RouteRequest<z.output<Body>, Auth>, context: Context): Promise<Answer>
} & (Auth extends undefined ? { privateTo?: never } : { privateTo: PrivateTo })

const declaring =
  (method: Route['method']) =>
  <const Auth extends AuthRule = undefined, Body extends z.ZodType = z.ZodUnknown>(
    path: string,
    definition: Definition<Auth, Body>,
  ): Route => ({
    ...definition,
    method,
    path,
    // the server checks body and key by this declaration before it calls
    handle: definition.handle as Route['handle'],
  })

export const route = {
  get: declaring('get'),
  post: declaring('post'),
  put: declaring('put'),
  patch: declaring('patch'),
  delete: declaring('delete'),
}
