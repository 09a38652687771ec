import { ClusterdError } from './error.js'

/** Characters of one event; more would be a stream of something else. */
const MAX_EVENT_CHARS = 1_000_000

/**
 * Events of a stream with their names and the last id that came (WHATWG HTML, 9.2); comments are left out.
 * @param onChunk called with each piece that arrives, comments too
 * @param signal ends the stream, also where that of its request reaches nobody: Node forgets it once the head is there
 * @throws ClusterdError unexpected for an event without end
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void = () => {},
  signal?: AbortSignal,
): AsyncGenerator<{ id: string; event: string; data: string }, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let [rest, id, event] = ['', '', '']
  let data: string[] = []
  const end = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', end)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onChunk()
      // a CR at the end may be half of a CRLF
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
    signal?.removeEventListener('abort', end)
    await reader.cancel().catch(() => {})
  }
}
