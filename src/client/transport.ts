import { ClusterdError, errorOf } from './error.js'
import { pause, within } from './time.js'
import type { CallOptions, Method } from './types.js'

export interface ClientOptions {
  /** Address of the service: `https://names.example`. */
  url: string | URL
  /** Asks for the testnet, on every route; default false. */
  testnet?: boolean
  /** Key of `POST /v1/keys`, which raises the limit of requests. */
  apiKey?: string
  /** Authentication key of an earlier `signIn`. */
  token?: string
  /** Limit of a call with its repetitions, milliseconds; default 20,000. */
  timeoutMs?: number
  /** Times that a GET is repeated that was answered 429, 502, 503 or 504, or not at all; default 2. */
  retries?: number
  /** In place of the global `fetch`. */
  fetch?: typeof fetch
}

/** A request as it is sent, of any route. */
export interface Request extends CallOptions {
  params?: Readonly<Record<string, unknown>> | undefined
  query?: Readonly<Record<string, unknown>> | undefined
  body?: unknown
}

const TIMEOUT_MS = 20_000
const RETRIES = 2
/** Routes that answer JSON. */
const VERSIONED = /^\/v\d/
/** Pause before a repetition where the service names none; doubles. */
const RETRY_PAUSE_MS = 300

/** Sends requests: keys, time limits, repetitions, errors. */
export class Transport {
  readonly #options: ClientOptions
  readonly timeoutMs: number
  /** Authentication key, sent with every request. */
  token: string | undefined

  /** @throws TypeError for a URL that no request could go to */
  constructor(options: ClientOptions) {
    checkUrl(options.url)
    this.#options = options
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    this.token = options.token
  }

  /** The JSON, or the text, that a route answers. @throws ClusterdError; the signal's reason */
  call(method: Method, path: string, request: Request): Promise<unknown> {
    const timeoutMs = request.timeoutMs ?? this.timeoutMs
    const endsMs = Date.now() + timeoutMs
    return within(timeoutMs, request.signal, async (signal) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#once(method, path, { ...request, signal })
        } catch (error) {
          const isLast = method !== 'GET' || attempt >= (this.#options.retries ?? RETRIES)
          if (isLast || !(error instanceof ClusterdError) || !error.isTransient) throw error
          const pauseMs = error.retryAfterMs ?? RETRY_PAUSE_MS * 2 ** attempt
          // an error now says more than a time limit later
          if (Date.now() + pauseMs >= endsMs) throw error
          await pause(pauseMs, signal)
        }
      }
    })
  }

  async #once(method: Method, path: string, request: Request): Promise<unknown> {
    const response = await this.open(method, path, request)
    const text = await response.text().catch((cause: unknown) => {
      throw request.signal?.aborted ? cause : failed(cause)
    })
    const isJson = response.headers.get('content-type')?.includes('json')
    // a proxy's own page is no answer
    const body = isJson || (response.ok && VERSIONED.test(path)) ? parsed(text, response.status) : text
    if (!response.ok) throw errorOf(response, body)
    return body
  }

  /** The response as soon as its head is there. @throws ClusterdError network; the signal's reason */
  async open(method: Method, path: string, { params, query, body, signal }: Request): Promise<Response> {
    const { url, testnet, apiKey, fetch: send = fetch } = this.#options
    const target = new URL(`${String(url).replace(/\/+$/, '')}${pathOf(path, params)}`)
    for (const [name, value] of Object.entries({ ...(testnet && { testnet: true }), ...query }))
      if (value !== undefined) target.searchParams.set(name, String(value))
    const headers = headersOf({
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
    })
    const text = JSON.stringify(body)
    const init = { method, headers, redirect: 'error' as const, ...(signal && { signal }) }
    try {
      return await send(target, body === undefined ? init : { ...init, body: text })
    } catch (cause) {
      throw signal?.aborted ? cause : failed(cause)
    }
  }
}

/** @throws TypeError: `localhost:3000` has the scheme `localhost`, and a query would swallow the path */
function checkUrl(url: string | URL): void {
  if (!URL.canParse(String(url)) || !/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(String(url)))
    throw new TypeError(`The url of a client is like https://names.example, not “${url}”.`)
}

/** @throws ClusterdError invalid_request, without the key: `fetch` would say no more than that it failed */
function headersOf(values: Record<string, string>): Record<string, string> {
  try {
    new Headers(values)
    // as they are: a `fetch` of the caller's may spread them
    return values
  } catch {
    throw new ClusterdError('invalid_request', 'The token or the API key has letters that no key has.')
  }
}

const failed = (cause: unknown) => new ClusterdError('network', 'The service can not be reached.', { status: 0, cause })

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ClusterdError('unexpected', 'The answer is not JSON.', { status, cause })
  }
}

/** A path with its parameters. @throws ClusterdError invalid_request for one that would lead to another route */
function pathOf(template: string, params: Request['params'] = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(params[name] ?? '')
    if (/^\.{0,2}$/.test(text))
      throw new ClusterdError('invalid_request', `The parameter ${name} is ${text || 'empty'}.`)
    if (/\p{Surrogate}/u.test(text)) throw new ClusterdError('invalid_request', `The parameter ${name} is no Unicode.`)
    return encodeURIComponent(text)
  })
}
