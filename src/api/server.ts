import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import proxyAddress from 'proxy-addr'
import type { ReadFeed } from '../push/webhooks/deliver.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { readFeed } from './feed/port.js'
import { type ConnectionLimits, headFault, protectServer, SERVER_LIMITS } from './guard/socketLimits.js'
import { type Answer, messageOf, okJson } from './http/answer.js'
import { type ContextDeps, createContexts } from './http/context.js'
import { ApiError, errorAnswer, toApiError } from './http/errors.js'
import { PREFLIGHT_HEADERS } from './http/headers.js'
import type { Route } from './http/route.js'
import { createGate } from './limits/gate.js'
import { referenceAnswer, referenceFileAnswer } from './reference.js'
import { openApiDocuments, routes } from './routes.js'
import { type AnswererDeps, createAnswerer } from './serving/answerer.js'
import type { Exchange } from './serving/exchange.js'
import { createMatcher, type Entry } from './serving/matcher.js'
import { createRouteServer, type Serving, unhurried } from './serving/serve.js'
import { fallbackAnswer } from './v0.1/fallbacks.js'
import { profile } from './v1/lookups.js'
import { assetAnswer, indexAnswer, pageAnswer } from './webPage.js'

/** Time after which a request is answered 503; its handler then ends by the limits of its own waits. */
const REQUEST_DEADLINE_MS = 15_000

export interface ApiDeps extends ContextDeps, Pick<AnswererDeps, 'log' | 'metrics'> {
  /** Default 15 s. */
  requestDeadlineMs?: number
  /** Proxies before this process, as Express's `trust proxy`: their number, or their addresses. */
  trustProxy?: number | readonly string[]
  /** Bounds of sockets in place of the defaults. */
  sockets?: Partial<ConnectionLimits>
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
  /** Number of requests that wait for a status, and of open streams. */
  staying(): { waits: number; streams: number }
  /** Answers all who wait and ends the streams, and from then on everybody's at once: this process stops soon. */
  release(): void
  /** Makes each answer the last of its connection, and closes those without a request: the server takes no more. */
  close(): void
  /** Reads a network's feed for what this process sends by itself. */
  readFeed: ReadFeed
  /** Sets the limits that `createServer` does not take; called once with the server. */
  protect(server: Server): void
}

/**
 * Creates the API over a database and the chains' ports. Its state is the database's keys, which it reads once. Routes
 * are matched here; Express has their tables too, for paths that are written in another way, and everything else.
 */
export function createApi(deps: ApiDeps): Api {
  const contexts = createContexts(deps)
  let isClosing = false
  const answer = createAnswerer(deps)
  const finish: Serving['finish'] = (exchange, ...answered) => {
    if (isClosing) exchange.res.shouldKeepAlive = false
    answer(exchange, ...answered)
  }
  const serving = { finish, gate: createGate(deps.limits ?? null, deps.pool) }
  const serveRoute = createRouteServer(contexts, serving, deps.requestDeadlineMs ?? REQUEST_DEADLINE_MS)
  const app = express()
  app.set('trust proxy', deps.trustProxy ?? 0)
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  const table: Entry<Served>[] = []
  const add = (method: Route['method'], path: string, { route, serve }: Served) => {
    table.push({ method, path, value: { route, serve } })
    app[method](path, (req, res) => serve(ofExpress(req, res, route)))
  }
  const own = (path: string, answerOf: (exchange: Exchange) => Answer) =>
    add('get', path, { route: path, serve: ownServer(answerOf, serving) })
  for (const [path, document] of Object.entries(openApiDocuments)) {
    const answer = onFirstUse(() => okJson(Buffer.from(JSON.stringify(document()))))
    own(path, answer)
  }
  own('/', ({ req }) => indexAnswer(req))
  own(ASSETS, ({ req, params }) => assetAnswer(req, params))
  own('/docs', () => referenceAnswer)
  own('/docs/:build/:file', ({ params }) => referenceFileAnswer(params))
  // after the documents, since the page of a name has any first part of a path
  for (const route of routes) {
    const serve = (exchange: Exchange) => serveRoute(route, exchange)
    const served: Served = { route: route.path, serve: route === profile ? pageOr(serve, serving) : serve }
    for (const path of [route.path, ...(route.aliases ?? [])]) add(route.method, path, served)
  }
  const serveNone = ownServer(({ req }) => pageAnswer(req) ?? fallbackAnswer(req) ?? errorAnswer(NO_ROUTE), serving)
  app.use((req: Request, res: Response) => {
    // a preflight that is refused would hide from the page what the request itself is answered
    if (req.method === 'OPTIONS') return void res.writeHead(204, [...PREFLIGHT_HEADERS]).end()
    serveNone(ofExpress(req, res, NONE))
  })
  // four parameters mark an error handler: Express itself refuses paths that can't be decoded
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const answerOf = () => {
      const fallback = fallbackAnswer(req)
      if (!fallback) throw error
      return fallback
    }
    ownServer(answerOf, serving)(ofExpress(req, res, NONE))
  })
  const match = createMatcher(table)
  const none = { value: { route: NONE, serve: serveNone }, params: {} }
  const clientAddress = addressReader(app)
  const listener = guarded(serving, (req, res) => {
    const found = match(req)
    if (found === null) return void app(req, res)
    const { value, params } = found === 'none' ? none : found
    value.serve({ req, res, route: value.route, params, ip: clientAddress(req), startedMs: performance.now() })
  })
  const changesWaiting = () => contexts.mainnet.turns.waiting() + contexts.testnet.turns.waiting()
  let closeUnused = () => {}
  const protect = (server: Server) => {
    closeUnused = protectServer(server, deps.sockets)
  }
  const waits = () => NETWORKS.reduce((sum, network) => sum + contexts[network].waits.places.taken, 0)
  const staying = () => ({ waits: waits(), streams: contexts.mainnet.streams.places.taken })
  const close = () => {
    isClosing = true
    closeUnused()
  }
  const release = () => {
    for (const network of NETWORKS) contexts[network].waits.end()
    contexts.mainnet.streams.end()
  }
  const feed: ReadFeed = (network, query) => readFeed(contexts[network], query)
  return {
    ...{ app, listener, limits: SERVER_LIMITS, protect, changesWaiting, staying, release, close, readFeed: feed },
  }
}

/** Reader of a client's address, by the proxies that Express trusts. */
function addressReader(app: Express): (req: IncomingMessage) => string | undefined {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  return (req) => {
    const address = req.socket.remoteAddress
    return address !== undefined && isTrusted(address, 0) ? proxyAddress(req, isTrusted) : address
  }
}

/** Listener that serves requests with a sound head. */
function guarded({ finish }: Pick<Serving, 'finish'>, serve: RequestListener): RequestListener {
  return (req, res) => {
    const fault = headFault(req)
    if (fault) {
      const exchange = { req, res, route: NONE, params: {}, ip: undefined, startedMs: performance.now() }
      finish(exchange, messageOf(errorAnswer(fault)), [])
    } else serve(req, res)
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

/** Server of an answer that is made from the request alone. */
const ownServer =
  (answerOf: (exchange: Exchange) => Answer, { finish, gate }: Serving) =>
  (exchange: Exchange): void => {
    const meter = gate.ofAddress(exchange)
    try {
      meter.spend(1)
      finish(exchange, messageOf(answerOf(exchange)), meter.fields())
    } catch (thrown) {
      const error = toApiError(thrown)
      const refusal = messageOf(errorAnswer(error))
      unhurried(error, gate.lingerMs, exchange, () => finish(exchange, refusal, meter.fields(), error))
    }
  }

/** Server of a path that is a page's for browsers. */
const pageOr =
  (serve: Served['serve'], serving: Serving) =>
  (exchange: Exchange): void => {
    const found = pageAnswer(exchange.req)
    if (found) ownServer(() => found, serving)(exchange)
    else serve(exchange)
  }

/** Server of the requests of a path. */
interface Served {
  /** Pattern for the log and the metrics. */
  route: string
  serve(exchange: Exchange): void
}

const NO_ROUTE = new ApiError('not_found', 'There is no such route; /openapi.json lists them.')

/** Route of the files of the page at `/`. */
const ASSETS = '/assets/:build/:file'

/** Pattern of what matches no route. */
const NONE = 'none'

const ofExpress = (req: Request, res: Response, route: string): Exchange => ({
  ...{ req, res, route },
  params: req.params as Readonly<Record<string, string>>,
  ip: req.ip,
  startedMs: performance.now(),
})
