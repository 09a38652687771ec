import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { poolWithQuery } from '../../db/pg/pool.js'
import { countApiRequest } from '../../ops/background.js'
import type { QueueClient } from '../../ops/fairQueue.js'
import { expensiveWork } from '../../ops/turns.js'
import { CapacityLimiter } from '../../push/capacityLimiter.js'
import type { Network } from '../../registry/primitives/network.js'
import { authenticate, withCacheHeaders } from '../auth/session.js'
import { type HttpMessage, toHttpMessage } from '../http/answer.js'
import {
  announcedBodyBytes,
  bodyLimitBytes,
  bodyTooLargeError,
  bodyTooSlowError,
  parseRequestBody,
  readBodyBytes,
} from '../http/body.js'
import type { Context, createRequestContexts } from '../http/context.js'
import { addDeprecationHeaders } from '../http/deprecation.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import {
  asOfBlockHeader,
  type Freshness,
  knownFreshness,
  refuseOnEmptyMirror,
  refuseOnMirror,
  refuseWhileCatchingUp,
  requireNetworkDeployed,
  withStalenessHeader,
} from '../http/freshness.js'
import { parseQuery, type RequestQuery, selectsTestnet } from '../http/query.js'
import { MAX_LONG_POLL_MS, type Route, type Session } from '../http/route.js'
import { requireListBounds, validateBody } from '../http/schema.js'
import { priceOfRoute, requestBytesCost } from '../limits/costs.js'
import { meterThatMayOverspend, type RateLimitGate, UNLIMITED_METER } from '../limits/gate.js'
import { rateLimitedError } from '../limits/meter.js'
import type { ResponseSender } from './answerer.js'
import { notModifiedIfMatching, withEntityTag } from './etag.js'
import type { HttpExchange } from './exchange.js'
import {
  CallerDisconnectedError,
  requestDeadline,
  requestTimeoutError,
  WaitingCaller,
} from './patience.js'
import { type CachedResponse, cacheKeyOf, createResponseCache } from './responseCache.js'

/** Maximum bytes in memory of bodies of `POST /v1/wallets` (joins), as `joinBytes` counts them. */
const JOIN_BYTES = { perClient: 16 * 1024 * 1024, total: 64 * 1024 * 1024 }
/** Retry-After of a join whose bytes find no room, or had to make room. */
const JOIN_AGAIN_MS = 5_000
/** Most bytes of memory for each byte of a join's body: a line of two characters becomes a string. */
const JOIN_GROWTH = 8
/** Changes end this long before their request's deadline, so that no change is made after its 503. */
const CHANGE_MARGIN_MS = 1_000
const URL_LIMIT_CHARS = 4_096
/** Price of a look-up, units. Work of a costlier request waits in the queue of expensive work. */
const CHEAP_UNITS = 1

export interface RouteServerOptions {
  finish: ResponseSender
  gate: RateLimitGate
  /** Routes that a mirror cannot answer. */
  routesNotOnMirror: ReadonlySet<Route>
  /** Routes of one network, refused where it is not deployed. */
  singleNetworkRoutes: ReadonlySet<Route>
}

type Contexts = ReturnType<typeof createRequestContexts>

/** Dependencies and state that all requests of the server share. */
interface Shared extends RouteServerOptions {
  contexts: Contexts
  memory: ReturnType<typeof createResponseCache>
  joins: CapacityLimiter
  deadlineMs: number
}

/** Creates the request handler of declared routes. Each request is answered exactly once, within the deadline. */
export function createRouteServer(
  contexts: Contexts,
  serving: RouteServerOptions,
  deadlineMs: number,
) {
  const shared: Shared = {
    ...serving,
    contexts,
    deadlineMs,
    memory: createResponseCache(contexts.mainnet.lookups),
    joins: new CapacityLimiter(JOIN_BYTES),
  }
  return (route: Route, exchange: HttpExchange): void => {
    void new RouteExchange(shared, route, exchange).serve()
  }
}

/** A request of a declared route. It is answered once: by its handler, an error or the deadline. */
class RouteExchange {
  readonly #shared: Shared
  readonly #route: Route
  readonly #exchange: HttpExchange
  readonly #mayLongPoll: boolean
  readonly #deadline: NodeJS.Timeout
  #meter = UNLIMITED_METER
  /** Header with the block that a look-up's response reflects (`asOfBlockHeader`): name and value in alternation. */
  #asOf: readonly string[] = []
  #isOpen = true

  constructor(shared: Shared, route: Route, exchange: HttpExchange) {
    const { deadlineMs } = shared
    this.#shared = shared
    this.#route = route
    this.#exchange = exchange
    this.#mayLongPoll = isLongPoll(route, exchange.req.url ?? '')
    this.#deadline = setTimeout(
      () => this.#expire(),
      this.#mayLongPoll ? deadlineMs + MAX_LONG_POLL_MS : deadlineMs,
    )
  }

  /** Answers the request. Errors of the handler become the response and are not thrown. */
  async serve(): Promise<void> {
    countApiRequest()
    try {
      const message = await this.#message()
      if (this.#conclude()) this.#reply(message)
    } catch (error) {
      this.#fail(error)
    }
  }

  #reply(message: HttpMessage, error?: ApiError): void {
    const isFound = message.status < 400 || message.status === 404
    const fields = [...this.#meter.fields(), ...(isFound ? this.#asOf : [])]
    this.#shared.finish(this.#exchange, message, fields, error)
  }

  #fail(thrown: unknown): void {
    if (!this.#conclude()) return
    // a body that is still arriving is not read on
    this.#exchange.req.pause()
    // not counted as an error: anybody could raise the alarm of errors
    if (thrown instanceof CallerDisconnectedError) return

    const error = toApiError(thrown)
    const answer = addDeprecationHeaders(
      this.#route,
      this.#exchange.params,
      withCacheHeaders(this.#route.auth, false, errorAnswer(error)),
    )
    this.#reply(toHttpMessage(answer), error)
  }

  #expire(): void {
    const { req, res } = this.#exchange
    if (res.closed) return
    const isBodyMissing = this.#route.body && !req.complete
    this.#fail(isBodyMissing ? bodyTooSlowError() : requestTimeoutError())
  }

  /** Marks the request as answered. @returns false if the request was answered before */
  #conclude(): boolean {
    if (!this.#isOpen) return false
    this.#isOpen = false
    clearTimeout(this.#deadline)
    return true
  }

  async #message(): Promise<HttpMessage> {
    const { contexts, gate, routesNotOnMirror, singleNetworkRoutes } = this.#shared
    const route = this.#route
    const exchange = this.#exchange
    const found = gate.ofClient(exchange)
    this.#meter = found instanceof Promise ? await found : found
    const limit = route.body ? bodyLimitBytes(route) : 0
    const announced = route.body ? announcedBodyBytes(exchange.req, limit) : 0
    const charged = requestBytesCost(announced > limit ? 0 : announced)
    this.#charge(charged)
    if (announced > limit) throw bodyTooLargeError(limit)

    const query = queryOf(exchange.req)
    const context = contexts[networkOf(query)]
    // read before the response is made, which may then reflect a newer block
    const fresh = await knownFreshness(context)
    if (singleNetworkRoutes.has(route)) requireNetworkDeployed(fresh, context.network)
    if (routesNotOnMirror.has(route)) refuseOnMirror(fresh)
    else refuseOnEmptyMirror(fresh)
    if (route.isLookup) this.#asOf = asOfBlockHeader(fresh)

    const caller = new WaitingCaller(exchange, this.#meter)
    if (route.isBulk) this.#takeJoin(caller, Math.min(limit, JOIN_GROWTH * announced))
    const bytes = route.body && (await readBodyBytes(exchange.req, announced))
    this.#meter.giveBack(charged - requestBytesCost(bytes?.length ?? 0))
    const body = bytes && (await parseRequestBody(exchange.req, bytes, route, caller.turn))
    if (!this.#isOpen) throw new CallerDisconnectedError()
    return this.#answer({ context, fresh, caller, query, bytes, body })
  }

  /** Takes units. @throws ApiError rate_limited */
  #charge(units: number): void {
    const atOnce = this.#route.isBulk ? 1 : units
    this.#meter.spend(atOnce)
    if (this.#route.isBulk) this.#meter = meterThatMayOverspend(this.#meter)
    this.#meter.spend(units - atOnce)
  }

  /** Reserves memory for the body of a join until the caller is gone. @throws ApiError rate_limited, unavailable */
  #takeJoin(caller: WaitingCaller, bytes: number): void {
    const full = () => rateLimitedError('joins', JOIN_AGAIN_MS)
    const end = () => {
      if (this.#isOpen) this.#fail(full())
      else this.#exchange.res.destroy()
    }
    const free = this.#shared.joins.take(caller.address, bytes, end)
    if (free === 'perClient') throw full()
    if (free === 'total')
      throw new ApiError('unavailable', 'This process makes as many joins as it can.')
    caller.whenGone(free)
  }

  /** The response, from the cache or from the handler. @throws ApiError, and what the handler throws */
  async #answer(request: Request): Promise<HttpMessage> {
    const { memory } = this.#shared
    const { context, fresh, caller, query, bytes, body } = request
    const route = this.#route
    const meter = this.#meter
    const spent = requestBytesCost(bytes?.length ?? 0)
    const source = this.#mayLongPoll ? undefined : route.cacheSource
    const key = source ? cacheKeyOf(this.#exchange.req, bytes) : null
    const version = key === null ? null : await memory.version(key, context.network, source!)
    const cached =
      key !== null && version !== null ? { key, version, address: caller.address } : null
    const shared = cached && (memory.get(cached) ?? memory.inProgress(cached))
    const known = shared instanceof Promise ? await shared : shared
    if (known) {
      if (source === 'facts') refuseWhileCatchingUp(fresh)
      meter.spend(Math.max(0, known.cost - spent))
      return this.#withRequestHeaders(known, fresh, null)
    }
    const cost = Math.max(spent, priceOfRoute(route).of(query, requireListBounds(route.body, body)))
    meter.spend(cost - spent)
    const isExpensive = cost > CHEAP_UNITS
    const making = this.#make(request, cost)
    if (cached) memory.share(cached, isExpensive, making)
    const { session, ...made } = await making
    if (key !== null) memory.set(key, version, made)
    return this.#withRequestHeaders(made, fresh, session)
  }

  /** Makes the response by the handler. @param cost units already charged @throws as `#answer` */
  async #make(
    request: Request,
    cost: number,
  ): Promise<CachedResponse & { session: Session | null }> {
    const { context, caller, query, body } = request
    const { params, req } = this.#exchange
    const route = this.#route
    if (cost > CHEAP_UNITS) await caller.turn()
    const own = this.#contextOf(context, caller, cost > CHEAP_UNITS)
    const session = route.auth ? await authenticate(req, route.auth, own) : null
    if (route.countedTogether) await this.#meter.spendTogether(route.countedTogether, cost)
    const given = await route.handle(
      {
        params,
        query,
        isTestnet: context.network === 'testnet',
        // the list of a bulk route was validated as it was read
        body: route.body && !route.isBulk ? validateBody(route.body, body) : body,
        session,
      },
      session ? { ...own, keyHash: session.keyHash } : own,
    )
    const marked = addDeprecationHeaders(route, params, given)
    // a response that may depend on a key must not be cached by others
    const answer = route.method === 'get' && !route.auth ? withEntityTag(marked) : marked
    const unspent = answer.unspent ?? 0
    this.#meter.giveBack(unspent)
    return { answer, message: toHttpMessage(answer), cost: cost - unspent, session }
  }

  /**
   * The context of this request. A cheap response that others may get knows nothing of its caller. Reads have no deadline
   * of their own, because they change nothing.
   */
  #contextOf(context: Context, caller: WaitingCaller, isExpensive: boolean): Context {
    const { method, cacheSource } = this.#route
    if (cacheSource && !isExpensive && !this.#mayLongPoll) return context
    const isRead = method === 'get' || cacheSource !== undefined
    const changeMs = this.#shared.deadlineMs - CHANGE_MARGIN_MS
    return {
      ...context,
      caller,
      turn: caller.turn,
      ...(isExpensive && { pool: poolOfCaller(context.pool, caller) }),
      ...(!isRead && { patience: requestDeadline(this.#exchange, changeMs) }),
    }
  }

  /** Adds the headers that depend on the request. Without such headers the cached message is reused. */
  #withRequestHeaders(
    { answer, message }: CachedResponse,
    fresh: Freshness,
    session: Session | null,
  ): HttpMessage {
    const own = withCacheHeaders(
      this.#route.auth,
      session === null,
      notModifiedIfMatching(
        withStalenessHeader(answer, fresh),
        this.#exchange.req.headers['if-none-match'],
      ),
    )
    return own === answer ? message : toHttpMessage(own)
  }
}

/** What a handler and the cache get of a request. */
interface Request {
  context: Context
  fresh: Freshness
  caller: WaitingCaller
  query: RequestQuery
  bytes: Buffer | undefined
  body: unknown
}

const networkOf = (query: RequestQuery): Network => (selectsTestnet(query) ? 'testnet' : 'mainnet')

/** True if a request may be a long poll. Its query is not parsed yet, and may escape the parameter's name. */
const isLongPoll = ({ longPollParam }: Route, url: string): boolean =>
  longPollParam !== undefined && (url.includes(`${longPollParam}=`) || url.includes('%'))

function queryOf({ url = '' }: IncomingMessage): RequestQuery {
  if (url.length > URL_LIMIT_CHARS)
    throw new ApiError('invalid_request', `The URL is longer than ${URL_LIMIT_CHARS} characters.`)
  return parseQuery(url)
}

/**
 * A pool whose statements wait in the queue of expensive work, and whose rows are processed in a turn of the event loop.
 * Waiting statements are kept when the caller disconnects, so a write still runs after the request was answered.
 */
const poolOfCaller = (pool: pg.Pool, { address }: QueueClient): pg.Pool =>
  poolWithQuery(pool, (config) =>
    expensiveWork.run({ address }, async () => {
      const found = await pool.query(config)
      await setImmediate()
      return found
    }),
  )
