import { decodeCommunityEffects } from '../../registry/journal/effects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { JOB_KIND, JOB_STATE, type JobState, type JobTx } from '../../registry/outbox.js'
import { PAYMENT_STATE, type StoredPayment } from '../../registry/payment/payment.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentOf } from '../payments/rows.js'
import { wordOf } from '../pg/codes.js'
import { type Queryable, query } from '../pg/rows.js'
import { DUE } from './payouts.js'
import { type JobRow, selectJobs } from './rows.js'

export interface JobFilter {
  networks: readonly Network[]
  states: readonly JobState[]
  /** At most this many, the newest. */
  limit: number
}

/** Jobs of some states, newest first. */
export async function listJobs(db: Queryable, { networks, states, limit }: JobFilter): Promise<JobRow[]> {
  const values = [states.map((state) => JOB_STATE[state]), limit]
  const text = 'WHERE j.network = $1 AND j.state = ANY ($2::int2[]) ORDER BY j.id DESC LIMIT $3'
  const found = networks.map((network) => selectJobs(db, network, text, values))
  const jobs = (await Promise.all(found)).flat()
  return jobs.sort((a, b) => Number(b.id) - Number(a.id)).slice(0, limit)
}

/** A job by its id, of whichever network, null where there is none. */
export async function jobById(db: Queryable, id: string): Promise<JobRow | null> {
  const found = NETWORKS.map((network) => selectJobs(db, network, 'WHERE j.network = $1 AND j.id = $2', [id]))
  return (await Promise.all(found)).flat()[0] ?? null
}

/** A payment on Solana that is owed back, or was refunded. */
export interface Refund {
  network: Network
  payment: StoredPayment
  /** Program that was paid, base58. */
  program: string
  /** `foreign`: no quote of ours; `lost`: the hub gave the name to another or refused; else why the rules refuse it. */
  cause: string
  /** State of the refund's job; null while nobody has asked for one. */
  state: JobState | null
  reason: string | null
  failures: number
  /** Signature of the refund, base58. */
  refundTx: string | null
}

type RefundRow = PaymentRow & {
  program: string
  effects: Buffer | null
  jobState: number | null
  reason: string | null
  failures: number | null
  txs: JobTx[] | null
}

/** A network's refunds on Solana, oldest first: owed ones and those under way, and with `all` those that are done. */
export async function listRefunds(db: Queryable, network: Network, all: boolean): Promise<Refund[]> {
  const { refund, refuse } = JOB_KIND
  const rows = await query<RefundRow>(
    db,
    network,
    `WITH ${DUE}, chosen AS (
       SELECT id FROM due WHERE payout = ${refund}
       UNION SELECT subject FROM jobs WHERE network = $1 AND kind = ${refuse} AND ($2 OR state <> ${JOB_STATE.confirmed})
       UNION SELECT subject FROM jobs WHERE network = $1 AND kind = ${refund} AND $2)
     SELECT ${PAYMENT_COLUMNS}, c.instance AS program, e.effects, j.state AS job_state, j.reason, j.failures, j.txs
     FROM chosen
     JOIN payments p ON p.network = $1 AND p.id = chosen.id
     JOIN chains c ON c.network = p.network AND c.chain = p.chain AND c.chain_id IS NULL
     JOIN journal_heads h ON h.network = p.network
     LEFT JOIN jobs j ON j.network = p.network AND j.subject = p.id AND j.kind IN (${refund}, ${refuse})
     LEFT JOIN journal e ON p.state = ${PAYMENT_STATE.done} AND e.network = p.network AND e.generation = h.generation
       AND e.chain = p.chain AND e.block = p.block AND e.log_index = p.sequence AND e.kind = ${ENTRY_KIND.pay_community_name}
     ORDER BY p.paid_ms, p.sequence`,
    [all],
  )
  return rows.map((row) => {
    const payment = paymentOf(row)
    const { program, jobState, reason, failures, txs } = row
    return {
      ...{ network, payment, program, reason, failures: failures ?? 0 },
      cause: causeOf(payment, row.effects),
      state: jobState === null ? null : wordOf(JOB_STATE, jobState),
      refundTx: txs?.at(-1)?.hash ?? null,
    }
  })
}

function causeOf({ target }: StoredPayment, effects: Buffer | null): string {
  if (target.kind === 'name') return target.verdict === 'foreign' ? 'foreign' : 'lost'
  if (!effects) return 'lost'
  const decoded = decodeCommunityEffects(effects)
  return decoded.outcome === 'refused' ? decoded.reason : decoded.outcome
}
