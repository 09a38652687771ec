import type { Loop, Loops } from '../../ops/loops.js'
import { createNotify, pause } from '../../ops/notify.js'
import type { Network } from '../../registry/primitives/network.js'
import { onConnection } from './pool.js'
import { type Queryable, readRows } from './rows.js'

/** The channel on which processes wake each other; a notification's payload is the network that changed. */
export const CHANNEL = 'clusterd'
/** Follows the network where nothing changed but a chain's head. */
const BLOCK = ' block'

const NOTIFY = { name: 'notify', text: 'SELECT pg_notify($1, $2)' }

/** Wakes every listener of a network; inside a transaction, when that commits. */
export async function notify(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [CHANNEL, network])
}

/** Wakes those listeners of a network that wait for a block. */
export async function notifyBlock(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [CHANNEL, network + BLOCK])
}

/** An empty payload stands for notifications that may have been lost. */
export function eventFor(network: Network, payload: string): 'notify' | 'block' | null {
  if (payload === '' || payload === network) return 'notify'
  return payload === network + BLOCK ? 'block' : null
}

/** Notification that wakes those who stand by for a network's leads: channel and payload. */
export const leadNotice = (network: Network): [string, string] => [CHANNEL, `${network} lead`]

/** Between two looks on the listener's connection: after a notification, and without. */
const LEAST_MS = 50
const BEAT_MS = 1_000
/** Time limit of answers there. */
const ANSWER_LIMIT_MS = 3_000
/** Before another connection. */
const RETRY_MS = 500

export interface ListenerOptions {
  url: string
  signal: AbortSignal
  /** Shows that it listens, or tries to. */
  loops: Loops
  onError: (error: Error) => void
  /** Called when it listens on a new connection, since the one before broke or fell silent. */
  onRenewed?: () => void
  /** Called after notifications, and once a second. */
  look?: () => void
}

export type Listener = ReturnType<typeof createListener>

/** The connection is renewed whenever it breaks or falls silent. */
export function createListener({ url, signal, loops, onError, onRenewed, look }: ListenerOptions) {
  const hearers = new Set<(payload: string) => void>()
  const tell = (payload: string): void => {
    for (const hearer of hearers) hearer(payload)
  }
  let hasListened = false

  /** Listens until the signal. @throws as the connection breaks, or gives no answer in time */
  const listen = (loop: Loop): Promise<void> => {
    const options = { url, applicationName: 'clusterd listener', answerMs: ANSWER_LIMIT_MS }
    return onConnection(options, async (client) => {
      const heard = createNotify()
      client.on('notification', ({ payload = '' }) => {
        if (!payload.endsWith(BLOCK)) heard.notify()
        tell(payload)
      })
      await client.query(`LISTEN ${CHANNEL}`)
      if (hasListened) onRenewed?.()
      hasListened = true
      tell('')
      while (!signal.aborted) {
        look?.()
        await client.query('SELECT 1')
        loop.succeeded()
        await pause(LEAST_MS, signal)
        await heard.wait(BEAT_MS - LEAST_MS, signal)
      }
    })
  }

  const run = async (): Promise<void> => {
    const loop = loops.start({ name: 'the listener' })
    while (!signal.aborted) {
      await listen(loop).catch((error: Error) => {
        loop.failed(error)
        onError(error)
      })
      await pause(RETRY_MS, signal)
    }
    loop.end()
  }

  return {
    /** Settles after the signal. */
    done: run(),
    /**
     * Calls the function with each notification, and with '' after each new connection, since those without one are
     * lost. @returns function that ends it
     */
    subscribe(hearer: (payload: string) => void): () => void {
      hearers.add(hearer)
      return () => void hearers.delete(hearer)
    },
  }
}
