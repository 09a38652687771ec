import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { LackingError, RpcError, transient } from '../../chains/rpc/errors.js'
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

/** How many transactions of a list another node is asked for at once: more with each that it does not lack. */
export interface Pace {
  most: number
}

/** A transaction as nodes agree on it. */
export interface AgreedTransaction extends ReadTransaction {
  /** Whether its slot is another node's word, too, or no other has a say: a cursor never goes back. */
  isSure: boolean
}

/**
 * Reads listed transactions of one node. What it can't show is another's to show; payments and their ends, which are
 * believed for ever, are another's to confirm: what two nodes say counts. Where no other answers, one's word does.
 * @returns all, or the first of them: as far as the pace goes, and up to what nodes contradict each other about
 * @throws RpcError transient where that is the first of all: until two agree nothing behind is read
 */
export async function readConfirmed(
  { rpc, registrar, commitment }: Options,
  listed: readonly ListedTransaction[],
  pace: Pace = { most: listed.length },
): Promise<AgreedTransaction[]> {
  let lister: Call | null = null
  const [first, txs, asked, others] = await rpc.onOneNode(async (call) => {
    lister ??= call
    const all = await readTransactions(call, registrar, listed, commitment).catch((error: unknown) => {
      // asked first next time, it would hold up all with what it lists and lacks
      if (error instanceof LackingError && call === lister) rpc.passOver(call)
      throw error
    })
    const end = all.filter(needsAnother)[pace.most]
    const read = end ? all.slice(0, all.indexOf(end)) : all
    // of the others the last one: the cursor would move to a slot that one node alone has made up
    const toAsk = read.filter((tx, i) => needsAnother(tx) || i === read.length - 1)
    return [call, read, toAsk, await wordsOn(toAsk, call, { rpc, registrar, commitment })]
  })
  // not thrown above: nodes rest for faults, and while one rests the other's word would count alone
  const told: AgreedTransaction[] = []
  for (const tx of txs) {
    const telling = others.filter((words) => words.has(tx.signature))
    const theirs = telling.flatMap((words) => words.get(tx.signature) ?? [])
    // what does nothing is no payment left out: it takes two to say that there is no such transaction
    const isPlain = !needsAnother(tx) && !theirs.some(hasEvents) && (telling.length < 2 || theirs.length > 0)
    const word = agreed(tx, others) ?? (isPlain ? tx : null)
    if (word) {
      const isConfirmed = others.length === 0 || others.some((words) => words.get(tx.signature) !== null)
      if (needsAnother(tx) && isConfirmed) pace.most += 2
      told.push({ ...word, isSure: others.length === 0 || (asked.includes(tx) && isSlotOf(word, others)) })
      continue
    }
    // two that lack what the first one lists are asked first next time: it alone would hold up all
    if (telling.length > 1) rpc.passOver(first)
    if (told.length > 0) break
    throw transient(`getTransaction: two nodes contradict each other about ${tx.signature}`)
  }
  return told
}

/** What other nodes say of some transactions, each once: the next is asked, too, until two agree about each. */
async function wordsOn(asked: readonly ReadTransaction[], first: Call, { rpc, ...options }: Options): Promise<Words[]> {
  const others = new Map<Call, Words>()
  const isTold = ({ signature }: ReadTransaction) => [...others.values()].some((words) => words.has(signature))
  const confirm = async (other: Call) => {
    if (!others.has(other)) others.set(other, await readAgain(other, options, asked))
    if (!asked.every((tx) => isTold(tx) && agreed(tx, [...others.values()])))
      throw new RpcError('refused', 'another node says otherwise, or can not tell')
  }
  const endMs = performance.now() + LAG_MS
  if (asked.length > 0) await rpc.onAnotherNode(first, confirm)
  // one that rests for a moment is waited for: who lies all the time would be believed by then
  while (!asked.every(isTold) && performance.now() < endMs && rpc.isBackBy(first, endMs)) {
    await sleep(LOOK_MS)
    await rpc.onAnotherNode(first, confirm)
  }
  return [...others.values()]
}

const eventsOf = ({ payments, closed, communityPayments, communityOutcomes }: ReadTransaction) => [
  ...[payments, closed, communityPayments, communityOutcomes],
]
const hasEvents = (tx: ReadTransaction): boolean => eventsOf(tx).some((events) => events.length > 0)
const needsAnother = (tx: ReadTransaction): boolean => isLaidAside(tx) || hasEvents(tx)

/** Whether another node has a transaction in its slot, or none can tell: who can't read it knows the lister's slot. */
function isSlotOf({ signature, slot }: ReadTransaction, words: readonly Words[]): boolean {
  const others = words.flatMap((word) => (word.has(signature) ? [word.get(signature)!] : []))
  const telling = others.filter((tx) => tx === null || !isLaidAside(tx))
  return telling.length === 0 || telling.some((tx) => tx?.slot === slot)
}

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
