import type pg from 'pg'
import type { ChainPort } from '../../chains/chain.js'
import { type HubState, readHubState } from '../../db/deployment/chainStates.js'
import { behindMs, isHeadStale } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Answer } from './answer.js'
import { ApiError } from './errors.js'

/** Lag of a network's tables behind the present. */
export interface Freshness {
  /** During the first catch-up, and while the hub's head stands still: names may be taken that are not known here. */
  isCatchingUp: boolean
  /** Seconds that the tables are behind; null while they are current, or where nothing is known. */
  staleSeconds: number | null
}

interface Sources {
  pool: pg.Pool
  chains: readonly Pick<ChainPort, 'network' | 'role' | 'label'>[]
}

/** A network of which something is asked. */
interface Asked {
  network: Network
  freshness(network: Network): Freshness | Promise<Freshness>
}

const CURRENT: Freshness = { isCatchingUp: false, staleSeconds: null }
const SERVED_FOR_MS = 1_000
/** The end of a catch-up shows at once. */
const STALE_SERVED_FOR_MS = 100

/** Creates the reader of both networks' freshness. */
export function createFreshness(deps: Sources): Asked['freshness'] {
  const readers = { mainnet: readerOf('mainnet', deps), testnet: readerOf('testnet', deps) }
  return (network) => readers[network]()
}

/** A network's reader; each answer serves for a second at most. */
function readerOf(network: Network, { pool, chains }: Sources): () => Freshness | Promise<Freshness> {
  const hub = chains.find((chain) => chain.network === network && chain.role === 'hub')
  let answer: Freshness | Promise<Freshness> = CURRENT
  let untilMs = hub ? 0 : Number.POSITIVE_INFINITY
  return () => {
    if (performance.now() < untilMs) return answer
    const read = readHubState(pool, network, hub!.label).then(freshnessOf)
    answer = read
    untilMs = performance.now() + SERVED_FOR_MS
    read.then(
      (found) => {
        answer = found
        if (found.isCatchingUp) untilMs = performance.now() + STALE_SERVED_FOR_MS
      },
      () => {
        untilMs = 0
      },
    )
    return read
  }
}

function freshnessOf({ caughtUp, state, nowMs }: HubState): Freshness {
  if (caughtUp && (!state || !isHeadStale(state, nowMs))) return CURRENT
  const ms = state && behindMs(state, nowMs)
  return { isCatchingUp: true, staleSeconds: ms === null ? null : Math.round(ms / 1_000) }
}

/** Keeps names from being sold that may be taken on the chain. @throws ApiError catching_up */
export async function requireCurrent({ freshness, network }: Asked): Promise<void> {
  if (!(await freshness(network)).isCatchingUp) return
  throw new ApiError(
    'catching_up',
    'Names may be taken that are not known here yet: ask again once this has caught up.',
  )
}

/** Adds how far an answer may be behind. */
export async function withStaleness(answer: Answer, { freshness, network }: Asked): Promise<Answer> {
  const found = freshness(network)
  const { staleSeconds } = found instanceof Promise ? await found.catch(() => CURRENT) : found
  if (staleSeconds === null || answer.status !== 200) return answer
  return { ...answer, headers: { ...answer.headers, 'x-clusterd-stale': String(staleSeconds) } }
}
