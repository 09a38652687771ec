import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { errorSentence } from '../logger/errors.js'
import type { Metrics } from '../metrics.js'
import { type Html, html, htmlPage, OPS_CONTENT_SECURITY_POLICY } from './html.js'

/** An answer of the operator's port. `isGood` decides the HTTP status. All other fields are the body. */
interface OpsAnswer {
  isGood: boolean
}

interface OpsServerOptions {
  port: number
  host: string
  metrics: Metrics
  /** Functions that answer requests, by path. A good answer has status 200, any other answer 503. */
  answers: Readonly<Record<string, () => OpsAnswer | Promise<OpsAnswer>>>
  /** Body of the operator's page (`/`), which is read-only. */
  page?: () => Promise<Html>
  /** Token that opens the page. Without it, the page is served only on loopback. */
  secret?: string | undefined
}

/** Starts the operator's port. @returns its port, and a function that closes it @throws as listenOnPort */
export async function startOpsServer(
  options: OpsServerOptions,
): Promise<{ port: number; close: () => Promise<void> }> {
  const { port, host, metrics, answers, page } = options
  const routes = [...Object.keys(answers), ...(page ? ['/'] : []), '/metrics'].join(', ')
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(`${JSON.stringify(body)}\n`)
    }
    if (!isAllowedHost(request.headers.host, host))
      return json(421, {
        status: 421,
        error: 'misdirected',
        message: 'The Host header names another server.',
      })
    const path = (request.url ?? '/').split('?')[0]!
    const answer = async (): Promise<void> => {
      const check = Object.hasOwn(answers, path) ? answers[path] : undefined
      if (check) {
        const { isGood, ...body } = await check()
        return json(isGood ? 200 : 503, body)
      }
      if (page && path === '/') return servePage(page, request, response, options)
      if (path === '/metrics') {
        const text = await metricsText(metrics.registry)
        const type = { 'content-type': metrics.registry.contentType }
        response.writeHead(200, { ...type, 'cache-control': 'no-store' }).end(text)
        return
      }
      json(404, { status: 404, error: 'not_found', message: `Operator routes: ${routes}.` })
    }
    answer().catch((error: Error) => {
      json(500, { status: 500, error: 'internal', message: errorSentence(error) })
    })
  })
  server.requestTimeout = 10_000
  server.headersTimeout = 5_000
  return {
    port: await listenOnPort(server, port, host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Maximum time for which a scrape occupies the event loop without a pause, ms. */
const SCRAPE_PART_MS = 2

/** All metrics in Prometheus's text format. The event loop serves other requests between parts of them. */
async function metricsText(registry: Metrics['registry']): Promise<string> {
  const texts: string[] = []
  let sinceMs = performance.now()
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name))
    if (performance.now() - sinceMs < SCRAPE_PART_MS) continue
    await setImmediate()
    sinceMs = performance.now()
  }
  return `${texts.join('\n\n')}\n`
}

/** Serves the operator's page: to requests with the secret, or on loopback to anybody where no secret is set. */
async function servePage(
  page: () => Promise<Html>,
  request: IncomingMessage,
  response: ServerResponse,
  { secret, host }: Pick<OpsServerOptions, 'secret' | 'host'>,
): Promise<void> {
  const show = (status: number, body: Html, more: Record<string, string> = {}) => {
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': OPS_CONTENT_SECURITY_POLICY,
      ...more,
    }
    response
      .writeHead(status, { ...headers, 'cache-control': 'no-store' })
      .end(htmlPage('clusterd', body))
  }
  if (request.method !== 'GET')
    return show(405, html`<p>This page only shows: commands change things.</p>`, { allow: 'GET' })
  if (secret === undefined && !isLoopback(host)) return show(403, CLOSED_PAGE)
  if (secret !== undefined && !hasSecret(request, secret))
    return show(401, SECRET_WANTED_PAGE, BASIC_AUTH_CHALLENGE)
  show(200, await page())
}

/** Response header that makes a browser ask for the secret (RFC 7617). */
const BASIC_AUTH_CHALLENGE = {
  'www-authenticate': 'Basic realm="clusterd", charset="UTF-8"',
} as const

/**
 * True if a request has the secret `OPS_TOKEN`: as `Authorization: Bearer`, or as the password of HTTP Basic
 * authentication with any user.
 */
function hasSecret({ headers }: Pick<IncomingMessage, 'headers'>, secret: string): boolean {
  const [, scheme, given] = /^(Bearer|Basic) (.+)$/.exec(headers.authorization ?? '') ?? []
  if (given === undefined) return false
  const decoded = Buffer.from(given, 'base64').toString()
  const shown = scheme === 'Bearer' ? given : decoded.replace(/^[^:]*:/, '')
  // compares digests, so that the time reveals neither the length nor the beginning of the secret
  const [a, b] = [shown, secret].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}

const SECRET_WANTED_PAGE = html`<p>The password is <code>OPS_TOKEN</code>.</p>`
const CLOSED_PAGE = html`<p>This page is reached from other machines: set <code>OPS_TOKEN</code> to open it. <a href="/status">Status</a> and <a href="/metrics">metrics</a> are shown without.</p>`

/**
 * True if a Host header is allowed. On loopback only IP addresses and `localhost` are allowed: a web page of a foreign
 * name that resolves to this machine (DNS rebinding) must not read anything. On other addresses every name is allowed.
 */
function isAllowedHost(header: string | undefined, host: string): boolean {
  if (header === undefined || !isLoopback(host)) return true
  const name = header.replace(/:\d*$/, '').toLowerCase()
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Why a port is unavailable and what to set, by the system's error code. */
const PORT_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: set PORT and OPS_PORT to free ones',
  EACCES: 'is not for this user: set PORT and OPS_PORT to others, from 1024 on',
}

/**
 * Number of connections that the system keeps until they are accepted; Linux caps it at net.core.somaxconn. A further
 * connection waits for its next SYN, a second or more. With Node's default of 511, every client waits at the beginning
 * of a flood.
 */
const CONNECTION_BACKLOG = 4_096

/**
 * Listens on a port, 0 for any.
 * @returns the port
 * @throws Error with one sentence and without `code`: commands take an error with the code of an unknown host for a
 * failure of the database
 */
export function listenOnPort(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const noHost = `${host} is no address of this machine (${code}): set HOST and OPS_HOST to one.`
      reject(
        new Error(
          PORT_PROBLEMS[code] === undefined
            ? noHost
            : `Port ${port} on ${host} ${PORT_PROBLEMS[code]}.`,
        ),
      )
    })
    server.listen({ port, host, backlog: CONNECTION_BACKLOG }, () =>
      resolve((server.address() as AddressInfo).port),
    )
  })
}
