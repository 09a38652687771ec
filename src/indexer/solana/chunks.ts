import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { LackingError } from '../../chains/rpc/errors.js'
import { DisagreementError } from '../../chains/rpc/nodes.js'
import {
  hasSlot,
  type ListedTransaction,
  laidAside,
  type ReadTransaction,
  readListed,
  UnshownError,
} from '../../chains/solana/reads.js'
import { measure } from '../progress.js'
import type { PaymentWatcherOptions } from './types.js'

/** Transactions of one database transaction: two batches of a node. */
const CHUNK = 200
/** Of the first one, and each next is twice as large: who lists what is not there has others asked for little of it. */
const FIRST_CHUNK = 4
/** Chunks that are read ahead of the writer: bounds memory, hides the round trips. */
const CHUNKS_AHEAD = 2
/** Time by which a node may come after another one, and the pause between two looks meanwhile. */
const LAG_MS = 4_000
const LOOK_MS = 1_000

/**
 * Reads listed transactions in order, the next chunks while one is written; stops between two when the signal fires.
 * @param write takes those of a chunk that there are
 * @throws DisagreementError where nodes contradict each other, once all that comes before is written
 */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  write: (txs: readonly ReadTransaction[]) => Promise<void>,
): Promise<void> {
  const { identity, label, signal, onProgress } = options
  const startedMs = Date.now()
  const ahead: { some: readonly ListedTransaction[]; read: ReturnType<typeof readChunk> }[] = []
  const readAhead = (some: readonly ListedTransaction[]) => {
    const read = readChunk(options, some)
    // awaited in its turn; until then a failure is not unhandled
    read.catch(() => {})
    return { some, read }
  }
  let requested = 0
  let size = FIRST_CHUNK
  let done = 0
  let registrations = 0
  while (done < listed.length && !signal.aborted) {
    for (; ahead.length < CHUNKS_AHEAD && requested < listed.length; size = Math.min(2 * size, CHUNK)) {
      ahead.push(readAhead(listed.slice(requested, requested + size)))
      requested += size
    }
    const { some, read } = ahead.shift()!
    const told = await read
    const txs = told.filter((tx) => tx !== null)
    await write(txs)
    done += told.length
    if (told.includes(null)) size = FIRST_CHUNK
    // the next one is open: it is asked for once more
    if (told.length < some.length) ahead.unshift(readAhead(some.slice(told.length)))
    registrations += txs.reduce((sum, tx) => sum + tx.payments.length + tx.communityPayments.length, 0)
    const counts = { doneBlocks: done, totalBlocks: listed.length, registrations }
    onProgress?.(measure({ network: identity.network, label, unit: 'transactions', ...counts }, startedMs))
  }
}

/** Words of nodes on some transactions, up to the first that is open. @throws whatever keeps the first of all open */
async function readChunk(
  options: PaymentWatcherOptions,
  some: readonly ListedTransaction[],
): Promise<(ReadTransaction | null)[]> {
  const endMs = performance.now() + LAG_MS
  const told = await Promise.allSettled(some.map((one) => agreedOn(options, one, endMs)))
  const open = told.findIndex(({ status }) => status === 'rejected')
  if (open === 0) throw (told[0] as PromiseRejectedResult).reason
  const agreed = open === -1 ? told : told.slice(0, open)
  return agreed.map((one) => (one as PromiseFulfilledResult<ReadTransaction | null>).value)
}

/** Word of nodes on a transaction, null where they have none; one that comes after another is waited for. */
async function agreedOn(
  { rpc, registrar, commitment }: PaymentWatcherOptions,
  listed: ListedTransaction,
  endMs: number,
): Promise<ReadTransaction | null> {
  const { signature, slot } = listed
  const lacking = new LackingError(`getTransaction: ${signature} is listed in slot ${slot} but not there yet`)
  // a node that denied it, and one that rests for a moment, keep their say: a liar alone would be believed by then
  let isDenied = false
  for (;;) {
    let words = 0
    try {
      const tx = await rpc.quorum(async (call) => {
        const tx = await readListed(call, registrar, listed, commitment)
        const isTold = rpc.size === 1 ? tx?.slot === slot : tx !== null || (await hasSlot(call, slot, commitment))
        if (!isTold) throw lacking
        words += 1
        return tx
      }, isSame)
      if (rpc.size === 1 || words > 1) return tx
      if (!isDenied && (performance.now() >= endMs || !rpc.isOneBackBy(endMs))) return tx
    } catch (error) {
      if (error instanceof Error && error.cause instanceof UnshownError) return laidAside(listed, error.cause)
      if (!(error instanceof DisagreementError)) throw error
      isDenied = true
    }
    if (isDenied && performance.now() >= endMs)
      throw new DisagreementError(`nodes contradict each other about ${signature}`)
    await sleep(LOOK_MS)
  }
}

const isSame = (a: ReadTransaction | null, b: ReadTransaction | null): boolean =>
  a === null || b === null ? a === b : a.slot === b.slot && isDeepStrictEqual(eventsOf(a), eventsOf(b))

const eventsOf = ({ payments, closed, communityPayments, communityOutcomes }: ReadTransaction) => [
  ...[payments, closed, communityPayments, communityOutcomes],
]
