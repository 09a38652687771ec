import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { sentenceOf } from '../log/errors.js'
import type { Metrics } from '../metrics.js'
import { FormRefusedError, readForm } from './form.js'
import { type Html, html, OPS_POLICY, pageOf } from './html.js'
import { Login, loginForm } from './login.js'

/** An answer of the operator's port; `isGood` decides its status and is not shown. */
interface OpsAnswer {
  isGood: boolean
}

/** A page of the operator's. */
export interface OpsPage {
  title: string
  /** @param token a hidden field that puts this process's token into a form */
  show(token: Html): Promise<Html>
  /** Does what a form of the page asks for. @throws Error with one sentence */
  act(form: URLSearchParams): Promise<void>
}

export interface OpsOptions {
  port: number
  host: string
  metrics: Metrics
  /** Answers by path: 200 where they are good, else 503. */
  answers: Readonly<Record<string, () => OpsAnswer | Promise<OpsAnswer>>>
  /** Pages by path. */
  pages?: Readonly<Record<string, OpsPage>>
  /** What opens the pages; without it they are shown on loopback alone. */
  secret?: string | undefined
}

/** Serves metrics and the operator's answers on a port of their own. */
export async function startOpsServer({
  port,
  host,
  metrics,
  answers,
  pages = {},
  secret,
}: OpsOptions): Promise<{ port: number; close: () => Promise<void> }> {
  const routes = [...Object.keys(answers), ...Object.keys(pages), '/metrics'].join(', ')
  const access = { token: randomBytes(16).toString('hex'), login: secret ? new Login(secret) : null, host }
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(`${JSON.stringify(body)}\n`)
    }
    if (!isOwnHost(request.headers.host, host))
      return json(421, { status: 421, error: 'misdirected', message: 'The Host header names another server.' })
    const path = (request.url ?? '/').split('?')[0]!
    const answer = async (): Promise<void> => {
      const asked = Object.hasOwn(answers, path) ? answers[path] : undefined
      if (asked) {
        const { isGood, ...body } = await asked()
        return json(isGood ? 200 : 503, body)
      }
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined
      if (page) return servePage(page, path, { request, response, ...access })
      if (path === '/metrics') {
        const text = await metrics.registry.metrics()
        response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text)
        return
      }
      json(404, { status: 404, error: 'not_found', message: `Operator routes: ${routes}.` })
    }
    answer().catch((error: Error) => {
      const [status, word] = error instanceof FormRefusedError ? [403, 'forbidden'] : [500, 'internal']
      json(status as number, { status, error: word, message: sentenceOf(error) })
    })
  })
  server.requestTimeout = 10_000
  server.headersTimeout = 5_000
  return {
    port: await listen(server, port, host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface PageExchange {
  request: IncomingMessage
  response: ServerResponse
  token: string
  login: Login | null
  host: string
}

/** Shows a page, or does what its form asks for and shows it again; asks who is not signed in to do so. */
async function servePage(page: OpsPage, path: string, exchange: PageExchange): Promise<void> {
  const { request, response, token, login, host } = exchange
  const form = request.method === 'POST' ? await readForm(request, token) : null
  const hidden = html`<input type="hidden" name="token" value="${token}">`
  const show = (status: number, title: string, body: Html) => {
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': OPS_POLICY }
    response.writeHead(status, { ...headers, 'cache-control': 'no-store' }).end(pageOf(title, body))
  }
  const again = (headers: Record<string, string> = {}) => {
    response.writeHead(303, { location: path, 'cache-control': 'no-store', ...headers }).end()
  }
  if (!login && !isLoopback(host)) return show(403, page.title, CLOSED)
  if (login && !login.isSignedIn(request)) {
    const secret = form?.get('secret')
    return secret && login.isSecret(secret)
      ? again({ 'set-cookie': login.cookie() })
      : show(401, 'Sign in', loginForm(hidden, secret != null))
  }
  if (!form) return show(200, page.title, await page.show(hidden))
  await page.act(form)
  again()
}

const CLOSED = html`<p>This page is reached from other machines, and whoever reaches it could press its buttons: set
<code>OPS_TOKEN</code> to open it. <a href="/status">Status</a> and <a href="/metrics">metrics</a> are shown without.</p>`

/**
 * Whether a Host header is one of the operator's port: on loopback a page of a foreign name that resolves to this
 * machine (DNS rebinding) reads nothing. Addresses can't be rebound; elsewhere names are the network's own.
 */
function isOwnHost(header: string | undefined, host: string): boolean {
  if (header === undefined || !isLoopback(host)) return true
  const name = header.replace(/:\d*$/, '').toLowerCase()
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Why a port can't be had, and what to set, by the system's code. */
const NO_PORT: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: set PORT and OPS_PORT to free ones',
  EACCES: 'is not for this user: set PORT and OPS_PORT to others, from 1024 on',
}

/** One sentence about an address that can't be listened on. */
export const portFault = ({ code = '' }: NodeJS.ErrnoException, port: number, host: string): string =>
  NO_PORT[code] === undefined
    ? `${host} is no address of this machine (${code}): set HOST and OPS_HOST to one.`
    : `Port ${port} on ${host} ${NO_PORT[code]}.`

/**
 * Listens on a port, 0 for any.
 * @returns the port
 * @throws Error with one sentence; it has no code, by which a host that is not found would be taken for the database's
 */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(portFault(error, port, host))))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
