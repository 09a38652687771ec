import { LRUCache } from 'lru-cache'
import type { Hex, PaymentReleaseSigner } from '../../chains/chain.js'
import { findHeldCommunityPayments } from '../../db/payments/open.js'
import { mapInTurns } from '../../ops/turns.js'
import type { CommunityNameTarget, StoredPayment } from '../../registry/payment/payment.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { SIGNATURES_AT_ONCE } from '../limits/costs.js'
import { requireName } from '../names/names.js'
import { requireCommunityRules } from './communities.js'

/** Maximum number of payments that one transaction pays out. Each payment needs about 45,000 gas. */
const MAX_PAYMENTS_OF_PAYOUT = 50

/** Maximum number of cached signatures. Each is for one list of payments, all to one recipient in one token. */
const MAX_CACHED_SIGNATURES = 1_000

/**
 * Wraps a signer so that it signs each release (the permission to pay out the payments for community names) only once.
 * Anybody may request a release, a remote signer costs money, and the relayer sends its transactions with the same key.
 * A release does not expire, so its signature can be cached. After a failure the next request asks the signer again.
 */
export function cacheReleaseSignatures(sign: PaymentReleaseSigner): PaymentReleaseSigner {
  const kept = new LRUCache<string, Hex, Parameters<PaymentReleaseSigner>[0]>({
    maxSize: MAX_CACHED_SIGNATURES,
    sizeCalculation: () => 1,
    fetchMethod: (_key, _stale, { context }) => sign(context),
  })
  return async (release) => {
    const key = [release.chainId, release.contract, ...release.paymentIds.map(toHex)].join()
    return (await kept.fetch(key, { context: release }))!
  }
}

/**
 * Payments for a community's names that their recipients have not taken yet, grouped by chain, recipient and token.
 * Each group has only its first `MAX_PAYMENTS_OF_PAYOUT` payments.
 * @param signer signs releases; null where only the relayer releases payments
 * @returns the groups (`payouts`), and the number of payments that were read (`read`), for the price of the request
 * @throws ApiError invalid_name, not_found
 */
export async function communityPayouts(
  context: Context,
  input: string,
  signer: PaymentReleaseSigner | null,
) {
  const name = requireName(input)
  await requireCommunityRules(context, name)
  const held = await findHeldCommunityPayments(context.pool, context.network, name)
  const groups = new Map<string, PayoutGroup>()
  for (const { label, ...payment } of held) {
    const key = [label, payment.target.recipient, payment.money.token].join()
    const group = groups.get(key) ?? { label, payments: [] }
    if (group.payments.length < MAX_PAYMENTS_OF_PAYOUT) group.payments.push(payment)
    groups.set(key, group)
  }
  const payouts = await mapInTurns(
    context.turn,
    [...groups.values()],
    (group) => payoutJson(context, group, signer),
    SIGNATURES_AT_ONCE,
  )
  return { payouts, read: held.length }
}

interface PayoutGroup {
  label: string
  payments: StoredPayment<CommunityNameTarget>[]
}

async function payoutJson(
  context: Context,
  { label, payments }: PayoutGroup,
  signer: PaymentReleaseSigner | null,
) {
  const { target, money } = payments[0]!
  const port = chainsOfNetwork(context).find((chain) => chain.label === label)
  const call = signer && (await port?.communityPayout?.(payments, signer))
  return {
    network: label,
    recipient: target.recipient,
    token: money.token,
    amount: payments.reduce((sum, payment) => sum + payment.money.amount, 0n).toString(),
    payments: payments.length,
    ...(call && { transaction: { ...call, value: '0' } }),
  }
}
