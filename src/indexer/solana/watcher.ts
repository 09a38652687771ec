import type { Call } from '../../chains/rpc/nodes.js'
import {
  getSlot,
  type ListedTransaction,
  listTransactions,
  type ReadTransaction,
  readHeldMs,
  readSequences,
  type Sequences,
  signatureBytes,
  signatureText,
} from '../../chains/solana/reads.js'
import { assertLeader } from '../../db/journal/head.js'
import { moveCursor, type PaymentCursor, readCursor } from '../../db/payments/cursor.js'
import { writeOutcomes, writePayments } from '../../db/payments/payments.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { chainErrorOf } from '../../ops/causes.js'
import type { ChainState } from '../../ops/chainState.js'
import { failpoint } from '../../ops/failpoint.js'
import { firstState } from '../evm/types.js'
import { alarmOf, undecided } from '../evm/undecided.js'
import { inChunks } from './chunks.js'
import { SequenceTracker } from './sequence.js'
import { createPaymentTail } from './tail.js'
import type { PaymentWatcherOptions, WatchOutcome } from './types.js'

/** Slots behind the cursor that are searched for a transaction that a node listed late; each search doubles them. */
const LATE_SLOTS = 150
/** Two days: a search costs a node its whole list of them. */
const MAX_LATE_SLOTS = 432_000
/** Interval of the searches while payments are missing. */
const SEARCH_EVERY_MS = 5_000
/** The same while none is: nothing counts what became of payments. Half of the time that is searched. */
const LATE_EVERY_MS = 30_000
/** Lagging nodes catch up within this time; later the operator has to look. */
const MISSING_ALARM_MS = 60_000

/** Interval of the lists while neither the program's counters nor a socket tell of anything new. */
const LIST_EVERY_MS = 5_000

/**
 * Takes a program's payments from a Solana cluster into the database. Every write checks the leader's epoch.
 */
export class PaymentWatcher {
  readonly state: ChainState
  readonly #options: PaymentWatcherOptions
  readonly #nowMs: () => number
  #memory: Memory | null = null

  constructor(options: PaymentWatcherOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    const { identity, rpc, chain, startSlot: nextBlock } = options
    const named = { network: identity.network, label: rpc.label, chain, nextBlock }
    this.state = firstState(named, rpc.size)
  }

  /**
   * Writes every new transaction, without timers. A process that is killed anywhere goes on from the cursor.
   * @param isTold there may be transactions that count no payment
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  async step(isTold = true): Promise<WatchOutcome> {
    const { state } = this
    try {
      const outcome = await this.#advance(isTold)
      state.lastStepMs = Date.now()
      // missing payments are an alarm of their own, and make nobody else's service unready
      Object.assign(state, { lastError: null, errorAlarm: null })
      return outcome
    } catch (error) {
      // the transaction may have been committed: the cursor is read anew
      this.#memory = null
      const errorAlarm = alarmOf(undecided(error))
      Object.assign(state, { lastError: chainErrorOf(error), errorAlarm, lastStepMs: Date.now() })
      throw error
    }
  }

  async #advance(isTold: boolean): Promise<WatchOutcome> {
    const { rpc, signal } = this.#options
    // a clock that was set back would put off lists, searches and alarms until its time comes again
    if (this.#memory && this.#nowMs() < this.#memory.listedMs) this.#memory = null
    this.#memory ??= await load(this.#options, this.#nowMs())
    const memory = this.#memory
    const seen = await rpc.onOneNode((call) => this.#list(call, memory, isTold))
    const took = { transactions: 0, payments: 0, communityPayments: 0, outcomes: 0 }
    await inChunks(this.#options, seen.fresh, async (txs, nodes) => {
      Object.assign(this.state, { trust: nodes > 1 ? 'compared' : 'trusted', trustNodes: nodes })
      const written = await this.#write(memory, txs)
      for (const what in took) took[what as keyof typeof took] += written[what as keyof typeof took]
    })
    // transactions that the signal cut off are listed again
    if (signal.aborted && took.transactions < seen.fresh.length) this.#memory = null
    else memory.listedTo = seen.newest ?? memory.listedTo
    const tailSlot = Math.max(this.#options.startSlot, seen.slot - LATE_SLOTS)
    if (seen.isListed) memory.unconfirmed = await memory.writeTail(memory.listedTo, tailSlot)
    const latest = Math.max(seen.headSlot, seen.slot)
    // no header is read here: a head is as old as its last rise
    if (latest > (this.state.latest ?? -1)) this.state.headMs = this.#nowMs()
    Object.assign(this.state, {
      latest,
      confirmed: seen.slot,
      nextBlock: seen.slot + 1,
      tailBlock: latest,
    })
    this.state.isCaughtUp = true
    // while payments are missing, a transaction that was read again is no progress
    const wasMissing = memory.missingSinceMs !== null
    const missing = this.#missing(memory, seen.sequences)
    if (took.transactions > 0 && !(wasMissing && missing)) return { kind: 'took', ...took }
    return missing ?? { kind: 'idle', unconfirmed: memory.unconfirmed }
  }

  /**
   * Lists new transactions of one node. The program's counters are read first, so a shorter list reveals a gap.
   */
  async #list(call: Call, memory: Memory, isTold: boolean) {
    const { registrar, commitment, startSlot, signal } = this.#options
    const { cursor, tracker, missingSinceMs, searchedMs, lateSlots } = memory
    const [sequences, slot, headSlot] = await Promise.all([
      readSequences(call, registrar, commitment),
      getSlot(call, commitment),
      commitment === 'confirmed' ? 0 : getSlot(call, 'confirmed'),
    ])
    const isDue = memory.unconfirmed > 0 || this.#nowMs() - memory.listedMs >= LIST_EVERY_MS
    if (!isTold && !isDue && missingSinceMs === null && !isAhead(sequences, tracker))
      return { sequences, slot, headSlot, fresh: [], newest: null, isListed: false }
    memory.listedMs = this.#nowMs()
    const everyMs = missingSinceMs === null ? LATE_EVERY_MS : SEARCH_EVERY_MS
    const isSearch = this.#nowMs() - searchedMs >= everyMs
    // a cursor whose slot was made up once is before no newer one
    const downToSlot = Math.max(startSlot, (slot < cursor.slot ? slot : cursor.slot) - lateSlots)
    const until = isSearch ? null : memory.listedTo
    const { listed, newest } = await listTransactions(call, registrar, {
      commitment,
      until,
      downToSlot,
      signal,
    })
    // of the node that listed it, while that one answers: others would refuse it, and rest
    for (const { signature } of listed) signatureBytes(signature)
    if (isSearch) memory.searchedMs = this.#nowMs()
    if (isSearch && missingSinceMs !== null)
      memory.lateSlots = Math.min(lateSlots * 2, MAX_LATE_SLOTS)
    const oldestFirst = listed.filter(({ signature }) => !tracker.hasRead(signature)).reverse()
    return { sequences, slot, headSlot, fresh: oldestFirst, newest, isListed: true }
  }

  /**
   * Writes payments and outcomes in one transaction, with the cursor where none is missing.
   */
  async #write(memory: Memory, txs: readonly ReadTransaction[]) {
    const { pool, identity, chain, epoch, onUnknown } = this.#options
    const { network } = identity
    const { tracker } = memory
    const { payments, outcomes } = tracker.advance(txs)
    for (const { signature, unknown } of txs)
      if (unknown.length > 0) onUnknown?.(signature, unknown)
    failpoint('solana.before_transaction')
    const cursor = await inTransaction(pool, async (client) => {
      await assertLeader(client, network, epoch)
      await writePayments(client, { network, chain }, { isConfirmed: true, block: 0 }, payments)
      tracker.forgetOutcomes(await writeOutcomes(client, { network, chain }, outcomes))
      const last = txs.at(-1)
      const to = last && tracker.isWhole ? cursorBehind(memory, last) : memory.cursor
      if (to !== memory.cursor) await moveCursor(client, { network, chain }, memory.cursor, to)
      await notify(client, network)
      failpoint('solana.before_commit')
      return to
    })
    failpoint('solana.after_commit')
    if (cursor !== memory.cursor) tracker.forgetRead()
    memory.cursor = cursor
    const communityPayments = payments.filter(
      ({ target }) => target.kind === 'communityName',
    ).length
    const counts = { transactions: txs.length, communityPayments, outcomes: outcomes.length }
    return { ...counts, payments: payments.length - communityPayments }
  }

  #missing(memory: Memory, sequences: Sequences): WatchOutcome | null {
    const { known, isWhole } = memory.tracker
    const isGap = known.names < sequences.names
    if (!isAhead(sequences, memory.tracker) && isWhole) {
      Object.assign(memory, {
        missingSinceMs: null,
        lateSlots: LATE_SLOTS,
        rereadAfterMs: MISSING_ALARM_MS,
      })
      return null
    }
    memory.missingSinceMs ??= this.#nowMs()
    const forMs = this.#nowMs() - memory.missingSinceMs
    if (forMs >= memory.rereadAfterMs) {
      // an odd answer may have left them out of a transaction that was read
      memory.tracker.forgetRead()
      memory.rereadAfterMs *= 2
    }
    const from = (isGap ? known.names : known.communityNames) + 1
    const to = Math.max(isGap ? sequences.names : sequences.communityNames, from)
    return {
      kind: 'missing',
      of: isGap ? 'names' : 'communities',
      from,
      to,
      isAlarm: forMs >= MISSING_ALARM_MS,
    }
  }
}

/** A failed step drops the state between steps: the cursor in the database is the truth then. */
async function load(options: PaymentWatcherOptions, nowMs: number) {
  const { pool, rpc, registrar, identity, chain, startSlot, commitment } = options
  const program = {
    ...identity,
    heldMs: await rpc.quorum((call) => readHeldMs(call, registrar, commitment)),
  }
  const cursor = await readCursor(pool, { network: identity.network, chain }, startSlot)
  return {
    cursor,
    tracker: new SequenceTracker(program, {
      names: cursor.sequence,
      communityNames: cursor.communitySequence,
    }),
    /** Everything up to this signature has been listed. */
    listedTo: cursor.signature && signatureText(cursor.signature),
    /** Time of the last list, ms. */
    listedMs: Number.NEGATIVE_INFINITY,
    writeTail: createPaymentTail(options, program),
    unconfirmed: 0,
    missingSinceMs: null as number | null,
    /** Time that payments are missing after which all that was read is read anew: doubled by each time. */
    rereadAfterMs: MISSING_ALARM_MS,
    searchedMs: nowMs - SEARCH_EVERY_MS,
    lateSlots: LATE_SLOTS,
  }
}
type Memory = Awaited<ReturnType<typeof load>>

const isAhead = ({ names, communityNames }: Sequences, { known }: SequenceTracker): boolean =>
  known.names < names || known.communityNames < communityNames

/** Slots ascend, except for a transaction that a node listed late. */
function cursorBehind({ cursor, tracker }: Memory, last: ListedTransaction): PaymentCursor {
  return {
    signature: last.slot >= cursor.slot ? signatureBytes(last.signature) : cursor.signature,
    slot: Math.max(cursor.slot, last.slot),
    sequence: tracker.known.names,
    communitySequence: tracker.known.communityNames,
  }
}
