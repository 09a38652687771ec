import type { Hex } from 'viem'
import { deliveryValueWei, type PaidBid } from '../chains/evm/bridge/calls.js'
import { decodePacket, type Packet } from '../chains/evm/bridge/packet.js'
import { decodeLzReceiveOption, type LzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import type { JobCall } from '../chains/evm/jobView.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { ParkReason } from '../registry/outbox.js'
import { isPaymentForCommunityName, type Payment } from '../registry/payment/payment.js'
import { addressToWord } from '../registry/primitives/address.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { DeliveryPath, HubWithSpokes } from './targets.js'

/**
 * Contract call that executes a job, or the reason to park the job. Every step decides again, so a job that an operator
 * resumed is parked again while the reason holds.
 * @param path null on a chain to which the relayer delivers nothing
 * @param payments contract of the chain that takes payments for community names, if any
 */
export function jobCallOf(
  row: JobRow,
  path: DeliveryPath | null,
  payments: Hex | undefined,
  nowMs = Date.now(),
): JobCall | ParkReason {
  if (row.kind === 'noop') return { kind: 'noop' }
  if (row.kind === 'refuse' || row.kind === 'release')
    return refuseOrReleaseCall(row.kind, row, payments)
  if (!path) return 'foreign_packet'
  if (row.kind === 'deliver') return deliveryCall(row, path.lane.hub.contract, nowMs)
  const { lane, endpoint, messageLib } = path
  const decision = row.message && decideMessageExecution(row.message, lane)
  if (!decision?.packet || !endpoint) return 'foreign_packet'
  const { packet } = decision
  if (row.kind === 'verify')
    return messageLib ? { kind: 'verify', endpoint, messageLib, packet } : 'foreign_packet'
  return 'refusal' in decision
    ? decision.refusal
    : { kind: 'execute', endpoint, packet, option: decision.option }
}

/** The job and the other jobs that share its transaction. */
const jobsOfBatch = (row: JobRow): readonly JobRow[] => [row, ...row.others]

const NO_REFERRAL = Buffer.alloc(32)

/** Fraction of a payment's holding time that has passed. From 1 on, the payer can reclaim the payment. */
const holdingTimeFraction = (
  { paidMs, target }: Pick<Payment, 'paidMs' | 'target'>,
  nowMs: number,
): number => (nowMs - paidMs) / Math.max(1, target.reclaimableMs - paidMs)

/**
 * A payment is delivered only until this fraction of its holding time has passed, so that its payer does not reclaim
 * the payment after its delivery.
 */
const MAX_DELIVERY_TIME_FRACTION = 0.9

function deliveryCall(row: JobRow, hub: Hex, nowMs: number): JobCall | ParkReason {
  const isQueued = row.state === 'queued'
  const all = jobsOfBatch(row).map((member) => bidOf(member, isQueued ? nowMs : null))
  const bids = all.filter((bid) => typeof bid === 'object')
  const refusal = all.find((bid) => typeof bid === 'string')
  // a signed delivery continues with the payments that can still be delivered, if any is left
  return refusal && (isQueued || bids.length === 0) ? refusal : { kind: 'deliver', hub, bids }
}

/** @param nowMs null to ignore that the payer has the money back, or may soon reclaim it */
function bidOf({ payment }: JobRow, nowMs: number | null): PaidBid | ParkReason {
  if (
    payment?.target.kind !== 'name' ||
    payment.state === 'seen' ||
    payment.target.verdict !== 'honoured'
  )
    return 'foreign_payment'
  const { sequence, payer, referral, outcome, target } = payment
  const { source, name, amountWei } = target
  const isBack = outcome === 'refused' || outcome === 'reclaimed'
  if (
    nowMs !== null &&
    (isBack || holdingTimeFraction(payment, nowMs) > MAX_DELIVERY_TIME_FRACTION)
  )
    return 'reclaimed'
  const bid = { source, sequence: BigInt(sequence), name, amountWei }
  return { ...bid, from: addressToWord(payer), referral: referral ?? NO_REFERRAL }
}

/**
 * True for a signed delivery that is not mined, if the payer of each payment has the money back, or may soon reclaim
 * it.
 */
export function isDeliveryVoid(row: JobRow, nowMs: number): boolean {
  const isUnmined = row.state === 'signed' || row.state === 'sent'
  return (
    row.kind === 'deliver' &&
    isUnmined &&
    jobsOfBatch(row).every((member) => bidOf(member, nowMs) === 'reclaimed')
  )
}

function refuseOrReleaseCall(
  kind: 'refuse' | 'release',
  row: JobRow,
  payments: Hex | undefined,
): JobCall | ParkReason {
  if (!payments) return 'no_payments_contract'
  const of = jobsOfBatch(row).flatMap(({ subject, payment }) => {
    const known = payment && isPaymentForCommunityName(payment) ? payment : null
    return subject ? [{ paymentId: subject, payment: known }] : []
  })
  return { kind, payments, of }
}

type MessageExecutionDecision =
  | { packet: Packet; option: LzReceiveOption }
  /** The message is only verified, which moves no money but unblocks later packets. */
  | { packet: Packet; refusal: 'bad_options' | 'value_mismatch' }
  | { packet: null; refusal: 'foreign_packet' }

/**
 * Decides whether a message may be executed at our cost. Senders choose the options, so the option's value must be what
 * the message needs, and the packet must be from our spoke to our hub. On local networks nobody else executes messages.
 * So messages that the hub refuses are executed there too, and the hub credits their value.
 */
export function decideMessageExecution(
  message: { chain: number; packet: Buffer; options: Buffer },
  lane: HubWithSpokes,
): MessageExecutionDecision {
  const packet = decodePacket(toHex(message.packet))
  const spoke = lane.spokes.find(({ chain }) => chain === message.chain)
  if (!packet || !spoke || !isOnLane(packet, spoke, lane))
    return { packet: null, refusal: 'foreign_packet' }
  const option = decodeLzReceiveOption(toHex(message.options))
  if (!option || option.gas === 0n) return { packet, refusal: 'bad_options' }
  const requiredWei = deliveryValueWei(packet)
  const isPaid =
    requiredWei === null ? option.value === 0n || lane.hub.isLocal : option.value === requiredWei
  return isPaid ? { packet, option } : { packet, refusal: 'value_mismatch' }
}

const isOnLane = (
  packet: Packet,
  spoke: HubWithSpokes['spokes'][number],
  { hub }: HubWithSpokes,
): boolean =>
  packet.srcEid === spoke.eid &&
  packet.sender === addressWordHex(spoke.contract) &&
  packet.dstEid === hub.eid &&
  packet.receiver === addressWordHex(hub.contract)

const addressWordHex = (address: Hex): Hex =>
  `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
