import type pg from 'pg'
import { RefutedAnswerError } from '../../chains/rpc/errors.js'
import type { RpcCall } from '../../chains/rpc/nodes.js'
import {
  getSlot,
  type ListedDecodedTransaction,
  type ListedTransaction,
  listTransactions,
  type PaymentCounts,
  readMaxPaymentHoldingMs,
  readPaymentCounts,
  signatureFromBase58,
  signatureToBase58,
} from '../../chains/solana/reads.js'
import { assertIndexingLeader } from '../../db/journal/head.js'
import {
  movePaymentCursor,
  type PaymentCursor,
  readPaymentCursor,
} from '../../db/payments/cursor.js'
import { writePaymentOutcomes, writePayments } from '../../db/payments/payments.js'
import { notifyNetwork } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { chainErrorSentence } from '../../ops/causes.js'
import type { ChainState } from '../../ops/chainState.js'
import { failpoint } from '../../ops/failpoint.js'
import { initialChainState } from '../evm/types.js'
import { alarmOfNoQuorumError } from '../evm/undecided.js'
import { readTransactionsInChunks } from './chunks.js'
import { PaymentSequenceTracker } from './sequence.js'
import { createUnconfirmedPaymentWriter } from './tail.js'
import type { PaymentWatcherOptions, PaymentWatchOutcome } from './types.js'
import {
  arePaymentCountsConsistent,
  hasMorePaymentsThan,
  mergeTransactionLists,
  type NodeProgramAnswers,
} from './view.js'

/**
 * Number of slots before the cursor in which a search looks for transactions that a node listed late. While payments
 * are missing, each search doubles the number.
 */
const LATE_SLOTS = 150
/** Maximum number of slots before the cursor: two days. A search reads a node's whole list of their transactions. */
const MAX_LATE_SLOTS = 432_000
/** Interval of the searches while payments are missing, ms. */
const SEARCH_EVERY_MS = 5_000
/**
 * Interval of the searches while no payment is missing. They find outcomes that a node listed late, which no counter of
 * the program reveals. LATE_SLOTS last about a minute, so two searches cover each slot.
 */
const LATE_SEARCH_EVERY_MS = 30_000
/**
 * Time after which missing payments raise an alarm: lagging nodes catch up within it. Later the operator has to act.
 */
const MISSING_ALARM_MS = 60_000

/**
 * Interval at which the program's transactions are listed while neither its counters nor a socket show anything new.
 */
const LIST_EVERY_MS = 5_000

/** Writes a program's payments from a Solana cluster to the database. Every write checks the leader's epoch. */
export class PaymentWatcher {
  readonly state: ChainState
  readonly #options: PaymentWatcherOptions
  readonly #nowMs: () => number
  #memory: Memory | null = null
  // a failed step keeps these two, so that frequent failures delay neither the searches nor the alarm
  /** Start of the last search, ms. `isDone` is false while it has not succeeded. */
  #search: { startedMs: number; isDone: boolean }
  /** Since when payments are missing, and after which time all transactions are read again, ms; then it is doubled. */
  #shortfall: { sinceMs: number; rereadAfterMs: number } | null = null

  constructor(options: PaymentWatcherOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    this.#search = { startedMs: this.#nowMs() - SEARCH_EVERY_MS, isDone: true }
    const { identity, rpc, chain, startSlot: nextBlock } = options
    const named = { network: identity.network, label: rpc.label, chain, nextBlock }
    this.state = initialChainState(named, options.stages)
  }

  /**
   * Writes every new transaction, without timers. A process that is killed anywhere continues from the cursor.
   * @param wasNotified true if there may be new transactions that no counter covers
   * @param alive called to show that the step still works: a list, or a chunk of transactions, may take minutes
   * @throws ChainUnavailableError, LostLeadershipError, or a database error; the next step continues
   */
  async step(wasNotified = true, alive = () => {}): Promise<PaymentWatchOutcome> {
    const { state } = this
    try {
      const advance = () => this.#advance(wasNotified, alive)
      const outcome = await this.#options.stages.during('node', advance)
      state.lastStepMs = Date.now()
      const isAlarm = outcome.kind === 'missing' && outcome.isAlarm
      Object.assign(state, { lastError: isAlarm ? outcome.text : null, errorAlarm: null })
      return outcome
    } catch (error) {
      // the database transaction may have been committed, so the cursor is read again
      this.#memory = null
      const errorAlarm = alarmOfNoQuorumError(error)
      Object.assign(state, {
        lastError: chainErrorSentence(error),
        errorAlarm,
        lastStepMs: Date.now(),
      })
      throw error
    }
  }

  async #advance(wasNotified: boolean, alive: () => void): Promise<PaymentWatchOutcome> {
    const { rpc, signal } = this.#options
    this.#memory ??= await load(this.#options)
    const memory = this.#memory
    void rpc.checkHeads()
    const plan = this.#plan(memory, wasNotified)
    const views: NodeProgramAnswers[] = []
    const { answer, nodes } = await rpc.agreed(
      async (call, _, host) => {
        alive()
        const view = await this.#view(call, host, memory, plan)
        views.push(view)
        return view
      },
      { isSame: arePaymentCountsConsistent },
    )
    const agreed = views.filter((view) => arePaymentCountsConsistent(view, answer))
    const isNew = ({ signature }: ListedTransaction) => !memory.tracker.hasRead(signature)
    const fresh = mergeTransactionLists(agreed).filter(isNew)
    const took = { transactions: 0, payments: 0, communityPayments: 0, outcomes: 0 }
    await readTransactionsInChunks(this.#options, fresh, async (txs) => {
      alive()
      const written = await this.#write(memory, txs)
      for (const what in took) took[what as keyof typeof took] += written[what as keyof typeof took]
    })
    if (plan.isSearch) {
      this.#search.isDone = true
      this.#nameIncomplete(memory, agreed)
    }
    const lists = agreed.filter(({ list }) => list)
    // transactions that were not written because of the abort signal are listed again
    if (signal.aborted && took.transactions < fresh.length) this.#memory = null
    else if (lists[0]?.list) memory.listedTo = lists[0].list.newest
    // slot that all agreeing nodes have reached
    const confirmed = Math.min(...agreed.map(({ slot }) => slot))
    const latest = Math.max(confirmed, Math.min(...agreed.map(({ headSlot }) => headSlot)))
    const tailSlot = Math.max(this.#options.startSlot, confirmed - LATE_SLOTS)
    if (lists.length > 0) memory.unconfirmed = await memory.writeTail(memory.listedTo, tailSlot)
    // no block time is read here: the time at which the head's slot last rose is used as the head's time
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
    const missing = this.#missing(memory, agreed)
    if (took.transactions > 0 && !(wasMissing && missing)) return { kind: 'took', ...took }
    return missing ?? { kind: 'idle', unconfirmed: memory.unconfirmed }
  }

  #plan(memory: Memory, wasNotified: boolean): ListPlan {
    const nowMs = this.#nowMs()
    // a clock that was set back counts as time passed: nothing waits until it reaches the earlier time again
    const isPast = (sinceMs: number, ms: number) => Math.abs(nowMs - sinceMs) >= ms
    const isMissing = this.#shortfall !== null
    const isUrgent = isMissing || !this.#search.isDone
    const isSearch = isPast(
      this.#search.startedMs,
      isUrgent ? SEARCH_EVERY_MS : LATE_SEARCH_EVERY_MS,
    )
    const isDue =
      wasNotified ||
      isMissing ||
      isSearch ||
      memory.unconfirmed > 0 ||
      isPast(memory.listedMs, LIST_EVERY_MS)
    const { lateSlots } = memory
    if (isDue) memory.listedMs = nowMs
    if (isSearch) this.#search = { startedMs: nowMs, isDone: false }
    if (isSearch && isMissing) memory.lateSlots = Math.min(lateSlots * 2, MAX_LATE_SLOTS)
    return { isDue, isSearch, lateSlots }
  }

  /** Reads one node's payment counts, then its list of transactions: so a list that is too short reveals a gap. */
  async #view(
    call: RpcCall,
    host: string,
    memory: Memory,
    { isDue, isSearch, lateSlots }: ListPlan,
  ): Promise<NodeProgramAnswers> {
    const { registrar, commitment, startSlot, signal } = this.#options
    const { cursor, tracker } = memory
    const [counts, headSlot] = await Promise.all([
      readPaymentCounts(call, registrar, commitment),
      commitment === 'confirmed' ? 0 : getSlot(call, 'confirmed'),
    ])
    const { slot: known, sequence: names, communitySequence: communityNames } = cursor
    if (counts.slot > known && hasMorePaymentsThan({ names, communityNames }, counts))
      throw new RefutedAnswerError(
        `getAccountInfo: slot ${counts.slot} has fewer payments than are known at slot ${known}`,
      )
    const view = { host, ...counts, headSlot, list: null }
    if (!isDue && !hasMorePaymentsThan(counts, tracker.known)) return view
    // a wrong slot in the cursor must not exclude newer slots
    const downToSlot = Math.max(startSlot, Math.min(counts.slot, known) - lateSlots)
    const until = isSearch ? null : memory.listedTo
    const options = { commitment, until, downToSlot, signal }
    const list = await listTransactions(call, registrar, options)
    // checked while this node answers, so that the error is counted as this node's
    for (const { signature } of list.listed) signatureFromBase58(signature)
    return { ...view, list: { ...list, downToSlot } }
  }

  /**
   * Reports nodes whose search omits transactions that were read from agreeing nodes. A node may list a transaction
   * late, but not this late.
   */
  #nameIncomplete({ tracker }: Memory, views: readonly NodeProgramAnswers[]): void {
    for (const { host, slot, list } of views) {
      const leftOut = list && tracker.leftOutOf(list, slot - LATE_SLOTS / 2)
      if (leftOut)
        this.#options.rpc.refute(
          new Set([host]),
          new RefutedAnswerError(`getSignaturesForAddress: the list leaves out ${leftOut}`),
        )
    }
  }

  /** Writes payments and outcomes in one transaction, and moves the cursor where no payment is missing. */
  async #write(memory: Memory, txs: readonly ListedDecodedTransaction[]) {
    const { pool, identity, chain, epoch, onUnknown, stages } = this.#options
    const { network } = identity
    const { tracker } = memory
    const { payments, outcomes } = stages.work('decode', () => tracker.advance(txs))
    for (const { signature, unknown } of txs)
      if (unknown.length > 0) onUnknown?.(signature, unknown)
    failpoint('solana.before_transaction')
    const write = async (client: pg.ClientBase) => {
      await assertIndexingLeader(client, network, epoch)
      await writePayments(client, { network, chain }, { isConfirmed: true, block: 0 }, payments)
      tracker.forgetOutcomes(await writePaymentOutcomes(client, { network, chain }, outcomes))
      const last = txs.at(-1)
      const to = last && tracker.isWhole ? cursorBehind(memory, last) : memory.cursor
      if (to !== memory.cursor)
        await movePaymentCursor(client, { network, chain }, memory.cursor, to)
      await notifyNetwork(client, network)
      failpoint('solana.before_commit')
      return to
    }
    const cursor = await stages.during('database', () => inTransaction(pool, write))
    failpoint('solana.after_commit')
    if (cursor !== memory.cursor) tracker.forgetRead(cursor.slot - LATE_SLOTS)
    memory.cursor = cursor
    const communityPayments = payments.filter(
      ({ target }) => target.kind === 'communityName',
    ).length
    const counts = { transactions: txs.length, communityPayments, outcomes: outcomes.length }
    return { ...counts, payments: payments.length - communityPayments }
  }

  #missing(memory: Memory, views: readonly NodeProgramAnswers[]): PaymentWatchOutcome | null {
    const { known, isWhole } = memory.tracker
    if (isWhole && !views.some((view) => hasMorePaymentsThan(view, known))) {
      this.#shortfall = null
      memory.lateSlots = LATE_SLOTS
      return null
    }
    const nowMs = this.#nowMs()
    const { sinceMs = nowMs, rereadAfterMs = MISSING_ALARM_MS } = this.#shortfall ?? {}
    const forMs = Math.max(0, nowMs - sinceMs)
    const isReread = forMs >= rereadAfterMs
    // a wrong answer may have hidden the payments of a transaction that was read: all are read again
    if (isReread) memory.tracker.forgetRead()
    this.#shortfall = {
      sinceMs: nowMs - forMs,
      rereadAfterMs: isReread ? 2 * rereadAfterMs : rereadAfterMs,
    }
    const counts = views.map((view) => `${view.host} counts ${countsOf(view)}`)
    return {
      kind: 'missing',
      text: `payments are missing: ${counts.join(', ')}, and the transactions of ${countsOf(known)} are listed`,
      isAlarm: forMs >= MISSING_ALARM_MS,
    }
  }
}

const countsOf = ({ names, communityNames }: PaymentCounts): string =>
  `${names} for names and ${communityNames} for community names`

interface ListPlan {
  /** True if lists are due although no counter of the program has risen. */
  isDue: boolean
  /** True if the lists go back `lateSlots` slots before the cursor, for transactions that were listed late. */
  isSearch: boolean
  lateSlots: number
}

/** Loads the state that is kept between steps, from the stored cursor. A failed step discards this state. */
async function load(options: PaymentWatcherOptions) {
  const { pool, rpc, registrar, identity, chain, startSlot, commitment, stages } = options
  const program = {
    ...identity,
    heldMs: await rpc.quorum((call) => readMaxPaymentHoldingMs(call, registrar, commitment)),
  }
  const cursor = await stages.during('database', () =>
    readPaymentCursor(pool, { network: identity.network, chain }, startSlot),
  )
  return {
    cursor,
    tracker: new PaymentSequenceTracker(program, {
      names: cursor.sequence,
      communityNames: cursor.communitySequence,
    }),
    /** Signature up to which all transactions have been listed, except those that a node lists late. */
    listedTo: cursor.signature && signatureToBase58(cursor.signature),
    /** Time when the program's transactions were last listed, ms. */
    listedMs: Number.NEGATIVE_INFINITY,
    writeTail: createUnconfirmedPaymentWriter(options, program),
    unconfirmed: 0,
    lateSlots: LATE_SLOTS,
  }
}
type Memory = Awaited<ReturnType<typeof load>>

/** The cursor after transaction `last`. Slots ascend, except for a transaction that a node listed late. */
function cursorBehind({ cursor, tracker }: Memory, last: ListedTransaction): PaymentCursor {
  return {
    signature: last.slot >= cursor.slot ? signatureFromBase58(last.signature) : cursor.signature,
    slot: Math.max(cursor.slot, last.slot),
    sequence: tracker.known.names,
    communitySequence: tracker.known.communityNames,
  }
}
