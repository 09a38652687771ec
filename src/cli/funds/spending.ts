import type pg from 'pg'
import type { Hex } from 'viem'
import { findChain } from '../../db/journal/chains.js'
import { listSigners } from '../../db/outbox/signers.js'
import { signerStats } from '../../db/outbox/stats.js'
import { tokensInUse } from '../../db/payments/tokens.js'
import type { Network } from '../../registry/primitives/network.js'

/** What the database knows about a network's money, by the chains' labels. */
export interface KnownSpending {
  /** Tokens in which names of communities were paid. */
  tokens: ReadonlyMap<string, readonly Hex[]>
  /** Of the relayer, in 24 hours. */
  spentLastDayWei: ReadonlyMap<string, bigint>
}

export const NO_SPENDING: KnownSpending = { tokens: new Map(), spentLastDayWei: new Map() }

export async function readSpending(pool: pg.Pool, network: Network): Promise<KnownSpending> {
  const [used, signers] = await Promise.all([tokensInUse(pool, network), listSigners(pool, [network])])
  const tokens = new Map<string, Hex[]>()
  for (const { label, token } of used)
    if (token.startsWith('0x')) tokens.set(label, [...(tokens.get(label) ?? []), token as Hex])
  const spent = new Map<string, bigint>()
  for (const { label, signer } of signers) {
    const row = await findChain(pool, network, label)
    if (row) spent.set(label, (await signerStats(pool, row, signer, Date.now())).spentLastDayWei)
  }
  return { tokens, spentLastDayWei: spent }
}
