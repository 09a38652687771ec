import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { referencePage } from '../web/reference.js'
import { checkRequestHeaders } from './guard/requestHeaders.js'
import { type Answer, answerOfJsonBytes, toHttpMessage } from './http/answer.js'
import { callerOfRequest } from './http/clientAddress.js'
import { ApiError, errorAnswer, toApiError } from './http/errors.js'
import { preflightHeaders } from './http/headers.js'
import { isTrpcUrl, trpcErrorAnswer, withCredentialHeaders } from './http/trpc.js'
import type { OpenApiDocuments } from './routes.js'
import type { HttpExchange } from './serving/exchange.js'
import { decodePathPart } from './serving/router.js'
import type { RouteHandlerOptions } from './serving/serve.js'
import { fallbackLookupAnswer } from './v0.1/fallbacks.js'
import {
  assetAnswer,
  guidePageAnswer,
  indexAnswer,
  isPageRequest,
  llmsTxtAnswer,
  pageAnswer,
  pageFileAnswer,
  profileRoute,
  robotsTxtAnswer,
  securityTxtAnswer,
} from './webPage.js'

/** Number of headers of a refused request that cost one rate-limit unit. Reading them takes as long as one look-up. */
const HEADERS_PER_UNIT = 500

/** Route of requests that match no route, in the log and in metric labels. */
const NO_ROUTE_LABEL = 'none'
/** @param methods HTTP methods for which the path does have a route */
const noRouteError = (method: string, methods: readonly string[]) => {
  const others = methods.length > 0 ? ` for ${method}, but for ${methods.join(' and ')}` : ''
  return new ApiError('not_found', `There is no such route${others}; /openapi.json lists them.`)
}
const MALFORMED_PATH_ERROR = new ApiError('invalid_request', 'The path is not well-formed.')

/**
 * Creates the Express app for everything but the API's routes: pages, documents and reference, preflights, and
 * errors.
 * @param serveRoute serves the profile route, whose path is also the path of pages
 * @param trustProxy proxies before this process, as Express's `trust proxy`
 * @param methodsOf HTTP methods of the API's routes that match a URL
 */
export function createExpressApp(
  { finish, gate }: RouteHandlerOptions,
  serveRoute: (route: typeof profileRoute, exchange: HttpExchange) => void,
  documents: OpenApiDocuments,
  trustProxy: number | readonly string[],
  methodsOf: (url: string) => readonly string[],
): Express {
  const app = express()
  app.set('trust proxy', trustProxy)
  for (const setting of ['x-powered-by', 'etag', 'query parser']) app.set(setting, false)
  const serve = (exchange: HttpExchange, answerOf: () => Answer, units = 1): void => {
    const meter = gate.ofAddress(exchange)
    const { url = '', headers } = exchange.req
    const messageOf = (answer: Answer) =>
      withCredentialHeaders(url, toHttpMessage(answer), headers.origin)
    try {
      meter.spend(units)
      finish(exchange, messageOf(answerOf()), meter.rateLimitHeaders())
    } catch (thrown) {
      const error = toApiError(thrown)
      finish(exchange, messageOf(errorAnswerOfUrl(url, error)), meter.rateLimitHeaders(), error)
    }
  }
  app.use((req, res, next) => {
    const refusal = checkRequestHeaders(req)
    const units = Math.ceil(req.rawHeaders.length / (2 * HEADERS_PER_UNIT))
    if (refusal)
      serve(exchangeOf(req, res, NO_ROUTE_LABEL), () => errorAnswerOfUrl(req.url, refusal), units)
    else next()
  })
  const add = (path: string, answerOf: (exchange: HttpExchange) => Answer) =>
    app.get(path, (req, res) => {
      const exchange = exchangeOf(req, res, path)
      serve(exchange, () => answerOf(exchange))
    })
  for (const [path, document] of Object.entries(documents)) {
    let made: Answer | undefined
    add(path, () => (made ??= answerOfJsonBytes(Buffer.from(JSON.stringify(document())))))
  }
  add('/', ({ req }) => indexAnswer(req))
  add('/assets/:build/:file', ({ req, params }) => assetAnswer(req, params))
  add('/robots.txt', robotsTxtAnswer)
  add('/llms.txt', llmsTxtAnswer)
  add('/.well-known/security.txt', securityTxtAnswer)
  add('/docs', ({ req }) => pageFileAnswer(referencePage(req.url ?? ''), req))
  add('/docs/guides/:file', ({ req, params }) => guidePageAnswer(req, params))
  app.get(profileRoute.path, (req, res) => {
    const exchange = exchangeOf(req, res, profileRoute.path)
    if (isPageRequest(req)) serve(exchange, () => pageAnswer(req)!)
    else serveRoute(profileRoute, exchange)
  })
  /**
   * Answers a CORS preflight. A preflight above the rate limit also gets its normal response, because a page could not
   * read an error. `Retry-After` lets a proxy end the client's connection.
   */
  const servePreflight = (exchange: HttpExchange): void => {
    const { url = '', headers: sent } = exchange.req
    const plain = { headers: preflightHeaders(sent) }
    const { headers } = withCredentialHeaders(url, plain, sent.origin)
    try {
      // preflights have a separate bucket per address
      gate.ofAddress(exchange, 'preflights of ').spend(1)
    } catch (thrown) {
      headers.push('retry-after', toApiError(thrown).headers?.['retry-after'] ?? '1')
    }
    exchange.res.writeHead(204, headers).end()
  }
  const serveNone = (req: Request, res: Response) => {
    const refusal = () =>
      decodePathPart(req.url) === null
        ? MALFORMED_PATH_ERROR
        : noRouteError(req.method, methodsOf(req.url))
    serve(
      exchangeOf(req, res, NO_ROUTE_LABEL),
      () => pageAnswer(req) ?? fallbackLookupAnswer(req) ?? errorAnswerOfUrl(req.url, refusal()),
    )
  }
  app.use((req: Request, res: Response) => {
    if (req.method === 'OPTIONS') servePreflight(exchangeOf(req, res, NO_ROUTE_LABEL))
    else serveNone(req, res)
  })
  // Express knows an error handler by its four parameters, and calls this one for paths that cannot be decoded
  app.use((_error: unknown, req: Request, res: Response, _next: NextFunction) =>
    serveNone(req, res),
  )
  return app
}

/** Response to a refused request: in tRPC's error format below tRPC's path, else in that of the API. */
const errorAnswerOfUrl = (url: string, error: ApiError): Answer =>
  isTrpcUrl(url) ? trpcErrorAnswer(error, new URL(url, 'http://x').pathname) : errorAnswer(error)

const exchangeOf = (req: Request, res: Response, route: string): HttpExchange => ({
  req,
  res,
  route,
  params: req.params as Readonly<Record<string, string>>,
  ...callerOfRequest(req, req.app.get('trust proxy fn')),
  startedMs: performance.now(),
})
