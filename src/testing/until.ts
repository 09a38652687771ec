import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../client/client.js'
import { ClusterdError } from '../client/error.js'
import type { FeedEvent, StatusWord, TransactionStatus } from '../client/types.js'
import { isTerminalStatus } from '../registry/status.js'
import { readDaemonReadiness } from './processes/daemonProcess.js'

const DEFAULT_DEADLINE_MS = 30_000
const POLL_MS = 50
/** Shortest timeout of a request to the API, ms, so that the error at the deadline can include a last answer. */
const MIN_REQUEST_TIMEOUT_MS = 1_000
/** Time by which a wait ends before the time limit of the test that waits, ms. */
const TEST_LIMIT_MARGIN_MS = MIN_REQUEST_TIMEOUT_MS + 250

export interface UntilOptions {
  /** True to ask for the testnet instead of mainnet. */
  testnet?: boolean
  /**
   * Time limit of the wait, ms. Default: 30,000. In a test or hook of vitest with a lower limit (5,000 and 10,000 by
   * default) the wait ends before the test does, so that the error with the last answer is seen. A limit of a single hook
   * (`beforeAll(fn, 60_000)`) is not known here: pass `deadlineMs` there.
   */
  deadlineMs?: number
  /** Called at each change of the transaction's status. */
  onChange?: (status: TransactionStatus) => void
}

/** An item of `GET /v1/events`. */
export type EventItem = FeedEvent & { data: Record<string, unknown> }

const apiClientOf = ({ api }: { api: string }, { testnet = false }: UntilOptions) =>
  new Client({ url: api, testnet, retries: 0 })

/**
 * Waits until the API reports a status, readiness or event. Throws, with the last answer, at the deadline, or once the
 * condition can't become true.
 */
export const until = {
  /** Waits until a registration transaction has a status. Throws without waiting further for another final status. */
  async status(
    at: { api: string },
    tx: string,
    wanted: StatusWord | readonly StatusWord[],
    options: UntilOptions = {},
  ): Promise<TransactionStatus> {
    const names = [wanted].flat() as StatusWord[]
    const client = apiClientOf(at, options)
    let last: TransactionStatus | undefined
    return pollUntilDone<TransactionStatus>(
      `${tx} to be ${names.join(' or ')}`,
      options,
      async (timeoutMs) => {
        const answer = await client.status(tx, { timeoutMs })
        if (answer.status !== last?.status) options.onChange?.(answer)
        last = answer
        if (names.includes(answer.status)) return { done: answer }
        if (isTerminalStatus(answer.status)) {
          const reason = answer.reason === undefined ? '' : ` (${answer.reason})`
          throw new Error(`${tx} is ${answer.status}${reason}, not ${names.join(' or ')}`)
        }
        return { seen: answer }
      },
    )
  },

  /** Waits until the operator's `/status` reports no problem: chains are indexed, and each network has leaders. */
  async ready(at: { ops: string }, options: UntilOptions = {}): Promise<void> {
    await pollUntilDone('the daemon to be ready', options, async () => {
      const answer = await readDaemonReadiness(at.ops)
      return answer.ready ? { done: true } : { seen: answer.problems }
    })
  },

  /** Waits for an event of the public feed that `matches`. The feed is read from its start. */
  async event(
    at: { api: string },
    matches: (event: EventItem) => boolean,
    options: UntilOptions = {},
  ): Promise<EventItem> {
    const client = apiClientOf(at, options)
    let page: string | undefined
    let last: EventItem | undefined
    return pollUntilDone<EventItem>('an event', options, async (timeoutMs) => {
      const query = page === undefined ? ({ orderBy: 'oldest' } as const) : { nextPage: page }
      const answer = await client.eventsPage(query, { timeoutMs })
      page = answer.resume
      const items: EventItem[] = answer.items
      last = items.at(-1) ?? last
      const item = items.find(matches)
      return item ? { done: item } : { seen: last ?? 'an empty feed' }
    })
  },
}

/** The used part of a global variable of vitest, about the test that runs, or the suite whose hook runs. */
interface VitestWorker {
  current?: { timeout?: number; result?: { startTime?: number } }
  config?: { hookTimeout?: number }
}

function defaultDeadlineMs(): number {
  const { __vitest_worker__: worker } = globalThis as { __vitest_worker__?: VitestWorker }
  const { timeout, result } = worker?.current ?? {}
  // a suite has no limit of its own, and the start of its hook is not known
  const isHook = timeout === undefined
  const limitMs = (isHook ? worker?.config?.hookTimeout : timeout) ?? 0
  const startedMs = (isHook ? undefined : result?.startTime) ?? Date.now()
  // 0: the test has no limit, or no test runs
  if (limitMs === 0) return DEFAULT_DEADLINE_MS
  return Math.min(DEFAULT_DEADLINE_MS, startedMs + limitMs - Date.now() - TEST_LIMIT_MARGIN_MS)
}

async function pollUntilDone<T>(
  what: string,
  { deadlineMs = defaultDeadlineMs() }: UntilOptions,
  ask: (timeoutMs: number) => Promise<{ done: T } | { seen: unknown }>,
): Promise<T> {
  const end = performance.now() + deadlineMs
  for (;;) {
    const timeoutMs = Math.max(MIN_REQUEST_TIMEOUT_MS, end - performance.now())
    const result = await ask(timeoutMs).catch((error: unknown) => {
      // the daemon may be restarting
      if (error instanceof ClusterdError && (error.isTransient || error.code === 'timeout'))
        return { seen: error.message }
      throw error
    })
    if ('done' in result) return result.done
    if (performance.now() > end) {
      throw new Error(
        `waiting ${Math.round(deadlineMs) / 1_000} s for ${what}: last seen ${JSON.stringify(result.seen)}`,
      )
    }
    await sleep(POLL_MS)
  }
}
