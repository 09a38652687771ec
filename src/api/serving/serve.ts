import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { poolWithQuery } from '../../db/pg/pool.js'
import { countApiRequest } from '../../ops/background.js'
import { expensiveWorkQueue } from '../../ops/turns.js'
import { CapacityLimiter } from '../../push/capacityLimiter.js'
import { authenticate } from '../auth/session.js'
import {
  type Answer,
  type HttpMessage,
  notModifiedIfMatching,
  toHttpMessage,
  withEntityTag,
} from '../http/answer.js'
import {
  announcedBodyBytes,
  bodyLimitBytes,
  bodyTooLargeError,
  bodyTooSlowError,
  parseRequestBody,
  readBodyBytes,
} from '../http/body.js'
import type { Context, createRequestContexts } from '../http/context.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import {
  asOfBlockHeader,
  type Freshness,
  freshnessOrUnknown,
  refuseOnEmptyMirror,
  refuseOnMirror,
  refuseWhileCatchingUp,
  requireNetworkDeployed,
  withStalenessHeader,
} from '../http/freshness.js'
import { parseQuery, type RequestQuery, selectsTestnet } from '../http/query.js'
import type { Route } from '../http/route.js'
import { addDeprecationHeaders, withCacheHeaders } from '../http/routeHeaders.js'
import { requireListBounds, validateBody } from '../http/schema.js'
import { isTrpcUrl, trpcErrorAnswer, withCredentialHeaders } from '../http/trpc.js'
import { priceOfRoute, requestBytesCost } from '../limits/costs.js'
import type { RateLimitGate } from '../limits/gate.js'
import { rateLimitedError, UNLIMITED_METER } from '../limits/meter.js'
import type { ResponseSender } from './answerer.js'
import type { HttpExchange } from './exchange.js'
import { CALLER_LEFT_ERROR, requestTimeoutError, WaitingCaller } from './patience.js'
import { type CachedResponse, createResponseCache } from './responseCache.js'

/** Maximum bytes in memory of bodies of `POST /v1/wallets` (joins). */
const MAX_JOIN_BYTES = { perClient: 16 * 1024 * 1024, total: 64 * 1024 * 1024 }
/** Retry-After of a join that was refused or ended because the memory for joins is full. */
const JOIN_RETRY_MS = 5_000
/** Maximum number of bytes of memory for each byte of a join's body: a line of two characters becomes a string. */
const JOIN_GROWTH = 8
/** A change's deadline is this much earlier than its request's, ms, so that no change is made after the 503. */
const CHANGE_MARGIN_MS = 1_000
const URL_LIMIT_CHARS = 4_096
/** Price of a look-up, units. Work of a more expensive request waits in the queue of expensive work. */
const CHEAP_UNITS = 1

export interface RouteHandlerOptions {
  contexts: ReturnType<typeof createRequestContexts>
  gate: RateLimitGate
  finish: ResponseSender
  /** Time after which a request is answered with 503, ms. Its handler continues until its own timeouts. */
  deadlineMs: number
}

/** Dependencies and state that all requests of the server share. */
interface SharedState extends RouteHandlerOptions {
  responseCache: ReturnType<typeof createResponseCache>
  joinMemory: CapacityLimiter
}

/** Creates the request handler of declared routes. Each request is answered once, at the latest at its deadline. */
export function createRouteHandler(options: RouteHandlerOptions) {
  const shared: SharedState = {
    ...options,
    responseCache: createResponseCache(options.contexts.mainnet.lookups),
    joinMemory: new CapacityLimiter(MAX_JOIN_BYTES),
  }
  return (route: Route, exchange: HttpExchange): void => {
    void new RouteExchange(shared, route, exchange).serve()
  }
}

/** A request of a declared route. It is answered once: by its handler, an error or the deadline. */
class RouteExchange {
  readonly #shared: SharedState
  readonly #route: Route
  readonly #exchange: HttpExchange
  #deadline: NodeJS.Timeout
  #meter = UNLIMITED_METER
  /** Header with the block that a look-up's response reflects (`asOfBlockHeader`): name and value in alternation. */
  #asOf: readonly string[] = []
  #isOpen = true

  constructor(shared: SharedState, route: Route, exchange: HttpExchange) {
    this.#shared = shared
    this.#route = route
    this.#exchange = exchange
    this.#deadline = setTimeout(() => this.#expire(), shared.deadlineMs)
  }

  /** Answers the request. Errors of the handler become the response and are not thrown. */
  async serve(): Promise<void> {
    countApiRequest()
    try {
      this.#reply(await this.#respond())
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Sends the response, unless the request was answered before. */
  #reply(message: HttpMessage, error?: ApiError): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#deadline)
    // nothing is sent, logged or counted: otherwise anybody could raise the alarm for failed requests
    if (error === CALLER_LEFT_ERROR) return

    const isFound = message.status < 400 || message.status === 404
    const fields = [...this.#meter.rateLimitHeaders(), ...(isFound ? this.#asOf : [])]
    const { origin } = this.#exchange.req.headers
    const sent = withCredentialHeaders(this.#route.path, message, origin)
    this.#shared.finish(this.#exchange, sent, fields, error)
  }

  #fail(thrown: unknown): void {
    // stops reading a body that is still arriving
    if (this.#isOpen) this.#exchange.req.pause()
    const error = toApiError(thrown)
    const { path } = this.#route
    const answer = isTrpcUrl(path) ? trpcErrorAnswer(error, path) : errorAnswer(error)
    this.#reply(toHttpMessage(this.#withRouteHeaders(answer, false)), error)
  }

  #expire(): void {
    const { req, res } = this.#exchange
    if (res.closed) return
    const isBodyMissing = this.#route.body && !req.complete
    this.#fail(isBodyMissing ? bodyTooSlowError() : requestTimeoutError())
  }

  /** Sets the deadline of the request to `deadlineMs` plus `ms` from now. */
  #extend(ms: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#expire(), this.#shared.deadlineMs + ms)
  }

  /** Makes the response. @throws ApiError, and the errors of the handler */
  async #respond(): Promise<HttpMessage> {
    const { contexts, gate, responseCache } = this.#shared
    const route = this.#route
    const { req } = this.#exchange

    // find the caller's rate limit
    const meter = await gate.ofClient(this.#exchange)
    this.#meter = meter
    const caller = new WaitingCaller(this.#exchange, meter, (ms) => this.#extend(ms))

    // charge for the declared length of the body before the body is read
    const limit = route.body ? bodyLimitBytes(route) : 0
    const announced = route.body ? announcedBodyBytes(req, limit) : 0
    const charged = announced > limit ? 1 : requestBytesCost(announced)
    // a join pays one unit now. The rest is charged even if the bucket goes into debt
    const atOnce = route.isBulk ? 1 : charged
    meter.spend(atOnce)
    meter.owe(charged - atOnce)
    if (announced > limit) throw bodyTooLargeError(limit)

    // refuse a request that the network cannot answer now
    const { url = '' } = req
    if (url.length > URL_LIMIT_CHARS)
      throw new ApiError('invalid_request', `The URL is longer than ${URL_LIMIT_CHARS} characters.`)
    const query = parseQuery(url)
    const context = contexts[selectsTestnet(query) ? 'testnet' : 'mainnet']
    // freshness is read before the response is made. The response may then reflect a newer block
    const fresh = await freshnessOrUnknown(context)
    if (route.isOfOneNetwork) requireNetworkDeployed(fresh, context.network)
    if (route.isNotOnMirror) refuseOnMirror(fresh)
    else refuseOnEmptyMirror(fresh)
    if (route.isLookup) this.#asOf = asOfBlockHeader(fresh)

    // read and parse the body
    if (route.isBulk) this.#reserveJoinMemory(caller, Math.min(limit, JOIN_GROWTH * announced))
    const bytes = route.body && (await readBodyBytes(req, announced))
    const paid = requestBytesCost(bytes?.length ?? 0)
    meter.owe(paid - charged)
    const body = bytes && (await parseRequestBody(req, bytes, route, () => caller.turn()))
    if (!this.#isOpen) throw CALLER_LEFT_ERROR

    // look for a cached response
    const { cacheSource } = route
    const place = cacheSource
      ? await responseCache.find(req, bytes, context.network, cacheSource)
      : null
    if (place?.response) {
      if (cacheSource === 'facts') refuseWhileCatchingUp(fresh)
      meter.spend(Math.max(0, place.response.cost - paid))
      return this.#withRequestHeaders(place.response, fresh)
    }

    // charge the whole price, and call the handler
    const priced = route.body && requireListBounds(route.body, body)
    const cost = Math.max(paid, priceOfRoute(route).of(query, priced))
    if (route.isBulk) meter.owe(cost - paid)
    else meter.spend(cost - paid)
    const isExpensive = cost > CHEAP_UNITS
    if (isExpensive) await caller.turn()
    const requestContext = this.#contextOf(context, caller, isExpensive)
    const answer = await this.#handle(requestContext, query, body)
    const unspent = answer.unspent ?? 0
    meter.owe(-unspent)
    const made = { answer, message: toHttpMessage(answer), cost: cost - unspent }
    if (place) responseCache.set(place, made)
    return this.#withRequestHeaders(made, fresh)
  }

  /** Reserves memory for the body of a join until the caller is gone. @throws ApiError rate_limited, unavailable */
  #reserveJoinMemory(caller: WaitingCaller, bytes: number): void {
    const full = () => rateLimitedError('joins', JOIN_RETRY_MS)
    const end = () => {
      if (this.#isOpen) this.#fail(full())
      else this.#exchange.res.destroy()
    }
    const free = this.#shared.joinMemory.take(caller.address, bytes, end)
    if (free === 'perClient') throw full()
    if (free === 'total')
      throw new ApiError('unavailable', 'This process makes as many joins as it can.')
    caller.whenGone(free)
  }

  /**
   * The context of this request. A cheap cacheable response gets the shared context without the caller, because other
   * callers get the response too. A read gets no deadline, because it changes nothing.
   */
  #contextOf(context: Context, caller: WaitingCaller, isExpensive: boolean): Context {
    const { method, cacheSource } = this.#route
    if (cacheSource && !isExpensive) return context
    const requestContext: Context = { ...context, caller, turn: () => caller.turn() }
    if (isExpensive) requestContext.pool = poolOfAddress(context.pool, caller.address)
    if (method !== 'get' && !cacheSource)
      requestContext.patience = caller.deadline(this.#shared.deadlineMs - CHANGE_MARGIN_MS)
    return requestContext
  }

  /**
   * The handler's response, with the headers that depend only on the route, the session and the response. @throws as
   * `#respond`
   */
  async #handle(context: Context, query: RequestQuery, body: unknown): Promise<Answer> {
    const { params, req } = this.#exchange
    const route = this.#route
    const session = route.auth ? await authenticate(req, route.auth, context) : null
    const answer = await route.handle(
      {
        params,
        query,
        isTestnet: context.network === 'testnet',
        // the list of a bulk route was validated while its body was parsed
        body: route.body && !route.isBulk ? validateBody(route.body, body) : body,
        session,
      },
      context,
    )
    const marked = this.#withRouteHeaders(answer, session === null)
    // a response that may depend on a key gets no entity tag, because caches must not return it to other callers
    return route.method === 'get' && !route.auth ? withEntityTag(marked) : marked
  }

  /**
   * Adds the headers that follow from the route's declaration. @param isPublic the response is made without a session
   */
  #withRouteHeaders(answer: Answer, isPublic: boolean): Answer {
    const route = this.#route
    if (!route.auth && !route.successor) return answer
    const deprecating = addDeprecationHeaders(route, this.#exchange.params, answer)
    return withCacheHeaders(route.auth, isPublic, deprecating)
  }

  /** Adds the headers that depend on the request. Without such headers the cached message is reused. */
  #withRequestHeaders({ answer, message }: CachedResponse, fresh: Freshness): HttpMessage {
    const conditional = notModifiedIfMatching(
      withStalenessHeader(answer, fresh),
      this.#exchange.req.headers['if-none-match'],
    )
    return conditional === answer ? message : toHttpMessage(conditional)
  }
}

/**
 * A pool whose statements wait in the queue of expensive work. Rows are processed one turn of the event loop after they
 * arrive. A waiting statement runs even if the caller has disconnected, so a write is executed even after its request
 * was answered.
 */
const poolOfAddress = (pool: pg.Pool, address: string): pg.Pool =>
  poolWithQuery(pool, (config) =>
    expensiveWorkQueue.run(address, async () => {
      const result = await pool.query(config)
      await setImmediate()
      return result
    }),
  )
