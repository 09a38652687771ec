import type {
  ListedTransaction,
  listTransactions,
  PaymentCounts,
  PaymentCountsAtSlot,
} from '../../chains/solana/reads.js'

/** One node's answers about the payment program. */
export interface NodeProgramAnswers extends PaymentCountsAtSlot {
  host: string
  headSlot: number
  /** The program's transactions as the node lists them, newest first, down to a slot. Null where no list was due. */
  list: (Awaited<ReturnType<typeof listTransactions>> & { downToSlot: number }) | null
}

/** True if the program's counters have more payments than `known`. */
export const hasMorePaymentsThan = (counted: PaymentCounts, known: PaymentCounts): boolean =>
  known.names < counted.names || known.communityNames < counted.communityNames

/**
 * True if both answers are possible for one program, whose counts never decrease. If two nodes contradict each other,
 * one of them hides payments, or counts payments that nobody made.
 */
export const arePaymentCountsConsistent = (
  a: PaymentCountsAtSlot,
  b: PaymentCountsAtSlot,
): boolean =>
  !(a.slot < b.slot && hasMorePaymentsThan(a, b)) && !(b.slot < a.slot && hasMorePaymentsThan(b, a))

/** All transactions that any node lists, oldest first: one node can't hide a transaction that another node lists. */
export function mergeTransactionLists(views: readonly NodeProgramAnswers[]): ListedTransaction[] {
  const listed = views.flatMap(({ list }) => list?.listed.toReversed() ?? [])
  const bySignature = new Map(listed.map((one) => [one.signature, one]))
  return [...bySignature.values()].sort((a, b) => a.slot - b.slot)
}
