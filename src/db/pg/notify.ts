import type { Network } from '../../registry/primitives/network.js'
import type { Queryable } from './rows.js'

/** The channel on which processes wake each other; a notification's payload is the network that changed. */
export const CHANNEL = 'clusterd'

/** Wakes every listener of a network; inside a transaction, when that commits. */
export async function notify(db: Queryable, network: Network): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [CHANNEL, network])
}
