import type pg from 'pg'
import type { ChainPort } from '../../chains/chain.js'
import { type HubState, readHubState } from '../../db/chains/states.js'
import { indexingLagMs, isHeadStale } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Answer } from './answer.js'
import { ApiError } from './errors.js'
import { isoTimestamp } from './timestamps.js'

/** How far a network's tables are behind its chains, and whether they are a mirror. */
export interface Freshness {
  /**
   * True during the first catch-up, while the hub's head does not move, and always for a mirror. A name that is free in
   * the tables may then be taken on chain.
   */
  isCatchingUp: boolean
  /** True if the tables are a mirror of another service's event feed. */
  isMirror: boolean
  /** True for a mirror before its first step: its tables are empty and say nothing about the source. */
  isEmptyMirror: boolean
  /**
   * Seconds by which the stored logs of the hub, confirmed or not, lag behind its chain. For a mirror, seconds since it
   * last verified its source. Null while the tables are current, or where the lag is unknown.
   */
  staleSeconds: number | null
  /** True if the chains file names a hub, the tables are a mirror, or they were caught up with a hub before. */
  isDeployed: boolean
  /**
   * Value of the header `x-clusterd-as-of`: the hub's block that the tables reflect. Null before the first block.
   */
  asOf: string | null
}

interface FreshnessContext {
  network: Network
  freshness: Readonly<Record<Network, () => Promise<Freshness>>>
}

interface FreshnessReaderDeps {
  pool: pg.Pool
  chains: readonly Pick<ChainPort, 'network' | 'role' | 'label'>[]
}

/** Assumed freshness while the database does not answer. */
const UNKNOWN_FRESHNESS: Freshness = {
  isCatchingUp: false,
  isMirror: false,
  isEmptyMirror: false,
  staleSeconds: null,
  isDeployed: true,
  asOf: null,
}
/** Lifetime of a cached freshness. The start and the end of a catch-up are noticed within this time. */
const MAX_CACHED_MS = 250
/**
 * Age from which a cached freshness is read again. Until the read ends, requests still get the cached value and do not
 * wait.
 */
const READ_AGAIN_AFTER_MS = 125

/** Creates a reader of a network's freshness. One read runs at a time, and its result is cached for `MAX_CACHED_MS`. */
export function createFreshnessReader(
  network: Network,
  { pool, chains }: FreshnessReaderDeps,
): () => Promise<Freshness> {
  const hub = chains.find((chain) => chain.network === network && chain.role === 'hub')
  let served = Promise.resolve(UNKNOWN_FRESHNESS)
  let readMs = Number.NEGATIVE_INFINITY
  let underWay: Promise<Freshness> | null = null
  const read = (): Promise<Freshness> => {
    const startMs = performance.now()
    // a mirror never counts as current, even without a configured hub
    const answer = readHubState(pool, network, hub?.label ?? '').then((state) => ({
      ...(hub || state.isMirror ? lagOf(state) : NO_LAG),
      isEmptyMirror: state.isMirror && state.mirrorAgeMs === null,
      isDeployed: hub !== undefined || state.isMirror || state.caughtUp,
      asOf: asOfText(network, state),
    }))
    answer.then(
      () => {
        served = answer
        readMs = startMs
        underWay = null
      },
      () => {
        underWay = null
      },
    )
    return answer
  }
  return () => {
    const ageMs = performance.now() - readMs
    if (ageMs < READ_AGAIN_AFTER_MS) return served
    underWay ??= read()
    return ageMs < MAX_CACHED_MS ? served : underWay
  }
}

type Lag = Pick<Freshness, 'isCatchingUp' | 'isMirror' | 'staleSeconds'>

const NO_LAG: Lag = { isCatchingUp: false, isMirror: false, staleSeconds: null }

/** Age of a mirror from which its responses show their staleness. */
const MIRROR_STALE_MS = 10_000

function lagOf({ caughtUp, isMirror, mirrorAgeMs, state, nowMs }: HubState): Lag {
  if (isMirror) {
    const isStale = mirrorAgeMs !== null && mirrorAgeMs > MIRROR_STALE_MS
    return { isCatchingUp: true, isMirror, staleSeconds: isStale ? toSeconds(mirrorAgeMs) : null }
  }
  if (caughtUp && (!state || !isHeadStale(state, nowMs))) return NO_LAG
  const ms = state && indexingLagMs(state, nowMs)
  return {
    isCatchingUp: true,
    isMirror,
    staleSeconds: ms === null ? null : toSeconds(ms),
  }
}

const toSeconds = (ms: number): number => Math.round(ms / 1_000)

/** Network, block and the block's timestamp: `mainnet 21000000 2026-11-20T08:00:00.000Z`. */
function asOfText(network: Network, hub: HubState): string | null {
  if (hub.block === null || hub.block < 0) return null
  const ms = estimateBlockTimestampMs(hub.block, hub.state) ?? hub.atMs
  return `${network} ${hub.block} ${isoTimestamp(ms)}`
}

/**
 * Estimates the timestamp of a confirmed block, Unix ms. Starts from the newest finalized block, or from the newest
 * block where no finalized one is known, and subtracts the usual time between blocks for each block in between. Exact
 * only for the block from which it starts. Null where no timestamp is known.
 */
function estimateBlockTimestampMs(block: number, state: HubState['state']): number | null {
  if (!state) return null
  const { confirmed, confirmedMs, latest, headMs, blockMs } = state
  const isFinalized = confirmed !== null && confirmedMs !== null
  const known = isFinalized ? { block: confirmed, ms: confirmedMs } : { block: latest, ms: headMs }
  if (known.block === null || known.ms === null) return null
  return known.ms - Math.max(0, known.block - block) * (blockMs ?? 0)
}

/** The lag of a network's tables behind its chains; `UNKNOWN_FRESHNESS` while the database does not answer. */
export const freshnessOrUnknown = ({ freshness, network }: FreshnessContext): Promise<Freshness> =>
  freshness[network]().catch(() => UNKNOWN_FRESHNESS)

/**
 * Refuses a request for a network that is not deployed (`isDeployed`).
 * @throws ApiError unsupported_network
 */
export function requireNetworkDeployed({ isDeployed }: Freshness, network: Network): void {
  if (isDeployed) return
  const other =
    network === 'mainnet' ? 'add testnet=true for the testnet' : 'leave out testnet=true'
  throw new ApiError(
    'unsupported_network',
    `The ${network} is not deployed here: this service has no hub of it. If you mean the other network, ${other}.`,
  )
}

/** `isDeployed` of a network; true while the database does not answer. */
export const isNetworkDeployed = async (context: FreshnessContext): Promise<boolean> =>
  (await freshnessOrUnknown(context)).isDeployed

/** Header of a look-up with the oldest block that the response can reflect. @returns names and values in alternation */
export const asOfBlockHeader = ({ asOf }: Freshness): readonly string[] =>
  asOf === null ? [] : ['x-clusterd-as-of', asOf]

/**
 * Refuses a request during a catch-up.
 * @throws ApiError catching_up while names may be taken on chain that the tables do not have yet; unavailable, or the
 * database's error, where the database does not answer
 */
export async function requireCaughtUp({ freshness, network }: FreshnessContext): Promise<void> {
  refuseWhileCatchingUp(await freshness[network]())
}

/**
 * Refuses a request if the tables were catching up when `fresh` was read.
 * @throws ApiError catching_up; unavailable where the database does not answer
 */
export function refuseWhileCatchingUp(fresh: Freshness): void {
  requireKnownFreshness(fresh)
  if (!fresh.isCatchingUp) return
  throw new ApiError(
    'catching_up',
    'Names may be taken that are not known here yet: ask again once this has caught up.',
  )
}

/** Refuses, on a mirror, a request for data that is not in the event feed. @throws ApiError unavailable */
export function refuseOnMirror(fresh: Freshness): void {
  requireKnownFreshness(fresh)
  if (!fresh.isMirror) return
  throw new ApiError(
    'unavailable',
    'This is a mirror of what is public: ask the service that it copies.',
  )
}

/** Refuses a request on a mirror that has mirrored nothing yet. @throws ApiError unavailable */
export function refuseOnEmptyMirror({ isEmptyMirror }: Freshness): void {
  if (isEmptyMirror) throw new ApiError('unavailable', 'This mirror has not copied its source yet.')
}

/**
 * Reads the freshness for `refuseOnEmptyMirror`. For routes whose path names the network: the server itself checks only
 * the network that the query selects.
 */
export const requireFilledMirror = async (context: FreshnessContext): Promise<void> =>
  refuseOnEmptyMirror(await freshnessOrUnknown(context))

function requireKnownFreshness(fresh: Freshness): void {
  if (fresh !== UNKNOWN_FRESHNESS) return
  const cause = new Error('the database does not say how far its tables are')
  throw new ApiError('unavailable', 'The database does not answer now.', {}, { cause })
}

/** Adds the staleness header to a response from tables that lag behind the chains. */
export function withStalenessHeader(answer: Answer, { staleSeconds }: Freshness): Answer {
  if (staleSeconds === null || answer.status !== 200) return answer
  return { ...answer, headers: { ...answer.headers, 'x-clusterd-stale': String(staleSeconds) } }
}
