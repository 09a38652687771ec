import { PublicKey } from '@solana/web3.js'
import type { CountedPayment } from '../../chains/solana/community/refusal.js'
import type { PayoutCluster } from '../../chains/solana/payouts.js'
import type { HeldMoney, PayoutFields, PayoutTx, RefusalRow } from '../../db/outbox/payoutRows.js'
import { confirmed, failed, goesAlone, heldOver, type Now, refusalEnded } from './machine.js'
import type { PayoutOutcome } from './payer.js'

/** What a payer lends to refusals. */
export interface RefuserTools {
  now(): Now
  /** @returns how many rows were stored */
  save(
    rows: readonly RefusalRow[],
    change: (payout: PayoutFields) => PayoutFields,
    outcome: PayoutOutcome,
  ): Promise<number>
  /** Stores what was signed, and sends it. @returns how many rows were stored */
  carry(to: PayoutCluster, rows: readonly RefusalRow[], tx: PayoutTx): Promise<number>
}

/** Payments for names of communities that bought nothing, given back by the relay authority: each looked at before it is signed for. */
export interface Refuser {
  /** Looks at a payment that is queued, and refuses it where it is held; pays it back in the same transaction where that works. */
  start(to: PayoutCluster, row: RefusalRow): Promise<number>
  /** What was signed can't land any more. @param slot in which that was believed: the payment is looked at in a later one */
  expired(to: PayoutCluster, row: RefusalRow, slot: number): Promise<number>
}

export function createRefuser({ now, save, carry }: RefuserTools): Refuser {
  const look = (to: PayoutCluster, row: RefusalRow, minSlot: number) =>
    to.planRefusal(countedPayment(row.payment), { nowMs: now().nowMs, minSlot, isAlone: goesAlone(row) })

  const end = async (to: PayoutCluster, row: RefusalRow): Promise<number> => {
    const found = await to.communityOutcome(countedPayment(row.payment))
    const outcome = !found ? 'failed' : found.kind === 'released' ? 'parked' : 'confirmed'
    return save([row], refusalEnded(found, now()), outcome)
  }

  return {
    async start(to, row) {
      const step = await look(to, row, row.payment.slot)
      switch (step.kind) {
        case 'refuse':
        case 'pay_back':
          return carry(to, [row], await to.signRefusal(step))
        case 'waiting':
          return save([row], confirmed, 'confirmed')
        case 'over':
          return save([row], heldOver, 'parked')
        case 'gone':
          return end(to, row)
      }
    },
    async expired(to, row, slot) {
      const step = await look(to, row, slot)
      if (step.kind === 'gone') return end(to, row)
      if (step.kind === 'over') return save([row], heldOver, 'parked')
      // a node's refusal says why it didn't land
      return save([row], failed(row.reason ?? 'expired', now()), 'expired')
    },
  }
}

const countedPayment = ({ payer, community, name, sequence }: HeldMoney): CountedPayment => ({
  payer: new PublicKey(payer.subarray(1)),
  community,
  name,
  sequence,
})
