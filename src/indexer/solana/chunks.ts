import { PublicKey } from '@solana/web3.js'
import type { Call } from '../../chains/rpc/nodes.js'
import {
  type ListedTransaction,
  type ReadTransaction,
  readCommunityPayments,
  readPaymentAccounts,
  readTransactions,
} from '../../chains/solana/reads.js'
import type { PaymentAccount } from '../../chains/solana/registrar.js'
import type { Progress } from '../progress.js'
import { communityKey, hexOf, type OpenAccounts, openCommunityKeys, openQuotes } from './sequence.js'
import type { PaymentWatcherOptions } from './watcher.js'

/** Transactions of one database transaction: two batches of a node. */
const CHUNK = 200
/** Chunks that are read ahead of the writer: bounds memory, hides the round trips. */
const CHUNKS_AHEAD = 3

/** Takes in some transactions. */
export type Take = (txs: readonly ReadTransaction[], accounts: OpenAccounts) => Promise<void>

/**
 * Reads what was listed, in its order, the next chunks while one is taken in; stops between two when the signal fires.
 */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  take: Take,
): Promise<void> {
  const startedMs = Date.now()
  const ahead: ReturnType<typeof readChunk>[] = []
  let asked = 0
  let payments = 0
  for (let done = 0; done < listed.length && !options.signal.aborted; done += CHUNK) {
    while (ahead.length < CHUNKS_AHEAD && asked < listed.length) {
      const chunk = readChunk(options, listed.slice(asked, asked + CHUNK))
      // it is awaited in its turn; until then its failure is not unhandled
      chunk.catch(() => {})
      ahead.push(chunk)
      asked += CHUNK
    }
    const { txs, accounts } = await ahead.shift()!
    await take(txs, accounts)
    payments += txs.reduce((sum, tx) => sum + tx.payments.length + tx.communityPayments.length, 0)
    options.onProgress?.(progressOf(options, Math.min(listed.length, done + CHUNK), listed.length, payments, startedMs))
  }
}

function readChunk(options: PaymentWatcherOptions, listed: readonly ListedTransaction[]) {
  const { rpc, registrar, commitment } = options
  return rpc.onOneNode(async (call) => {
    const txs = await readTransactions(call, registrar, listed, commitment)
    const quotes = openQuotes(txs)
    const found = quotes.length > 0 ? await readPaymentAccounts(call, registrar, quotes, commitment) : []
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
  const keys = open.map(({ payer, ...words }) => ({ ...words, payer: new PublicKey(payer) }))
  const found = keys.length > 0 ? await readCommunityPayments(call, registrar, keys, { commitment }) : []
  return new Map(found.flatMap((account, i) => (account ? [[communityKey(open[i]!), account] as const] : [])))
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
