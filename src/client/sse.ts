import { ClusterdError, throwServiceUnreachable } from './error.js'
import { withTimeLimit } from './time.js'

/** Maximum length of a server-sent event, characters. No event of the feed is longer. */
const MAX_EVENT_CHARS = 1_000_000
/** Time without a byte, even a heartbeat, after which a stream counts as broken. */
export const STREAM_SILENCE_TIMEOUT_MS = 60_000

/**
 * Yields the server-sent events of a response, each with the last id that the service has sent (WHATWG HTML, 9.2).
 * Comment lines are skipped.
 * @throws ClusterdError network, timeout, unexpected; the signal's reason
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<{ id: string; event: string; data: string }, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const read = () => reader.read().catch(throwServiceUnreachable)
  let rest = ''
  let id = ''
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await withTimeLimit(
        { timeoutMs: STREAM_SILENCE_TIMEOUT_MS, signal },
        read,
      )
      if (done) return
      // a CR at the end may be the first half of a CRLF
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop()!
      for (const line of lines) {
        const [, name, text = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
        if (name === 'id') id = text
        if (name === 'event') event = text
        if (name === 'data') data.push(text)
        if (line !== '') continue
        if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') }
        data = []
        event = ''
      }
      if (rest.length + data.join('').length > MAX_EVENT_CHARS)
        throw new ClusterdError('unexpected', 'The stream holds no events.')
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
