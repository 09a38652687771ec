import { ClusterdError, errorOfResponse, throwServiceUnreachable } from './error.js'
import { pause, withTimeLimit } from './time.js'
import type { CallOptions, Method } from './types.js'

export interface ClientOptions {
  /** Address of the service: `https://names.example`. */
  url: string | URL
  /** Selects the testnet on every route; default false. */
  testnet?: boolean
  /** API key from `POST /v1/keys`, which raises the rate limit. */
  apiKey?: string
  /** Authentication key of an earlier `signIn`. */
  token?: string
  /** Time limit of a call including its retries, milliseconds; default 20,000. */
  timeoutMs?: number
  /** Number of retries of a GET after 429, 502, 503, 504 or no response; default 2. */
  retries?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch
}

type ParameterValues = Readonly<Record<string, unknown>>

/** A request to any route. @internal */
export interface ApiRequest extends CallOptions {
  params?: ParameterValues | undefined
  query?: ParameterValues | undefined
  body?: unknown
}

const DEFAULT_TIMEOUT_MS = 20_000
const DEFAULT_RETRIES = 2
/** Maximum length of a successful response, bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Maximum length of an error response, bytes. */
const MAX_ERROR_BYTES = 64 * 1024
/**
 * Matches the address of a service. The address is not parsed, because React Native's `URL` has no `canParse`, and
 * accepts any text.
 */
const SERVICE_URL_PATTERN = /^https?:\/\/(\[[\da-f:.]+\]|[^\s/?#@:[\]]+)(:\d{1,5})?(\/[^\s?#]*)?$/i
/** Matches paths of versioned routes, such as `/v1/…`. A response of such a route that is not JSON is an error. */
const VERSIONED_PATH_PATTERN = /^\/v\d/
/** Pause before the first retry, if the service sends no Retry-After. Each further pause is twice as long. */
const RETRY_PAUSE_MS = 300

/** Sends requests with the client's keys and time limits, retries requests, and throws error responses. @internal */
export class Transport {
  readonly #options: ClientOptions
  readonly timeoutMs: number
  /** Network on whose data the requests act. */
  readonly network: 'mainnet' | 'testnet'
  /** Authentication key, sent with every request. */
  token: string | undefined
  /** True if the last response could be read while it arrived. React Native's `fetch` returns only whole responses. */
  hasStreams = true

  /** @throws TypeError for an address such as `localhost:3000`, whose scheme is `localhost` */
  constructor(options: ClientOptions) {
    const url = String(options.url)
    if (!SERVICE_URL_PATTERN.test(url))
      throw new TypeError(`The url of a client is like https://names.example, not “${url}”.`)
    this.#options = options
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.network = options.testnet ? 'testnet' : 'mainnet'
    this.token = options.token
  }

  /**
   * Sends a request. Only a GET is retried.
   * @returns the response's JSON, or on an unversioned path a text that is not JSON
   * @throws ClusterdError; the signal's reason
   */
  call(method: Method, path: string, request: ApiRequest): Promise<unknown> {
    const options = method === 'GET' ? request : { ...request, retries: 0 }
    return this.repeated(options, (signal) => this.#once(method, path, { ...request, signal }))
  }

  /** Runs an idempotent request, with retries after transient errors. @throws ClusterdError; the signal's reason */
  repeated<T>(
    options: CallOptions & { retries?: number },
    once: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs = this.timeoutMs, retries = this.#options.retries ?? DEFAULT_RETRIES } =
      options
    const endsMs = Date.now() + timeoutMs
    return withTimeLimit({ timeoutMs, signal: options.signal }, async (signal) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(signal)
        } catch (error) {
          if (attempt >= retries || !(error instanceof ClusterdError) || !error.isTransient)
            throw error
          const pauseMs = error.retryAfterMs ?? RETRY_PAUSE_MS * 2 ** attempt
          // throw the error now if the time limit would pass before the retry
          if (Date.now() + pauseMs >= endsMs) throw error
          await pause(pauseMs, signal)
        }
      }
    })
  }

  async #once(method: Method, path: string, request: ApiRequest): Promise<unknown> {
    const response = await this.open(method, path, request)
    const text = await readAnswerText(response)
    const body = parseJsonOrText(text)
    // a page of a proxy (HTML) is not a response of the service
    if (body === text && VERSIONED_PATH_PATTERN.test(path))
      throw new ClusterdError('unexpected', 'The answer is not JSON.', { status: response.status })
    return body
  }

  /** Sends a request. @returns the response once its headers have arrived @throws ClusterdError; the signal's reason */
  async open(
    method: Method,
    path: string,
    { params, query, body, signal }: ApiRequest,
  ): Promise<Response> {
    const { url, testnet, apiKey, fetch: send = fetch } = this.#options
    const parts = Object.entries({ ...(testnet && { testnet: true }), ...query })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encode(name, name)}=${encode(name, String(value))}`)
    const target = `${String(url).replace(/\/+$/, '')}${pathOf(path, params)}`
    const joint = target.includes('?') ? '&' : '?'
    const withQuery = parts.length > 0 ? `${target}${joint}${parts.join('&')}` : target
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
    }
    // invalid keys are refused here, because the error of `fetch` would not name the reason
    if ([apiKey, this.token].some((key) => /[^ -~]/.test(key?.trim() ?? '')))
      throw new ClusterdError(
        'invalid_request',
        'The token or the API key has letters that no key has.',
      )
    // `redirect` is not `error`, because Cloudflare Workers do not have that mode
    const redirect = 'manual' as const
    const init = { method, headers, body: JSON.stringify(body), redirect, signal }
    const response = await send(withQuery, init).catch(throwServiceUnreachable)
    this.hasStreams = Boolean(streamOf(response))
    if (response.ok) return response
    const text = (await readTextUpTo(response, MAX_ERROR_BYTES)) ?? ''
    throw errorOfResponse(response, parseJsonOrText(text))
  }
}

/** Reads the text of a successful response. @throws ClusterdError network; unexpected for a long text @internal */
export async function readAnswerText(response: Response): Promise<string> {
  const text = await readTextUpTo(response, MAX_ANSWER_BYTES)
  if (text !== null) return text
  throw new ClusterdError('unexpected', `The answer is longer than ${MAX_ANSWER_BYTES} bytes.`)
}

/** Stream of a response; nothing where it has none, or another kind, such as that of node-fetch 2. */
const streamOf = ({ body }: Response) => body?.getReader && body

/** Reads the text of a response; null for a text that is too long, as `readBytesUpTo` does for bytes. */
async function readTextUpTo(response: Response, most: number): Promise<string | null> {
  // a runtime whose responses have no stream may have no TextDecoder either
  if (!streamOf(response)) {
    const text = await response.text().catch(throwServiceUnreachable)
    return text.length > most ? null : text
  }
  const bytes = await readBytesUpTo(response, most)
  return bytes && new TextDecoder().decode(bytes)
}

/**
 * Reads the bytes of a response; null if there are more than `most`, as in an endless response or a
 * decompression bomb.
 * @throws ClusterdError network
 * @internal
 */
export async function readBytesUpTo(response: Response, most: number): Promise<Uint8Array | null> {
  // not every browser can iterate a stream
  const reader = streamOf(response)?.getReader()
  if (!reader) {
    const whole = new Uint8Array(await response.arrayBuffer().catch(throwServiceUnreachable))
    return whole.length > most ? null : whole
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(throwServiceUnreachable)
    if (done) break
    length += value.length
    if (length > most) {
      void reader.cancel().catch(() => {})
      return null
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/**
 * Parses JSON, and converts `value` of each EVM transaction to a bigint. Returns a text that is not JSON unchanged.
 * @internal
 */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text, withWei)
  } catch {
    return text
  }
}

/** Converts `value` (wei) of an EVM transaction to a bigint, as wallet libraries expect it. */
function withWei(this: object, key: string, value: unknown): unknown {
  return key === 'value' && 'to' in this && 'data' in this ? BigInt(value as string) : value
}

/** Fills in a path's parameters. @throws ClusterdError for a value such as `..`, which would select another route */
function pathOf(template: string, params: ParameterValues = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(params[name] ?? '')
    if (/^\.{0,2}$/.test(text)) throw parameterError(name, text)
    return encode(name, text)
  })
}

/** Encodes a value for a URL. @throws ClusterdError for half a surrogate pair, which UTF-8 does not have */
function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw parameterError(name, text)
  }
}

const parameterError = (name: string, text: string): ClusterdError =>
  new ClusterdError('invalid_request', `The parameter ${name} can not be “${text}”.`)
