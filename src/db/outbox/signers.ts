import type pg from 'pg'
import { JOB_STATE, type JobState } from '../../registry/outbox.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { nameOfCode } from '../pg/codes.js'
import { execute, type Queryable, query } from '../pg/rows.js'
import type { SignerRowKey } from './jobs.js'

/**
 * Maximum number of jobs with a nonce that one step reads. Without this limit, a node's wrong transaction count
 * could make a step read all such jobs.
 */
const MAX_NONCE_HOLDERS = 1_000

/** What the database knows of a signer's nonces. */
export interface SignerNonces {
  /** Nonce of the signer's next transaction. Null before the signer's first job. */
  next: number | null
  /** Highest nonce that a job holds or has used. Null before the first such job. */
  top: number | null
  /** Jobs that hold or have used nonces from `from` on, by nonce. */
  holders: { id: string; nonce: number; state: JobState }[]
}

/** @param from lowest nonce of which `holders` has the job; it has at most `MAX_NONCE_HOLDERS` jobs */
export async function readSignerNonces(
  db: Queryable,
  key: SignerRowKey,
  from: number,
): Promise<SignerNonces> {
  const values = [key.chain, key.signer]
  const text = `SELECT (SELECT next_nonce FROM relay_signers WHERE network = $1 AND chain = $2 AND signer = $3) AS next,
    (SELECT max(nonce) FROM jobs WHERE network = $1 AND chain = $2 AND signer = $3 AND nonce IS NOT NULL) AS top`
  const [row] = await query<Omit<SignerNonces, 'holders'>>(db, key.network, text, values)
  const held = `SELECT id, nonce, state FROM jobs
    WHERE network = $1 AND chain = $2 AND signer = $3 AND nonce >= $4 ORDER BY nonce LIMIT ${MAX_NONCE_HOLDERS}`
  const jobs = await query<{ id: number; nonce: number; state: number }>(db, key.network, held, [
    ...values,
    from,
  ])
  const holders = jobs.map((job) => ({
    ...job,
    id: String(job.id),
    state: nameOfCode(JOB_STATE, job.state),
  }))
  return { ...row!, holders }
}

/**
 * Moves a signer's next nonce, unless another process has moved it.
 * @param from the next nonce that the caller has read; null for a signer without a stored nonce
 * @returns false where another process has moved the next nonce
 */
export async function moveNextNonce(
  client: pg.ClientBase,
  { network, chain, signer }: SignerRowKey,
  from: number | null,
  to: number,
): Promise<boolean> {
  const text =
    from === null
      ? `INSERT INTO relay_signers (network, chain, signer, next_nonce) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
      : `UPDATE relay_signers SET next_nonce = $4, claimed_nonce = NULL
         WHERE network = $1 AND chain = $2 AND signer = $3 AND next_nonce = $5`
  const values = [chain, signer, to, ...(from === null ? [] : [from])]
  return (await execute(client, network, text, values)) === 1
}

/**
 * Stores the transaction count that the chain reports for a signer and that an operator has to confirm. Null clears the
 * stored count.
 */
export async function storeClaimedTxCount(
  client: pg.ClientBase,
  key: SignerRowKey,
  claimed: number | null,
): Promise<void> {
  const text = `UPDATE relay_signers SET claimed_nonce = $4
    WHERE network = $1 AND chain = $2 AND signer = $3 AND claimed_nonce IS DISTINCT FROM $4`
  await execute(client, key.network, text, [key.chain, key.signer, claimed])
}

/** A signer of ours on a chain, as shown to the operator. */
export interface SignerRow extends SignerRowKey {
  label: string
  next: number
  /**
   * Transaction count that the chain reports and that an operator has to confirm. Null if there is nothing to confirm.
   */
  claimed: number | null
  /** The highest nonce of a job that is neither confirmed nor parked. Null without such a job. */
  top: number | null
}

export async function listSigners(
  db: Queryable,
  networks: readonly Network[] = NETWORKS,
): Promise<SignerRow[]> {
  const text = `SELECT s.network, s.chain, c.label, s.signer, s.next_nonce AS next, s.claimed_nonce AS claimed,
      (SELECT max(j.nonce) FROM jobs j WHERE j.network = $1 AND j.chain = s.chain AND j.signer = s.signer
         AND j.nonce IS NOT NULL AND j.state < ${JOB_STATE.confirmed}) AS top
    FROM relay_signers s JOIN chains c ON c.network = s.network AND c.chain = s.chain
    WHERE s.network = $1 ORDER BY s.chain, s.signer`
  const lists = networks.map((network) => query<SignerRow>(db, network, text))
  return (await Promise.all(lists)).flat()
}
