import type pg from 'pg'
import { findDelivery, saveDelivery, saveWithNextNonce } from '../db/outbox/deliveries.js'
import type { DeliveryRow, SignerKey } from '../db/outbox/deliveryRows.js'
import { notify } from '../db/pg/notify.js'
import type { Network } from '../registry/primitives/network.js'
import type { DeliveryStore } from './converge.js'
import type { Delivery } from './delivery.js'

/** The part of a row that the machine works on. */
export const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  state: row.state,
  valueWei: row.valueWei,
  nonce: row.nonce,
  txs: row.txs,
  included: row.included,
  failures: row.failures,
  nextMs: row.nextMs,
  spentWei: row.spentWei,
  reason: row.reason,
  // written by this program alone
  release: row.release as Delivery['release'],
})

/** Stores the steps of one delivery, as long as its row is the one that was read, and this process the network's relayer. */
export function storeOf(
  pool: pg.Pool,
  row: DeliveryRow,
  by: { key: SignerKey; epoch: number; nowMs: () => number },
): DeliveryStore {
  const { key, epoch } = by
  return {
    save: (_before, after) =>
      saveDelivery(pool, row, after, {
        epoch,
        nowMs: by.nowMs(),
        ...(after.nonce === null ? {} : { signer: key.signer }),
      }),
    saveWithNonce: (_before, build) => saveWithNextNonce(pool, row, key, { epoch, nowMs: by.nowMs() }, build),
  }
}

/** The operator's hand: changes a delivery by one of `park`, `resume` and `retry`, and tells the relayer. */
export async function changeDelivery(
  pool: pg.Pool,
  network: Network,
  id: string,
  change: (delivery: Delivery) => Delivery,
): Promise<DeliveryRow> {
  const TRIES = 20
  for (let tries = 0; tries < TRIES; tries++) {
    const row = await findDelivery(pool, network, id)
    if (!row) throw new Error(`There is no delivery ${id}.`)
    const isSaved = await saveDelivery(pool, row, change(toDelivery(row)), { epoch: null, nowMs: Date.now() })
    if (!isSaved) continue
    await notify(pool, network)
    return (await findDelivery(pool, network, id)) ?? row
  }
  throw new Error(`Delivery ${id} changes all the time: try again.`)
}
