import bs58 from 'bs58'
import type { CommunityOutcome, SeenCommunityPayment } from '../../chains/solana/community/events.js'
import type { CommunityPaymentAccount } from '../../chains/solana/community/program.js'
import { type ReadTransaction, signatureBytes } from '../../chains/solana/reads.js'
import { NATIVE } from '../../registry/community/rules.js'
import type { MadePayment } from '../../registry/journal/madePayment.js'
import { communityPaymentId, knownUpTo } from '../../registry/payment/quote.js'
import { ADDRESS_TYPE_CODE } from '../../registry/primitives/address.js'
import { type ProgramIdentity, timeOf } from './row.js'

/**
 * What is known of a program's payments for names of communities: counted apart from those for names on the hub, and looked after
 * in the same way (see book.ts).
 */
export interface CommunityBook {
  /** Every payment up to here is known. */
  readonly known: number
  /** Nothing that was read so far leaves a gap. */
  readonly isWhole: boolean
  /**
   * Takes in transactions in the order of the chain.
   * @param accounts payments that are not paid out, where the transactions don't tell their sequence, by `communityKey`
   */
  take(
    txs: readonly ReadTransaction[],
    accounts: ReadonlyMap<string, CommunityPaymentAccount>,
    nowMs: number,
  ): MadePayment[]
}

/** A payment that the program has counted. */
interface Counted {
  sequence: bigint
  /** Unix time, seconds; null where the money has gone and nothing tells it. */
  heldUntil: bigint | null
}

interface Open {
  tx: ReadTransaction
  payment: SeenCommunityPayment
}

/** What tells payments that are not paid out apart. */
export const communityKey = ({
  community,
  name,
  payer,
}: Pick<SeenCommunityPayment, 'community' | 'name' | 'payer'>): string =>
  Buffer.concat([community, name, payer]).toString('hex')

/** @param known every payment up to this sequence is stored */
export function createCommunityBook(identity: ProgramIdentity, known: number): CommunityBook {
  /** Sequences that are known beyond the first gap. */
  const beyond = new Set<number>()
  /** Payments whose sequence isn't known yet, oldest first. */
  let open: Open[] = []
  let upTo = known

  const isKnown = (sequence: bigint) => Number(sequence) <= upTo || beyond.has(Number(sequence))
  const count = (sequence: bigint) => {
    if (!isKnown(sequence)) beyond.add(Number(sequence))
  }

  /** The oldest open payment for the name is the one that something has become of. */
  const closeOpen = ({ sequence, community, name }: CommunityOutcome): Open | undefined => {
    if (isKnown(sequence)) return undefined
    const found = open.find(({ payment }) => payment.community.equals(community) && payment.name.equals(name))
    open = open.filter((one) => one !== found)
    return found
  }

  return {
    get known() {
      return upTo
    },
    get isWhole() {
      return beyond.size === 0 && open.length === 0
    },
    take(txs, accounts, nowMs) {
      const made: MadePayment[] = []
      const add = ({ tx, payment }: Open, counted: Counted) => {
        made.push(madePayment(identity, tx, payment, counted, nowMs))
        count(counted.sequence)
      }
      for (const tx of txs) {
        for (const payment of tx.communityPayments) {
          const counted = countedBy(payment, tx, accounts.get(communityKey(payment)))
          if (counted) add({ tx, payment }, counted)
          else open.push({ tx, payment })
        }
        for (const outcome of tx.communityOutcomes) {
          const opened = closeOpen(outcome)
          if (opened) add(opened, { sequence: outcome.sequence, heldUntil: opened.payment.heldUntil })
        }
      }
      upTo = knownUpTo(upTo, beyond)
      return made
    },
  }
}

/** The payment's count, by its event or by its account: one that was made in another slot is another payment's. */
export function countedBy(
  { sequence, heldUntil }: SeenCommunityPayment,
  { slot }: Pick<ReadTransaction, 'slot'>,
  account: CommunityPaymentAccount | undefined,
): Counted | null {
  if (sequence !== null && heldUntil !== null) return { sequence, heldUntil }
  const fitting = account?.slot === BigInt(slot) ? account : undefined
  if (fitting) return { sequence: sequence ?? fitting.sequence, heldUntil: heldUntil ?? fitting.heldUntil }
  return sequence === null ? null : { sequence, heldUntil }
}

/** A payment as it is stored. What has gone can't be refused: its hold is over with its block. */
export function madePayment(
  { genesisHash, programId }: ProgramIdentity,
  tx: ReadTransaction,
  { payer, token, amount, recipient, community, name, referral }: SeenCommunityPayment,
  { sequence, heldUntil }: Counted,
  nowMs: number,
): MadePayment {
  const paidMs = timeOf(tx, nowMs)
  return {
    paymentId: communityPaymentId(genesisHash, programId, sequence),
    tx: signatureBytes(tx.signature),
    block: tx.slot,
    blockHash: null,
    logIndex: Number(sequence),
    payer: Buffer.concat([Buffer.of(ADDRESS_TYPE_CODE.solana), payer]),
    token: token ? bs58.encode(token) : NATIVE,
    amount,
    recipient: bs58.encode(recipient),
    community,
    name,
    referral: referral.some((byte) => byte !== 0) ? referral : null,
    paidMs,
    heldUntilMs: heldUntil === null ? paidMs : Number(heldUntil) * 1_000,
  }
}

/** Payments that show no sequence: their accounts may. */
export const openCommunityKeys = (txs: readonly ReadTransaction[]): SeenCommunityPayment[] =>
  txs.flatMap(({ communityPayments }) => communityPayments.filter(({ sequence }) => sequence === null))
