import type { Network } from '../../registry/primitives/network.js'
import type { Queryable } from './rows.js'

/** The channel on which processes wake each other; a notification's payload is the network that changed. */
export const CHANNEL = 'clusterd'
/** Follows the network where nothing changed but a chain's head. */
const BLOCK = ' block'

/** Wakes every listener of a network; inside a transaction, when that commits. */
export async function notify(db: Queryable, network: Network): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [CHANNEL, network])
}

/** What wakes those listeners of a network that wait for a block: channel and payload. */
export const blockNotice = (network: Network): [string, string] => [CHANNEL, network + BLOCK]

/** Wakes those listeners of a network that wait for a block. */
export async function notifyBlock(db: Queryable, network: Network): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', blockNotice(network))
}

/** What a payload says to a network's listener; an empty one stands for notifications that may have been lost. */
export function heardBy(network: Network, payload: string): 'notify' | 'block' | null {
  if (payload === '' || payload === network) return 'notify'
  return payload === network + BLOCK ? 'block' : null
}
