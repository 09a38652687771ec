import type { LoopReporter, WorkerLoops } from '../../ops/loops.js'
import { createLoopWaker, pauseUntilSignal } from '../../ops/waiting.js'
import type { Network } from '../../registry/primitives/network.js'
import { withConnection } from './pool.js'
import { prepared, type Queryable, readRows } from './rows.js'
import { assertTakesWrites } from './unavailable.js'

/** Channel on which processes notify each other. A notification's payload begins with the network that changed. */
export const NOTIFY_CHANNEL = 'clusterd'
/** Suffix of a payload, after the network, for a notification that only a chain's head changed. */
const BLOCK_SUFFIX = ' block'

const NOTIFY = prepared('SELECT pg_notify($1, $2)')

/** Notifies every listener of a network. In a transaction, the notification is sent at its commit. */
export async function notifyNetwork(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [NOTIFY_CHANNEL, network])
}

/** Notifies the listeners of a network that only the head of one of its chains has changed. */
export async function notifyBlock(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [NOTIFY_CHANNEL, network + BLOCK_SUFFIX])
}

/**
 * What a notification's payload reports about a network: `block` if only a chain's head changed, `notify` for any other
 * change, and null if the payload is of another network, or of the end of a leadership. The empty payload means that
 * notifications may have been lost, and counts as a change of each network.
 */
export function parseNotificationPayload(
  network: Network,
  payload: string,
): 'notify' | 'block' | null {
  if (payload === '' || payload === network) return 'notify'
  return payload === network + BLOCK_SUFFIX ? 'block' : null
}

/**
 * Notification that a leader of the network has ended its leadership, for the processes that wait to lead.
 * @returns channel and payload
 */
export const leadershipEndNotification = (network: Network): [string, string] => [
  NOTIFY_CHANNEL,
  `${network} lead`,
]

/** Pause between two polls on the listener's connection, ms. */
const POLL_PAUSE_MS = 1_000
/** Shortest pause between two polls, ms: a notification ends the pause early, but not before this time. */
const MIN_POLL_PAUSE_MS = 50
/** Timeout of answers on the listener's connection, ms. */
const ANSWER_LIMIT_MS = 3_000
/** Least time between the beginnings of two attempts to listen, ms. */
const RETRY_MS = 500

export interface ListenerOptions {
  url: string
  signal: AbortSignal
  /** Reports in the process's status whether the listener works. */
  loops: WorkerLoops
  onError: (error: Error) => void
  /**
   * Called when the listener has a new connection in place of one that failed (see `createListener`). Not called for
   * the first connection.
   */
  onRenewed?: () => void
  /** Called before each poll of the connection: about once a second, and soon after a change other than a new head. */
  onWake?: () => void
}

export type Listener = ReturnType<typeof createListener>

/**
 * Creates a listener, which reconnects whenever its connection breaks or falls silent, or its server takes no writes.
 * Such a server sends no notifications: after a fail-over, the old primary may keep its connections.
 */
export function createListener({
  url,
  signal,
  loops,
  onError,
  onRenewed,
  onWake,
}: ListenerOptions) {
  const subscribers = new Set<(payload: string) => void>()
  const callSubscribers = (payload: string): void => {
    for (const subscriber of subscribers) subscriber(payload)
  }
  let hasListened = false

  /** Listens until the signal. @throws when the connection breaks, does not answer in time or takes no writes */
  const listen = (loop: LoopReporter): Promise<void> => {
    const options = { url, applicationName: 'clusterd listener', answerMs: ANSWER_LIMIT_MS }
    return withConnection(options, async (client) => {
      const waker = createLoopWaker()
      client.on('notification', ({ payload = '' }) => {
        if (!payload.endsWith(BLOCK_SUFFIX)) waker.notify()
        callSubscribers(payload)
      })
      await client.query(`LISTEN ${NOTIFY_CHANNEL}`)
      await assertTakesWrites(client)
      if (hasListened) onRenewed?.()
      hasListened = true
      callSubscribers('')
      while (!signal.aborted) {
        onWake?.()
        await assertTakesWrites(client)
        loop.succeeded()
        await waker.wait(POLL_PAUSE_MS - MIN_POLL_PAUSE_MS, signal)
        // requests that the notification woke use the database before the next poll
        await pauseUntilSignal(MIN_POLL_PAUSE_MS, signal)
      }
    })
  }

  const run = async (): Promise<void> => {
    const loop = loops.register({ name: 'the listener' })
    while (!signal.aborted) {
      const beganMs = performance.now()
      await listen(loop).catch((error: Error) => {
        loop.failed(error)
        onError(error)
      })
      await pauseUntilSignal(Math.max(0, beganMs + RETRY_MS - performance.now()), signal)
    }
    loop.end()
  }

  return {
    /** Resolves when the signal has ended the listener. */
    done: run(),
    /**
     * Calls the function with the payload of each notification. Calls it with '' after each new connection, since the
     * notifications between two connections are lost.
     * @returns function that ends the subscription
     */
    subscribe(subscriber: (payload: string) => void): () => void {
      subscribers.add(subscriber)
      return () => void subscribers.delete(subscriber)
    },
  }
}
