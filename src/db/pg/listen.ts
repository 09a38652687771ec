import { pause } from '../../ops/notify.js'
import { CHANNEL } from './notify.js'
import { Session } from './session.js'

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
  const session = await Session.open(url, 'clusterd listener')
  const close = () => void session.close()
  signal.addEventListener('abort', close)
  session.client.on('error', onError)
  session.client.on('notification', ({ payload }) => onNotify(payload ?? ''))
  try {
    await session.within(() => session.client.query(`LISTEN ${CHANNEL}`))
    session.beat()
    onNotify('')
    if (!signal.aborted) await session.lost
  } finally {
    signal.removeEventListener('abort', close)
    await session.close()
  }
}
