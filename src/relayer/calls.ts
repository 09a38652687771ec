import type { Hex } from 'viem'
import type { PaidBid } from '../chains/evm/bridge/calls.js'
import type { JobCall } from '../chains/evm/signer.js'
import { type JobRow, membersOf, type Subject } from '../db/outbox/rows.js'
import type { ParkReason } from '../registry/outbox.js'
import { addressToWord } from '../registry/primitives/address.js'
import { decideMessage } from './packets.js'
import type { DeliveryPath } from './targets.js'

/**
 * Call of a job, or the reason to park it; checked at every step, whatever the operator resumed.
 * @param path contracts of the chain to which messages and payments are carried, null on any other
 * @param payments contract of the chain that takes payments for community names, if any
 */
export function callOf(row: JobRow, path: DeliveryPath | null, payments: Hex | undefined): JobCall | ParkReason {
  if (row.kind === 'noop') return { kind: 'noop' }
  if (row.kind === 'refuse') return refusalOf(row, payments)
  if (!path) return 'foreign_packet'
  if (row.kind === 'deliver') return deliveryOf(row, path.lane.hub.contract)
  const { lane, endpoint, messageLib } = path
  const decision = row.message && decideMessage(row.message, lane)
  if (!decision?.packet || !endpoint) return 'foreign_packet'
  const { packet } = decision
  if (row.kind === 'verify') return messageLib ? { kind: 'verify', endpoint, messageLib, packet } : 'foreign_packet'
  return 'refusal' in decision ? decision.refusal : { kind: 'execute', endpoint, packet, option: decision.option }
}

const NOBODY = Buffer.alloc(32)

function deliveryOf(row: JobRow, hub: Hex): JobCall | ParkReason {
  const members = membersOf(row)
  const bids = members.map(bidOf).filter((bid) => bid !== null)
  // a payment that a rewind takes back from a transaction under way comes again by itself
  const isWhole = bids.length === members.length || (row.nonce !== null && bids.length > 0)
  return isWhole ? { kind: 'deliver', hub, bids } : 'foreign_payment'
}

function bidOf({ payment }: Subject): PaidBid | null {
  if (payment?.target.kind !== 'name' || payment.state === 'seen' || payment.target.verdict !== 'honoured') return null
  const { sequence, payer, referral, target } = payment
  const { source, name, amountWei } = target
  const bid = { source, sequence: BigInt(sequence), name, amountWei }
  return { ...bid, from: addressToWord(payer), referral: referral ?? NOBODY }
}

function refusalOf({ subject, payment }: JobRow, payments: Hex | undefined): JobCall | ParkReason {
  if (!subject || !payments) return 'no_payments_contract'
  const made = payment?.target.kind === 'communityName' ? { block: payment.block, ...payment.target } : null
  return { kind: 'refuse', payments, payment: { paymentId: subject, made } }
}
