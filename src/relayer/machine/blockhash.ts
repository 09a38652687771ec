import type { PaymentView, TxStatus } from '../../chains/solana/signer.js'
import type { BlockhashTx } from '../../registry/outbox.js'
import type { Event } from './index.js'
import { type BlockhashJob, hasEnded } from './job.js'

/**
 * View of a signed transaction on a cluster. Height is read before status, so that one that lands in between isn't
 * taken for lost.
 */
export interface BlockhashSeen {
  /** Height of the newest confirmed block. */
  height: number
  /** Null: no block that the node knows holds the transaction. */
  status: TxStatus | null
  /** The payment in a slot after that block; null while nobody has looked. */
  payment: PaymentView | null
}

export type BlockhashAction =
  | { do: 'wait' }
  /** Look at the payment itself. */
  | { do: 'look' }
  | { do: 'sign' }
  /** Send the same bytes (again): they are in no block. */
  | { do: 'broadcast'; tx: BlockhashTx }
  | { do: 'record'; event: Event<BlockhashTx> }

/** The next action for a job whose transaction is valid until its blockhash expires. */
export function planBlockhashJob(job: BlockhashJob, { height, status, payment }: BlockhashSeen): BlockhashAction {
  if (hasEnded(job)) return { do: 'wait' }
  if (job.state === 'queued') return payment ? planByPayment(job, payment) : { do: 'look' }
  const tx = job.txs[0]!
  if (status) {
    if (!status.isConfirmed) return { do: 'wait' }
    if (status.error === null) return record({ is: 'confirmed', feeWei: 0n })
    return record({ is: 'expired', feeWei: 0n, reason: status.error })
  }
  if (height <= tx.lastValidHeight) return { do: 'broadcast', tx }
  return payment ? planByPayment(job, payment) : { do: 'look' }
}

/** Action once nothing signed can land: the payment shows whether the job is done, or may be signed anew. */
function planByPayment(job: BlockhashJob, payment: PaymentView): BlockhashAction {
  switch (payment.is) {
    case 'held':
      // a node's refusal says why it didn't land
      return job.state === 'queued' ? { do: 'sign' } : expire(job.reason ?? 'expired')
    case 'done':
      return record({ is: 'confirmed', feeWei: 0n, by: byOf(payment.signature) })
    case 'lost':
      return record({ is: 'parked', reason: payment.reason, by: byOf(payment.signature) })
    case 'unknown':
      // another node may know what closed the payment's account
      return job.state === 'queued'
        ? record({ is: 'failed', failure: { class: 'transient', reason: 'closed_unseen' } })
        : expire('closed_unseen')
  }
}

const expire = (reason: string): BlockhashAction => record({ is: 'expired', feeWei: 0n, reason })
const record = (event: Event<BlockhashTx>): BlockhashAction => ({ do: 'record', event })

/** Another signer's transaction, of which only the signature is known. */
const byOf = (signature: string | null): BlockhashTx | undefined =>
  signature === null ? undefined : { hash: signature, raw: '', lastValidHeight: 0 }

/** Reasons unrelated to the refusal itself. */
const PASSING: ReadonlySet<string> = new Set(['expired', 'blockhash_not_found', 'insufficient_funds', 'closed_unseen'])

/**
 * Whether a refusal omits the payout: the combined transaction failed, perhaps by the payer's doing to keep the name.
 * Anybody may send the money later.
 */
export function goesAlone({ failures, reason }: Pick<BlockhashJob, 'failures' | 'reason'>): boolean {
  return failures > 0 && reason !== null && !PASSING.has(reason)
}
