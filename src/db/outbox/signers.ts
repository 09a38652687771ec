import type pg from 'pg'
import type { NonceTx } from '../../registry/outbox.js'
import { query } from '../pg/rows.js'
import type { SignerKey } from './jobs.js'
import { type JobRow, selectJobs } from './rows.js'

/**
 * Raises a signer's next nonce to at least the chain's count, whoever used the nonces.
 * @returns the next nonce
 */
export async function raiseNextNonce(
  client: pg.ClientBase,
  { network, chain, signer }: SignerKey,
  used: number,
): Promise<number> {
  const text = `INSERT INTO relay_signers AS s (network, chain, signer, next_nonce) VALUES ($1, $2, $3, $4)
    ON CONFLICT (network, chain, signer) DO UPDATE SET next_nonce = greatest(s.next_nonce, excluded.next_nonce)
    RETURNING next_nonce`
  const [row] = await query<{ nextNonce: number }>(client, network, text, [chain, signer, used])
  return row!.nextNonce
}

/** Jobs that hold, or have used, a signer's nonces from one on. */
export function holdersOfNonces(
  client: pg.ClientBase,
  { network, chain, signer }: SignerKey,
  from: number,
): Promise<JobRow<NonceTx>[]> {
  const where = 'WHERE j.network = $1 AND j.chain = $2 AND j.signer = $3 AND j.nonce >= $4 ORDER BY j.nonce'
  return selectJobs(client, network, where, [chain, signer, from])
}
