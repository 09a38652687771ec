import { thousands } from './bench.js'

/**
 * Fixed limits of `npm run bench:gate`: the limits of the release gate of bigname (`benchmarks/release-gate.toml`), a
 * service of the same kind.
 */
export const LIMITS = {
  'look-ups': { p50: 5, p95: 10, p99: 25 },
  'look-ups in a catch-up': { p99: 60 },
} as const satisfies Record<string, Partial<Record<Percentile, number>>>

/** Percentiles of latency, ms. */
type Percentile = 'p50' | 'p95' | 'p99'

/** What the load generator measured. */
export interface Load extends Record<Percentile, number> {
  sent: number
  /** Requests without the answer 200, including requests that were never answered. */
  failed: number
  /** Why the first failed request failed; null without one. */
  failure: string | null
}

/** Smallest idle share of the machine. Below it the service shares its processor with the generator. */
const LEAST_IDLE = 0.2

/** Sentences about limits that a load broke. */
export function breaches(phase: keyof typeof LIMITS, load: Load): string[] {
  const slow = Object.entries(LIMITS[phase]).flatMap(([name, limit]) => {
    const ms = load[name as Percentile]
    return ms > limit ? [`${phase}: ${name} is ${ms.toFixed(1)} ms, ${limit} are allowed`] : []
  })
  const { failed, failure } = load
  return failed > 0
    ? [...slow, `${phase}: ${failed} requests failed, the first by: ${failure}`]
    : slow
}

/**
 * Rate to try after a measurement: the rate that leaves `LEAST_IDLE`, with a margin. Assumes that work grows at most in
 * proportion to the rate.
 */
export function nextRate(rate: number, idle: number): number {
  const MARGIN = 0.95
  if (idle >= LEAST_IDLE) return rate
  const fitting = (rate * (1 - LEAST_IDLE)) / (1 - Math.max(0, idle))
  return Math.floor(fitting * MARGIN)
}

export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

/** Sentence about a rate that is lower than the wanted rate, with the share of the machine that it left idle. */
export function heldSentence(of: { wanted: number; held: number; idle: number }): string {
  const held = `${thousands(of.held)}/s`
  const start = `this machine can't carry ${thousands(of.wanted)}/s with its generator: ${held}`
  return of.idle >= LEAST_IDLE
    ? `${start} left ${percent(of.idle)} idle`
    : `${start}, the lowest rate that was tried, left ${percent(of.idle)} idle, less than ${percent(LEAST_IDLE)}`
}
