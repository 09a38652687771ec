/** Client of the service's API, as far as the pages use it. */

const TIMEOUT_MS = 40_000
const UNREACHABLE = 'The service can not be reached now.'

/** Error answer of the API; status 0 where none came. */
export class ApiError extends Error {
  override name = 'ApiError'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  isTestnet: boolean
  /** Authentication key. */
  token?: string | null | undefined
  body?: unknown
  signal?: AbortSignal
}

/** Asks the service. A 404 whose body is no error (an unknown address) is an answer. @throws ApiError */
export async function call<T>(path: string, { method, isTestnet, token, body, signal }: Call): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token) headers.authorization = `Bearer ${token}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const url = isTestnet ? `${path}${path.includes('?') ? '&' : '?'}testnet=true` : path
  const response = await fetch(url, {
    ...{ method: method ?? (body === undefined ? 'GET' : 'POST'), headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) : AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw new ApiError(0, 'unreachable', UNREACHABLE)
  })
  // null: cut off on its way, or the page of a proxy
  const answer = await response.json().catch(() => null)
  if (answer && (response.ok || (response.status === 404 && answer.error === undefined))) return answer as T
  throw new ApiError(response.status, answer?.error ?? '', answer?.message ?? UNREACHABLE)
}
