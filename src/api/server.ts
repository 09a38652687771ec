import type { RequestListener, Server } from 'node:http'
import { ChangeNotifications } from '../push/changeNotifications.js'
import { FeedTail } from '../push/feedTail.js'
import { createLongRequestLimiter, MAX_FEED_STREAMS, MAX_LONG_POLLS } from '../push/longRequests.js'
import { createPageReadQueue } from '../push/streams.js'
import type { FeedQuery } from '../push/webhooks/deliver.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { createExpressApp } from './expressApp.js'
import { readFeedForDelivery } from './feed/feed.js'
import { checkRequestHeaders } from './guard/requestHeaders.js'
import { applySocketLimits, serverLimits } from './guard/socketLimits.js'
import { callerOfRequest } from './http/clientAddress.js'
import { type ContextDeps, createRequestContexts } from './http/context.js'
import type { Route } from './http/route.js'
import { createRateLimitGate } from './limits/gate.js'
import { createRoutes, type RouteServices } from './routes.js'
import { createResponseSender, type ResponseSenderDeps } from './serving/answerer.js'
import { createRouter, normalizeUrl } from './serving/router.js'
import { createRouteHandler, type RouteHandlerOptions } from './serving/serve.js'
import { profileRoute } from './webPage.js'

/** Time after which a request is answered with 503. Its handler continues until its own timeouts. */
const REQUEST_DEADLINE_MS = 15_000

/** Default services: without keys, nothing is signed, and no ENS name is served. */
const DEFAULT_SERVICES = {
  shareKeys: [],
  permissionSigner: null,
  releaseSigner: null,
  ens: null,
  primaryNames: null,
} satisfies Partial<RouteServices>

const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export interface ApiDeps
  extends ContextDeps,
    Pick<ResponseSenderDeps, 'log' | 'metrics' | 'failed' | 'onInternalError'>,
    Partial<Pick<RouteServices, keyof typeof DEFAULT_SERVICES>> {
  /** Wakes long polls and streams. Without notifications, long polls and streams poll the database. */
  notifications?: ChangeNotifications
  /** Public URL of the site, the base of profile and picture URLs. Default: http://localhost */
  siteUrl?: string
  /** Routes in addition to those of `createRoutes`: of chain families, and of a witness. */
  moreRoutes?: readonly Route[]
  /** Time after which a request is answered with 503. Default 15 s. */
  requestDeadlineMs?: number
  /** Proxies before this process, as Express's `trust proxy`: their number, or their addresses. */
  trustProxy?: number | readonly string[]
  /** Time for which a connection without a request stays open. Default 65 s. */
  keepAliveMs?: number
  /** Maximum number of open connections. Default 10,000. */
  maxConnections?: number
}

export type Api = ReturnType<typeof createApi>

/** Creates the API of both networks. Keys that the database stores are read once, at first use. */
export function createApi(deps: ApiDeps) {
  const { notifications = new ChangeNotifications(), limits = null } = deps
  const contexts = createRequestContexts(deps)
  const longPolls = {
    notifications,
    places: createLongRequestLimiter(MAX_LONG_POLLS, limits !== null),
  }
  const streams = {
    places: createLongRequestLimiter(MAX_FEED_STREAMS, limits !== null),
    tail: new FeedTail({ pool: deps.pool, notifications, onInternalError: deps.onInternalError }),
    pages: createPageReadQueue(),
    ended: notifications.ended,
  }
  const { routes, documents } = createRoutes({
    ...DEFAULT_SERVICES,
    ...deps,
    streams,
    longPolls,
    siteUrl: (deps.siteUrl ?? 'http://localhost').replace(/\/+$/, ''),
  })
  let isClosing = false
  const answer = createResponseSender(deps)
  const serving: RouteHandlerOptions = {
    contexts,
    gate: createRateLimitGate(limits, deps.pool),
    finish(exchange, message, ...more) {
      if (isClosing) exchange.res.shouldKeepAlive = false
      answer(exchange, message, ...more)
    },
    deadlineMs: deps.requestDeadlineMs ?? REQUEST_DEADLINE_MS,
  }
  const serveRoute = createRouteHandler(serving)
  const expressApp = createExpressApp(serving, serveRoute, documents, deps.trustProxy ?? 0, (url) =>
    ROUTE_METHODS.filter((method) => match({ method, url })),
  )
  // the page of a name matches any one-part path, so the Express app serves that page after the documents
  const match = createRouter([
    ...routes.filter((route) => route !== profileRoute),
    ...(deps.moreRoutes ?? []),
  ])
  const isTrusted = expressApp.get('trust proxy fn') as (address: string, hop: number) => boolean
  const listener: RequestListener = (req, res) => {
    // the socket is destroyed after too many pipelined requests, but Node still emits the rest of them
    if (req.socket.destroyed) return
    req.url = normalizeUrl(req.url ?? '')
    const matched = checkRequestHeaders(req) ? null : match(req)
    if (!matched) return void expressApp(req, res)
    const { route, params } = matched
    serveRoute(route, {
      req,
      res,
      route: route.path,
      params,
      ...callerOfRequest(req, isTrusted),
      startedMs: performance.now(),
    })
  }
  let closeUnused = () => {}
  return {
    /** The request listener: the routes, and an Express app for everything else. */
    listener,
    /** Options for `http.createServer(api.limits, api.listener)`. */
    limits: serverLimits(deps.keepAliveMs),
    /** Sets the limits that `createServer` does not take; called once with the server. */
    protect(server: Server): void {
      closeUnused = applySocketLimits(server, deps.maxConnections)
    },
    /** Number of signed changes in the queues. */
    changesWaiting: (): number =>
      NETWORKS.reduce((sum, network) => sum + contexts[network].changes[network].size, 0),
    /** Number of long polls and of open streams. */
    openLongRequests: () => ({
      waits: longPolls.places.taken,
      streams: streams.places.taken,
    }),
    /**
     * Ends all long polls and streams, because this process stops soon. Long polls and streams that start later end
     * immediately.
     */
    release(): void {
      notifications.end()
    },
    /**
     * Closes idle connections, and makes each response the last of its connection. The caller also closes the server,
     * so that no connection is accepted any more.
     */
    close(): void {
      isClosing = true
      closeUnused()
    },
    /** Reads a network's feed for deliveries that this process starts. */
    readFeed: (network: Network, query: FeedQuery) => readFeedForDelivery(contexts[network], query),
  }
}
