import type { Hex } from 'viem'
import type { JobCall } from '../chains/evm/signer.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { ParkReason } from '../registry/outbox.js'
import { addressToWord } from '../registry/primitives/address.js'
import { decideMessage } from './packets.js'
import type { DeliveryPath } from './targets.js'

/**
 * Call of a job, or the reason to park it; checked at every step, whatever the operator resumed.
 * @param path contracts of the chain to which messages and payments are carried, null on any other
 * @param nowMs time of the step
 * @param payments contract of the chain that takes payments for community names, if any
 */
export function callOf(
  row: JobRow,
  path: DeliveryPath | null,
  payments: Hex | undefined,
  nowMs = Date.now(),
): JobCall | ParkReason {
  if (row.kind === 'noop') return { kind: 'noop' }
  if (row.kind === 'refuse') return refusalOf(row, payments)
  if (!path) return 'foreign_packet'
  if (row.kind === 'deliver') return deliveryOf(row, path.lane.hub.contract, nowMs)
  const { lane, endpoint, messageLib } = path
  const decision = row.message && decideMessage(row.message, lane)
  if (!decision?.packet || !endpoint) return 'foreign_packet'
  const { packet } = decision
  if (row.kind === 'verify') return messageLib ? { kind: 'verify', endpoint, messageLib, packet } : 'foreign_packet'
  return 'refusal' in decision ? decision.refusal : { kind: 'execute', endpoint, packet, option: decision.option }
}

const NOBODY = Buffer.alloc(32)

/** Share of the time until a payer may take back in which a payment is delivered: none is delivered that goes back. */
const DELIVERED_BY = 0.9

function deliveryOf({ payment, state }: JobRow, hub: Hex, nowMs: number): JobCall | ParkReason {
  if (payment?.target.kind !== 'name' || payment.state === 'seen' || payment.target.verdict !== 'honoured')
    return 'foreign_payment'
  const { reclaimableMs } = payment.target
  const isLate = nowMs - payment.paidMs > DELIVERED_BY * (reclaimableMs - payment.paidMs)
  if (state === 'queued' && (isLate || payment.outcome === 'reclaimed')) return 'reclaimed'
  const { id: messageId, payer, referral, target } = payment
  const { name, amountWei } = target
  const from = addressToWord(payer)
  return { kind: 'deliver', hub, bid: { messageId, from, amountWei, name, referral: referral ?? NOBODY } }
}

function refusalOf({ subject, payment }: JobRow, payments: Hex | undefined): JobCall | ParkReason {
  if (!subject || !payments) return 'no_payments_contract'
  const made = payment?.target.kind === 'communityName' ? { block: payment.block, ...payment.target } : null
  return { kind: 'refuse', payments, payment: { paymentId: subject, made } }
}
