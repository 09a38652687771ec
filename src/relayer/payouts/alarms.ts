import bs58 from 'bs58'
import type { PayoutKind, PayoutRow } from '../../db/outbox/payoutRows.js'
import type { Logger } from '../../ops/log.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { HOLD_OVER } from '../delivery.js'
import type { PayerState, PayoutOutcome } from './payer.js'

/** Below this the relay authority's balance is low: fees of 2,000 transactions. */
const LOW_BALANCE_LAMPORTS = 10_000_000n

/** Says what an operator has to know of payouts, each thing once. */
export interface PayoutAlarms {
  outcome(row: PayoutRow, outcome: PayoutOutcome): void
  state(state: PayerState, autoRefunds: boolean): void
}

export function createPayoutAlarms(log: Logger, network: Network): PayoutAlarms {
  let isLow = false
  let owedSoFar = 0
  let refusalsSoFar = 0
  return {
    outcome(row, outcome) {
      const fields = fieldsOf(row)
      if (outcome === 'parked') log.error(fields, row.reason === HOLD_OVER ? HELD_OVER : DECIDED_ELSEWHERE)
      else if (outcome === 'confirmed') log.info(fields, DONE[row.kind])
      else if ((outcome === 'failed' || outcome === 'refused') && row.failures <= 1)
        log.warn(fields, 'a payout failed; it will be tried again')
      else log.debug(fields, `payout ${outcome}`)
    },
    state({ stats, balanceLamports }, autoRefunds) {
      const wasLow = isLow
      isLow = balanceLamports !== null && balanceLamports < LOW_BALANCE_LAMPORTS
      if (isLow && !wasLow)
        log.error({ network, lamports: String(balanceLamports) }, 'the relay authority on Solana runs dry: send it SOL')
      const owed = autoRefunds ? 0 : (stats?.owed.count ?? 0)
      if (owed > owedSoFar)
        log.warn({ network, refunds: owed }, 'refunds are owed on Solana: see `clusterd refunds list`')
      owedSoFar = owed
      const refusals = balanceLamports === null ? queuedRefusals(stats) : 0
      if (refusals > refusalsSoFar) log.error({ network, payments: refusals }, NO_KEY)
      refusalsSoFar = refusals
    },
  }
}

/** Without the authority's key nobody gives them back. */
const queuedRefusals = (stats: PayerState['stats']): number =>
  stats?.open.find(({ kind, state }) => kind === 'refuse' && state === 'queued')?.count ?? 0

const DONE: Record<PayoutKind, string> = {
  settle: 'settled on Solana',
  refund: 'refunded on Solana',
  refuse: 'given back on Solana',
}
const DECIDED_ELSEWHERE = 'a payout is parked: somebody else decided about its money'
const NO_KEY = 'payments on Solana have to be given back before their hold is over: set SOLANA_RELAYER_PRIVATE_KEY'
const HELD_OVER = 'a payment that bought nothing was not given back in time'

const fieldsOf = ({ network, kind, payment, tx, failures, reason }: PayoutRow) => ({
  network,
  kind,
  payment: toHex(payment.messageId),
  sequence: String(payment.sequence),
  ...('lamports' in payment
    ? { lamports: String(payment.lamports) }
    : { token: payment.token, amount: String(payment.amount) }),
  signature: tx && bs58.encode(tx.signature),
  failures,
  reason,
})
