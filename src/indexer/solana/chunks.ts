import {
  type ListedTransaction,
  type ReadTransaction,
  readPaymentAccounts,
  readTransactions,
} from '../../chains/solana/reads.js'
import type { PaymentAccount } from '../../chains/solana/registrar.js'
import type { Progress } from '../types.js'
import { hexOf, openQuotes } from './book.js'
import type { PaymentWatcherOptions } from './watcher.js'

/** Transactions of one database transaction; the next ones are read meanwhile. */
const CHUNK = 500

/** Takes in some transactions. */
export type Take = (
  txs: readonly ReadTransaction[],
  /** Open payments of quotes whose sequence the transactions don't tell, by the quote's id in hex. */
  accounts: ReadonlyMap<string, PaymentAccount>,
) => Promise<void>

/** Reads what was listed, in its order, the next chunk while one is taken in; stops between two when the signal fires. */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  take: Take,
): Promise<void> {
  const startedMs = Date.now()
  let payments = 0
  let next = listed.length > 0 ? readChunk(options, listed.slice(0, CHUNK)) : null
  for (let i = 0; next && !options.signal.aborted; i += CHUNK) {
    const { txs, accounts } = await next
    const rest = listed.slice(i + CHUNK, i + 2 * CHUNK)
    next = rest.length > 0 ? readChunk(options, rest) : null
    // it is awaited in its turn; until then its failure is not unhandled
    next?.catch(() => {})
    await take(txs, accounts)
    payments += txs.reduce((sum, tx) => sum + tx.payments.length, 0)
    options.onProgress?.(progressOf(options, Math.min(listed.length, i + CHUNK), listed.length, payments, startedMs))
  }
}

function readChunk({ rpc, registrar, commitment }: PaymentWatcherOptions, listed: readonly ListedTransaction[]) {
  return rpc.onOneNode(async (call) => {
    const txs = await readTransactions(call, registrar, listed, commitment)
    const quotes = openQuotes(txs)
    const found = quotes.length > 0 ? await readPaymentAccounts(call, registrar, quotes, commitment) : []
    const accounts = new Map<string, PaymentAccount>()
    found.forEach((account, i) => {
      if (account) accounts.set(hexOf(quotes[i]!), account)
    })
    return { txs, accounts }
  })
}

function progressOf(
  { identity, label }: PaymentWatcherOptions,
  done: number,
  total: number,
  payments: number,
  startedMs: number,
): Progress {
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1_000)
  return {
    network: identity.network,
    label,
    unit: 'transactions',
    doneBlocks: done,
    totalBlocks: total,
    registrations: payments,
    registrationsPerS: Math.round(payments / seconds),
    secondsLeft: Math.round(((total - done) * seconds) / done),
  }
}
