import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/**
 * The payments on Solana that are believed and keep to a quote of ours, that the hub has not taken and for which nothing has been
 * queued: their message ids, in the order in which they were paid.
 */
export async function undeliveredPayments(client: pg.ClientBase, network: Network): Promise<Buffer[]> {
  const { rows } = await client.query<{ message_id: Buffer }>(
    `SELECT p.message_id FROM payments p
     WHERE p.network = $1 AND p.confirmed AND NOT p.settled AND p.verdict = 1
       AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.network = p.network AND d.guid = p.message_id)
       AND NOT EXISTS (SELECT 1 FROM received r WHERE r.network = p.network AND r.guid = p.message_id)
     ORDER BY p.paid_ms, p.chain, p.sequence`,
    [NETWORK_CODE[network]],
  )
  return rows.map((row) => row.message_id)
}
