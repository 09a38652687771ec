import type { Loop, Loops } from '../../ops/loops.js'
import { pause } from '../../ops/notify.js'
import type { Network } from '../../registry/primitives/network.js'
import { CHANNEL } from './notify.js'
import { Session } from './session.js'

const RECONNECT_MS = 1_000

export interface ListenOptions {
  url: string
  network: Network
  signal: AbortSignal
  /** Shows that it listens, or tries to. */
  loops: Loops
  /** Called also after each new connection, since notifications without one are lost. */
  onNotify: (payload: string) => void
  onError: (error: Error) => void
}

/** Listens to notifications until the signal, on a connection of its own that is renewed whenever it breaks. */
export async function listenTo(options: ListenOptions): Promise<void> {
  const { signal, network, loops, onError } = options
  const loop = loops.start({ name: 'the listener', network })
  while (!signal.aborted) {
    await listenOnce(options, loop).catch((error: Error) => {
      loop.failed(error)
      onError(error)
    })
    await pause(RECONNECT_MS, signal)
  }
  loop.end()
}

async function listenOnce({ url, signal, onNotify, onError }: ListenOptions, loop: Loop): Promise<void> {
  const session = await Session.open(url, 'clusterd listener')
  const close = () => void session.close()
  signal.addEventListener('abort', close)
  session.client.on('error', onError)
  session.client.on('notification', ({ payload }) => onNotify(payload ?? ''))
  try {
    await session.within(() => session.client.query(`LISTEN ${CHANNEL}`))
    session.beat(() => session.client.query('SELECT 1').then(loop.succeeded))
    onNotify('')
    if (!signal.aborted) await session.lost
  } finally {
    signal.removeEventListener('abort', close)
    await session.close()
  }
}
