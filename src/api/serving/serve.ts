import type { IncomingMessage } from 'node:http'
import { countApiRequest } from '../../ops/background.js'
import { CapacityLimiter } from '../../push/capacityLimiter.js'
import type { Network } from '../../registry/primitives/network.js'
import { authenticate, withCacheHeaders } from '../auth/session.js'
import { closeRefusedConnection, isAfterLastResponse } from '../guard/socketLimits.js'
import { type HttpMessage, toHttpMessage } from '../http/answer.js'
import { bodyLimitBytes, bodyTooSlowError, parseRequestBody, readBodyBytes } from '../http/body.js'
import type { Context, createRequestContexts } from '../http/context.js'
import { addDeprecationHeaders } from '../http/deprecation.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import {
  asOfBlockHeader,
  refuseOnMirror,
  requireCaughtUp,
  requireNetworkDeployed,
  withStalenessHeader,
} from '../http/freshness.js'
import { parseQuery, type RequestQuery, selectsTestnet } from '../http/query.js'
import { MAX_LONG_POLL_MS, type Route, type Session } from '../http/route.js'
import { requireListBounds, validateBody } from '../http/schema.js'
import { priceOfRoute, requestBytesCost } from '../limits/costs.js'
import {
  meterThatMayOverspend,
  type RateLimitGate,
  type RequestMeter,
  UNLIMITED_METER,
} from '../limits/gate.js'
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

/**
 * Maximum bytes in memory of bodies of `POST /v1/wallets` (joins). Their parsed strings take two to five times as many.
 */
const JOIN_BYTES = { perClient: 16 * 1024 * 1024, total: 64 * 1024 * 1024 }
/** Retry-After of an address whose join bodies take too many bytes. */
const JOIN_AGAIN_MS = 5_000
/** Changes end this long before their request's deadline, so that no change is made after its 503. */
const CHANGE_MARGIN_MS = 1_000
/** A piece of a body counts as at least this many bytes, because each piece takes time and memory. */
const PIECE_BYTES = 512
/** Minimum memory of an element of a join, bytes. */
const ELEMENT_BYTES = 64
const URL_LIMIT_CHARS = 4_096

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
  /** Addresses with an open request that did not wait for a turn. */
  immediate: Set<string>
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
    immediate: new Set(),
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
  /** Bytes reserved for a join. */
  #joined = 0

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
    const { gate, routesNotOnMirror, singleNetworkRoutes, contexts } = this.#shared
    const route = this.#route
    const exchange = this.#exchange
    const found = gate.ofClient(exchange)
    this.#meter = found instanceof Promise ? await found : found
    this.#take(() => this.#meter.spend(1))
    if (route.isBulk) this.#meter = meterThatMayOverspend(this.#meter)
    const meter = this.#meter
    const caller = new WaitingCaller(exchange, meter)
    const isCrowded = !this.#isImmediate(caller)
    if (isCrowded) await caller.cheapTurn()

    const query = queryOf(exchange.req)
    const context = contexts[networkOf(query)]
    if (singleNetworkRoutes.has(route)) await requireNetworkDeployed(context)
    if (routesNotOnMirror.has(route)) await refuseOnMirror(context)
    // read before the response is made, which may then reflect a newer block
    if (route.isLookup) this.#asOf = await asOfBlockHeader(context)
    const read = route.body && (await this.#readBody(caller))
    const bytes = read?.bytes
    const spent = requestBytesCost(read?.counted ?? 0)
    if (isExpensive(spent)) await caller.turn()
    const body = bytes && (await parseRequestBody(exchange.req, bytes, route, caller.turn))
    if (route.isBulk && Array.isArray(body))
      this.#takeJoin(Math.max(0, body.length * ELEMENT_BYTES - this.#joined), caller)
    const mayLongPoll = this.#mayLongPoll
    const request = {
      route,
      exchange,
      meter,
      caller,
      isCrowded,
      query,
      bytes,
      body,
      spent,
      mayLongPoll,
    }
    return messageFor(request, this.#shared)
  }

  /**
   * Reserves units or memory before the response is made. A refusal ends the connection at once: further bytes that
   * arrived with it are neither parsed nor served.
   * @throws what `work` throws; CallerDisconnectedError after a refusal
   */
  #take(work: () => void): void {
    if (isAfterLastResponse(this.#exchange.req)) throw new CallerDisconnectedError()
    try {
      work()
    } catch (error) {
      closeRefusedConnection(this.#exchange)
      throw error
    }
  }

  /** Charges each piece of the body as it arrives. @throws ApiError rate_limited, unavailable, as `readBodyBytes` */
  async #readBody(caller: WaitingCaller): Promise<{ bytes: Buffer; counted: number }> {
    const route = this.#route
    let counted = 0
    const bytes = await readBodyBytes(this.#exchange.req, bodyLimitBytes(route), (length) => {
      // the deadline has already answered this request
      if (!this.#isOpen) throw bodyTooSlowError()
      const piece = Math.max(length, PIECE_BYTES)
      this.#take(() => {
        this.#meter.spend(requestBytesCost(counted + piece) - requestBytesCost(counted))
        if (route.isBulk) this.#takeJoin(piece, caller)
      })
      counted += piece
    })
    return { bytes, counted }
  }

  /**
   * True if the request starts at once: no other request of its address is in progress that started at once. Further
   * requests wait for turns, like expensive requests. Otherwise the requests of many connections would all come before
   * the next look-up of another client.
   */
  #isImmediate(caller: WaitingCaller): boolean {
    const { immediate } = this.#shared
    const { address } = caller
    if (caller.isRaised) return true
    if (immediate.has(address)) return false
    immediate.add(address)
    caller.whenGone(() => immediate.delete(address))
    return true
  }

  /** Reserves memory for the body of a join until the caller is gone. @throws ApiError if no memory is free */
  #takeJoin(bytes: number, caller: WaitingCaller): void {
    const { joins } = this.#shared
    const { address } = caller
    if (caller.hasLeft()) throw new CallerDisconnectedError()
    const taken = joins.take(address, bytes)
    if (taken === 'perClient') throw rateLimitedError('joins', JOIN_AGAIN_MS)
    if (taken === 'total')
      throw new ApiError('unavailable', 'This process makes as many joins as it can.')
    if (this.#joined === 0) caller.whenGone(() => joins.free(address, this.#joined))
    this.#joined += bytes
  }
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

interface Request {
  route: Route
  exchange: HttpExchange
  meter: RequestMeter
  caller: WaitingCaller
  /** True if the caller has other open requests. The database statements of this request then wait in a queue. */
  isCrowded: boolean
  query: RequestQuery
  bytes: Buffer | undefined
  body: unknown
  /** Units already charged for the bytes of the body. */
  spent: number
  mayLongPoll: boolean
}

/** Price of a bulk look-up of ten names, units. Costlier requests wait for a turn of their own. */
const CHEAP_UNITS = 1.1

/**
 * True for a request that waits for its caller's turn. Expensive requests that arrive together start one by one, each
 * in its own turn of the event loop, so that a look-up waits for one piece of work at most.
 */
const isExpensive = (units: number): boolean => units > CHEAP_UNITS

/** The response, from the cache or from the handler. @throws ApiError, and what the handler throws */
async function messageFor(request: Request, server: Shared): Promise<HttpMessage> {
  const { route, exchange, meter, caller, isCrowded, query, bytes, body, spent, mayLongPoll } =
    request
  const { contexts, memory } = server
  const network = networkOf(query)
  const context = contexts[network]
  const key = route.cacheSource && !mayLongPoll ? cacheKeyOf(exchange.req, bytes) : null
  const version = key === null ? null : await memory.version(key, network, route.cacheSource!)
  const cached = key !== null && version !== null ? { key, version, address: caller.address } : null
  const shared = cached && (memory.get(cached) ?? memory.inProgress(cached))
  const known = shared instanceof Promise ? await shared : shared
  if (known) {
    if (route.cacheSource === 'facts') await requireCaughtUp(context)
    meter.spend(Math.max(0, known.cost - spent))
    return withRequestHeaders(known, null, request, context)
  }
  const cost = Math.max(spent, priceOfRoute(route).of(query, requireListBounds(route.body, body)))
  meter.spend(cost - spent)
  const isInLine = isCrowded || isExpensive(cost)
  const making = makeResponse(request, server, { cost, isInLine })
  if (cached) memory.share(cached, isInLine, making)
  const { session, ...made } = await making
  if (key !== null) memory.set(key, version, made)
  return withRequestHeaders(made, session, request, context)
}

/** Makes the response by the handler. @param cost units already charged @throws as `messageFor` */
async function makeResponse(
  request: Request,
  { contexts, deadlineMs }: Shared,
  { cost, isInLine }: { cost: number; isInLine: boolean },
): Promise<CachedResponse & { session: Session | null }> {
  const { route, exchange, meter, caller, query, body } = request
  const network = networkOf(query)
  if (isExpensive(cost)) await caller.turn()
  const limits = { isInLine, changeMs: deadlineMs - CHANGE_MARGIN_MS }
  const own = ownContext(request, contexts[network], limits)
  const session = route.auth ? await authenticate(exchange.req, route.auth, own) : null
  if (route.countedTogether) await meter.spendTogether(route.countedTogether, cost)
  const { params } = exchange
  const given = await route.handle(
    {
      params,
      query,
      isTestnet: network === 'testnet',
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
  meter.giveBack(unspent)
  return { answer, message: toHttpMessage(answer), cost: cost - unspent, session }
}

/** The context of one request. Reads have no deadline of their own, because they change nothing. */
function ownContext(
  { route, exchange, caller }: Request,
  context: Context,
  { isInLine, changeMs }: { isInLine: boolean; changeMs: number },
): Context {
  const isRead = route.method === 'get' || route.cacheSource !== undefined
  return {
    ...context,
    caller,
    turn: caller.turn,
    chains: context.chains.map((port) => context.chainQueues.of(port, caller)),
    ...(isInLine && { pool: context.statementQueue.of(context.pool, caller) }),
    ...(!isRead && { patience: requestDeadline(exchange, changeMs) }),
  }
}

/** Adds the headers that depend on the request. Without such headers the cached message is reused. */
async function withRequestHeaders(
  { answer, message }: CachedResponse,
  session: Session | null,
  { route, exchange }: Request,
  context: Context,
): Promise<HttpMessage> {
  const current = await withStalenessHeader(answer, context)
  const own = withCacheHeaders(
    route.auth,
    session === null,
    notModifiedIfMatching(current, exchange.req.headers['if-none-match']),
  )
  return own === answer ? message : toHttpMessage(own)
}
