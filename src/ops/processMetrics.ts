import type { Registry } from 'prom-client'
import type { LoopState } from './loops.js'
import { makersOf } from './makers.js'

/** Metrics of the process itself: its roles, loops, connections and queues. */
export type ProcessMetrics = ReturnType<typeof createProcessMetrics>

/** A pool of database connections, as far as its load goes. */
interface PoolLoad {
  totalCount: number
  idleCount: number
  waitingCount: number
}

/** Parts that the process shows of itself. */
export interface ProcessState {
  /** Networks and roles that this process may lead. */
  leads: readonly { network: string; role: string; isLeading: boolean }[]
  /** Networks with messages or payments to carry. `missingKeys`: how many the leader lacks, null elsewhere. */
  relays: readonly { network: string; missingKeys: number | null }[]
  loops: readonly LoopState[]
  pools: Readonly<Record<string, PoolLoad>>
  /** Signed changes that wait for their turn. */
  changesWaiting: number
  /** Requests that wait for a status, and open streams of the feed. */
  staying: Readonly<Record<string, number>>
}

/** Creates the metrics of a process. @param refresh sets the gauges just before they are read */
export function createProcessMetrics(registry: Registry, refresh: () => void) {
  const { gauge } = makersOf(registry)
  const loop = ['loop', 'network', 'chain'] as const
  return {
    leader: gauge(
      'clusterd_leader',
      '1 in the process that leads a network in a role, 0 where it stands by',
      ['network', 'role'],
      refresh,
    ),
    relayWanted: gauge('clusterd_relay_wanted', '1 where a network has messages or payments to carry', ['network']),
    missingKeys: gauge(
      'clusterd_relay_missing_keys',
      'Keys that the leader of the outbox lacks: what they pay for is not sent',
      ['network'],
    ),
    stepAge: gauge('clusterd_step_age_seconds', 'Time since the last turn of a loop', loop),
    stepFailures: gauge(
      'clusterd_step_failures',
      'Failed turns of a loop in a row; `/status` has the last error',
      loop,
    ),
    connections: gauge('clusterd_database_connections', 'Connections of a pool: total, idle, or waited for', [
      'pool',
      'state',
    ]),
    changesWaiting: gauge('clusterd_changes_waiting', 'Signed changes that wait for their turn', []),
    staying: gauge('clusterd_http_staying', 'Requests that wait for a status (waits), and open streams of the feed', [
      'kind',
    ]),
  }
}

/** Sets the gauges of a process. */
export function showProcess(metrics: ProcessMetrics, state: ProcessState): void {
  for (const gauge of Object.values(metrics)) gauge.reset()
  for (const { network, role, isLeading } of state.leads) metrics.leader.set({ network, role }, Number(isLeading))
  for (const { network, missingKeys } of state.relays) {
    metrics.relayWanted.set({ network }, 1)
    if (missingKeys !== null) metrics.missingKeys.set({ network }, missingKeys)
  }
  for (const { name, network = '', chain = '', ageMs, failures } of state.loops) {
    metrics.stepAge.set({ loop: name, network, chain }, ageMs / 1_000)
    metrics.stepFailures.set({ loop: name, network, chain }, failures)
  }
  for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(state.pools)) {
    metrics.connections.set({ pool, state: 'total' }, totalCount)
    metrics.connections.set({ pool, state: 'idle' }, idleCount)
    metrics.connections.set({ pool, state: 'waiting' }, waitingCount)
  }
  metrics.changesWaiting.set(state.changesWaiting)
  for (const [kind, count] of Object.entries(state.staying)) metrics.staying.set({ kind }, count)
}
