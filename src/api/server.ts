import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { Logger } from 'pino'
import type { Patience } from '../db/pg/pool.js'
import { authenticate, markForCaches } from './auth/session.js'
import { createFaultLog } from './guard/faultLog.js'
import { type ConnectionLimits, headFault, protectServer, SERVER_LIMITS } from './guard/socketLimits.js'
import { createPipelineBound } from './guard/underWay.js'
import { createUnreadWatch, type UnreadLimits } from './guard/unread.js'
import { type Answer, JSON_TYPE, send } from './http/answer.js'
import { cutShort, readBody, tooSlow } from './http/body.js'
import { type ContextDeps, createContexts } from './http/context.js'
import { markDeprecated } from './http/deprecation.js'
import { ApiError, errorAnswer, toApiError } from './http/errors.js'
import { withStaleness } from './http/freshness.js'
import { PREFLIGHT_HEADERS } from './http/headers.js'
import { isTestnet, parseQuery } from './http/query.js'
import type { Route } from './http/route.js'
import { costOf } from './limits/costs.js'
import { createGate, type Gate, type Meter, UNLIMITED } from './limits/gate.js'
import { openApiDocuments, routes } from './routes.js'
import { fallbackAnswer } from './v0.1/fallbacks.js'
import { assetAnswer, indexAnswer } from './webPage.js'

/** Time after which a request is answered 503; its handler then ends by the limits of its own waits. */
const REQUEST_DEADLINE_MS = 15_000
/** Changes end this long before their request, so that what is answered 503 is not made afterwards. */
const CHANGE_MARGIN_MS = 1_000
const URL_LIMIT_CHARS = 4_096

export interface ApiDeps extends ContextDeps {
  log: Logger
  /** Default 15 s. */
  requestDeadlineMs?: number
  /** Proxies before this process, as Express's `trust proxy`: their number, or their addresses. */
  trustProxy?: number | readonly string[]
  /** Bounds of sockets in place of the defaults. */
  sockets?: Partial<UnreadLimits & ConnectionLimits>
  metrics?: {
    requests: { observe(labels: { method: string; route: string; status: string }, seconds: number): void }
    limited?: { inc(labels: { route: string; limit: string }): void }
  }
}

export interface Api {
  /** The routes. */
  app: Express
  /** The request listener: the routes behind the bounds of sockets. */
  listener: RequestListener
  /** Options for `http.createServer(api.limits, api.listener)`. */
  limits: ServerOptions
  /** Number of signed changes that wait for their turn. */
  changesWaiting(): number
  /** Sets the limits that `createServer` does not take; called once with the server. */
  protect(server: Server): void
}

/** Creates the API over a database and the chains' ports. Its state is the database's keys, which it reads once. */
export function createApi(deps: ApiDeps): Api {
  const contexts = createContexts(deps)
  const deadlineMs = deps.requestDeadlineMs ?? REQUEST_DEADLINE_MS
  const finish = answerer(deps)
  const gate = createGate(deps.limits ?? null, deps.pool)
  const app = express()
  app.set('trust proxy', deps.trustProxy ?? 0)
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  const own = (path: string, answerOf: (req: Request) => Answer) => ownServer(path, answerOf, { finish, gate })
  for (const [path, document] of Object.entries(openApiDocuments)) {
    const answer = onFirstUse(() => documentAnswer(document()))
    app.get(path, own(path, answer))
  }
  const serveIndex = own('/', (req) => indexAnswer(req.headers.accept))
  app.get('/', serveIndex)
  const serveAsset = own(ASSETS, (req) => assetAnswer(req.params))
  app.get(ASSETS, serveAsset)
  // after the documents, since the page of a name has any first part of a path
  for (const route of routes) {
    const serve = server(route, contexts, { finish, deadlineMs, gate })
    for (const path of [route.path, ...(route.aliases ?? [])]) app[route.method](path, serve)
  }
  const serveNone = own('none', (req) => fallbackAnswer(req) ?? errorAnswer(NO_ROUTE))
  app.use((req: Request, res: Response) => {
    // a preflight that is refused would hide from the page what the request itself is answered
    if (req.method === 'OPTIONS') return void res.writeHead(204, [...PREFLIGHT_HEADERS]).end()
    serveNone(req, res)
  })
  // four parameters mark an error handler: Express itself refuses paths that can't be decoded
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const answerOf = () => {
      const fallback = fallbackAnswer(req)
      if (!fallback) throw error
      return fallback
    }
    own('none', answerOf)(req, res)
  })
  const changesWaiting = () => contexts.mainnet.turns.waiting() + contexts.testnet.turns.waiting()
  const protect = (server: Server) => protectServer(server, deps.sockets)
  return { app, listener: guarded(app, finish), limits: SERVER_LIMITS, protect, changesWaiting }
}

/** Listener that serves a socket's requests up to their limit, those with a sound head. */
function guarded(app: RequestListener, finish: Finish): RequestListener {
  const admits = createPipelineBound()
  return (req, res) => {
    if (!admits(req.socket, res)) return
    const fault = headFault(req)
    if (fault) finish(begin(req, res, 'none'), errorAnswer(fault))
    else app(req, res)
  }
}

/** A value that is made when it is first asked for, and kept. */
function onFirstUse<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const documentAnswer = (document: object): Answer => ({
  status: 200,
  content: { type: JSON_TYPE, text: Buffer.from(JSON.stringify(document)) },
})

/** Express handler of an answer that is made from the request alone. */
const ownServer =
  (path: string, answerOf: (req: Request) => Answer, { finish, gate }: Pick<Serving, 'finish' | 'gate'>) =>
  (req: Request, res: Response): void => {
    const exchange = begin(req, res, path)
    const meter = gate.ofAddress(req)
    try {
      meter.spend(1)
      finish(exchange, meter.mark(answerOf(req)))
    } catch (thrown) {
      const error = toApiError(thrown)
      unhurried(error, gate.lingerMs, req, () => finish(exchange, meter.mark(errorAnswer(error)), error))
    }
  }

/** Holds a refusal back from who goes on asking: else a flood is answered as fast as it can ask. */
function unhurried(error: ApiError, lingerMs: Gate['lingerMs'], req: Request, reply: () => void): void {
  const ms = error.code === 'rate_limited' ? lingerMs(req) : 0
  if (ms === 0) reply()
  else setTimeout(reply, ms).unref()
}

const NO_ROUTE = new ApiError('not_found', 'There is no such route; /openapi.json lists them.')

/** Route of the files of the page at `/`. */
const ASSETS = '/assets/:build/:file'

/** Request under way. */
interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  /** Pattern of the route: paths and queries themselves may hold secrets, and are neither logged nor counted. */
  route: string
  startedMs: number
}

const begin = (req: IncomingMessage, res: ServerResponse, route: string): Exchange => ({
  req,
  res,
  route,
  startedMs: performance.now(),
})

type Finish = (exchange: Exchange, answer: Answer, error?: unknown) => void

/** Returns the function that sends, counts and logs an answer. */
function answerer({ log, metrics, sockets }: ApiDeps): Finish {
  const watchUnread = createUnreadWatch(sockets)
  const logFault = createFaultLog(log)
  return ({ req, res, route, startedMs }, answer, error) => {
    const id = randomUUID()
    const bytes = send(res, id, answer)
    if (bytes > 0) watchUnread(req.socket, res, bytes)
    const ms = performance.now() - startedMs
    const { status } = answer
    const method = KNOWN_METHODS.has(req.method ?? '') ? (req.method ?? '') : 'other'
    metrics?.requests.observe({ method, route, status: String(status) }, ms / 1_000)
    if (error instanceof ApiError && error.limit) metrics?.limited?.inc({ route, limit: error.limit })
    if (status >= 500) logFault({ id, method, route, status, err: causeOf(error) })
    else if (log.isLevelEnabled('debug'))
      log.debug({ id, method, route, status, ms: Math.round(ms * 10) / 10 }, 'request')
  }
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
const causeOf = (error: unknown): unknown => (error instanceof ApiError ? (error.cause ?? error) : error)

type Contexts = ReturnType<typeof createContexts>

interface Serving {
  finish: Finish
  deadlineMs: number
  gate: Gate
}

/** Express handler of a route. */
function server(route: Route, contexts: Contexts, { finish, deadlineMs, gate }: Serving) {
  return (req: Request, res: Response): void => {
    const exchange = begin(req, res, route.path)
    const deadline = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(route.body && !req.complete ? cutShort(req, tooSlow()) : tooLong()),
        deadlineMs,
      )
      res.once('close', () => clearTimeout(timer))
    })
    const patience = patienceOf(res, deadlineMs - CHANGE_MARGIN_MS)
    let meter = UNLIMITED
    const answered = async (): Promise<Answer> => {
      meter = await gate.ofClient(req)
      return run({ route, req, patience, meter }, contexts)
    }
    const reply = (answer: Answer, error?: ApiError) =>
      finish(exchange, meter.mark(markDeprecated(route, req.params, answer)), error)
    Promise.race([answered(), deadline]).then(reply, (thrown: unknown) => {
      const error = toApiError(thrown)
      unhurried(error, gate.lingerMs, req, () => reply(markForCaches(route.auth, false, errorAnswer(error)), error))
    })
  }
}

const tooLong = () => new ApiError('unavailable', 'This took too long.')

/** Ends with the time, or with the caller's connection. */
function patienceOf(res: Response, limitMs: number): Patience {
  const gone = new AbortController()
  const endMs = performance.now() + limitMs
  const timer = setTimeout(() => gone.abort(tooLong()), limitMs)
  res.once('close', () => {
    clearTimeout(timer)
    if (!res.writableFinished) gone.abort(tooLong())
  })
  return { signal: gone.signal, leftMs: () => endMs - performance.now() }
}

interface Run {
  route: Route
  req: Request
  patience: Patience
  meter: Meter
}

async function run({ route, req, patience, meter }: Run, contexts: Contexts): Promise<Answer> {
  meter.spend(1)
  if (req.url.length > URL_LIMIT_CHARS)
    throw new ApiError('invalid_request', `The URL is longer than ${URL_LIMIT_CHARS} characters.`)
  const query = parseQuery(req.url)
  const onTestnet = isTestnet(query)
  const body = route.body ? await readBody(req, route.maxBodyBytes) : undefined
  const cost = costOf(route, query, body)
  meter.spend(cost - 1)
  const context = { ...contexts[onTestnet ? 'testnet' : 'mainnet'], patience }
  const params = req.params as Readonly<Record<string, string>>
  const session = await authenticate(req, route.auth, context)
  if (route.countedTogether) await meter.spendTogether(route.countedTogether, cost)
  const answer = await route.handle({ params, query, isTestnet: onTestnet, body, session }, context)
  if (answer.unspent) meter.giveBack(answer.unspent)
  return markForCaches(route.auth, session === null, await withStaleness(answer, context))
}
