import type pg from 'pg'
import type { Network } from '../registry/primitives/network.js'
import type { Logger } from './logger/logger.js'
import type { WorkerLoops } from './loops.js'
import type { Metrics } from './metrics.js'

/** Dependencies that the workers of one network share. */
export interface NetworkContext {
  network: Network
  pool: pg.Pool
  log: Logger
  metrics: Metrics
  loops: WorkerLoops
  /** Fires when the process stops. */
  signal: AbortSignal
}

/** Context of the workers while this process leads. Its signal also fires when another process takes over. */
export interface LeaderContext extends NetworkContext {
  /** Number of this leadership, and fencing token of its writes: writes with an earlier epoch fail. */
  epoch: number
}
