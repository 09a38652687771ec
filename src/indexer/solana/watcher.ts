import bs58 from 'bs58'
import { RefutedAnswerError } from '../../chains/rpc/errors.js'
import type { SolanaChain } from '../../chains/solana/chain.js'
import {
  type ListedDecodedTransaction,
  type ListedTransaction,
  readMaxPaymentHoldingMs,
} from '../../chains/solana/reads.js'
import { type PaymentCursor, readPaymentCursor } from '../../db/payments/cursor.js'
import { chainErrorSentence } from '../../ops/causes.js'
import type { ChainState } from '../../ops/chainState.js'
import type { LeaderContext } from '../../ops/context.js'
import { LoopStageTimer } from '../../ops/stages.js'
import { alarmOfNoQuorumError } from '../evm/noQuorum.js'
import { initialChainState } from '../evm/types.js'
import { type BackfillProgress, measureBackfillProgress } from '../progress.js'
import {
  type PaymentProgramIdentity,
  type PaymentRows,
  PaymentSequenceTracker,
  readAgreedTransactions,
  readUnconfirmedTransactions,
  type TransactionReadOptions,
  toStoredPayments,
} from './check.js'
import {
  arePaymentCountsConsistent,
  hasMorePaymentsThan,
  mergeTransactionLists,
  type NodeProgramAnswers,
  type PaymentCounts,
  readProgramAnswers,
} from './list.js'
import { storeConfirmedPayments, storeUnconfirmedPayments } from './store.js'

/**
 * Number of slots before the cursor that a search covers. A search is a list that does not end at the newest known
 * signature, so it has transactions that a node listed late. While payments are missing, each search doubles the
 * number; a failed step sets it back.
 */
const LATE_SLOTS = 150
/** Maximum of `lateSlots`: two days. A search lists all transactions in those slots. */
const MAX_LATE_SLOTS = 432_000
/** Interval of the searches while payments are missing, ms. */
const SEARCH_EVERY_MS = 5_000
/**
 * Interval of the searches while no payment is missing. The searches find outcomes that a node listed late, which no
 * counter of the program reveals. LATE_SLOTS last about a minute, so two searches cover each slot.
 */
const LATE_SEARCH_EVERY_MS = 30_000
/** Time after which missing payments raise an alarm, ms: lagging nodes catch up within it. */
const MISSING_ALARM_MS = 60_000
/**
 * Interval at which the program's transactions are listed while neither its counters nor a socket show anything new.
 */
const LIST_EVERY_MS = 5_000

/** A network's Solana chain as the daemon opened it. */
export interface SolanaChainSource {
  chain: SolanaChain
  /**
   * The program's identity and the chain's number in the database. Calls the chain if it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ identity: PaymentProgramIdentity; chain: number }>
}

export interface PaymentWatcherOptions
  extends Pick<LeaderContext, 'pool' | 'network' | 'epoch'>,
    Pick<SolanaChainSource, 'open'>,
    TransactionReadOptions {
  startSlot: number
  onProgress?: (progress: BackfillProgress) => void
  nowMs?: () => number
}

/** Outcome of one step of the watcher. */
export type PaymentWatchOutcome =
  /** Confirmed transactions were written. */
  | {
      kind: 'took'
      transactions: number
      payments: number
      communityPayments: number
      outcomes: number
    }
  /** There is no new confirmed transaction. Unconfirmed payments (the tail) may have changed. */
  | { kind: 'idle'; unconfirmed: number }
  /**
   * Payments are missing: a node counts more payments than were read, the numbers of the read payments have a gap, or
   * an outcome was read without its payment. `text` has the counts. `isAlarm` is true once payments have been missing
   * for `MISSING_ALARM_MS`.
   */
  | { kind: 'missing'; text: string; isAlarm: boolean }

/**
 * Writes a program's payments from a network's Solana chain to the database: lists transactions (list.ts), reads them
 * as two nodes return them (check.ts), and stores their payments (store.ts). Every write checks the leader's epoch. The
 * relayer delivers stored payments for names to the hub. The judge (../judge.ts) decides payments for community names.
 */
export class PaymentWatcher {
  readonly state: ChainState
  readonly #options: PaymentWatcherOptions
  readonly #nowMs: () => number
  readonly #stages = new LoopStageTimer()
  /** State that is kept between steps. A failed step discards the state. */
  #memory: WatcherMemory | null = null
  // a failed step keeps `#search` and `#shortfall`, so that frequent failures delay neither searches nor the alarm
  /** Start of the last search, ms. `isDone` is false while it has not succeeded. */
  #search: { startedMs: number; isDone: boolean }
  #shortfall: Shortfall | null = null

  constructor(options: PaymentWatcherOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    this.#search = { startedMs: this.#nowMs() - SEARCH_EVERY_MS, isDone: true }
    const { network, rpc, startSlot: nextBlock } = options
    this.state = initialChainState({ network, label: rpc.label, chain: 0, nextBlock }, this.#stages)
  }

  /**
   * Writes the payments and outcomes of all new transactions, without timers. A process that is killed anywhere
   * continues from the cursor.
   * @param wasNotified true if there may be new transactions that no counter covers
   * @param alive called to show that the step still works: a list, or a chunk of transactions, may take minutes
   * @throws ChainUnavailableError, RpcError, LostLeadershipError, or a database error; the next step continues
   */
  async step(wasNotified = true, alive = () => {}): Promise<PaymentWatchOutcome> {
    const { state } = this
    try {
      const outcome = await this.#stages.during('node', () => this.#advance(wasNotified, alive))
      const isAlarm = outcome.kind === 'missing' && outcome.isAlarm
      Object.assign(state, { lastError: isAlarm ? outcome.text : null, errorAlarm: null })
      return outcome
    } catch (error) {
      // the database transaction may have been committed, so the cursor is read again
      this.#memory = null
      // the failed search may have covered too many slots, so the next search begins with few slots
      if (this.#shortfall) this.#shortfall.lateSlots = LATE_SLOTS
      const errorAlarm = alarmOfNoQuorumError(error)
      Object.assign(state, { lastError: chainErrorSentence(error), errorAlarm })
      throw error
    } finally {
      state.lastStepMs = Date.now()
    }
  }

  async #advance(wasNotified: boolean, alive: () => void): Promise<PaymentWatchOutcome> {
    const { rpc, registrar, commitment, startSlot, signal } = this.#options
    this.#memory ??= await loadMemory(this.#options, this.#stages)
    const memory = this.#memory
    const { cursor, tracker } = memory
    this.state.chain = memory.store.key.chain
    void rpc.checkHeads()
    const { isSearch, ...plan } = this.#planList(memory, wasNotified)
    const until = isSearch ? null : memory.listedTo
    const question = { ...plan, cursor, known: tracker.known, commitment, startSlot, until, signal }
    const answered: NodeProgramAnswers[] = []
    const { answer, nodes } = await rpc.agreed(
      async (call, _, host) => {
        alive()
        const answers = await readProgramAnswers(call, registrar, { ...question, host })
        answered.push(answers)
        return answers
      },
      { isSame: arePaymentCountsConsistent },
    )
    const agreed = answered.filter((answers) => arePaymentCountsConsistent(answers, answer))
    const { transactions, isWhole } = mergeTransactionLists(agreed, (signature) =>
      tracker.hasRead(signature),
    )
    const took = await this.#storeTransactions(memory, transactions, isWhole, alive)
    if (isSearch) {
      this.#search.isDone = isWhole
      this.#refuteIncompleteLists(memory, agreed)
    }
    const list = agreed.find((answers) => answers.list)?.list
    // transactions that were not written because of the abort signal are listed again
    if (signal.aborted && took.transactions < transactions.length) this.#memory = null
    else if (list && isWhole) memory.listedTo = list.newest
    // slot that all agreeing nodes have reached
    const confirmed = Math.min(...agreed.map(({ slot }) => slot))
    const latest = Math.max(confirmed, Math.min(...agreed.map(({ headSlot }) => headSlot)))
    if (list) await this.#storeTail(memory, Math.max(startSlot, confirmed - LATE_SLOTS))
    // no block's timestamp is read here: the time at which the head's slot last rose is used as the head's time
    if (latest > (this.state.latest ?? -1)) this.state.headMs = this.#nowMs()
    Object.assign(this.state, {
      latest,
      confirmed,
      nextBlock: confirmed + 1,
      tailBlock: latest,
      trust: nodes > 1 ? 'compared' : 'trusted',
      trustNodes: nodes,
      isCaughtUp: true,
    })
    // while payments are missing, reading known transactions again is no progress
    const wasMissing = this.#shortfall !== null
    const missing = this.#findMissing(memory, agreed)
    if (took.transactions > 0 && !(wasMissing && missing)) return took
    return missing ?? { kind: 'idle', unconfirmed: memory.tail.payments }
  }

  /** Decides whether the program's transactions are listed in this step, and how far back. */
  #planList(memory: WatcherMemory, wasNotified: boolean) {
    const nowMs = this.#nowMs()
    const shortfall = this.#shortfall
    // a clock that was set back counts as time passed, so that no search waits until the clock reaches the old time
    // again
    const isPast = (sinceMs: number, ms: number) => Math.abs(nowMs - sinceMs) >= ms
    const isUrgent = shortfall !== null || !this.#search.isDone
    const everyMs = isUrgent ? SEARCH_EVERY_MS : LATE_SEARCH_EVERY_MS
    const isSearch = isPast(this.#search.startedMs, everyMs)
    const isDue =
      wasNotified ||
      shortfall !== null ||
      isSearch ||
      memory.tail.payments > 0 ||
      isPast(memory.listedMs, LIST_EVERY_MS)
    const lateSlots = shortfall?.lateSlots ?? LATE_SLOTS
    if (isDue) memory.listedMs = nowMs
    if (isSearch) this.#search = { startedMs: nowMs, isDone: false }
    if (isSearch && shortfall) shortfall.lateSlots = Math.min(lateSlots * 2, MAX_LATE_SLOTS)
    return { isDue, isSearch, lateSlots }
  }

  /**
   * Reads listed transactions and stores their payments and outcomes.
   * @param isWhole false where some were left out: the cursor must not pass them
   * @returns numbers of stored items
   */
  async #storeTransactions(
    memory: WatcherMemory,
    listed: readonly ListedTransaction[],
    isWhole: boolean,
    alive: () => void,
  ) {
    const { network, rpc, onProgress } = this.#options
    const took = {
      kind: 'took' as const,
      transactions: 0,
      payments: 0,
      communityPayments: 0,
      outcomes: 0,
    }
    const startedMs = Date.now()
    let done = 0
    for await (const read of readAgreedTransactions(this.#options, listed)) {
      alive()
      const txs = read.filter((tx) => tx !== null)
      const { payments, outcomes } = await this.#store(memory, txs, isWhole)
      const names = payments.filter(({ target }) => target.kind === 'name').length
      done += read.length
      took.transactions += txs.length
      took.payments += names
      took.communityPayments += payments.length - names
      took.outcomes += outcomes.length
      const counts = {
        network,
        label: rpc.label,
        unit: 'transactions' as const,
        doneBlocks: done,
        totalBlocks: listed.length,
        registrations: took.payments + took.communityPayments,
      }
      onProgress?.(measureBackfillProgress(counts, startedMs))
    }
    return took
  }

  /** Stores payments and outcomes, and moves the cursor where no payment is missing. */
  async #store(
    memory: WatcherMemory,
    txs: readonly ListedDecodedTransaction[],
    isWhole: boolean,
  ): Promise<PaymentRows> {
    const { onUnknown } = this.#options
    const { cursor, tracker, store } = memory
    const rows = this.#stages.work('decode', () => tracker.advance(txs))
    for (const { signature, unknown } of txs)
      if (unknown.length > 0) onUnknown?.(signature, unknown)
    const last = txs.at(-1)
    const to =
      last && isWhole && tracker.isWhole ? cursorAfter(cursor, last, tracker.known) : cursor
    await this.#stages.during('database', () => storeConfirmedPayments(store, rows, cursor, to))
    if (to !== cursor) tracker.forgetRead(to.slot - LATE_SLOTS)
    memory.cursor = to
    return rows
  }

  /** Stores the unconfirmed payments, if they have changed. A chain that is read at `confirmed` has none. */
  async #storeTail(memory: WatcherMemory, downToSlot: number): Promise<void> {
    const { rpc, registrar, commitment } = this.#options
    const { program, store, listedTo } = memory
    const txs =
      commitment === 'confirmed'
        ? []
        : await rpc.onOneNode((call) =>
            readUnconfirmedTransactions(call, registrar, listedTo, downToSlot),
          )
    const payments = txs.flatMap((tx) => toStoredPayments(program, tx))
    const ids = payments.map(({ id, tx }) => `${id.toString('hex')} ${tx.toString('hex')}`).join()
    if (ids !== memory.tail.ids)
      await this.#stages.during('database', () => storeUnconfirmedPayments(store, payments))
    memory.tail = { payments: payments.length, ids }
  }

  /**
   * Reports nodes whose search omits transactions that were read from agreeing nodes. A node may list a transaction
   * late, but not this late.
   */
  #refuteIncompleteLists(
    { tracker }: WatcherMemory,
    answered: readonly NodeProgramAnswers[],
  ): void {
    for (const { host, slot, list } of answered) {
      const leftOut = list && tracker.leftOutOf(list, slot - LATE_SLOTS / 2)
      if (leftOut)
        this.#options.rpc.refute(
          new Set([host]),
          new RefutedAnswerError(`getSignaturesForAddress: the list leaves out ${leftOut}`),
        )
    }
  }

  /** Missing payments. Null where every payment that the nodes count was read. */
  #findMissing(
    { tracker }: WatcherMemory,
    answered: readonly NodeProgramAnswers[],
  ): PaymentWatchOutcome | null {
    const { known, isWhole } = tracker
    if (isWhole && !answered.some((answers) => hasMorePaymentsThan(answers, known))) {
      this.#shortfall = null
      return null
    }
    const nowMs = this.#nowMs()
    this.#shortfall ??= { sinceMs: nowMs, rereadAfterMs: MISSING_ALARM_MS, lateSlots: LATE_SLOTS }
    const shortfall = this.#shortfall
    // after the clock was set back, the time of the shortfall is counted from now
    shortfall.sinceMs = Math.min(shortfall.sinceMs, nowMs)
    const forMs = nowMs - shortfall.sinceMs
    if (forMs >= shortfall.rereadAfterMs) {
      // a wrong answer may have hidden the payments of a transaction that was read, so all transactions are read again
      tracker.forgetRead()
      shortfall.rereadAfterMs *= 2
    }
    const counts = answered.map((answers) => `${answers.host} counts ${countsText(answers)}`)
    return {
      kind: 'missing',
      text: `payments are missing: ${counts.join(', ')}, and the transactions of ${countsText(known)} are listed`,
      isAlarm: forMs >= MISSING_ALARM_MS,
    }
  }
}

/** State that is kept while payments are missing (see `PaymentWatchOutcome`). */
interface Shortfall {
  /** Time since which payments are missing, ms. */
  sinceMs: number
  /** Time from `sinceMs` after which all transactions are read again, ms. Each such reading doubles it. */
  rereadAfterMs: number
  /** Number of slots before the cursor that the next search covers. Each search doubles the number. */
  lateSlots: number
}

/** Loads the state that is kept between steps, from the stored cursor. */
async function loadMemory(options: PaymentWatcherOptions, stages: LoopStageTimer) {
  const { pool, network, epoch, rpc, registrar, startSlot, commitment } = options
  const { identity, chain } = await options.open()
  const heldMs = await rpc.quorum((call) => readMaxPaymentHoldingMs(call, registrar, commitment))
  const program = { ...identity, heldMs }
  const key = { network, chain }
  const cursor = await stages.during('database', () => readPaymentCursor(pool, key, startSlot))
  return {
    program,
    store: { pool, epoch, key },
    cursor,
    tracker: new PaymentSequenceTracker(program, cursor),
    /** Signature up to which all transactions have been listed, except those that a node lists late. */
    listedTo: cursor.signature && bs58.encode(cursor.signature),
    /**
     * Time at which the newest listing of the program's transactions was planned, Unix ms. -Infinity before the first.
     */
    listedMs: Number.NEGATIVE_INFINITY,
    /**
     * Number of the stored unconfirmed payments, and their ids and transactions as text, null before the first write.
     */
    tail: { payments: 0, ids: null as string | null },
  }
}
type WatcherMemory = Awaited<ReturnType<typeof loadMemory>>

/** The cursor after transaction `last`. Slots ascend, except for a transaction that a node listed late. */
const cursorAfter = (
  cursor: PaymentCursor,
  last: ListedTransaction,
  known: PaymentCounts,
): PaymentCursor => ({
  signature: last.slot >= cursor.slot ? Buffer.from(bs58.decode(last.signature)) : cursor.signature,
  slot: Math.max(cursor.slot, last.slot),
  ...known,
})

const countsText = ({ sequence, communitySequence }: PaymentCounts): string =>
  `${sequence} for names and ${communitySequence} for community names`
