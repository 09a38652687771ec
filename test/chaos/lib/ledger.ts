import type { Hex } from 'viem'
import { replaceNewestBlocks } from '../../support/miner.js'
import type { ChaosChain, Label } from './world.js'

/** A transaction that one of our wallets has sent. */
export interface SentTx {
  /** A transaction hash, or a signature on Solana. */
  hash: string
  raw: Hex
  label: Label | 'solana'
  sender: string
  nonce: number
  kind:
    | 'bid'
    | 'batch'
    | 'bridge'
    | 'speed_up'
    | 'cancel'
    | 'payment'
    | 'underpaid'
    | 'buy'
    | 'dust'
}

/** Sent transactions, in order. */
export interface Ledger {
  readonly txs: readonly SentTx[]
  add(tx: SentTx): void
  find(hash: string): SentTx | undefined
  /** Number of transactions by kind. */
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

/** Replaces the newest blocks by empty ones. @returns the wallets' transactions that are in no block afterwards */
export async function reorgNewest(chain: ChaosChain, depth: number, ledger: Ledger) {
  const hashes = await chain.miner.paused(async () => {
    const head = await chain.reader.getBlockNumber({ cacheTime: 0 })
    const blocks = await Promise.all(
      Array.from({ length: depth }, (_, i) =>
        chain.reader.getBlock({ blockNumber: head - BigInt(i) }),
      ),
    )
    await replaceNewestBlocks(chain, depth)
    return blocks.flatMap(({ transactions }) => transactions)
  })
  const gone = await Promise.all(
    hashes.map(async (hash) =>
      chain.reader.getTransaction({ hash }).then(
        () => null,
        () => hash,
      ),
    ),
  )
  return gone.flatMap((hash) => (hash ? (ledger.find(hash) ?? []) : []))
}
