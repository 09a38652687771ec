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
  /** The tables have what another service's feed told, and no more. */
  isReplica: boolean
  /** Seconds that the tables are behind; null while they are current, or where nothing is known. */
  staleSeconds: number | null
}

interface Fresh {
  network: Network
  freshness: Readonly<Record<Network, () => Promise<Freshness>>>
}

interface Sources {
  pool: pg.Pool
  chains: readonly Pick<ChainPort, 'network' | 'role' | 'label'>[]
}

const CURRENT: Freshness = { isCatchingUp: false, isReplica: false, staleSeconds: null }
/** The end of a catch-up, as its beginning, shows within this time. */
const SERVED_FOR_MS = 250

/** Reads one at a time; the answer serves for a while. */
export function createFreshness(
  network: Network,
  { pool, chains }: Sources,
): () => Promise<Freshness> {
  const hub = chains.find((chain) => chain.network === network && chain.role === 'hub')
  let answer = Promise.resolve(CURRENT)
  let untilMs = 0
  return () => {
    if (performance.now() < untilMs) return answer
    untilMs = Number.POSITIVE_INFINITY
    // a copy whose hub is not configured is never current
    answer = readHubState(pool, network, hub?.label ?? '').then((state) =>
      hub || state.isReplica ? freshnessOf(state) : CURRENT,
    )
    answer.then(
      () => {
        untilMs = performance.now() + SERVED_FOR_MS
      },
      () => {
        untilMs = 0
      },
    )
    return answer
  }
}

function freshnessOf({ caughtUp, isReplica, state, nowMs }: HubState): Freshness {
  if (caughtUp && (!state || !isHeadStale(state, nowMs))) return CURRENT
  const ms = state && behindMs(state, nowMs)
  return {
    isCatchingUp: true,
    isReplica,
    staleSeconds: ms === null ? null : Math.round(ms / 1_000),
  }
}

/** Names may be taken on the chain. @throws ApiError catching_up */
export async function requireCurrent({ freshness, network }: Fresh): Promise<void> {
  if (!(await freshness[network]()).isCatchingUp) return
  throw new ApiError(
    'catching_up',
    'Names may be taken that are not known here yet: ask again once this has caught up.',
  )
}

/** Keeps back what no feed tells. @throws ApiError unavailable on a replica */
export async function refuseOnReplica({ freshness, network }: Fresh): Promise<void> {
  if (!(await freshness[network]()).isReplica) return
  throw new ApiError(
    'unavailable',
    'This is a copy of what is public: ask the service that it was made from.',
  )
}

/** Adds how far an answer may be behind. */
export async function withStaleness(
  answer: Answer,
  { freshness, network }: Fresh,
): Promise<Answer> {
  const { staleSeconds } = await freshness[network]().catch(() => CURRENT)
  if (staleSeconds === null || answer.status !== 200) return answer
  return { ...answer, headers: { ...answer.headers, 'x-clusterd-stale': String(staleSeconds) } }
}
