import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/**
 * Prometheus metrics that are counted when something happens. The daemon adds metrics that are read from its snapshot.
 * No label holds an address, a name or a key.
 */
export type Metrics = ReturnType<typeof createMetrics>

/** Sampling interval of the event loop's delay, ms. The default of 10 ms wakes an idle process 100 times a second. */
const LAG_PRECISION_MS = 50

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS })
  return {
    registry,
    entries: new Counter({
      name: 'clusterd_journal_entries_total',
      help: 'Chain entries appended to the journal',
      labelNames: ['network'],
      registers: [registry],
    }),
    requests: new Histogram({
      name: 'clusterd_http_request_seconds',
      help: 'API requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15],
      registers: [registry],
    }),
    limited: new Counter({
      name: 'clusterd_http_limited_total',
      help: 'API requests refused by a limit, by route and limit',
      labelNames: ['route', 'limit'],
      registers: [registry],
    }),
  }
}
