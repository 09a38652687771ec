import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { assertRelayer } from '../journal/head.js'
import { inTransaction } from '../pg/pool.js'
import {
  type DeliveryFields,
  type DeliveryKind,
  type DeliveryRow,
  jsonTx,
  kindCode,
  REFUSAL_REST_MS,
  type SignerKey,
  type StoredTx,
  selectDeliveries,
  stateCode,
} from './deliveryRows.js'

/**
 * What there may be something to do for on a signer's chain, in the order in which it has to be done: what holds a nonce by nonce, then what waits
 * for one as the messages came. An execution waits until its verification is in a block; what backs off waits for its time,
 * unless the hub has taken its message meanwhile.
 */
export const dueDeliveries = (
  pool: pg.Pool,
  { network, chain, signer }: SignerKey,
  nowMs: number,
): Promise<DeliveryRow[]> =>
  selectDeliveries(
    pool,
    `WHERE d.network = $1 AND d.chain = $4 AND d.state < 4 AND (d.nonce IS NULL OR d.signer = $2)
       AND (d.nonce IS NOT NULL OR (
         (d.next_ms <= $3 OR d.kind = 5 AND d.updated_ms + ${REFUSAL_REST_MS} <= $3 OR EXISTS (SELECT 1 FROM received r WHERE r.network = d.network AND r.guid = d.guid AND r.confirmed))
         AND NOT EXISTS (SELECT 1 FROM deliveries v WHERE d.kind = 2 AND v.network = d.network AND v.guid = d.guid
           AND v.kind = 1 AND (v.state < 3 OR v.state = 5))))
     ORDER BY d.nonce NULLS LAST, d.id`,
    [NETWORK_CODE[network], signer, nowMs, chain],
  )

/** Whether anything is under way on a chain, or waits to be. */
export async function hasLiveDeliveries(
  pool: pg.Pool,
  { network, chain }: Pick<SignerKey, 'network' | 'chain'>,
): Promise<boolean> {
  const text = 'SELECT EXISTS (SELECT FROM deliveries WHERE network = $1 AND chain = $2 AND state < 4) AS live'
  return (await pool.query<{ live: boolean }>(text, [NETWORK_CODE[network], chain])).rows[0]!.live
}

/** One delivery as it stands now, null where there is none. */
export async function findDelivery(
  db: pg.Pool | pg.ClientBase,
  network: Network,
  id: string,
): Promise<DeliveryRow | null> {
  const [row] = await selectDeliveries(db, 'WHERE d.network = $1 AND d.id = $2', [NETWORK_CODE[network], id])
  return row ?? null
}

/** Deliveries as they stand now, in any order. */
export const findDeliveries = (
  db: pg.Pool | pg.ClientBase,
  network: Network,
  ids: readonly string[],
): Promise<DeliveryRow[]> =>
  selectDeliveries(db, 'WHERE d.network = $1 AND d.id = ANY($2::int8[])', [NETWORK_CODE[network], ids])

/**
 * Stores what a step made of a delivery, if nobody has changed it since it was read.
 * @param epoch the relayer's; null for the operator, who needs none
 * @param signer who holds the nonce, if one is held
 * @returns false when it is another by now
 * @throws LostLeadershipError
 */
export const saveDelivery = (
  pool: pg.Pool,
  row: DeliveryRow,
  fields: DeliveryFields,
  by: { epoch: number | null; signer?: Buffer; nowMs: number },
): Promise<boolean> =>
  inTransaction(pool, async (client) => {
    if (by.epoch !== null) await assertRelayer(client, row.network, by.epoch)
    return update(client, row, fields, by)
  })

class Outrun extends Error {}

/**
 * Takes the signer's next nonce and stores what `build` makes with it, in one transaction or not at all.
 * @returns false when the delivery is another by now
 * @throws LostLeadershipError
 */
export async function saveWithNextNonce(
  pool: pg.Pool,
  row: DeliveryRow,
  key: SignerKey,
  by: { epoch: number; nowMs: number },
  build: (nonce: number) => Promise<DeliveryFields>,
): Promise<boolean> {
  try {
    await inTransaction(pool, async (client) => {
      await assertRelayer(client, row.network, by.epoch)
      const text = `UPDATE relay_signers SET next_nonce = next_nonce + 1 WHERE network = $1 AND chain = $2 AND signer = $3
        RETURNING next_nonce - 1 AS nonce`
      const { rows } = await client.query<{ nonce: number }>(text, [NETWORK_CODE[key.network], key.chain, key.signer])
      const nonce = rows[0]?.nonce
      if (nonce === undefined) throw new Error(`taking a nonce: signer 0x${key.signer.toString('hex')} is not known`)
      if (!(await update(client, row, await build(nonce), { ...by, signer: key.signer }))) throw new Outrun()
    })
    return true
  } catch (error) {
    if (error instanceof Outrun) return false
    throw error
  }
}

async function update(
  client: pg.ClientBase,
  row: DeliveryRow,
  fields: DeliveryFields,
  { signer, nowMs }: { signer?: Buffer; nowMs: number },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'save_delivery',
    text: `UPDATE deliveries SET state = $4, value_wei = $5, nonce = $6, txs = $7, included = $8, failures = $9, next_ms = $10,
        spent_wei = $11, reason = $12, release = $13, updated_ms = $14, signer = coalesce($15, signer), version = version + 1
      WHERE network = $1 AND id = $2 AND version = $3`,
    values: [NETWORK_CODE[row.network], row.id, row.version, ...columnsOf(fields), nowMs, signer ?? null],
  })
  return rowCount === 1
}

function columnsOf(fields: DeliveryFields): unknown[] {
  return [
    stateCode(fields.state),
    fields.valueWei.toString(),
    fields.nonce,
    JSON.stringify(fields.txs.map(jsonTx)),
    fields.included && JSON.stringify(fields.included),
    fields.failures,
    fields.nextMs,
    fields.spentWei.toString(),
    fields.reason,
    fields.release,
  ]
}

/** Queues what has to be done for a message, once, whoever asks. @returns how many rows are new */
export async function insertDeliveries(
  client: pg.ClientBase,
  network: Network,
  rows: readonly { guid: Buffer; kind: DeliveryKind; chain: number; valueWei: bigint }[],
  nowMs: number,
): Promise<number> {
  const { rowCount } = await client.query(
    `INSERT INTO deliveries (network, guid, kind, chain, value_wei, state, txs, failures, next_ms, spent_wei, created_ms, updated_ms, version)
     SELECT $1, u.guid, u.kind, u.chain, u.value_wei, 0, '[]', 0, 0, 0, $2, $2, 0
     FROM unnest($3::bytea[], $4::int2[], $5::int2[], $6::numeric[]) WITH ORDINALITY AS u(guid, kind, chain, value_wei, i)
     ORDER BY u.i
     ON CONFLICT (network, guid, kind) DO NOTHING`,
    [
      NETWORK_CODE[network],
      nowMs,
      rows.map(({ guid }) => guid),
      rows.map(({ kind }) => kindCode(kind)),
      rows.map(({ chain }) => chain),
      rows.map(({ valueWei }) => valueWei.toString()),
    ],
  )
  return rowCount ?? 0
}

/** Stores a signed transaction that uses up a nonce which nothing holds. @returns false when something holds it by now */
export async function insertFill(
  client: pg.ClientBase,
  key: SignerKey,
  nonce: number,
  tx: StoredTx,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO deliveries (network, kind, chain, signer, state, value_wei, nonce, txs, failures, next_ms, spent_wei, created_ms, updated_ms, version)
     VALUES ($1, $2, $3, $4, 1, 0, $5, $6, 0, 0, 0, $7, $7, 0) ON CONFLICT DO NOTHING`,
    [NETWORK_CODE[key.network], kindCode('fill'), key.chain, key.signer, nonce, JSON.stringify([jsonTx(tx)]), nowMs],
  )
  return rowCount === 1
}
