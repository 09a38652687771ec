import { createEvmRpc } from '../../src/chains/rpc/evm.js'
import { openSolanaChain } from '../../src/daemon/families/solana.js'
import { createPool } from '../../src/db/pg/pool.js'
import { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import { armFailpoint } from '../../src/ops/failpoint.js'
import { readEpoch } from '../support/epoch.js'
import { clusterConfig, QUOTE_KEY } from './solanaConfig.js'

/** A watcher in its own process, which dies at a fail point. A run that never passes it ends normally. */
export interface WatcherOrder {
  databaseUrl: string
  solana: { programId: string; startSlot: number }
  rpcUrl: string
  feeds: { solUsd: string; ethUsd: string }
  failpoint: string
}

const { databaseUrl, solana, rpcUrl, feeds, failpoint } = JSON.parse(
  process.argv[2]!,
) as WatcherOrder
armFailpoint(failpoint)
const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'test child' })
const config = clusterConfig(solana, [rpcUrl], feeds)
// this process gives no quotes: the hub is never asked
const hub = createEvmRpc({ label: '1', urls: [rpcUrl], chainId: 1 })
const source = await openSolanaChain({
  pool,
  network: 'mainnet',
  config,
  hub,
  quoteKeys: [QUOTE_KEY],
  releaseAfterMs: 1,
})
const epoch = await readEpoch(pool, 'mainnet', 'index')
const { rpc, registrar } = source.chain
const watcher = new PaymentWatcher({
  pool,
  rpc,
  registrar,
  startSlot: config.startSlot,
  commitment: config.commitment,
  network: 'mainnet',
  open: source.open,
  epoch,
  signal: new AbortController().signal,
})
while ((await watcher.step()).kind === 'took');
await pool.end()
