import type { Hex } from 'viem'
import type { Label } from './world.js'

/** A transaction that a wallet of ours has sent. */
export interface SentTx {
  /** On Solana a signature. */
  hash: string
  raw: Hex
  label: Label | 'solana'
  sender: string
  nonce: number
  kind: 'bid' | 'batch' | 'bridge' | 'speed_up' | 'cancel' | 'payment' | 'underpaid' | 'buy' | 'dust'
}

/** Sent transactions, in order. */
export interface Ledger {
  readonly txs: readonly SentTx[]
  add(tx: SentTx): void
  find(hash: string): SentTx | undefined
  /** Count per kind. */
  counts(): Record<string, number>
}

export function createLedger(): Ledger {
  const txs: SentTx[] = []
  const byHash = new Map<string, SentTx>()
  return {
    txs,
    add(tx) {
      if (byHash.has(tx.hash)) return
      txs.push(tx)
      byHash.set(tx.hash, tx)
    },
    find: (hash) => byHash.get(hash),
    counts() {
      const counts: Record<string, number> = {}
      for (const { kind } of txs) counts[kind] = (counts[kind] ?? 0) + 1
      return counts
    },
  }
}
