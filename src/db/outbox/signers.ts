import type pg from 'pg'
import { NETWORK_CODE } from '../../registry/primitives/network.js'
import { type DeliveryRow, type SignerKey, selectDeliveries } from './deliveryRows.js'

/**
 * Makes sure that a signer's next nonce is at least what the chain has used up, whoever used it.
 * @returns the next nonce
 */
export async function raiseNextNonce(client: pg.ClientBase, key: SignerKey, used: number): Promise<number> {
  const text = `INSERT INTO relay_signers AS s (network, chain, signer, next_nonce) VALUES ($1, $2, $3, $4)
    ON CONFLICT (network, chain, signer) DO UPDATE SET next_nonce = greatest(s.next_nonce, excluded.next_nonce)
    RETURNING next_nonce`
  const { rows } = await client.query<{ next_nonce: number }>(text, [
    NETWORK_CODE[key.network],
    key.chain,
    key.signer,
    used,
  ])
  return rows[0]!.next_nonce
}

/** The deliveries that hold, or have used, nonces of a signer from one on. */
export const holdersOfNonces = (client: pg.ClientBase, key: SignerKey, from: number): Promise<DeliveryRow[]> =>
  selectDeliveries(
    client,
    'WHERE d.network = $1 AND d.chain = $2 AND d.signer = $3 AND d.nonce >= $4 ORDER BY d.nonce',
    [NETWORK_CODE[key.network], key.chain, key.signer, from],
  )
