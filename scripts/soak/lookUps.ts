import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, createClient } from '../siege/http.js'
import { createHistogram, type Histogram } from './histogram.js'
import type { Registered } from './registrations.js'

const A_SECOND = 50
/** Local addresses of the visitors. Each sends fewer requests than the rate limit of an address allows. */
const ADDRESSES = Array.from({ length: 8 }, (_, i) => `127.0.2.${i + 1}`)
const SOCKETS_EACH = 3
/** Maximum number of characters of an answer in the reason of a failure. */
const SHOWN = 300
/** Maximum number of failures that are logged. */
const LOGGED = 20

/** A request, and a text that its answer has to contain. */
type LookUp = Call & { expected: string }

/** Makers of requests for a registration: four kinds of look-ups, and a page of the feed. */
const KINDS: readonly ((key: Registered) => LookUp)[] = [
  ({ wallet }) => ({ path: `/v1/names/address/${wallet}`, expected: '"clusterName":"soak-' }),
  ({ name }) => ({ method: 'POST', path: '/v1/names', body: [{ name }], expected: `"${name}"` }),
  ({ name }) => ({
    method: 'POST',
    path: '/v1/names/register/check',
    body: [name, `free-${name}`],
    expected: `"name":"${name}","isAvailable":false`,
  }),
  ({ tx }) => ({ path: `/v1/names/register/tx/${tx}`, expected: '"finalized"' }),
  () => ({ path: '/v1/events?orderBy=newest&limit=10', expected: '"items"' }),
]

/** Counts and times of the look-ups in a part of the run. */
export interface Tally {
  /** Durations of the successful look-ups outside of faults. */
  times: Histogram
  failed: number
  /** Look-ups that failed in a fault or shortly after it. */
  failedInFaults: number
}

export const createTally = (): Tally => ({
  times: createHistogram(),
  failed: 0,
  failedInFaults: 0,
})

interface LookUps {
  failed(): number
  /** Reason of the first failure outside of faults; null without one. */
  failure(): string | null
  /** Settles after the signal and the last answer. */
  done: Promise<void>
}

interface LookUpOptions {
  api: string
  /** Final registrations, which the look-ups ask for. */
  keys: readonly Registered[]
  /** Whether a fault excuses a failure between two times of performance.now(). */
  isInFault(fromMs: number, untilMs: number): boolean
  /** Tallies of the parts of the run that lie now, to which an answer is added. */
  tallies(): readonly Tally[]
  log(line: string): void
}

/** Sends look-ups at a fixed rate, whether earlier look-ups were answered or not, until the signal. */
export function startLookUps(
  { api, keys, isInFault, tallies, log }: LookUpOptions,
  signal: AbortSignal,
): LookUps {
  const clients = ADDRESSES.map((address) => createClient(api, address, SOCKETS_EACH))
  let failed = 0
  let failure: string | null = null
  const open = new Set<Promise<void>>()

  const ask = async (number: number): Promise<void> => {
    const startedMs = performance.now()
    const key = keys[Math.floor(Math.random() * keys.length)]!
    const { expected, ...call } = KINDS[number % KINDS.length]!(key)
    const client = clients[number % clients.length]!
    const why = await client.ask(call).then(
      ({ status, body }) =>
        status === 200 && body.includes(expected)
          ? null
          : `${call.path} (${key.name}): ${status} ${body.slice(0, SHOWN)}`,
      (error: Error) => `${call.path}: ${error.message}`,
    )
    const endedMs = performance.now()
    const isExcused = isInFault(startedMs, endedMs)
    if (why !== null && !isExcused) {
      failed += 1
      failure ??= why
      if (failed <= LOGGED) log(`failed after ${(endedMs - startedMs).toFixed(0)} ms: ${why}`)
    }
    for (const tally of tallies()) {
      if (why === null && !isExcused) tally.times.add(endedMs - startedMs)
      if (why !== null && !isExcused) tally.failed += 1
      if (why !== null && isExcused) tally.failedInFaults += 1
    }
  }

  const askAll = async (): Promise<void> => {
    const startedMs = performance.now()
    for (let number = 0; !signal.aborted; ) {
      const due = Math.floor(((performance.now() - startedMs) * A_SECOND) / 1_000)
      for (; number < due; number++) {
        const one = ask(number).finally(() => open.delete(one))
        open.add(one)
      }
      await sleep(1_000 / A_SECOND)
    }
    await Promise.all(open)
    for (const client of clients) client.close()
  }

  return {
    failed: () => failed,
    failure: () => failure,
    done: askAll(),
  }
}
