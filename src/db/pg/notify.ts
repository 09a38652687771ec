import type { Loop, Loops } from '../../ops/loops.js'
import { pause } from '../../ops/notify.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Queryable, readRows } from './rows.js'
import { Session } from './session.js'

/** The channel on which processes wake each other; a notification's payload is the network that changed. */
const CHANNEL = 'clusterd'
/** Follows the network where nothing changed but a chain's head. */
const BLOCK = ' block'

const NOTIFY = { name: 'notify', text: 'SELECT pg_notify($1, $2)' }

/** Wakes every listener of a network; inside a transaction, when that commits. */
export async function notify(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [CHANNEL, network])
}

/** What wakes those listeners of a network that wait for a block: channel and payload. */
export const blockNotice = (network: Network): [string, string] => [CHANNEL, network + BLOCK]

/** Wakes those listeners of a network that wait for a block. */
export async function notifyBlock(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, blockNotice(network))
}

/** What a payload says to a network's listener; an empty one stands for notifications that may have been lost. */
export function heardBy(network: Network, payload: string): 'notify' | 'block' | null {
  if (payload === '' || payload === network) return 'notify'
  return payload === network + BLOCK ? 'block' : null
}

const RECONNECT_MS = 1_000

export interface ListenOptions {
  url: string
  /** Names the listener among the loops; without it, it is that of the API. */
  network?: Network
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
  const loop = loops.start({ name: 'the listener', ...(network && { network }) })
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
