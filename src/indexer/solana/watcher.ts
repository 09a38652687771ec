import type pg from 'pg'
import type { Call } from '../../chains/rpc/nodes.js'
import type { Commitment, SolanaRpc } from '../../chains/rpc/solana.js'
import {
  getSlot,
  type ListedTransaction,
  listTransactions,
  type ReadTransaction,
  readSequences,
  type Sequences,
  signatureBytes,
  signatureText,
} from '../../chains/solana/reads.js'
import type { Registrar } from '../../chains/solana/registrar.js'
import { assertLeader } from '../../db/journal/head.js'
import { moveCursor, type PaymentCursor, readCursor, readKnownCommunityPayments } from '../../db/payments/cursor.js'
import { confirmPayments, finishPayments } from '../../db/payments/payments.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import type { IndexerState } from '../evm/types.js'
import type { Progress } from '../progress.js'
import { inChunks } from './chunks.js'
import type { ProgramIdentity } from './row.js'
import { type OpenAccounts, SequenceTracker } from './sequence.js'
import { createTail, type Tail } from './tail.js'

/**
 * A node may list a transaction late: so far behind the cursor it is looked for, twice as far each time it isn't found.
 */
const LATE_SLOTS = 150
/** While payments are missing, they are looked for this often. */
const SEARCH_EVERY_MS = 5_000
/** Nodes that lag find them soon; after this long somebody has to look. */
const MISSING_ALARM_MS = 60_000

const SUBJECT = { names: 'names', communities: 'names of communities' }

/** What one step of the watcher came to. */
export type WatchOutcome =
  /** Transactions that are believed were taken in. */
  | { kind: 'took'; transactions: number; payments: number; communityPayments: number; closed: number }
  /** Nothing new that is believed; the unconfirmed tail may have changed. */
  | { kind: 'idle'; unconfirmed: number }
  /** The program has counted payments, of one kind, that no listed transaction shows. `isAlarm`: for too long. */
  | { kind: 'missing'; of: 'names' | 'communities'; from: number; to: number; isAlarm: boolean }

export interface PaymentWatcherOptions {
  pool: pg.Pool
  rpc: SolanaRpc
  registrar: Registrar
  identity: ProgramIdentity
  /** The chain's number in the database. */
  chain: number
  label: string
  startSlot: number
  commitment: Commitment
  epoch: number
  signal: AbortSignal
  /** Told of what looks like an event of the registrar and is none, once a transaction. */
  onAnomalies?: (signature: string, anomalies: readonly string[]) => void
  onProgress?: (progress: Progress) => void
  nowMs?: () => number
}

/**
 * Takes a program's payments from a Solana cluster into their table. One writer a network: its epoch is checked in
 * every write.
 */
export interface PaymentWatcher {
  readonly state: IndexerState
  /**
   * One step, without timers: takes in everything that is new now. Killed anywhere, the next one goes on from the
   * cursor.
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<WatchOutcome>
}

/** What is kept between steps. Dropped when a step fails: then the cursor in the database is the truth. */
interface Memory {
  cursor: PaymentCursor
  tracker: SequenceTracker
  /** Everything up to this signature has been listed. */
  listedTo: string | null
  tail: Tail
  missingSinceMs: number | null
  searchedMs: number
  lateSlots: number
}

export function createPaymentWatcher(options: PaymentWatcherOptions): PaymentWatcher {
  const { pool, rpc, registrar, identity, chain, label, commitment, epoch, signal } = options
  const { network } = identity
  const nowMs = options.nowMs ?? Date.now
  let memory: Memory | null = null

  const state: IndexerState = {
    network,
    label,
    chain,
    latest: null,
    confirmed: null,
    nextBlock: options.startSlot,
    tailBlock: null,
    isCaughtUp: false,
    halted: null,
    lastStepMs: null,
    lastError: null,
  }

  const remember = async (): Promise<Memory> => {
    const [cursor, known] = await Promise.all([
      readCursor(pool, { network, chain }, options.startSlot),
      readKnownCommunityPayments(pool, { network, chain }),
    ])
    return {
      cursor,
      tracker: new SequenceTracker(identity, { names: cursor.sequence, communityNames: known }),
      listedTo: cursor.signature && signatureText(cursor.signature),
      tail: createTail(options),
      missingSinceMs: null,
      searchedMs: 0,
      lateSlots: LATE_SLOTS,
    }
  }

  const step = async (): Promise<WatchOutcome> => {
    memory ??= await remember()
    const now = memory
    const seen = await rpc.onOneNode((call) => look(call, now))
    let transactions = 0
    const took = { payments: 0, communityPayments: 0, closed: 0 }
    await inChunks(options, seen.fresh, async (txs, accounts) => {
      const taken = await write(now, txs, accounts)
      transactions += txs.length
      took.payments += taken.payments
      took.communityPayments += taken.communityPayments
      took.closed += taken.closed
    })
    // cut short by the signal: what was not taken in is listed again
    if (signal.aborted && transactions < seen.fresh.length) memory = null
    else now.listedTo = seen.newest ?? now.listedTo
    const unconfirmed = await now.tail.step(now.listedTo)
    state.latest = Math.max(seen.headSlot, seen.slot)
    state.confirmed = seen.slot
    state.nextBlock = seen.slot + 1
    state.tailBlock = state.latest
    state.isCaughtUp = true
    // while something is missing, a transaction that was read again is no news
    const wasMissing = now.missingSinceMs !== null
    const stillMissing = missing(now, seen.sequences)
    if (transactions > 0 && !(wasMissing && stillMissing)) return { kind: 'took', transactions, ...took }
    return stillMissing ?? { kind: 'idle', unconfirmed }
  }

  /** What is new on one node: its own count is asked for first, so that its list has to hold that many. */
  const look = async (call: Call, { cursor, tracker, listedTo, ...now }: Memory) => {
    const [sequences, slot, headSlot] = await Promise.all([
      readSequences(call, registrar, commitment),
      getSlot(call, commitment),
      getSlot(call, 'confirmed'),
    ])
    const isSearch = now.missingSinceMs !== null && nowMs() - now.searchedMs >= SEARCH_EVERY_MS
    const downToSlot = Math.max(options.startSlot, cursor.slot - now.lateSlots)
    const until = isSearch ? null : listedTo
    const { listed, newest } = await listTransactions(call, registrar, { commitment, until, downToSlot, signal })
    if (isSearch && memory) Object.assign(memory, { searchedMs: nowMs(), lateSlots: now.lateSlots * 2 })
    // the oldest first
    const fresh = listed.filter(({ signature }) => !tracker.hasRead(signature)).reverse()
    return { sequences, slot, headSlot, fresh, newest }
  }

  /** One transaction: payments, settlements, and the cursor behind them where nothing is missing before it. */
  const write = async (
    now: Memory,
    txs: readonly ReadTransaction[],
    accounts: OpenAccounts,
  ): Promise<{ payments: number; communityPayments: number; closed: number }> => {
    const { tracker } = now
    const { payments, closed } = tracker.advance(txs, accounts, nowMs())
    const communityPayments = payments.filter(({ target }) => target.kind === 'communityName').length
    for (const { signature, anomalies } of txs) if (anomalies.length > 0) options.onAnomalies?.(signature, anomalies)
    failpoint('solana.before_transaction')
    const cursor = await inTransaction(pool, async (client) => {
      await assertLeader(client, network, epoch)
      await confirmPayments(client, { network, chain }, payments)
      tracker.forgetClosed(await finishPayments(client, network, closed))
      const last = txs.at(-1)
      const to = last && tracker.isWhole ? cursorBehind(now, last) : now.cursor
      if (to !== now.cursor) await moveCursor(client, { network, chain }, now.cursor, to)
      await notify(client, network)
      failpoint('solana.before_commit')
      return to
    })
    failpoint('solana.after_commit')
    if (cursor !== now.cursor) tracker.forgetRead()
    now.cursor = cursor
    return { payments: payments.length - communityPayments, communityPayments, closed: closed.length }
  }

  const missing = (now: Memory, sequences: Sequences): WatchOutcome | null => {
    const { known, whole, isWhole } = now.tracker
    const isGap = known.names < sequences.payments || !whole.names
    if (!isGap && known.communityNames >= sequences.communityPayments && isWhole) return found(now)
    now.missingSinceMs ??= nowMs()
    const isAlarm = nowMs() - now.missingSinceMs >= MISSING_ALARM_MS
    const from = (isGap ? known.names : known.communityNames) + 1
    const to = Math.max(isGap ? sequences.payments : sequences.communityPayments, from)
    return { kind: 'missing', of: isGap ? 'names' : 'communities', from, to, isAlarm }
  }

  return {
    state,
    async step() {
      try {
        const outcome = await step()
        state.lastStepMs = Date.now()
        state.lastError =
          outcome.kind === 'missing' && outcome.isAlarm
            ? `payments ${outcome.from} to ${outcome.to} for ${SUBJECT[outcome.of]} are in no transaction that the nodes list`
            : null
        return outcome
      } catch (error) {
        // what a transaction left is not known: the cursor is read anew
        memory = null
        state.lastError = (error as Error).message
        throw error
      }
    },
  }
}

/** Nothing is missing (any more). */
function found(now: Memory): null {
  now.missingSinceMs = null
  now.lateSlots = LATE_SLOTS
  return null
}

/** Slots come in order, but for a transaction that was listed late. */
function cursorBehind({ cursor, tracker }: Memory, last: ListedTransaction): PaymentCursor {
  const slot = Math.max(cursor.slot, last.slot)
  return {
    signature: last.slot >= cursor.slot ? signatureBytes(last.signature) : cursor.signature,
    slot,
    sequence: tracker.known.names,
  }
}
