import type { z } from 'zod'
import type { StoredSession } from '../../db/auth/sessions.js'
import type { WalletKindName } from '../../registry/auth/kinds.js'
import type { Answer } from './answer.js'
import type { Context } from './context.js'
import type { ErrorCode } from './errors.js'
import type { HeaderName } from './headers.js'
import type { RequestQuery } from './query.js'
import type { CostliestRequest, RefusedRequest } from './sampleRequests.js'

/** The wallet that sent a request, proven by its authentication key, which is valid on both networks. */
export interface Session extends StoredSession {
  type: WalletKindName
  /** The wallet's stored form. */
  wallet: Buffer
  /** The wallet as responses show it. */
  address: string
  /** SHA-256 of the authentication key: the session's primary key. */
  keyHash: Buffer
}

/**
 * Whether a route uses the authentication key. `required`: 401 without a valid key. `optional`: an invalid key counts
 * as none. With either rule, responses depend on the key and carry cache headers that say so. Undefined: no key is
 * read.
 */
export type AuthRule = 'required' | 'optional' | undefined

/** The session that a handler gets under an authentication rule. */
type SessionOf<Auth extends AuthRule> = Auth extends 'required'
  ? Session
  : Auth extends 'optional'
    ? Session | null
    : null

/** The part of a request that handlers get. */
export interface RouteRequest<Body = unknown, Auth extends AuthRule = AuthRule> {
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  query: RequestQuery
  /** The query has `testnet=true`. */
  isTestnet: boolean
  /** Body, checked against the route's schema. */
  body: Body
  /** The caller's session, of the type that the route's authentication rule gives. */
  session: SessionOf<Auth>
}

/**
 * Data that a route's responses depend on while the network is caught up. `journal`: public events; `facts`: also
 * unconfirmed bids. Cached responses are reused until this data changes.
 */
export type CacheSource = 'journal' | 'facts'

/** Longest wait that a long poll may request. */
export const MAX_LONG_POLL_MS = 30_000

/**
 * Price of a route's requests, in units. A unit is the processor time of one name look-up. test/api/costs.test.ts
 * checks that no request takes more than three times the processor time of its price. docs/use/limits.md lists the
 * prices.
 */
export interface RoutePrice {
  /** The price as docs/use/limits.md shows it, for n elements. */
  text: string
  /** Units that a request costs. @param body before validation @throws ApiError invalid_request */
  of(query: RequestQuery, body: unknown): number
}

/**
 * Callers that see private data in a response. `caller`: a caller with a key sees data of its own wallet. `members`:
 * verified wallets of a cluster also see the cluster's private wallets. Null: no caller.
 */
type PrivateDataFor = 'caller' | 'members' | null

/** Request of an OpenAPI document's example. Parts that are left out come from the route's schemas. */
export interface RequestExample {
  /** Status of the response, where it is not a success. */
  status?: number
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

/** Declaration of a route. Its schemas are the source of the OpenAPI documents. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path in Express's form: `/v1/names/address/:address`. */
  path: string
  /** Other paths with the same response. */
  aliases?: readonly string[]
  summary: string
  description?: string
  /** Sentences about how the route differs from the interface document, or adds to it (docs/use/interface-v0.1.md). */
  interfaceNotes?: string
  auth?: AuthRule
  /**
   * Path of the route that replaces this deprecated route. Responses carry `Deprecation` and a link to the successor.
   */
  successor?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType | undefined
  /** Responses by status. `type` is the media type, JSON by default. `headers` are added to the common headers. */
  responses: Readonly<
    Record<
      number,
      { description: string; schema: z.ZodType; type?: string; headers?: readonly HeaderName[] }
    >
  >
  /**
   * Errors in addition to the errors of every route (`invalid_request`, `rate_limited`, `internal`, `unavailable`;
   * `unauthorized` where a key is required).
   */
  errors?: readonly ErrorCode[]
  /** The route's most expensive request. A test compares its processor time with its price. */
  costliestSample: CostliestRequest
  /**
   * Sample of a request that the route refuses. Needed where test/support/declaredRequests.ts cannot derive a refused
   * request from the route's schemas. Null for a route that has no refusals of its own.
   */
  refusedSample?: RefusedRequest | null
  /** Callers that see private data in the responses. A route without a key returns no private data. */
  privateDataFor?: PrivateDataFor
  /**
   * The reason why each list in the responses is bounded, by the list's path. A reason begins with its kind: `page`
   * (the list is paged), `asked` (as many elements as the request names), `rule` (a rule of the registry limits the
   * list) or `set up` (the operator's configuration limits the list). Details follow a colon.
   */
  listBounds?: Readonly<Record<string, string>>
  /**
   * Example of a request, if the schemas' examples are not enough to make a request. The local world (the test network
   * on one machine) can answer the request.
   */
  example?: RequestExample
  /** Price of a request; default: chosen by `priceOfRoute`. */
  price?: RoutePrice
  /**
   * Data that the responses depend on: cached responses are reused until the data changes. Not allowed on routes with a
   * key, because cached responses are shared.
   */
  cacheSource?: CacheSource
  /** True if responses carry the block that they reflect (`x-clusterd-as-of`). */
  isLookup?: boolean
  /** True for a route whose query selects a network. A request for a network that is not deployed is refused. */
  isOfOneNetwork?: boolean
  /** True for a route that is refused on a mirror, because a mirror does not have the data. */
  isNotOnMirror?: boolean
  /** Responses are streams, which stay open until the client or the server ends them. */
  isStream?: true
  /**
   * The body is a list of up to 8 MiB, as JSON or as lines. Its cost may exceed the bucket of the rate limit, and few
   * such requests run at once.
   */
  isBulk?: true
  /** The body is text in a format of the route, not JSON. */
  isText?: true
  /** Handles a request whose body fits the schema; `session` is never null where `auth` is `required`. */
  handle(request: RouteRequest<unknown, 'optional'>, context: Context): Promise<Answer>
}

/** Fields of a declaration. The types of a handler's body and session follow from its schema and rule. */
type RouteDefinition<Auth extends AuthRule, Body extends z.ZodType> = Omit<
  Route,
  'method' | 'path' | 'body' | 'auth' | 'privateDataFor' | 'cacheSource' | 'handle'
> & {
  auth?: Auth
  cacheSource?: Auth extends undefined ? CacheSource : never
  body?: Body
  handle(request: RouteRequest<z.output<Body>, Auth>, context: Context): Promise<Answer>
} & (Auth extends undefined ? { privateDataFor?: never } : { privateDataFor: PrivateDataFor })

const createRouteDeclarer =
  (method: Route['method']) =>
  <const Auth extends AuthRule = undefined, Body extends z.ZodType = z.ZodUnknown>(
    path: string,
    definition: RouteDefinition<Auth, Body>,
  ): Route => ({
    ...definition,
    method,
    path,
    // the server validates body and key by this declaration before it calls the handler
    handle: definition.handle as Route['handle'],
  })

/** Declares the route of a path. */
export const declareRoute = {
  get: createRouteDeclarer('get'),
  post: createRouteDeclarer('post'),
  put: createRouteDeclarer('put'),
  patch: createRouteDeclarer('patch'),
  delete: createRouteDeclarer('delete'),
}
