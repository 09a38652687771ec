import pg from 'pg'
import { pause } from '../../ops/notify.js'
import { CHANNEL } from './notify.js'

const RECONNECT_MS = 1_000

export interface ListenOptions {
  url: string
  signal: AbortSignal
  /** Called also after each new connection, since notifications without one are lost. */
  onNotify: (payload: string) => void
  onError: (error: Error) => void
}

/** Listens to notifications until the signal, on a connection of its own that is renewed whenever it breaks. */
export async function listenTo(options: ListenOptions): Promise<void> {
  const { signal, onError } = options
  while (!signal.aborted) {
    await listenOnce(options).catch(onError)
    await pause(RECONNECT_MS, signal)
  }
}

async function listenOnce({ url, signal, onNotify, onError }: ListenOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'clusterd listener', keepAlive: true })
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  client.on('end', end)
  client.on('error', (error) => {
    onError(error)
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  client.on('notification', ({ payload }) => onNotify(payload ?? ''))
  try {
    await client.connect()
    await client.query(`LISTEN ${CHANNEL}`)
    onNotify('')
    await ended
  } finally {
    signal.removeEventListener('abort', end)
    await client.end().catch(() => {})
  }
}
