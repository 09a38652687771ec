import type { Call } from '../../chains/rpc/nodes.js'
import { communityPaymentKey } from '../../chains/solana/community/program.js'
import {
  type ListedTransaction,
  type ReadTransaction,
  readCommunityPayments,
  readPaymentAccounts,
  readTransactions,
} from '../../chains/solana/reads.js'
import type { PaymentAccount } from '../../chains/solana/registrar.js'
import { measure } from '../progress.js'
import { communityKey, hexOf, type OpenAccounts, openCommunityKeys, openQuotes } from './sequence.js'
import type { PaymentWatcherOptions } from './types.js'

/** Transactions of one database transaction: two batches of a node. */
const CHUNK = 200
/** Chunks that are read ahead of the writer: bounds memory, hides the round trips. */
const CHUNKS_AHEAD = 3

/** Writes some transactions. */
export type WriteChunk = (txs: readonly ReadTransaction[], accounts: OpenAccounts) => Promise<void>

/**
 * Reads listed transactions in order, the next chunks while one is written; stops between two when the signal fires.
 */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  write: WriteChunk,
): Promise<void> {
  const { identity, label, signal, onProgress } = options
  const startedMs = Date.now()
  const ahead: ReturnType<typeof readChunk>[] = []
  let requested = 0
  let registrations = 0
  for (let done = 0; done < listed.length && !signal.aborted; done += CHUNK) {
    while (ahead.length < CHUNKS_AHEAD && requested < listed.length) {
      const chunk = readChunk(options, listed.slice(requested, requested + CHUNK))
      // awaited in its turn; until then a failure is not unhandled
      chunk.catch(() => {})
      ahead.push(chunk)
      requested += CHUNK
    }
    const { txs, accounts } = await ahead.shift()!
    await write(txs, accounts)
    registrations += txs.reduce((sum, tx) => sum + tx.payments.length + tx.communityPayments.length, 0)
    const counts = { doneBlocks: Math.min(listed.length, done + CHUNK), totalBlocks: listed.length, registrations }
    onProgress?.(measure({ network: identity.network, label, unit: 'transactions', ...counts }, startedMs))
  }
}

function readChunk(options: PaymentWatcherOptions, listed: readonly ListedTransaction[]) {
  const { rpc, registrar, commitment } = options
  return rpc.onOneNode(async (call) => {
    const txs = await readTransactions(call, registrar, listed, commitment)
    const quotes = openQuotes(txs)
    const found = quotes.length > 0 ? await readPaymentAccounts(call, registrar, quotes, { commitment }) : []
    const payments = new Map<string, PaymentAccount>()
    found.forEach((account, i) => {
      if (account) payments.set(hexOf(quotes[i]!), account)
    })
    return { txs, accounts: { payments, communityPayments: await readOpenCommunityPayments(options, call, txs) } }
  })
}

async function readOpenCommunityPayments(
  { registrar, commitment }: PaymentWatcherOptions,
  call: Call,
  txs: readonly ReadTransaction[],
): Promise<OpenAccounts['communityPayments']> {
  const open = openCommunityKeys(txs)
  if (open.length === 0) return new Map()
  const found = await readCommunityPayments(call, registrar, open.map(communityPaymentKey), { commitment })
  return new Map(found.flatMap((account, i) => (account ? [[communityKey(open[i]!), account] as const] : [])))
}
