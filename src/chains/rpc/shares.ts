import type { CapacityShare } from './node.js'

/**
 * Users of the nodes beside the indexer. Each has its own rests and limits, so that none takes nodes from another.
 * `judge` reads balances for payments. The API's requests use `api` (quotes, payments), `refunds`, `status`, `tokens`
 * and `wallets`.
 */
export type NodeConsumer = 'relay' | 'judge' | 'api' | 'refunds' | 'status' | 'tokens' | 'wallets'

/** Limits what anonymous requests of one kind can make the API ask of a node. */
const STRANGERS: CapacityShare = { atOnce: 32, perSecond: 100, waiting: 200 }
/**
 * Limits of the consumers whose calls anonymous requests cause. The limit of `judge` allows all of its concurrent
 * requests.
 */
export const RPC_CAPACITY_SHARES: Readonly<Record<NodeConsumer, CapacityShare | undefined>> = {
  relay: undefined,
  judge: { atOnce: 8, perSecond: 100, waiting: 500 },
  api: STRANGERS,
  refunds: STRANGERS,
  // clients poll the status, so a quick error about an unavailable chain is better than a late answer
  status: { ...STRANGERS, limitMs: 3_000 },
  tokens: STRANGERS,
  // callers wait to sign in: after a hanging node, time is left for another node (`smartWallet.ts`)
  wallets: { ...STRANGERS, limitMs: 2_000 },
}
