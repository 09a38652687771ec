import { reorg } from '../../support/miner.js'
import type { Ledger } from './ledger.js'
import type { ChaosChain } from './world.js'

/** Replaces the newest blocks by empty ones. @returns the wallets' transactions that are in no block now */
export async function reorgNewest(chain: ChaosChain, depth: number, ledger: Ledger) {
  const hashes = await chain.miner.paused(async () => {
    const head = await chain.reader.getBlockNumber({ cacheTime: 0 })
    const blocks = await Promise.all(
      Array.from({ length: depth }, (_, i) => chain.reader.getBlock({ blockNumber: head - BigInt(i) })),
    )
    await reorg(chain, depth)
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
