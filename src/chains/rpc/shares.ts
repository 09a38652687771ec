import type { Share } from './node.js'

/**
 * Callers beside the indexer: each has its own rests and limits, so none costs another its nodes. `judge` reads
 * balances for payments; the API's questions are `api` (quotes, payments), `refunds`, `status`, `tokens`, `wallets`.
 */
export type Consumer = 'relay' | 'judge' | 'api' | 'refunds' | 'status' | 'tokens' | 'wallets'

/** Bounds what strangers' requests of one kind can make the API ask of a node. */
const STRANGERS: Share = { atOnce: 32, perSecond: 100, waiting: 200 }
/** Shares of the uses that strangers cause work for; the judge's has room for all that it asks at once. */
export const SHARES: Readonly<Record<Consumer, Share | undefined>> = {
  relay: undefined,
  judge: { atOnce: 8, perSecond: 100, waiting: 500 },
  api: STRANGERS,
  refunds: STRANGERS,
  // statuses are polled: a client that learns soon that a chain is away asks again
  status: { ...STRANGERS, limitMs: 3_000 },
  tokens: STRANGERS,
  // callers who sign in wait: a node that hangs leaves time for another's word (`smartWallet.ts`)
  wallets: { ...STRANGERS, limitMs: 2_000 },
}
