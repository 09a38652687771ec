import type pg from 'pg'
import type { Network } from '../registry/primitives/network.js'
import type { Logger } from './log/log.js'
import type { Loops } from './loops.js'
import type { Metrics } from './metrics.js'

/** Parts that the workers of one network share. */
export interface Context {
  network: Network
  pool: pg.Pool
  log: Logger
  metrics: Metrics
  loops: Loops
  /** Fires when the process stops. */
  signal: AbortSignal
}

/** A context while this process leads; its signal fires too when another process takes over. */
export interface LeaderContext extends Context {
  /** Fences the leader's writes: those of an earlier epoch fail. */
  epoch: number
}
