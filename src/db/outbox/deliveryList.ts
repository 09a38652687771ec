import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { type DeliveryRow, type DeliveryStateName, selectDeliveries, stateCode } from './deliveryRows.js'

const DAY_MS = 86_400_000

export interface DeliveryStats {
  /** How many are in each state but the last, and since when the oldest of them waits (milliseconds). */
  states: Record<Exclude<DeliveryStateName, 'confirmed'>, { count: number; oldestMs: number | null }>
  /** Under way at nonces of another signer: this one can neither replace nor send them. */
  heldByOthers: number
  /** Value and gas of what was delivered on the signer's chain in the last 24 hours. */
  spentLastDayWei: bigint
}

/** What an operator and the metrics want to know of a network's deliveries. */
export async function deliveryStats(
  pool: pg.Pool,
  { network, chain, signer }: { network: Network; chain: number; signer: Buffer | null },
  nowMs: number,
): Promise<DeliveryStats> {
  const { rows } = await pool.query<{ state: number; count: number; oldest_ms: number }>(
    `SELECT state, count(*)::int AS count, min(created_ms) AS oldest_ms FROM deliveries
     WHERE network = $1 AND (state < 4 OR state = 5) GROUP BY state`,
    [NETWORK_CODE[network]],
  )
  const spent = await pool.query<{ wei: string }>(
    `SELECT coalesce(sum(spent_wei + CASE WHEN nonce IS NULL THEN 0 ELSE value_wei END), 0)::text AS wei FROM deliveries
     WHERE network = $1 AND chain = $3 AND state = 4 AND updated_ms > $2`,
    [NETWORK_CODE[network], nowMs - DAY_MS, chain],
  )
  const others = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM deliveries
     WHERE network = $1 AND state < 4 AND nonce IS NOT NULL AND signer IS DISTINCT FROM $2::bytea`,
    [NETWORK_CODE[network], signer],
  )
  const of = (state: DeliveryStateName) => {
    const row = rows.find((candidate) => candidate.state === stateCode(state))
    return { count: row?.count ?? 0, oldestMs: row?.oldest_ms ?? null }
  }
  return {
    states: {
      queued: of('queued'),
      signed: of('signed'),
      sent: of('sent'),
      included: of('included'),
      parked: of('parked'),
    },
    heldByOthers: others.rows[0]!.count,
    spentLastDayWei: BigInt(spent.rows[0]!.wei),
  }
}

export interface DeliveryFilter {
  networks: readonly Network[]
  states: readonly DeliveryStateName[]
  /** At most this many, the newest. */
  limit: number
}

/** Deliveries of some states, newest first. */
export const listDeliveries = (pool: pg.Pool, { networks, states, limit }: DeliveryFilter): Promise<DeliveryRow[]> =>
  selectDeliveries(pool, 'WHERE d.network = ANY($1) AND d.state = ANY($2) ORDER BY d.id DESC LIMIT $3', [
    networks.map((network) => NETWORK_CODE[network]),
    states.map(stateCode),
    limit,
  ])

/** A delivery by its id, of whichever network, null where there is none. */
export async function deliveryById(pool: pg.Pool, id: string): Promise<DeliveryRow | null> {
  const [row] = await selectDeliveries(pool, 'WHERE d.network IN (0, 1) AND d.id = $1', [id])
  return row ?? null
}
