import type { NodeCallLimits } from './node.js'

/**
 * Parts of the daemon that call nodes, besides the indexer. Each has its own back-offs and call limits, so that no part
 * delays another. `relay` is the relayer. `judge` reads balances to decide payments. The API's requests use `api`
 * (quotes, payments), `refunds`, `status`, `tokens` and `wallets`.
 */
export type NodeConsumer = 'relay' | 'judge' | 'api' | 'refunds' | 'status' | 'tokens' | 'wallets'

/** Limits the calls to a node that anonymous API requests of one kind can cause. */
const STRANGERS: NodeCallLimits = { atOnce: 32, perSecond: 100, waiting: 200 }
/**
 * Limits of each consumer's calls to a node. The limit of `judge` allows all of its concurrent requests. `relay` has no
 * limit, because no anonymous request causes its calls.
 */
export const NODE_CALL_LIMITS_BY_CONSUMER: Readonly<
  Record<NodeConsumer, NodeCallLimits | undefined>
> = {
  relay: undefined,
  judge: { atOnce: 8, perSecond: 100, waiting: 500 },
  api: STRANGERS,
  refunds: STRANGERS,
  // clients poll the status, so a quick error about an unavailable chain is better than a late answer
  status: { ...STRANGERS, limitMs: 3_000 },
  tokens: STRANGERS,
  // clients wait to sign in: the short timeout of a hanging node leaves time to ask another node (`smartWallet.ts`)
  wallets: { ...STRANGERS, limitMs: 2_000 },
}
