import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { testWallet } from '../../web/generated/testWallet.js'
import { answerWallet, type WalletRequest, type WalletWorld } from './wallet.js'

/**
 * Stands before the daemon of a local world and gives its pages a wallet: two paths of its own, and a script in each
 * page. The daemon knows nothing of it, so that `clusterd start` can't serve it.
 */
export interface Front {
  port: number
  stop(): Promise<void>
}

export interface FrontOptions {
  /** Base address of the daemon's API. */
  target: string
  /** 0 for a free one. */
  port: number
  host?: string | undefined
  world: WalletWorld
}

const SCRIPT = '/test-wallet.js'
const RPC = '/test-wallet'
const TAG = `<script type="module" src="${SCRIPT}"></script></head>`
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/
const MAX_BODY_BYTES = 65_536

/** Starts the front. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const server = createServer((req, res) => {
    const path = req.url?.split('?', 1)[0]
    if (path === SCRIPT || path === RPC) void answerOwn(options.world, path, req, res)
    else pass(options.target, req, res)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host ?? '127.0.0.1', resolve)
  })
  return { port: portOf(server), stop: () => stopServer(server) }
}

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the front does not listen')
  return address.port
}

function stopServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

/**
 * Whether a request comes from a page of this very server on this machine. Another site's page has another origin, and
 * a name that it lets point here another host; what it may send without being asked has another type.
 */
function isOwnPage({ headers, socket, method }: IncomingMessage): boolean {
  const { host = '', origin } = headers
  if (!LOOPBACK.test(socket.remoteAddress ?? '') || !LOCAL_HOST.test(host)) return false
  return method === 'GET' || (origin === `http://${host}` && headers['content-type'] === 'application/json')
}

async function answerOwn(world: WalletWorld, path: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (!isOwnPage(req)) return send(res, 403, { message: 'The test wallet serves the pages of its own world alone.' })
  if (path === SCRIPT && req.method === 'GET') {
    res.writeHead(200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cross-origin-resource-policy': 'same-origin',
    })
    return void res.end(testWallet)
  }
  if (path !== RPC || req.method !== 'POST') return send(res, 405, { message: 'POST only.' })
  if (!(Number(req.headers['content-length']) <= MAX_BODY_BYTES)) return send(res, 413, { message: 'Too long.' })
  try {
    send(res, 200, { result: await answerWallet(world, (await json(req)) as WalletRequest) })
  } catch (error) {
    send(res, 400, { message: error instanceof Error ? error.message.split('\n', 1)[0] : 'It failed.' })
  }
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  res.end(JSON.stringify(body))
}

/** Passes a request on to the daemon, and its answer back; pages get the wallet's script. */
function pass(target: string, req: IncomingMessage, res: ServerResponse): void {
  const { hostname, port } = new URL(target)
  const headers = headersOf(req)
  const passed = request({ hostname, port, path: req.url, method: req.method, headers, agent: false }, (answer) => {
    if (answer.headers['content-type']?.startsWith('text/html'))
      return void addWallet(answer, res).catch(() => res.destroy())
    res.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answer.pipe(res)
    answer.on('error', () => res.destroy())
  })
  passed.on('error', () => {
    if (res.headersSent) res.destroy()
    else send(res, 503, { error: 'unavailable', message: 'The daemon of this world does not answer.' })
  })
  res.on('close', () => passed.destroy())
  req.pipe(passed)
}

/** Headers as they came, two of one name too; for a page without those by which it would come compressed. */
function headersOf({ headers, rawHeaders }: IncomingMessage): string[] {
  if (!headers.accept?.includes('text/html')) return rawHeaders
  return rawHeaders.filter((_, i) => rawHeaders[i - (i % 2)]!.toLowerCase() !== 'accept-encoding')
}

async function addWallet(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  const html = Buffer.from(Buffer.concat(parts).toString('utf8').replace('</head>', TAG))
  res.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'content-length': html.length })
  res.end(html)
}
