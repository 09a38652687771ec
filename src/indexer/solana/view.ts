import type {
  CountsAt,
  ListedTransaction,
  listTransactions,
  Sequences,
} from '../../chains/solana/reads.js'

/** Answers of one node about the program. */
export interface ProgramView extends CountsAt {
  host: string
  headSlot: number
  /** Newest first, down to a slot; null where no list was due. */
  list: (Awaited<ReturnType<typeof listTransactions>> & { downToSlot: number }) | null
}

/** True if payments are counted that are not known. */
export const isAhead = (counted: Sequences, known: Sequences): boolean =>
  known.names < counted.names || known.communityNames < counted.communityNames

/**
 * True if both can be answers about one program, whose counts never fall from a slot to a later one. Of two nodes that
 * contradict each other one hides payments, or counts some that nobody made.
 */
export const arePossible = (a: CountsAt, b: CountsAt): boolean =>
  !(a.slot < b.slot && isAhead(a, b)) && !(b.slot < a.slot && isAhead(b, a))

/** All transactions that any of the nodes lists, oldest first: one node hides nothing that another lists. */
export function unionOf(views: readonly ProgramView[]): ListedTransaction[] {
  const listed = views.flatMap(({ list }) => list?.listed.toReversed() ?? [])
  const bySignature = new Map(listed.map((one) => [one.signature, one]))
  return [...bySignature.values()].sort((a, b) => a.slot - b.slot)
}
