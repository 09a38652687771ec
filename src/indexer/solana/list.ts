import type { ConfirmedSignatureInfo } from '@solana/web3.js'
import { isErrorAnswer, RefutedAnswerError, transientError } from '../../chains/rpc/errors.js'
import type { RpcCall } from '../../chains/rpc/nodes.js'
import type { Commitment } from '../../chains/rpc/solana.js'
import { getSlot, type ListedTransaction, readRegistrarState } from '../../chains/solana/reads.js'
import type { RegistrarClient } from '../../chains/solana/registrar.js'
import type { PaymentCursor } from '../../db/payments/cursor.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'

/** Maximum number of signatures in one answer of getSignaturesForAddress: the nodes' limit. */
const MAX_PAGE_SIGNATURES = 1_000
/**
 * Maximum number of transactions in a list. If there are more, the list keeps the oldest half million or more, and a
 * later list has the remaining transactions.
 */
const MAX_LISTED = 1_000_000
/** Maximum number of transactions that a step reads although one of several nodes lists them alone. */
const MAX_LISTED_ALONE = 2_000
/**
 * Time limit of listing, ms, since a hostile node may never end its list. Shorter than the time limit of a worker's
 * step, to leave time for another node.
 */
const LIST_TIMEOUT_MS = 180_000

interface ListTransactionsOptions {
  commitment: Commitment
  /**
   * Newest known signature. It only shortens the list: if a node does not know the signature, or refuses it, the list
   * continues down to `downToSlot`.
   */
  until: string | null
  /** Oldest slot to list. */
  downToSlot: number
  signal?: AbortSignal
  limitMs?: number
}

/**
 * Lists the successful transactions that mention the program, newest first, page by page down to the known
 * transactions. Only an empty page ends the list: some providers return shorter pages than requested.
 * @returns `listed`, and `newest`: the signature for the next list's `until`. It is the newest signature seen, which
 * may be of a failed transaction. Null where newer transactions are left out, or where the node refuses `until` and
 * lists nothing.
 * @throws RpcError transient where the list does not end in time
 */
export async function listTransactions(
  call: RpcCall,
  { id: address }: RegistrarClient,
  {
    commitment,
    until: known,
    downToSlot,
    signal,
    limitMs = LIST_TIMEOUT_MS,
  }: ListTransactionsOptions,
): Promise<{ listed: ListedTransaction[]; newest: string | null }> {
  const listed: ListedTransaction[] = []
  const endMs = performance.now() + limitMs
  let newest: string | null = null
  let before: string | undefined
  let until = known
  let isWhole = true
  for (;;) {
    signal?.throwIfAborted()
    const options = { commitment, limit: MAX_PAGE_SIGNATURES, until: until ?? undefined, before }
    const request = call<ConfirmedSignatureInfo[]>('getSignaturesForAddress', [address, options])
    const page = await (until ? fallbackOnExpectedError(request, isErrorAnswer, null) : request)
    if (!page) {
      // Agave 4 refuses a signature that its ledger does not have (-32020): the page is requested again without it
      until = null
      continue
    }
    if (page.length > MAX_PAGE_SIGNATURES || performance.now() > endMs)
      throw transientError('getSignaturesForAddress: no end of a list')
    newest ??= page[0]?.signature ?? until
    for (const { signature, slot, err } of page)
      if (err === null && slot >= downToSlot) listed.push({ signature, slot })
    if (listed.length > MAX_LISTED) {
      listed.splice(0, listed.length - MAX_LISTED / 2)
      isWhole = false
    }
    const last = page.at(-1)
    if (!last || last.slot < downToSlot || last.signature === before)
      return { listed, newest: isWhole ? newest : null }
    before = last.signature
  }
}

/** Numbers of payments that a program has taken: for names on the hub, and for community names. */
export type PaymentCounts = Pick<PaymentCursor, 'sequence' | 'communitySequence'>

/** One node's answers about the payment program, as of a slot. */
export interface NodeProgramAnswers extends PaymentCounts {
  host: string
  slot: number
  /** Newest slot at Solana's commitment `confirmed`, the head. 0 where `slot` is read at this commitment. */
  headSlot: number
  /** The program's transactions as the node lists them, newest first, down to a slot. Null where no list was due. */
  list: (Awaited<ReturnType<typeof listTransactions>> & { downToSlot: number }) | null
}

/** True if `counted` has more payments of either kind than `known`. */
export const hasMorePaymentsThan = (counted: PaymentCounts, known: PaymentCounts): boolean =>
  known.sequence < counted.sequence || known.communitySequence < counted.communitySequence

type CountsAtSlot = Pick<NodeProgramAnswers, keyof PaymentCounts | 'slot'>

/**
 * True if both answers are possible for one program, whose counts never decrease. If two nodes contradict each other,
 * one of them hides payments, or counts payments that nobody made. Counts as of one slot may differ: a local node may
 * count within its newest slot.
 */
export const arePaymentCountsConsistent = (a: CountsAtSlot, b: CountsAtSlot): boolean =>
  !(a.slot < b.slot && hasMorePaymentsThan(a, b)) && !(b.slot < a.slot && hasMorePaymentsThan(b, a))

/** Known payments, and which transactions a node has to list. */
interface ProgramQuestion extends Omit<ListTransactionsOptions, 'downToSlot' | 'limitMs'> {
  host: string
  /** The stored cursor. */
  cursor: PaymentCursor
  /** Numbers up to which every payment was read. */
  known: PaymentCounts
  /** True if a list is due although no counter of the program exceeds `known`. */
  isDue: boolean
  /** The program's first slot. */
  startSlot: number
  /** Number of slots before the cursor that the list covers too, for transactions that nodes listed late. */
  lateSlots: number
}

/**
 * Reads one node's payment counts, and after them its list of transactions: a counted payment that is missing from the
 * list then reveals a gap. Before the program is initialized, the counts are 0.
 * @throws RefutedAnswerError where the node counts fewer payments than an earlier slot had
 */
export async function readProgramAnswers(
  call: RpcCall,
  registrar: RegistrarClient,
  { host, cursor, known, isDue, startSlot, lateSlots, ...options }: ProgramQuestion,
): Promise<NodeProgramAnswers> {
  const { commitment } = options
  const [{ slot, state }, headSlot] = await Promise.all([
    readRegistrarState(call, registrar, commitment),
    commitment === 'confirmed' ? 0 : getSlot(call, 'confirmed'),
  ])
  const counts = {
    sequence: Number(state?.sequence ?? 0),
    communitySequence: Number(state?.communitySequence ?? 0),
  }
  if (slot > cursor.slot && hasMorePaymentsThan(cursor, counts))
    throw new RefutedAnswerError(
      `getAccountInfo: slot ${slot} has fewer payments than are known at slot ${cursor.slot}`,
    )
  const answers = { host, slot, headSlot, ...counts, list: null }
  if (!isDue && !hasMorePaymentsThan(counts, known)) return answers
  // a wrong slot in the cursor must not exclude newer slots
  const downToSlot = Math.max(startSlot, Math.min(slot, cursor.slot) - lateSlots)
  const list = await listTransactions(call, registrar, { ...options, downToSlot })
  return { ...answers, list: { ...list, downToSlot } }
}

/**
 * Transactions that any node lists and that were not read before, oldest first. So no node can hide one that another
 * node lists. Of those that one of several nodes lists alone, each node's oldest `MAX_LISTED_ALONE` are returned, since
 * a node may invent signatures without end.
 * @returns `isWhole`: false where transactions were left out for a later step
 */
export function mergeTransactionLists(
  nodes: readonly NodeProgramAnswers[],
  hasRead: (signature: string) => boolean,
): { transactions: ListedTransaction[]; isWhole: boolean } {
  const lists = nodes.map(
    ({ list }) => new Map(list?.listed.toReversed().map((one) => [one.signature, one])),
  )
  const merged = new Map(lists.flatMap((list) => [...list]))
  const unread = [...merged.values()].filter(({ signature }) => !hasRead(signature))
  const aloneCounts = lists.map(() => 0)
  const transactions = unread
    .sort((a, b) => a.slot - b.slot)
    .filter(({ signature }) => {
      const listing = lists.flatMap((list, i) => (list.has(signature) ? [i] : []))
      const isAlone = listing.length === 1 && lists.length > 1
      return !isAlone || ++aloneCounts[listing[0]!]! <= MAX_LISTED_ALONE
    })
  return { transactions, isWhole: transactions.length === unread.length }
}
