import type pg from 'pg'
import { readChainStates, type StoredState } from '../../db/deployment/chainStates.js'
import { type Counts, readCounts } from '../../db/registry/overview.js'
import { behindMs, chainProblem } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'

/** What a network has registered, and how far its chains are read. */
export interface Overview {
  counts: Counts
  chains: ChainProgress[]
}

interface ChainProgress {
  network: string
  /** Newest block, null before the chain's first answer. */
  block: number | null
  confirmed: number | null
  /** How far the tables are behind, seconds. */
  behindSeconds: number | null
  isHealthy: boolean
}

interface Sources {
  pool: pg.Pool
  /** Milliseconds since the Unix epoch. */
  now(): number
  chains: readonly { network: Network; label: string }[]
  solana: readonly { network: Network; label: string }[]
}

/** Creates the reader of both networks' overviews: rows that PostgreSQL has at hand, and no count of its own. */
export function createOverviews({ pool, now, chains, solana }: Sources): (network: Network) => Promise<Overview> {
  return async (network) => {
    const [counts, states] = await Promise.all([readCounts(pool, network), readChainStates(pool)])
    const own = [...chains, ...solana].filter((chain) => chain.network === network)
    return { counts, chains: own.map(({ label }) => progressOf(label, network, states, now())) }
  }
}

function progressOf(label: string, network: Network, states: readonly StoredState[], nowMs: number): ChainProgress {
  const stored = states.find(({ state }) => state.network === network && state.label === label)
  if (!stored) return { network: label, block: null, confirmed: null, behindSeconds: null, isHealthy: false }
  const { state, ageMs } = stored
  // by the clock of who wrote it, so that two clocks are never compared
  const seenMs = nowMs - ageMs
  const ms = behindMs(state, seenMs)
  return {
    ...{ network: label, block: state.latest, confirmed: state.confirmed },
    behindSeconds: ms === null ? null : Math.round((ms + ageMs) / 1_000),
    isHealthy: chainProblem(state, nowMs) === null,
  }
}
