import { orIf } from '../../ops/log/errors.js'
import { TOO_LARGE } from './http.js'

/** Reaction to a failing RPC call, classified from its error. */
export type RpcFault =
  /** Range or response too large: ask for less. */
  | 'too_much'
  /** Rate limit: wait. */
  | 'rate_limited'
  /** Refused or reverted by the node itself: another node would do the same. */
  | 'refused'
  /** Anything else: try another node, or later. */
  | 'transient'

/** Patterns of one kind of error, each with the client or provider that says it. A new one is one more row. */
type Wordings = readonly (readonly [source: string, pattern: RegExp])[]

const anyOf = (wordings: Wordings): RegExp =>
  new RegExp(wordings.map(([, pattern]) => pattern.source).join('|'), 'i')

/**
 * A range or response is too large. Wordings of sending are in evm/txErrors.ts, of pruned state in evm/transactions.ts,
 * of mints in solana/tokens.ts.
 */
const TOO_MUCH = anyOf([
  ['geth', /exceed(s|ed)? (the )?(max|limit|range)/],
  ['geth behind a proxy', /maximum size|body size/],
  ['reth', /max(imum)? (block )?range/],
  ['Avalanche, Erigon', /too many (results|logs|blocks)/],
  ['Moonbeam, Ankr', /range (is )?too (large|wide)/],
  ['Sonic', /too wide blocks range/],
  ['Infura', /query returned more than/],
  ['Infura', /query timeout/],
  ['Infura and others', /more than \d+ (results|logs)/],
  ['Alchemy', /up to a \d+ block/],
  ['Alchemy', /log response size|response size (should|exceed)/],
  ['Alchemy and others', /block range/],
  ['QuickNode, BlockPI', /limited to (a )?\d/],
  ['Tenderly', /(bigger|greater|larger) than (the )?(range )?limit/],
  ['dRPC', /ranges over \d+ blocks/],
  ['several providers', /response (body |size )?(is )?too (large|big)/],
])
const RATE = /rate limit|request rate|too many requests|request limit|capacity|throttl/i
/** The system's word for a connection that failed; it holds no address. */
const SOCKET_CODE = /^E[A-Z_]{3,20}$/
const HTTP_TOO_MANY_REQUESTS = 429
const HTTP_CONTENT_TOO_LARGE = 413
const REFUSED =
  /revert|invalid opcode|out of gas|insufficient funds|nonce too|underpriced|already known|intrinsic gas/i

/**
 * Failures of the EVM itself, by which no node can do otherwise, in the words of geth, Erigon, Nethermind, Besu, Reth
 * and anvil. Running out of gas is none: nodes cap it differently.
 */
const EVM_FAILURE = anyOf([
  ['geth, Erigon', /must not begin with 0xef/],
  ['geth, Erigon', /invalid (opcode|jump)|stack ?(under|over)flow/],
  ['geth', /code size exceeded|write protection/],
  ['Nethermind', /starts with invalid bytes 0xef|\binvalid[_ ]?code\b|bad ?instruction/],
  ['Besu', /code is invalid|code[_ ]too[_ ]large/],
  ['Reth, anvil', /starting ?with ?ef\b|opcode ?not ?found|invalid ?fe ?opcode/],
  ['Reth, anvil', /contract ?size ?limit/],
])

/** Classified error of a node. */
export class RpcError extends Error {
  override name = 'RpcError'
  constructor(
    readonly fault: RpcFault,
    message: string,
    /** Pause that the node asked for (Retry-After), ms. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** A node lacks what another has told of: one more may have it. No fault: it may deny a lie. */
export class LackingError extends RpcError {
  constructor(message: string) {
    super('transient', message)
  }
}

/** A node has another item in place of what a second one has told of: it has answered, and is not silent. */
export class ContradictingError extends LackingError {}

/** An answer that the chain itself refutes: its node lies, or has lost logs. */
export class RefutedError extends RpcError {
  override name = 'RefutedError'
  constructor(message: string) {
    super('transient', message)
  }
}

/** Error of a JSON-RPC answer (JSON-RPC 2.0, section 5.1). */
export class NodeError extends Error {
  override name = 'NodeError'
  readonly code: unknown
  readonly data: unknown
  /** The node's own words, for sorting alone. */
  readonly details: string

  constructor({ code, data, message }: { code?: unknown; data?: unknown; message?: unknown }) {
    const details = typeof message === 'string' ? message : ''
    super(harmless(details))
    this.code = code
    this.data = data
    this.details = details
  }
}

/** An error that another node, or a later attempt, may not meet. */
export const transient = (message: string): RpcError => new RpcError('transient', message)

/** Waits for an answer; a refusal by the node gives `fallback` instead. */
export const orIfRefused = <T, const F>(asked: Promise<T>, fallback: F): Promise<T | F> =>
  orIf(asked, (error) => error instanceof RpcError && error.fault === 'refused', fallback)

/** Fields that transports' errors may have. */
export interface ErrorShape {
  name?: string
  message?: string
  details?: string
  status?: number
  code?: number
  data?: unknown
  headers?: Pick<Headers, 'get'>
  cause?: unknown
}

/**
 * Classifies an error of a call over HTTP.
 * @param response its HTTP response, if any: an error in the body hides the status
 */
export function classifyRpcError(
  thrown: unknown,
  method: string,
  response?: { status: number; headers: Pick<Headers, 'get'> },
): RpcError {
  if (thrown instanceof RpcError) return thrown
  const error = thrown as ErrorShape
  const { status = 0, headers } = response ?? error
  const text = textOf([error])
  const said = (error.details || error.message || String(thrown)).split('\n')[0]!
  const why = SOCKET_CODE.test(String(error.code)) ? error.code : harmless(said)
  const message = `${method}: ${status >= 400 ? `HTTP ${status}: ` : ''}${why}`
  const of = (fault: RpcFault, retryMs: number | null = null) =>
    new RpcError(fault, message, retryMs, { cause: error })
  if ([status, error.code].includes(HTTP_TOO_MANY_REQUESTS) || RATE.test(said))
    return of('rate_limited', retryAfterMs(headers))
  if (status === HTTP_CONTENT_TOO_LARGE || String(error.code) === TOO_LARGE || TOO_MUCH.test(text))
    return of('too_much')
  const isRefused = typeof error.code === 'number' && (REFUSED.test(text) || EVM_FAILURE.test(text))
  return of(isRefused ? 'refused' : 'transient')
}

/** Words and numbers of sentences; URLs, keys, bytes and names of fields are none. */
const PLAIN =
  /^[("'[]*(?:[A-Z]?[a-z]{1,16}(?:[-'][a-z]{1,12})?|[A-Z]{1,5}|-?\d{1,9}|0x[0-9a-f]{1,8})?[)"'\]:,.;!?]*$/
const MAX_WORDS = 24

/** Text of a node's answer without secrets: a URL with a key, a wallet's signature. */
function harmless(said: string): string {
  const words = said.slice(0, 1_000).split(/\s+/).slice(0, MAX_WORDS)
  return words.map((word) => (PLAIN.test(word) ? word : '…')).join(' ')
}

/** True if a call failed by the rules of the EVM: every node would give the same. */
export const isEvmFailure = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'refused' && EVM_FAILURE.test(wordsIn(error))

/** Words of a node in an error, for sorting alone: they may hold its URL or the request. */
export const wordsIn = (error: RpcError): string => textOf(causesOf(error))

/** Texts of an error and its causes: some providers explain it in their data only. */
const textOf = (chain: readonly ErrorShape[]): string =>
  chain
    .map((e) => `${e.details ?? ''} ${e.message ?? ''} ${JSON.stringify(e.data ?? '')}`)
    .join(' ')

/** An error and its causes, outermost first; bounded, since causes may form a circle. */
export function causesOf(error: unknown): object[] {
  const chain: object[] = []
  for (let e = error; e && typeof e === 'object' && chain.length < 8; e = (e as ErrorShape).cause)
    chain.push(e)
  return chain
}

/** Retry-After in seconds or as a date (RFC 9110, section 10.2.3). */
function retryAfterMs(headers: Pick<Headers, 'get'> | undefined): number | null {
  const value = headers?.get('retry-after')
  if (!value) return null
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 300_000) : null
}
