import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { RpcError, transient } from '../../chains/rpc/errors.js'
import type { Call } from '../../chains/rpc/nodes.js'
import {
  firstAvailableSlot,
  isLaidAside,
  type ListedTransaction,
  type ReadTransaction,
  readListed,
  readTransactions,
  stoppedAt,
} from '../../chains/solana/reads.js'
import type { PaymentWatcherOptions } from './types.js'

/** Time by which a node may come after another one, and the pause between two looks meanwhile. */
const LAG_MS = 4_000
const LOOK_MS = 250

type Options = Pick<PaymentWatcherOptions, 'rpc' | 'registrar' | 'commitment'>

/** What a node has, by signature: null for what it lacks, nothing where it can't tell. */
type Words = ReadonlyMap<string, ReadTransaction | null>

/**
 * Reads listed transactions of one node. What it can't show is another's to show; payments and their ends, which are
 * believed for ever, are another's to confirm: what two nodes say counts. Where no other answers, one's word does.
 * @returns all, or those before the first about which nodes contradict each other: one of them may come later for long
 * @throws RpcError transient where that is the first of all: until two agree nothing behind is read
 */
export async function readConfirmed(
  { rpc, registrar, commitment }: Options,
  listed: readonly ListedTransaction[],
): Promise<ReadTransaction[]> {
  const [first, txs, words] = await rpc.onOneNode(async (call) => {
    const read = await readTransactions(call, registrar, listed, commitment)
    const asked = read.filter((tx) => isLaidAside(tx) || hasEvents(tx))
    const others: Words[] = []
    if (asked.length === 0) return [call, read, others]
    const confirm = async (other: Call) => {
      others.push(await readAgain(other, { registrar, commitment }, asked))
      const isTold = ({ signature }: ReadTransaction) => others.some((word) => word.has(signature))
      // the next one is asked, too
      if (!asked.every((tx) => isTold(tx) && agreed(tx, others)))
        throw new RpcError('refused', 'another node says otherwise, or can not tell')
    }
    const endMs = performance.now() + LAG_MS
    await rpc.onAnotherNode(call, confirm)
    // one that rests for a moment is waited for: who lies all the time would be believed by then
    while (others.length === 0 && performance.now() < endMs && rpc.isBackBy(call, endMs)) {
      await sleep(LOOK_MS)
      await rpc.onAnotherNode(call, confirm)
    }
    return [call, read, others]
  })
  // not thrown above: nodes rest for faults, and while one rests the other's word would count alone
  const told: ReadTransaction[] = []
  for (const tx of txs) {
    const word = agreed(tx, words)
    if (word) {
      told.push(word)
      continue
    }
    // two that lack what the first one lists are asked first next time: it alone would hold up all
    if (words.filter((word) => word.has(tx.signature)).length > 1) rpc.passOver(first)
    if (told.length > 0) break
    throw transient(`getTransaction: two nodes contradict each other about ${tx.signature}`)
  }
  return told
}

const eventsOf = ({ payments, closed, communityPayments, communityOutcomes }: ReadTransaction) => [
  ...[payments, closed, communityPayments, communityOutcomes],
]
const hasEvents = (tx: ReadTransaction): boolean => eventsOf(tx).some((events) => events.length > 0)

/**
 * What another node has of some transactions; it can't tell of those beyond what it keeps. The first that it lacks is
 * asked for again, those behind it once that one has come: what others list makes it do no work without end.
 */
async function readAgain(
  call: Call,
  { registrar, commitment }: Omit<Options, 'rpc'>,
  listed: readonly ListedTransaction[],
): Promise<Words> {
  const found = new Map<string, ReadTransaction | null>()
  const endMs = performance.now() + LAG_MS
  let asked = listed
  for (let left = listed; ; await sleep(LOOK_MS)) {
    const txs = await Promise.all(asked.map((one) => readListed(call, registrar, one, commitment)))
    for (const [i, { signature }] of asked.entries()) found.set(signature, txs[i]!)
    const hasCome = txs[0] !== null
    left = left.filter(({ signature }) => found.get(signature) === null)
    if (left.length === 0) return found
    const [oldest, newest] = await Promise.all([firstAvailableSlot(call), stoppedAt(call, commitment)])
    const isKept = ({ slot }: ListedTransaction) => slot >= oldest && slot <= newest
    for (const one of left) if (!isKept(one)) found.delete(one.signature)
    left = left.filter(isKept)
    if (left.length === 0 || performance.now() >= endMs) return found
    asked = hasCome ? left : left.slice(0, 1)
  }
}

/** What nodes say of a transaction, the first node's word first; null while no two say the same. */
function agreed(first: ReadTransaction, words: readonly Words[]): ReadTransaction | null {
  const others = words.flatMap((word) => word.get(first.signature) ?? (word.has(first.signature) ? [null] : []))
  const shown = others.filter((tx) => tx !== null)
  if (others.length === 0) return first
  if (isLaidAside(first)) return shown[0] ?? first
  if (shown.some((tx) => isLaidAside(tx) || isSame(first, tx))) return first
  return shown.find((tx, i) => shown.some((other, at) => at > i && isSame(tx, other))) ?? null
}

const isSame = (a: ReadTransaction, b: ReadTransaction): boolean =>
  a.slot === b.slot && isDeepStrictEqual(eventsOf(a), eventsOf(b))
