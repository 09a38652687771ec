import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { hasReached, type JournalPosition, readServerState, type ServerState } from '../../db/deployment/replication.js'
import type { Network } from '../../registry/primitives/network.js'
import { createBatches } from '../http/batches.js'
import type { Context } from '../http/context.js'
import { createFreshness } from '../http/freshness.js'
import { createMemory, type Memory } from './memory.js'
import { Staleness } from './staleness.js'

type Contexts = Readonly<Record<Network, Context>>

/** Age of what a replica may lack. */
const MAX_STALE_MS = 2_000
const POLL_MS = 200
/** Age of a server's last answer from which it counts as away. */
const AWAY_MS = 1_500
/** Time for which a replica that failed is passed over. */
const REST_MS = 5_000
/** How long a request waits for a replica to have what its caller has changed, and how often it looks. */
const CATCH_UP_MS = 200
const LOOK_MS = 20

/** A standby that reads may go to. */
export interface Replica {
  /** Shown in metrics: host and port. */
  readonly name: string
  readonly contexts: Contexts
  readonly memory: Memory
  /** Passes it over for a while: a read has failed. */
  rest(): void
}

interface Known extends Replica {
  pool: pg.Pool
  state: ServerState | null
  atMs: number
  restsUntilMs: number
}

/** A replica as metrics show it. */
export interface ReplicaState {
  name: string
  isUsed: boolean
  /** Age of the oldest commit that it lacks; null while it does not answer. */
  lagMs: number | null
}

/**
 * The read replicas of the API's database. Each is asked five times a second how far it has replayed; one that lacks a
 * commit older than two seconds, follows nobody, does not answer, or has been promoted gets no reads. While the primary
 * itself is away look-ups go on from those that lack nothing that it was seen to have, else from the one that has most;
 * the age of the chains' heads says how old that is (`x-clusterd-stale`), and the feed waits.
 */
export class Replicas {
  readonly #primary: pg.Pool
  readonly #staleness = new Staleness()
  readonly #replicas: Known[]
  readonly #stopping = new AbortController()
  #primaryAtMs = performance.now()
  #turn = 0

  /** @param primary a pool for this alone: in that of the reads, many of them would look like a primary that is away */
  constructor(contexts: Contexts, primary: pg.Pool, replicas: readonly { name: string; pool: pg.Pool }[]) {
    this.#primary = primary
    this.#replicas = replicas.map(({ name, pool }) => {
      const known: Known = {
        ...{ name, pool, state: null, atMs: 0, restsUntilMs: 0 },
        ...over(contexts, pool),
        rest: () => {
          known.restsUntilMs = performance.now() + REST_MS
        },
      }
      return known
    })
    if (this.isEmpty) return
    this.#follow(primary, (state) => {
      this.#primaryAtMs = performance.now()
      this.#staleness.note(state.lsn, this.#primaryAtMs)
    })
    for (const known of this.#replicas)
      this.#follow(known.pool, (state) => Object.assign(known, { state, atMs: performance.now() }))
  }

  /** Whether there is none, so that look-ups need not ask for one. */
  get isEmpty(): boolean {
    return this.#replicas.length === 0
  }

  /** Whether the primary does not answer. */
  get isPrimaryAway(): boolean {
    return isAway(this.#primaryAtMs)
  }

  /** Where the primary is: what a caller who has changed something is to see again. */
  async position(network: Network): Promise<JournalPosition | null> {
    return (await readServerState(this.#primary)).positions[network]
  }

  /**
   * A replica for a read, each in turn; null where the primary has to answer.
   * @param wanted what the caller has changed before; it is waited for, for a moment
   * @param isFeed whether what a fail-over may lose must not be read
   */
  async pick(network: Network, wanted: JournalPosition | null, isFeed = false): Promise<Replica | null> {
    if (isFeed && this.isPrimaryAway) return null
    const fit = this.#fit()
    const chosen = fit[this.#turn++ % fit.length]
    if (!chosen || !wanted) return chosen ?? null
    const endMs = performance.now() + CATCH_UP_MS
    while (!hasReached(chosen.state!.positions[network], wanted)) {
      if (performance.now() > endMs) return null
      await sleep(LOOK_MS)
      const state = await readServerState(chosen.pool).catch(() => null)
      if (!state?.isStandby) return null
      Object.assign(chosen, { state, atMs: performance.now() })
    }
    return chosen
  }

  states(): ReplicaState[] {
    const fit = this.#fit()
    return this.#replicas.map((known) => ({
      ...{ name: known.name, isUsed: fit.includes(known) },
      lagMs: isAway(known.atMs) || !known.state ? null : this.#staleness.of(known.state.lsn, performance.now()),
    }))
  }

  stop(): void {
    this.#stopping.abort()
  }

  /** Those that reads may go to now. */
  #fit(): Known[] {
    const nowMs = performance.now()
    const { isPrimaryAway } = this
    const there = this.#replicas.filter(
      ({ state, atMs, restsUntilMs }) => state?.isStandby && !isAway(atMs) && nowMs >= restsUntilMs,
    )
    const fresh = there.filter(
      ({ state }) => (isPrimaryAway || state!.isStreaming) && this.#staleness.of(state!.lsn, nowMs) <= MAX_STALE_MS,
    )
    if (fresh.length > 0 || !isPrimaryAway) return fresh
    return there.sort((a, b) => Number(b.state!.lsn - a.state!.lsn)).slice(0, 1)
  }

  /** Asks a server again and again, each time after its last answer, until the stop. */
  #follow(pool: pg.Pool, note: (state: ServerState) => void): void {
    const { signal } = this.#stopping
    const go = async (): Promise<void> => {
      await readServerState(pool).then(note, () => {})
      if (!signal.aborted) setTimeout(go, POLL_MS).unref()
    }
    void go()
  }
}

const isAway = (atMs: number): boolean => performance.now() - atMs > AWAY_MS

/** The contexts of handlers that read from another server. */
function over(contexts: Contexts, pool: pg.Pool): Pick<Replica, 'contexts' | 'memory'> {
  const freshness = createFreshness({ pool, chains: contexts.mainnet.chains })
  const of = (network: Network): Context => ({
    ...{ ...contexts[network], pool, freshness },
    batches: { mainnet: createBatches(pool, 'mainnet'), testnet: createBatches(pool, 'testnet') },
  })
  const own = { mainnet: of('mainnet'), testnet: of('testnet') }
  return { contexts: own, memory: createMemory(own.mainnet) }
}
