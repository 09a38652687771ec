import { findHeldCommunityPayments } from '../../db/payments/open.js'
import type { CommunityNameTarget, StoredPayment } from '../../registry/payment/payment.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { requireName } from '../names/names.js'
import { requireRules } from './communities.js'

/** Maximum number of payments that one transaction pays out: each needs about 45,000 gas. */
const AT_ONCE = 50

/**
 * Payments for a community's names that their recipients have not taken yet, grouped by chain, recipient and token.
 * @throws ApiError invalid_name, not_found
 */
export async function communityPayouts(context: Context, input: string) {
  const name = requireName(input)
  await requireRules(context, name)
  const groups = new Map<string, Group>()
  for (const { label, ...payment } of await findHeldCommunityPayments(
    context.pool,
    context.network,
    name,
  )) {
    const key = [label, payment.target.recipient, payment.money.token].join()
    const group = groups.get(key) ?? { label, payments: [] }
    if (group.payments.length < AT_ONCE) group.payments.push(payment)
    groups.set(key, group)
  }
  return Promise.all([...groups.values()].map((group) => payoutOf(context, group)))
}

interface Group {
  label: string
  payments: StoredPayment<CommunityNameTarget>[]
}

async function payoutOf(context: Context, { label, payments }: Group) {
  const { target, money } = payments[0]!
  const port = chainsOfNetwork(context).find((chain) => chain.label === label)
  const taken =
    context.releaseSigner && (await port?.communityPayout?.(payments, context.releaseSigner))
  return {
    network: label,
    recipient: target.recipient,
    token: money.token,
    amount: payments.reduce((sum, payment) => sum + payment.money.amount, 0n).toString(),
    payments: payments.length,
    ...(taken && { transaction: { ...taken, value: '0' } }),
  }
}
