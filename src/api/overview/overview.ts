import type pg from 'pg'
import { readChainStates, type StoredState } from '../../db/deployment/chainStates.js'
import { findSince } from '../../db/journal/feed.js'
import { isTimedOut } from '../../db/pg/unavailable.js'
import { type Counts, countRegistrations, readCounts } from '../../db/registry/overview.js'
import { behindMs, chainProblem } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'

const DAY_MS = 86_400_000
/** Days of which registrations are counted, today's included. */
export const OVERVIEW_DAYS = 30
/**
 * Time for which an overview serves, and what counting may take of a connection's time: one part in so many, by the
 * quicker of the last two, since the first one counts all days, and any may have met a busy moment.
 */
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
  const calendar = new Calendar(sources.pool, network)
  let kept: { answer: Promise<Overview>; untilMs: number } | null = null
  let lastCountedMs = 0
  return () => {
    const startMs = performance.now()
    if (kept && startMs < kept.untilMs) return kept.answer
    const reading = { answer: read(network, sources, calendar), untilMs: Number.POSITIVE_INFINITY }
    kept = reading
    const keep = (countedMs: number) => {
      reading.untilMs = performance.now() + Math.max(KEPT_MS, Math.min(countedMs, lastCountedMs) * COUNTING_SHARE)
      lastCountedMs = countedMs
    }
    const tookMs = () => performance.now() - startMs
    // a count that is too long is begun again as seldom; a database that was away has counted nothing
    reading.answer.then(
      () => keep(tookMs()),
      (error: unknown) => keep(isTimedOut(error) ? tookMs() : 0),
    )
    return reading.answer
  }
}

/** Registrations by day. A day that is over is counted once, so that an overview costs what today has. */
class Calendar {
  readonly #pool: pg.Pool
  readonly #network: Network
  /** Days that are over: number of the first event, and what was counted. */
  readonly #over = new Map<number, { first: number; count: number }>()
  #generation = 0

  constructor(pool: pg.Pool, network: Network) {
    this.#pool = pool
    this.#network = network
  }

  /** Counts of days up to one, oldest first; days are numbered from the Unix epoch. */
  async upTo(today: number): Promise<number[]> {
    const counts: number[] = []
    let end = Number.MAX_SAFE_INTEGER
    for (let day = today; day > today - OVERVIEW_DAYS; day--) {
      const { first, count } = this.#over.get(day) ?? (await this.#count(day, end))
      counts.unshift(count)
      end = first
    }
    this.#over.delete(today - OVERVIEW_DAYS)
    return counts
  }

  async #count(day: number, end: number): Promise<{ first: number; count: number }> {
    const { first, newest, generation } = await findSince(this.#pool, this.#network, day * DAY_MS)
    if (generation !== this.#generation) this.#over.clear()
    this.#generation = generation
    const counted = { first, count: await countRegistrations(this.#pool, this.#network, first, end) }
    // times never fall: behind an event of a later day none of this one can come
    if (end <= newest) this.#over.set(day, counted)
    return counted
  }
}

async function read(network: Network, { pool, now, chains, solana }: Sources, calendar: Calendar): Promise<Overview> {
  const nowMs = now()
  const today = Math.floor(nowMs / DAY_MS)
  const registrations = await calendar.upTo(today)
  const counts = await readCounts(pool, network)
  const states = await readChainStates(pool)
  return {
    counts,
    chains: [...chains, ...solana]
      .filter((chain) => chain.network === network)
      .map(({ label }) => progressOf(label, network, states, nowMs)),
    days: registrations.map((count, i) => ({
      day: new Date((today - OVERVIEW_DAYS + 1 + i) * DAY_MS).toISOString().slice(0, 10),
      registrations: count,
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
