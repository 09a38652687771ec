import type pg from 'pg'
import type { Registry } from 'prom-client'
import type { LoopState } from './loops.js'
import { metricFactories } from './metricFactories.js'
import type { InternalErrorCount, ProcessPartName } from './ownErrors.js'

/** State of the process for its metrics. */
export interface ProcessState {
  /** Networks and roles that this process may lead. */
  leads: readonly { network: string; role: string; isLeading: boolean }[]
  /**
   * Networks with messages or payments to deliver. `missingKeys`: number of keys that this process needs for them and
   * does not have; null where it does not lead the relaying.
   */
  relays: readonly { network: string; missingKeys: number | null }[]
  /** Networks that this process mirrors. `alarm`: alarm that says why no entries are copied; null without a problem. */
  mirrors: readonly { network: string; alarm: string | null }[]
  loops: readonly LoopState[]
  ownErrors: readonly InternalErrorCount[]
  /** Share of failed requests by method and route, where some failed in the last minute. */
  requests: readonly { method: string; route: string; share: number }[]
  pools: Readonly<Record<string, Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>>>
  /** Number of signed changes that wait in the queue. */
  changesWaiting: number
  /** Number of open requests by kind: long polls for a status, and streams of the feed. */
  openLongRequests: Readonly<Record<string, number>>
}

export function createProcessMetrics(registry: Registry, state: () => ProcessState): void {
  const { counter, gauge } = metricFactories(registry)
  gauge(
    'clusterd_leader',
    '1 in the process that leads a network in a role, 0 where it stands by',
    ['network', 'role'],
    () =>
      state().leads.map(({ network, role, isLeading }) => [{ network, role }, Number(isLeading)]),
  )
  gauge(
    'clusterd_relay_wanted',
    '1 where a network has messages or payments to carry',
    ['network'],
    () => state().relays.map(({ network }) => [{ network }, 1]),
  )
  gauge(
    'clusterd_relay_missing_keys',
    'Keys that the leader of the outbox does not have: what they pay for is not sent',
    ['network'],
    () => state().relays.map(({ network, missingKeys }) => [{ network }, missingKeys]),
  )
  gauge(
    'clusterd_mirror_alarm',
    '1 while a mirror takes nothing in, by the alarm that says why',
    ['network', 'alarm'],
    () =>
      state().mirrors.map(({ network, alarm }) => [
        { network, alarm: alarm ?? 'none' },
        Number(alarm !== null),
      ]),
  )
  const labelsOf = ({ name, network = '', chain = '' }: ProcessPartName) => ({
    loop: name,
    network,
    chain,
  })
  const ofLoop = (name: string, help: string, read: (loop: LoopState) => number) =>
    gauge(name, help, ['loop', 'network', 'chain'], () =>
      state().loops.map((loop) => [labelsOf(loop), read(loop)]),
    )
  ofLoop(
    'clusterd_step_age_seconds',
    'Time since the last turn of a loop',
    ({ ageMs }) => ageMs / 1_000,
  )
  ofLoop(
    'clusterd_step_failures',
    'Failed turns of a loop in a row; `/status` has the last error',
    ({ failures }) => failures,
  )
  gauge(
    'clusterd_blamed_loops',
    'Loops whose newest turn failed by the database or by the clock',
    ['cause'],
    () =>
      (['database', 'clock'] as const).map((cause) => [
        { cause },
        state().loops.filter((loop) => loop.cause === cause).length,
      ]),
  )
  gauge(
    'clusterd_http_failed_ratio',
    'Share of the last minute’s requests that failed by our fault; of kinds of which three failed',
    ['method', 'route'],
    () => state().requests.map(({ method, route, share }) => [{ method, route }, share]),
  )
  counter(
    'clusterd_own_errors_total',
    'Errors of our own code, by the loop that met them',
    ['loop', 'network', 'chain'],
    () => state().ownErrors.map((place) => [labelsOf(place), place.count]),
  )
  gauge(
    'clusterd_own_error_age_seconds',
    'Time since the last error of our own code; none before the first',
    ['loop', 'network', 'chain'],
    () => state().ownErrors.map((place) => [labelsOf(place), place.ageMs / 1_000]),
  )
  gauge(
    'clusterd_database_connections',
    'Connections of a pool: total, idle, or waited for',
    ['pool', 'state'],
    () =>
      Object.entries(state().pools).flatMap(([pool, { totalCount, idleCount, waitingCount }]) => [
        [{ pool, state: 'total' }, totalCount],
        [{ pool, state: 'idle' }, idleCount],
        [{ pool, state: 'waiting' }, waitingCount],
      ]),
  )
  gauge('clusterd_changes_waiting', 'Signed changes that wait for their turn', [], () => [
    [{}, state().changesWaiting],
  ])
  gauge(
    'clusterd_http_staying',
    'Requests that wait for a status (waits), and open streams of the feed',
    ['kind'],
    () => Object.entries(state().openLongRequests).map(([kind, count]) => [{ kind }, count]),
  )
}
