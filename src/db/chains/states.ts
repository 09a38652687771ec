import type pg from 'pg'
import type { ChainState } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'
import { execute, prepared, type Queryable, query, readRows } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'

export interface StoredChainState {
  state: ChainState
  /** Age of the state by the database's clock, ms. */
  ageMs: number
}

// A new leader may have no answer of the chain yet. Its states have no head, so the stored head's time (`headMs`) and
// the time between blocks (`blockMs`) are kept.
const WRITE_STATES = prepared(`INSERT INTO chain_states (network, label, state, seen_ms)
    SELECT $1, state->>'label', state, ${NOW_MS_SQL} FROM unnest($2::jsonb[]) AS states(state)
    ON CONFLICT (network, label) DO UPDATE SET seen_ms = excluded.seen_ms, state = excluded.state
      || CASE WHEN excluded.state->>'headMs' IS NULL
        THEN jsonb_build_object('headMs', chain_states.state->'headMs', 'blockMs', chain_states.state->'blockMs')
        ELSE '{}' END`)

/**
 * Writes the states of a network's chains, as the indexing leader sees them, for the API and `/status` of all
 * processes.
 */
export async function writeChainStates(
  pool: pg.Pool,
  network: Network,
  states: readonly ChainState[],
): Promise<void> {
  await execute(pool, network, WRITE_STATES, [states.map((state) => JSON.stringify(state))])
}

export function readChainStates(db: Queryable): Promise<StoredChainState[]> {
  return readRows<StoredChainState>(
    db,
    `SELECT state, ${NOW_MS_SQL} - seen_ms AS "ageMs" FROM chain_states`,
    [],
  )
}

/**
 * State of a network's hub: responses take their block and staleness from it, and it decides whether names may be
 * quoted.
 */
export interface HubState {
  /** True if the hub has been folded up to its confirmed head once in this generation. */
  caughtUp: boolean
  /** True if the network is mirrored, so no chain is followed. */
  isMirror: boolean
  /**
   * Time since the checkpoint of a mirror's source was verified, ms. Null before the first time, and where the network
   * is not mirrored.
   */
  mirrorAgeMs: number | null
  /** Null before the hub is indexed for the first time, and for a mirror. */
  state: ChainState | null
  /**
   * Newest block of the hub that the journal has. For a mirror: the block as of which its names were proved, 0 before
   * the first proof. Null for a hub that the database does not know.
   */
  block: number | null
  /** Time of the newest entry of the journal, Unix ms. */
  atMs: number
  /** The database's clock, Unix ms. */
  nowMs: number
}

const READ_HUB_STATE =
  prepared(`SELECT h.caught_up, h.proved_block IS NOT NULL AS is_mirror, ${NOW_MS_SQL} - h.mirrored_ms AS mirror_age_ms, s.state, h.at_ms, coalesce(h.proved_block, c.next_block - 1) AS block, ${NOW_MS_SQL} AS now_ms
    FROM journal_heads h
    LEFT JOIN chains c ON c.network = h.network AND c.label = $2
    LEFT JOIN chain_states s ON s.network = h.network AND s.label = $2 WHERE h.network = $1`)

/** @param label the hub's network label; empty where none is configured */
export async function readHubState(
  db: Queryable,
  network: Network,
  label: string,
): Promise<HubState> {
  const [row] = await query<HubState>(db, network, READ_HUB_STATE, [label])
  return row!
}
