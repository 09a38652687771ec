import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { classifyErrorParts, type ErrorRow, isEvmFailureText, type RpcFault } from './errorTable.js'
import { ANSWER_TOO_LARGE_ERROR_CODE } from './http.js'

export type { RpcFault } from './errorTable.js'

/** Matches the operating system's codes of failed connections, such as ECONNREFUSED, which are safe to show. */
const SOCKET_CODE_PATTERN = /^E[A-Z_]{3,20}$/

interface RpcErrorOptions extends ErrorOptions {
  /** Reason in snake_case, from errorTable.ts. */
  reason?: string
}

/** Classified error of an RPC call. */
export class RpcError extends Error {
  override name = 'RpcError'
  constructor(
    readonly fault: RpcFault,
    message: string,
    /** Pause that the node asked for (Retry-After), ms. */
    readonly retryAfterMs: number | null = null,
    { reason = '', ...options }: RpcErrorOptions = {},
  ) {
    super(message, options)
    this.reason = reason
  }

  /** Reason of the fault, in snake_case. Empty where `classifyRpcError` did not make the error. */
  readonly reason: string
}

/**
 * A node does not have the requested data, or does not support the call. The node does not rest for it: another node
 * may have invented the data.
 */
export class MissingDataError extends RpcError {
  constructor(message: string, options?: RpcErrorOptions) {
    super('transient', message, null, options)
  }
}

/** A node returned another item than a second node did. Unlike a silent node, it has answered. */
export class ContradictingNodeError extends MissingDataError {}

/**
 * An answer that can't be true: it contradicts agreed data, or is impossible for our contracts. Its node lies or has
 * lost data.
 */
export class RefutedAnswerError extends RpcError {
  override name = 'RefutedAnswerError'
  constructor(message: string) {
    super('transient', message)
  }
}

/** Nodes refuse a transaction that none of them has. The reason and the message come from one node's error. */
export class RefusedByNodesError extends RpcError {
  override name = 'RefusedByNodesError'

  constructor({ fault, message, reason, cause }: RpcError) {
    super(fault, message, null, { reason, cause })
  }
}

/**
 * Error of a node that serves another chain than the configured one. The node is checked again after `WRONG_REST_MS`.
 */
export class WrongChainError extends RpcError {
  override name = 'WrongChainError'

  /** @param served sentence that names what the node serves instead of the configured chain */
  constructor(served: string) {
    super(
      'transient',
      `${served}: correct the URL. To rehearse, run \`clusterd rehearse\` (docs/run/deploying.md).`,
    )
  }
}

/** Error of a JSON-RPC answer (JSON-RPC 2.0, section 5.1). */
export class NodeError extends Error {
  override name = 'NodeError'
  /** As the node sent it. A number in a string is converted. */
  readonly code: unknown
  readonly data: unknown
  /** The node's own message. Used only for classification, never shown. */
  readonly details: string

  /** @param error the answer's `error`: an object by the standard, but some proxies send only its message */
  constructor(error: unknown) {
    const { code, data, message } = (
      typeof error === 'string' ? { message: error } : Object(error)
    ) as { code?: unknown; data?: unknown; message?: unknown }
    const details = typeof message === 'string' ? message : ''
    super(withoutSecrets(details))
    this.code = typeof code === 'string' && /^-?\d{1,6}$/.test(code) ? Number(code) : code
    this.data = data
    this.details = details
  }
}

/** Error of a call that may succeed on another node or at a later attempt. */
export const transientError = (message: string): RpcError => new RpcError('transient', message)

/**
 * Waits for an answer. Returns `fallback` if the call fails with fault `refused` (`RpcFault`), such as a revert.
 * @throws every other error
 */
export const fallbackIfRefused = <T, const F>(request: Promise<T>, fallback: F): Promise<T | F> =>
  fallbackOnExpectedError(
    request,
    (error) => error instanceof RpcError && error.fault === 'refused',
    fallback,
  )

/**
 * Waits for an answer that the caller can do without, and returns `fallback` if the call fails.
 * @throws errors other than RpcError; RpcError of fault `rate_limited`
 */
export const fallbackIfCallFails = <T, const F>(request: Promise<T>, fallback: F): Promise<T | F> =>
  fallbackOnExpectedError(
    request,
    (error) => error instanceof RpcError && error.fault !== 'rate_limited',
    fallback,
  )

/** Fields that errors of HTTP clients may have. */
interface ClientErrorFields {
  name?: string
  message?: string
  details?: string
  status?: number
  code?: unknown
  data?: unknown
  headers?: Pick<Headers, 'get'>
  cause?: unknown
}

/** Context of a failed call, besides its error. */
interface RpcErrorContext {
  /** HTTP response, if any. An error in a JSON-RPC body does not carry the HTTP status itself. */
  response?: { status: number; headers: Pick<Headers, 'get'> } | undefined
  /** Rows for the errors of this chain family's clients. */
  familyTable?: readonly ErrorRow[] | undefined
}

/**
 * Classifies an error of a call over HTTP, by the tables in errorTable.ts. Returns an RpcError unchanged.
 * @param method RPC method, which the message names
 */
export function classifyRpcError(
  thrown: unknown,
  method: string,
  { response, familyTable = [] }: RpcErrorContext = {},
): RpcError {
  if (thrown instanceof RpcError) return thrown
  const error = thrown as ClientErrorFields
  const { status = 0, headers } = response ?? error
  const said = error.details || error.message || String(thrown)
  const isSocket = SOCKET_CODE_PATTERN.test(String(error.code))
  const why = isSocket ? error.code : withoutSecrets(said.split('\n')[0]!)
  const message = `${method}: ${status >= 400 ? `HTTP ${status}: ` : ''}${why}`

  const { fault, reason } = meaningOfError(error, { method, status, said, familyTable })
  const options = { reason, cause: error }
  if (fault === 'unable') return new MissingDataError(message, options)
  const isAsked = fault === 'rate_limited' || status >= 500
  return new RpcError(fault, message, isAsked ? retryAfterMs(headers) : null, options)
}

interface NodeResponseParts {
  method: string
  status: number
  /** The node's message, or the response body. */
  said: string
  familyTable: readonly ErrorRow[]
}

function meaningOfError(
  error: ClientErrorFields,
  { method, status, said, familyTable }: NodeResponseParts,
) {
  if (error.code === ANSWER_TOO_LARGE_ERROR_CODE)
    return { fault: 'too_much', reason: 'answer_too_large' } as const
  const isJson = error instanceof NodeError || typeof error.code === 'number'
  const code = isJson ? Number(error.code ?? 0) || 0 : null
  const text = `${said} ${JSON.stringify(error.data ?? '')}`
  const isRevert = revertDataOfError(error) !== null
  return classifyErrorParts({ method, status, code, text, isRevert }, familyTable)
}

/**
 * Revert data of a node's error. Nodes send the bytes themselves, a text (`Reverted 0x…`, OpenEthereum and Nethermind),
 * or an object (Hardhat, Ganache).
 * @returns null where the data has no selector
 */
export function revertDataOfError({ data }: ClientErrorFields): `0x${string}` | null {
  const text = innerData(innerData(data))
  if (typeof text !== 'string') return null
  const bytes = text.toLowerCase().replace(/^reverted /, '')
  return REVERT_DATA_PATTERN.test(bytes) ? (bytes as `0x${string}`) : null
}

/** Matches revert data in hex: whole bytes that begin with a selector of four bytes. */
const REVERT_DATA_PATTERN = /^0x(?:[0-9a-f]{2}){4,}$/
const innerData = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && 'data' in data ? data.data : data

/** Matches ordinary words and numbers, which are safe to show. URLs, keys, bytes and field names do not match. */
const HARMLESS_WORD_PATTERN =
  /^[("'[]*(?:[A-Z]?[a-z]{1,16}(?:[-'][a-z]{1,12})?|[A-Z]{1,5}|-?\d{1,9}|0x[0-9a-f]{1,8})?[)"'\]:,.;!?]*$/
const MAX_SHOWN_WORDS = 24

/** Removes secrets from a node's message: a URL with its key, a wallet's signature. */
function withoutSecrets(said: string): string {
  const words = said.slice(0, 1_000).split(/\s+/).slice(0, MAX_SHOWN_WORDS)
  return words.map((word) => (HARMLESS_WORD_PATTERN.test(word) ? word : '…')).join(' ')
}

/** True if a call failed by the rules of the EVM: every node gives the same answer. */
export const isEvmFailure = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'refused' && isEvmFailureText(nodeMessagesIn(error))

/**
 * A node's messages in an error and its causes, with their `data`: some providers explain the error only there. Only
 * for classification, since the messages may hold the node's URL or the request.
 */
export const nodeMessagesIn = (error: RpcError): string =>
  errorWithCauses(error)
    .map(
      (e: ClientErrorFields) =>
        `${e.details ?? ''} ${e.message ?? ''} ${JSON.stringify(e.data ?? '')}`,
    )
    .join(' ')

/** An error and its causes, outermost first. At most eight, since causes may form a circle. */
export function errorWithCauses(error: unknown): object[] {
  const chain: object[] = []
  for (
    let e = error;
    e && typeof e === 'object' && chain.length < 8;
    e = (e as ClientErrorFields).cause
  )
    chain.push(e)
  return chain
}

/**
 * Pause of a Retry-After header, which holds seconds or a date (RFC 9110, section 10.2.3), ms. At most five minutes.
 * Null for a missing or malformed header, or a time that has passed.
 */
function retryAfterMs(headers: Pick<Headers, 'get'> | undefined): number | null {
  const value = headers?.get('retry-after')
  if (!value) return null
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 300_000) : null
}

/** True if a node answered the call with a JSON-RPC error, other than a request to wait. */
export const isErrorAnswer = (error: unknown): boolean =>
  error instanceof RpcError && error.cause instanceof NodeError && error.fault !== 'rate_limited'

/**
 * Reasons of failed calls that say nothing about the sent transaction: HTTP status 5xx, 401 to 403, 407 or 408; a method
 * that the node does not have; a fault or a timeout inside the node.
 */
const REASONS_NOT_OF_TRANSACTION: ReadonlySet<string> = new Set([
  'server_error',
  'no_access',
  'method_missing',
  'internal',
])

/** True if a node answered with a JSON-RPC error that may concern the sent transaction, not the caller or the node. */
export const isRefusalByNode = (error: unknown): error is RpcError =>
  isErrorAnswer(error) && !REASONS_NOT_OF_TRANSACTION.has((error as RpcError).reason)

/** Reason of a failed call, in snake_case: that of the node's error, or `unreachable`. Never a node's own message. */
export const reasonOfError = (error: unknown): string =>
  errorWithCauses(error).flatMap((one) => (one instanceof RpcError && one.reason) || [])[0] ??
  'unreachable'

/** True if a node refused a range or an answer as too large: it may answer a smaller question. */
export const isTooMuchError = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'too_much'

/** True if the same node may answer a second attempt. */
export const isRetryableRpcError = (error: Error): boolean =>
  error instanceof RpcError &&
  error.fault === 'transient' &&
  ![MissingDataError, RefutedAnswerError, WrongChainError].some((known) => error instanceof known)

/** True if a node answered, but its data contradict another node's, or were refuted. */
export const isContradictionError = (error: Error | undefined): boolean =>
  error instanceof ContradictingNodeError || error instanceof RefutedAnswerError
