import type { Readiness } from '../ops/server.js'
import type { IndexerState } from './evm/types.js'

/** Blocks that the tables may normally be behind the chain. */
const LAG_BLOCKS = 3
/** Age of the last step from which a chain counts as stuck. */
const STALE_MS = 30_000

/** Answers /ready: rows up to the head are visible and no chain lags. */
export function readiness(
  states: readonly { label: string; network: string; state: IndexerState | null }[],
  isDatabaseUp: boolean,
  nowMs: number,
): Readiness {
  const problems = states.flatMap(({ label, network, state }) => {
    const where = `${network} chain "${label}"`
    if (!state) return [`${where}: not indexing (another process leads, or the database is away)`]
    if (state.halted) return [`${where}: halted: ${state.halted}`]
    if (state.latest === null || state.confirmed === null || state.tailBlock === null)
      return [`${where}: has not answered yet`]
    if (!state.isCaughtUp) return [`${where}: catching up, at block ${state.nextBlock} of ${state.confirmed}`]
    if (state.lastStepMs === null || nowMs - state.lastStepMs > STALE_MS)
      return [`${where}: no step for ${STALE_MS / 1_000} s: ${state.lastError ?? 'it hangs'}`]
    if (state.lastError) return [`${where}: ${state.lastError}`]
    if (state.latest - state.tailBlock > LAG_BLOCKS)
      return [`${where}: ${state.latest - state.tailBlock} blocks behind its head`]
    return []
  })
  if (!isDatabaseUp) problems.unshift('the database does not answer')
  return { ready: problems.length === 0, problems }
}
