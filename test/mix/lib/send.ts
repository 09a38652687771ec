import { type MixRequest, isOpenEnded } from './requests.js'

export interface MixAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  /** Parsed where it is JSON. */
  body: unknown
}

/** Longest time of an answer. The service's own deadline is shorter. */
const ANSWER_MS = 60_000
/** Time after which the client of a stream or a long poll leaves. */
const OPEN_MS = 300
/** Headers of the connection, of a single request, and of how much of its limits a client has used. */
const UNCOMPARED =
  /^(date|connection|keep-alive|content-length|transfer-encoding|x-request-id|ratelimit.*)$/

/**
 * Sends a request.
 * @returns null where the client left before the answer was complete
 * @throws Error where the connection breaks, or no answer comes in time
 */
export async function send(
  api: string,
  request: MixRequest,
  headers: Readonly<Record<string, string>>,
): Promise<MixAnswer | null> {
  const { method, path, body } = request
  const isOpen = isOpenEnded(request)
  const signal = AbortSignal.timeout(isOpen ? OPEN_MS : ANSWER_MS)
  try {
    const response = await fetch(`${api}${path}`, {
      method,
      redirect: 'manual',
      signal,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      headers: Object.fromEntries([...response.headers].filter(([name]) => !UNCOMPARED.test(name))),
      body: isJson ? JSON.parse(text) : text,
    }
  } catch (error) {
    if (isOpen && signal.aborted) return null
    throw new Error(`${method} ${path.slice(0, 200)} has no answer: ${describe(error)}`)
  }
}

const describe = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
