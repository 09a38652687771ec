import type pg from 'pg'
import { readChainStates, type StoredState } from '../../db/deployment/chainStates.js'
import { findSince } from '../../db/journal/feed.js'
import { type Counts, readCounts, readRegistrations } from '../../db/registry/overview.js'
import { behindMs, chainProblem } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'

const DAY_MS = 86_400_000
/** Days of which registrations are counted, today's included. */
export const OVERVIEW_DAYS = 30
/** Time for which an overview serves, and what counting may take of a connection's time: one part in so many. */
const KEPT_MS = 2_000
const COUNTING_SHARE = 50

/** What a network has registered, and how far its chains are read. */
export interface Overview {
  counts: Counts
  chains: ChainProgress[]
  /** Registrations of names by day, oldest first; the last is today. */
  days: { day: string; registrations: number }[]
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

/** Creates the reader of both networks' overviews. Counting takes long over millions: what took long serves longer. */
export function createOverviews(sources: Sources): (network: Network) => Promise<Overview> {
  const readers = { mainnet: readerOf('mainnet', sources), testnet: readerOf('testnet', sources) }
  return (network) => readers[network]()
}

function readerOf(network: Network, sources: Sources): () => Promise<Overview> {
  let kept: { answer: Promise<Overview>; untilMs: number } | null = null
  return () => {
    const startMs = performance.now()
    if (kept && startMs < kept.untilMs) return kept.answer
    const reading = { answer: read(network, sources), untilMs: Number.POSITIVE_INFINITY }
    kept = reading
    const keep = () => {
      const endMs = performance.now()
      reading.untilMs = endMs + Math.max(KEPT_MS, (endMs - startMs) * COUNTING_SHARE)
    }
    // a database that fails is asked again as seldom
    reading.answer.then(keep, keep)
    return reading.answer
  }
}

async function read(network: Network, { pool, now, chains, solana }: Sources): Promise<Overview> {
  const nowMs = now()
  const today = Math.floor(nowMs / DAY_MS)
  const firstDay = today - OVERVIEW_DAYS + 1
  const { first } = await findSince(pool, network, firstDay * DAY_MS)
  const counts = await readCounts(pool, network)
  const found = new Map((await readRegistrations(pool, network, first, DAY_MS)).map(({ day, count }) => [day, count]))
  const states = await readChainStates(pool)
  return {
    counts,
    chains: [...chains, ...solana]
      .filter((chain) => chain.network === network)
      .map(({ label }) => progressOf(label, network, states, nowMs)),
    days: Array.from({ length: OVERVIEW_DAYS }, (_, i) => ({
      day: new Date((firstDay + i) * DAY_MS).toISOString().slice(0, 10),
      registrations: found.get(firstDay + i) ?? 0,
    })),
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
