import { Agent, type IncomingMessage, request as sendHttp } from 'node:http'

/** Requests with their answers, and how two answers differ. */

/** Process that a request goes to, and what it has seen before. */
export type Stage =
  /** A service that is current, before any change. Live services are compared at this stage, too. */
  | 'settled'
  /** The same service, where each request may change something for the later ones. */
  | 'changed'
  /** The same data during the first catch-up of the hubs. */
  | 'catchingUp'
  /** A mirror of the service. */
  | 'mirror'
  /** A service with rate limits that the first request has used up. */
  | 'limited'
  /** A service of the mainnet alone, without ENS, whose feed has begun anew. */
  | 'reduced'

export interface Request {
  method: string
  /** Path and query. `{build}` is the folder of the pages' files, which the pages name. */
  path: string
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, in place of `body`. */
  text?: string
  headers?: Record<string, string>
  /** Role of the wallet whose key the request carries. */
  as?: string
  stage: Stage
  /** Text in a stream after which the client leaves, at the end of the message. */
  until?: string
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Bytes that are no text are in base64. */
  body: string
}

/** A request with its recorded answer. */
export interface Recorded extends Request {
  answer: Answer
  /** Fields that a running service of the same build answered in another way: only their types are compared there. */
  moving?: string[]
}

/** Headers that no two answers share: the time, and a random id of each request. */
const UNRECORDED = ['date', 'x-request-id']

/** Folder of the pages' files in a page: a hash of them. */
const BUILD = /(?<=\/assets\/)[\w-]+(?=\/)/
const EVERY_BUILD = new RegExp(BUILD, 'g')
const BYTES = /^application\/octet-stream/
/** Time after which a stream that does not send its text fails. */
const STREAM_LIMIT_MS = 20_000

/** Sends requests to one API. */
export class Asker {
  readonly #api: string
  readonly #sessions: Readonly<Record<string, string>>
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #build: string | undefined

  /** @param sessions authentication keys by role */
  constructor(api: string, sessions: Readonly<Record<string, string>> = {}) {
    this.#api = api
    this.#sessions = sessions
  }

  async ask(request: Request): Promise<Answer> {
    const { method, as, text, body, until } = request
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const headers: Record<string, string> = { ...request.headers }
    if (as !== undefined) headers.authorization = `Bearer ${this.#sessions[as]}`
    if (sent !== undefined) {
      headers['content-type'] ??= 'application/json'
      headers['content-length'] = String(Buffer.byteLength(sent))
    }
    const path = request.path.includes('{build}')
      ? request.path.replace('{build}', await this.#findBuild())
      : request.path
    const response = await this.#send({ method, path, headers, sent })
    const bytes = await (until === undefined ? allOf(response) : untilText(response, until))
    const isText = !BYTES.test(response.headers['content-type'] ?? '')
    const shown = Object.entries(response.headers)
      .filter(([name]) => !UNRECORDED.includes(name))
      .map(([name, value]) => [name, String(value)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      status: response.statusCode!,
      headers: Object.fromEntries(shown),
      body: isText
        ? bytes.toString('utf8').replaceAll(EVERY_BUILD, '{build}')
        : bytes.toString('base64'),
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  /** The path goes out as it is: `fetch` would normalize it. */
  #send(request: {
    method: string
    path: string
    headers: Record<string, string>
    sent: string | undefined
  }): Promise<IncomingMessage> {
    const { method, path, headers, sent } = request
    const { hostname, port } = new URL(this.#api)
    return new Promise((resolve, reject) => {
      const outgoing = sendHttp({ hostname, port, method, path, headers, agent: this.#agent })
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end(sent)
    })
  }

  async #findBuild(): Promise<string> {
    if (this.#build === undefined) {
      const accept = 'text/html'
      const page = await this.#send({
        method: 'GET',
        path: '/',
        headers: { accept },
        sent: undefined,
      })
      this.#build = BUILD.exec((await allOf(page)).toString('utf8'))![0]
    }
    return this.#build
  }
}

async function allOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** A stream up to the end of the message that has a text. Leaves the stream. */
async function untilText(response: IncomingMessage, text: string): Promise<Buffer> {
  const limit = setTimeout(
    () => response.destroy(new Error(`the stream does not send ${text}`)),
    STREAM_LIMIT_MS,
  )
  try {
    let all = ''
    for await (const piece of response) {
      all += String(piece)
      const found = all.indexOf(text)
      const end = found < 0 ? -1 : all.indexOf('\n\n', found)
      if (end >= 0) return Buffer.from(all.slice(0, end + 2))
    }
    return Buffer.from(all)
  } finally {
    clearTimeout(limit)
    response.destroy()
  }
}

/** The body as JSON, or its text where it is not JSON. */
const contentOf = ({ headers, body }: Answer): unknown =>
  headers['content-type']?.startsWith('application/json') && body !== '' ? JSON.parse(body) : body

/**
 * Differences of two answers. A body with equal JSON and other bytes (an order of fields, digits of a number) differs
 * as a `text`. Where the body differs, or is not sent (HEAD, 304), its length and its entity tag go without saying.
 */
export function answerDifferences(before: Answer, after: Answer): Difference[] {
  const differing = differences(
    { status: before.status, headers: before.headers, body: contentOf(before) },
    { status: after.status, headers: after.headers, body: contentOf(after) },
  )
  const hasBody = before.body !== '' || after.body !== ''
  if (hasBody && before.body === after.body) return differing
  const hasField = differing.some(({ field }) => field.startsWith('body'))
  if (hasBody && !hasField)
    differing.push({ field: 'text', before: before.body, after: after.body })
  return differing.filter(({ field, before: was, after: is }) => {
    const follows = field === 'headers.content-length' || field === 'headers.etag'
    return !follows || typeof was !== typeof is
  })
}

/** The error code of an answer; undefined for an answer without one. */
export function errorOf(answer: Answer): string | undefined {
  const content = contentOf(answer)
  if (!isRecord(content)) return undefined
  const { error } = content
  // in the form of tRPC the code is in the error's data
  const code = isRecord(error) && isRecord(error.data) ? error.data.error : error
  return typeof code === 'string' ? code : undefined
}

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value)

/** Whether two values of a field have one type. */
export const hasOneType = ({ before, after }: Difference): boolean =>
  typeOf(before) === typeOf(after)

/** What tools of the operator read. */
export interface OperatorView {
  /** Fields of `/status`, in the form of `differences`. */
  status: string[]
  /** Series of `/metrics`: `name{label,label}`. */
  metrics: string[]
  /** Fields that every line of the log has. */
  log: string[]
}

/** @param log text of a daemon's log, a JSON object a line */
export async function viewAsOperator(ops: string, log: string): Promise<OperatorView> {
  const status = await (await fetch(`${ops}/status`)).json()
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  const series = [...metrics.matchAll(/^(\w+)(?:\{(.*)\})? /gm)].map(([, name, labels = '']) => {
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label)
    return `${name}{${names.join()}}`
  })
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  const [first = [], ...rest] = lines.map((line) => Object.keys(JSON.parse(line)))
  return {
    status: [...new Set(pathsOf(status))].sort(),
    metrics: [...new Set(series)].sort(),
    log: first.filter((field) => rest.every((fields) => fields.includes(field))),
  }
}

/** Paths of all values in JSON. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsOf(one, `${path}[]`))
  if (!isRecord(value)) return [path]
  return Object.entries(value).flatMap(([name, one]) =>
    pathsOf(one, path === '' ? name : `${path}.${name}`),
  )
}

/** A field whose value is not the same in two answers. `undefined` is an absent one. */
export interface Difference {
  /** `body.items[].timestamp` */
  field: string
  before: unknown
  after: unknown
}

/** Fields that differ, in depth. An array of another length differs as a whole. */
export function differences(before: unknown, after: unknown, field = ''): Difference[] {
  if (Object.is(before, after)) return []
  const areArrays = Array.isArray(before) && Array.isArray(after) && before.length === after.length
  if (areArrays) return before.flatMap((one, i) => differences(one, after[i], `${field}[]`))
  if (!isRecord(before) || !isRecord(after)) return [{ field, before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differences(before[name], after[name], field === '' ? name : `${field}.${name}`),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
