import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { transient } from '../../chains/rpc/errors.js'
import type { Call } from '../../chains/rpc/nodes.js'
import {
  firstAvailableSlot,
  isLaidAside,
  type ListedTransaction,
  type ReadTransaction,
  readListed,
  readTransactions,
} from '../../chains/solana/reads.js'
import type { PaymentWatcherOptions } from './types.js'

/** Time by which a node may come after another one, and the pause between two looks meanwhile. */
const LAG_MS = 4_000
const LOOK_MS = 250

type Options = Pick<PaymentWatcherOptions, 'rpc' | 'registrar' | 'commitment'>

/**
 * Reads listed transactions of one node. What it can't show is another's to show; payments and their ends, which are
 * believed for ever, are another's to confirm. Where no other answers, one node's word counts.
 * @throws RpcError transient where two nodes contradict each other: until they agree nothing behind is read
 */
export const readConfirmed = (
  { rpc, registrar, commitment }: Options,
  listed: readonly ListedTransaction[],
): Promise<ReadTransaction[]> =>
  rpc.onOneNode(async (call) => {
    const txs = await readTransactions(call, registrar, listed, commitment)
    const asked = txs.filter((tx) => isLaidAside(tx) || hasEvents(tx))
    if (asked.length === 0) return txs
    const options = { registrar, commitment }
    const shown = await rpc.onAnotherNode(call, (other) => readAgain(other, options, asked))
    return shown === null ? txs : txs.map((tx) => agreed(tx, shown.get(tx.signature)))
  })

const eventsOf = ({ payments, closed, communityPayments, communityOutcomes }: ReadTransaction) => [
  ...[payments, closed, communityPayments, communityOutcomes],
]
const hasEvents = (tx: ReadTransaction): boolean => eventsOf(tx).some((events) => events.length > 0)

/** What a second node has, by signature: null for what it lacks, nothing for what is older than all that it keeps. */
async function readAgain(
  call: Call,
  { registrar, commitment }: Omit<Options, 'rpc'>,
  listed: readonly ListedTransaction[],
): Promise<ReadonlyMap<string, ReadTransaction | null>> {
  const found = new Map<string, ReadTransaction | null>()
  const endMs = performance.now() + LAG_MS
  for (let left = listed; ; await sleep(LOOK_MS)) {
    const txs = await Promise.all(left.map((one) => readListed(call, registrar, one, commitment)))
    for (const [i, { signature }] of left.entries()) found.set(signature, txs[i]!)
    left = left.filter(({ signature }) => found.get(signature) === null)
    if (left.length === 0) return found
    const oldest = await firstAvailableSlot(call)
    for (const { signature, slot } of left) if (slot < oldest) found.delete(signature)
    left = left.filter(({ slot }) => slot >= oldest)
    if (left.length === 0 || performance.now() >= endMs) return found
  }
}

function agreed(first: ReadTransaction, second: ReadTransaction | null | undefined): ReadTransaction {
  if (second === undefined) return first
  if (isLaidAside(first)) return second ?? first
  if (second && (isLaidAside(second) || isSame(first, second))) return first
  throw transient(`getTransaction: two nodes contradict each other about ${first.signature}`)
}

const isSame = (a: ReadTransaction, b: ReadTransaction): boolean =>
  a.slot === b.slot && isDeepStrictEqual(eventsOf(a), eventsOf(b))
