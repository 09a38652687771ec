import type { Commitment, SolanaRpc } from '../../chains/rpc/solana.js'
import type { RegistrarClient } from '../../chains/solana/registrar.js'
import type { LeaderContext } from '../../ops/context.js'
import type { StageClock } from '../../ops/stages.js'
import type { BackfillProgress } from '../progress.js'
import type { PaymentProgramIdentity } from './row.js'

export interface PaymentWatcherOptions extends Pick<LeaderContext, 'pool' | 'epoch' | 'signal'> {
  rpc: SolanaRpc
  registrar: RegistrarClient
  identity: PaymentProgramIdentity
  /** The chain's number in the database. */
  chain: number
  startSlot: number
  commitment: Commitment
  /** Measures the stages of the watcher's loop. */
  stages: StageClock
  /** Called for a transaction that this version of clusterd can't read, with the nodes' errors. */
  onUnknown?: (signature: string, unknown: readonly string[]) => void
  onProgress?: (progress: BackfillProgress) => void
  nowMs?: () => number
}

/** Outcome of one step of the watcher. */
export type PaymentWatchOutcome =
  /** Confirmed transactions were written. */
  | {
      kind: 'took'
      transactions: number
      payments: number
      communityPayments: number
      outcomes: number
    }
  /** There is no new confirmed transaction. Unconfirmed payments (the tail) may have changed. */
  | { kind: 'idle'; unconfirmed: number }
  /**
   * The program's counters on a node include payments that no listed transaction contains. `text` has the counts.
   * `isAlarm` is true once payments have been missing for too long.
   */
  | { kind: 'missing'; text: string; isAlarm: boolean }
