import {
  AmountError,
  BridgeError,
  ChainBusyError,
  ChainUnavailableError,
} from '../../chains/chain.js'
import { isDatabaseUnavailable } from '../../db/pg/unavailable.js'
import { QueueFullError } from '../../ops/fairQueue.js'
import { type Answer, jsonAnswer } from './answer.js'

/** Every error code of the interface, with its HTTP status. */
export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_name: 400,
  invalid_amount: 400,
  unsupported_network: 400,
  unsupported_address: 400,
  invalid_sender: 400,
  watch_only: 400,
  too_many: 400,
  invalid_page: 400,
  testnet_only: 400,
  invalid_chain_id: 400,
  no_walletAddress_found: 400,
  unauthorized: 401,
  forbidden: 403,
  not_invited: 403,
  not_active: 403,
  not_verified: 403,
  requirements_not_met: 403,
  not_found: 404,
  not_in_cluster: 404,
  names_unavailable: 409,
  wallet_exists: 409,
  wallet_name_taken: 409,
  already_public: 409,
  last_verified_wallet: 409,
  names_would_reveal: 409,
  names_moving: 409,
  wallet_limit: 409,
  not_available: 409,
  already_assigned: 409,
  feed_restarted: 409,
  key_limit: 409,
  rate_limited: 429,
  internal: 500,
  bridge_failure: 502,
  unavailable: 503,
  catching_up: 503,
} as const
export type ErrorCode = keyof typeof ERROR_STATUS

/** A faulty field of a request, with its path, such as `names[0].amountWei`. */
export interface ErrorDetail {
  path: string
  message: string
}

/** `Retry-After` of responses with status 503, seconds. */
const RETRY_AFTER_S = 2

const HEADERS_OF_STATUS: Readonly<Record<number, Answer['headers']>> = {
  // every 401 carries a challenge (RFC 9110, 11.6.1)
  401: { 'www-authenticate': 'Bearer' },
  503: { 'retry-after': String(RETRY_AFTER_S) },
}

/** Further fields of an error's JSON. */
interface ErrorExtra {
  details?: readonly ErrorDetail[]
  names?: readonly string[]
  isValid?: false
  /**
   * HTTP status in place of the status of the code. All but 422 are faults in how a request was sent; 422 is a wrong
   * proof (tlog-witness).
   */
  status?: 408 | 413 | 417 | 422 | 431
}

/** Error with a code of the interface. Its message is one sentence for the caller. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly headers: Answer['headers']
  /** Name of the rate limit that the caller has reached, for the metrics. */
  readonly limit: string | undefined
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extra: ErrorExtra = {},
    options: ErrorOptions & { headers?: Answer['headers']; limit?: string } = {},
  ) {
    super(message, options)
    this.headers = options.headers
    this.limit = options.limit
  }
}

/** JSON response to an error, with the headers of the error or of its status. */
export function errorAnswer(error: ApiError): Answer {
  const status = error.extra.status ?? ERROR_STATUS[error.code]
  const body = { status, error: error.code, message: error.message, ...error.extra }
  return jsonAnswer(status, body, error.headers ?? HEADERS_OF_STATUS[status])
}

const QUEUE_LIMIT_OPTIONS = { headers: { 'retry-after': '1' }, limit: 'queue' } as const
const CHAIN_SILENT_MESSAGE = 'A chain that is needed for this does not answer now.'
const CHAIN_BUSY_MESSAGE =
  'As many requests as may wait for a chain that is needed for this do so: ask again.'
const NODES_DISAGREE_MESSAGE =
  'The nodes of a chain that is needed for this contradict each other now, so nothing was decided.'

/**
 * Converts any thrown value. Outages and overload of a chain or the database become 503, a bridge without a quote 502,
 * a full queue 429, a wrong amount 400. Any other error (a bug) becomes a 500 without details.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const because = { cause: error }
  if (error instanceof AmountError)
    return new ApiError('invalid_amount', error.message, {}, because)
  if (error instanceof BridgeError)
    return new ApiError('bridge_failure', 'The bridge can not quote now.', {}, because)
  // no cause is set, because errors with a cause raise an alarm, and anybody could fill the queue of a chain's calls
  if (error instanceof ChainBusyError) return new ApiError('unavailable', CHAIN_BUSY_MESSAGE)
  if (error instanceof ChainUnavailableError)
    return new ApiError(
      'unavailable',
      error.name === 'NodesDisagreeError' ? NODES_DISAGREE_MESSAGE : CHAIN_SILENT_MESSAGE,
      {},
      because,
    )
  if (error instanceof QueueFullError)
    return new ApiError(
      'rate_limited',
      'Too many requests of your address wait.',
      {},
      QUEUE_LIMIT_OPTIONS,
    )
  if (isDatabaseUnavailable(error))
    return new ApiError('unavailable', 'The database does not answer now.', {}, because)
  return new ApiError('internal', 'Something went wrong on our side.', {}, because)
}
