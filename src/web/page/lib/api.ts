import { ClusterdError } from '../../../client/error.js'
import { Transport } from '../../../client/transport.js'
import type { Method } from '../../../client/types.js'

const TIMEOUT_MS = 40_000
const UNREACHABLE = 'The service cannot be reached now.'
/** Codes of failures on the client's side. */
const OWN_CODES = ['network', 'timeout', 'unexpected']

export interface ApiCallOptions {
  method?: Method
  isTestnet: boolean
  /** Authentication key. */
  token?: string | null | undefined
  body?: unknown
  signal?: AbortSignal | undefined
}

/** Calls the API. A 404 whose body is no error (an unknown address) is a valid answer. @throws ClusterdError */
export async function callApi<T>(
  path: string,
  { method, isTestnet, token, body, signal }: ApiCallOptions,
): Promise<T> {
  const options = { url: location.origin, testnet: isTestnet, timeoutMs: TIMEOUT_MS, retries: 0 }
  const transport = new Transport({ ...options, ...(token && { token }) })
  try {
    return (await transport.call(method ?? (body === undefined ? 'GET' : 'POST'), path, {
      body,
      signal,
    })) as T
  } catch (error) {
    if (!(error instanceof ClusterdError)) throw error
    const { code, status, body: answer } = error
    if (status === 404 && answer && typeof answer === 'object' && !('error' in answer))
      return answer as T
    throw OWN_CODES.includes(code) ? new ClusterdError(code, UNREACHABLE, { status }) : error
  }
}
