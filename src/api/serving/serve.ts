import type { IncomingMessage } from 'node:http'
import { authenticate, markForCaches } from '../auth/session.js'
import { type Answer, type Message, messageOf, written } from '../http/answer.js'
import { bodyOf, cutShort, readBytes, tooSlow } from '../http/body.js'
import type { Context, createContexts } from '../http/context.js'
import { markDeprecated } from '../http/deprecation.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import { withStaleness } from '../http/freshness.js'
import { isTestnet, parseQuery, type Query } from '../http/query.js'
import { MAX_STAY_MS, type Route } from '../http/route.js'
import { costOf } from '../limits/costs.js'
import { type Gate, type Meter, UNLIMITED } from '../limits/gate.js'
import type { Finish } from './answerer.js'
import { createDeadlines } from './deadlines.js'
import { tagged, unlessKnown } from './etag.js'
import type { Client, Exchange } from './exchange.js'
import { createMemory, type Kept, keyOf, type Memory, type Question, type Reading } from './memory.js'
import { CallerLeftError, CallerPatience, callerOf, tooLong } from './patience.js'

/** Changes end this long before their request, so that what is answered 503 is not made afterwards. */
const CHANGE_MARGIN_MS = 1_000
const URL_LIMIT_CHARS = 4_096

export interface Serving {
  finish: Finish
  gate: Gate
}

type Contexts = ReturnType<typeof createContexts>

/** Creates the server of declared routes: each request is answered once, within the deadline. */
export function createRouteServer(contexts: Contexts, { finish, gate }: Serving, deadlineMs: number) {
  const beginSoon = createDeadlines(deadlineMs)
  const beginLate = createDeadlines(deadlineMs + MAX_STAY_MS)
  const memory = createMemory(contexts.mainnet)
  const own = { contexts, memory, changeLimitMs: deadlineMs - CHANGE_MARGIN_MS }
  return (route: Route, exchange: Exchange): void => {
    const { req, res, params } = exchange
    let meter = UNLIMITED
    let isOpen = true
    const reply = (message: Message, error?: ApiError) => finish(exchange, message, meter.fields(), error)
    const conclude = (act: () => void) => {
      if (!isOpen) return
      isOpen = false
      forget()
      act()
    }
    const fail = (thrown: unknown) =>
      conclude(() => {
        // counted as an error, it would let anybody raise the alarm of errors
        if (thrown instanceof CallerLeftError) return
        const error = toApiError(thrown)
        const answer = markDeprecated(route, params, markForCaches(route.auth, false, errorAnswer(error)))
        unhurried(error, gate.lingerMs, exchange, () => reply(messageOf(answer), error))
      })
    const begin = staysLong(route, req.url ?? '') ? beginLate : beginSoon
    const forget = begin(() => {
      if (!res.closed) fail(route.body && !req.complete ? cutShort(exchange, tooSlow()) : tooLong())
    })
    const make = (asked: Asked, reading: Reading | null) =>
      run(asked, reading, own).then((made) => conclude(() => reply(messageOf(made))), fail)
    const tell = ({ answer, message, cost }: Kept) => {
      meter.spend(cost - 1 - (answer.unspent ?? 0))
      conclude(() => reply(message))
    }
    const answer = (request: Request, reading: Reading) => {
      const state = contexts[request.network].freshness(request.network)
      const isPlain = !(state instanceof Promise) && state.staleSeconds === null && !req.headers['if-none-match']
      const kept = isPlain ? memory.recall(request, reading) : null
      if (kept instanceof Promise) kept.then(tell).catch(fail)
      else if (kept) tell(kept)
      else make(askedOf(request), reading)
    }
    const ask = (query: Query, bytes: Buffer | undefined) => {
      const network = isTestnet(query) ? 'testnet' : 'mainnet'
      const key = route.isShared && !staysLong(route, req.url ?? '') ? keyOf(req, bytes) : null
      const request = { route, exchange, meter, query, bytes, network, key } as const
      const reading = memory.read(request)
      if (reading) reading.then((read) => answer(request, read)).catch(fail)
      else make(askedOf(request), null)
    }
    const start = (found: Meter) => {
      meter = found
      meter.spend(1)
      const query = queryOf(req)
      if (!route.body) ask(query, undefined)
      else
        readBytes(exchange)
          .then((bytes) => ask(query, bytes))
          .catch(fail)
    }
    try {
      const found = gate.ofClient(exchange)
      if (found instanceof Promise) found.then(start).catch(fail)
      else start(found)
    } catch (error) {
      fail(error)
    }
  }
}

/** Whether a request may ask to stay; its query is not parsed yet, and may write the parameter in escapes. */
const staysLong = ({ staysBy }: Route, url: string): boolean =>
  staysBy !== undefined && (url.includes(`${staysBy}=`) || url.includes('%'))

/** Holds a refusal back from who goes on asking: else a flood is answered as fast as it can ask. */
export function unhurried(error: ApiError, lingerMs: Gate['lingerMs'], client: Client, reply: () => void): void {
  const ms = error.code === 'rate_limited' ? lingerMs(client) : 0
  if (ms === 0) reply()
  else setTimeout(reply, ms).unref()
}

interface Request extends Question {
  route: Route
  exchange: Exchange
  meter: Meter
  query: Query
  /** Undefined where the route has no body. */
  bytes: Buffer | undefined
}

/** A request that its limits let through. */
interface Asked extends Request {
  body: unknown
  cost: number
}

function queryOf({ url = '' }: IncomingMessage): Query {
  if (url.length > URL_LIMIT_CHARS)
    throw new ApiError('invalid_request', `The URL is longer than ${URL_LIMIT_CHARS} characters.`)
  return parseQuery(url)
}

/** Parses a request and spends what it costs beyond the unit of each. @throws ApiError rate_limited, invalid_request */
function askedOf(request: Request): Asked {
  const { route, exchange, meter, query, bytes } = request
  const body = bytes && bodyOf(exchange.req, bytes, route.maxBodyBytes)
  const cost = costOf(route, query, body)
  meter.spend(cost - 1)
  return { body, cost, ...request }
}

/** What all requests share. */
interface Own {
  contexts: Contexts
  memory: Memory
  changeLimitMs: number
}

/** @param reading of the journal's version, where it was read */
async function run(asked: Asked, reading: Reading | null, own: Own): Promise<Answer> {
  const { route, exchange, meter, query, network, body } = asked
  const { contexts, memory, changeLimitMs } = own
  const { req, params } = exchange
  const shared = contexts[network]
  const isRead = route.method === 'get'
  const mayStay = isRead && (route.staysBy !== undefined || route.isStream)
  // reads change nothing that a caller's leaving would have to stop, and one may be for others too
  const context: Context = mayStay
    ? { ...shared, caller: callerOf(exchange, meter) }
    : isRead || route.isShared
      ? shared
      : { ...shared, caller: callerOf(exchange, meter), patience: new CallerPatience(exchange, changeLimitMs) }
  const session = route.auth ? await authenticate(req, route.auth, context) : null
  if (route.countedTogether) await meter.spendTogether(route.countedTogether, asked.cost)
  const read = reading ?? (await memory.read(asked))
  // some kept answers are given while the network is caught up alone
  if (read) await Promise.allSettled([context.freshness(network)])
  const known = read && memory.recall(asked, read)
  const made = known
    ? (await known).answer
    : await memory.make(asked, read, async () => {
        const request = { params, query, isTestnet: network === 'testnet', body, session }
        const answer = markDeprecated(route, params, await route.handle(request, context))
        // an answer that may depend on a key is for nobody's cache
        const told = isRead && !route.auth ? tagged(answer) : answer
        return route.isShared ? written(told) : told
      })
  const answer = await withStaleness(made, context)
  if (answer.unspent) meter.giveBack(answer.unspent)
  return markForCaches(route.auth, session === null, unlessKnown(answer, req.headers['if-none-match']))
}
