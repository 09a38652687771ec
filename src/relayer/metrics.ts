import type { Registry } from 'prom-client'
import type { OpenJobCount } from '../db/outbox/stats.js'
import { metricFactories } from '../ops/metricFactories.js'
import { JOB_KIND, JOB_STATE } from '../registry/outbox.js'
import type { RelayerState, RelayerTelemetry } from './relayerTelemetry.js'
import type { OutboxState } from './report.js'

const KINDS = Object.keys(JOB_KIND)
const STATES = Object.keys(JOB_STATE).filter((state) => state !== 'confirmed')

const labelsOf = (
  { network, chain }: RelayerState,
  per: 'network' | 'chain',
): Record<string, string> => (per === 'chain' ? { network, chain } : { network })

/** @param states outboxes that this process may lead @param kinds chain families whose relayers may run */
export function createOutboxMetrics(
  registry: Registry,
  states: () => readonly OutboxState[],
  kinds: readonly RelayerTelemetry[],
): void {
  const { gauge } = metricFactories(registry)
  const ofJobs = (name: string, help: string, read: (jobs: readonly OpenJobCount[]) => number) =>
    gauge(name, help, ['network', 'kind', 'state'], () =>
      states().flatMap(({ network, relayers }) => {
        const counted = relayers.flatMap(({ stats }) => (stats ? [stats.open] : []))
        if (counted.length === 0) return []
        const of = (kind: string, state: string) =>
          counted.flat().filter((jobs) => jobs.kind === kind && jobs.state === state)
        return KINDS.flatMap((kind) =>
          STATES.map((state) => [{ network, kind, state }, read(of(kind, state))] as const),
        )
      }),
    )
  ofJobs(
    'clusterd_outbox_jobs',
    'Jobs that have not ended, by kind and state; `parked` ones wait for an operator, dust that is left to its payers is not counted',
    (jobs) => jobs.reduce((sum, { count }) => sum + count, 0),
  )
  ofJobs(
    'clusterd_outbox_oldest_seconds',
    'Age of the oldest job of each kind and state, else 0',
    (jobs) => {
      const nowMs = Date.now()
      return (nowMs - Math.min(nowMs, ...jobs.map(({ oldestMs }) => oldestMs))) / 1_000
    },
  )
  ofJobs(
    'clusterd_outbox_held_share',
    'Largest share of the time until its payer may take it back for which a payment with an open settlement or release has been held, else 0',
    (jobs) => Math.max(0, ...jobs.map(({ heldShare }) => heldShare ?? 0)),
  )
  gauge(
    'clusterd_refused_names',
    'Payments that were refused though their names are registered, until their payers could have taken them back',
    ['network'],
    () =>
      states().map(({ network, relayers }) => [
        { network },
        relayers.reduce((sum, one) => sum + one.refusedNames, 0),
      ]),
  )
  for (const kind of kinds)
    for (const { name, help, per, read } of kind.gauges) {
      const labelNames = per === 'chain' ? ['network', 'chain'] : ['network']
      gauge<string>(name, help, labelNames, () =>
        states()
          .flatMap(({ relayers }) => relayers.filter((state) => state.kind === kind))
          .map((state) => [labelsOf(state, per), read(state)]),
      )
    }
}
