import { setTimeout as sleep } from 'node:timers/promises'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { createRegistrar } from '../../src/chains/solana/registrar.js'
import { createSolanaSigner } from '../../src/chains/solana/signer.js'
import { parseSolanaSecretKey } from '../../src/config/solanaKey.js'
import { createPool } from '../../src/db/pg/pool.js'
import { armFailpoint } from '../../src/ops/failpoint.js'
import { SolanaRelayer } from '../../src/relayer/solanaRelayer.js'
import { takeLead } from '../support/lead.js'

/** A payer in a process of its own, which dies at a fail point. A run that never passes it ends by itself. */
export interface PayoutChildOrder {
  databaseUrl: string
  rpcUrl: string
  programId: string
  /** Secret key of the relay authority, base58. */
  secretKey: string
  chain: number
  autoRefunds: boolean
  failpoint: string
  /** Milliseconds that its clock is ahead. */
  aheadMs: number
}

const PATIENCE_MS = 25_000
const POLL_MS = 20

const order = JSON.parse(process.argv[2]!) as PayoutChildOrder
armFailpoint(order.failpoint)
const pool = createPool({ url: order.databaseUrl, max: 4, applicationName: 'test child' })
const leadership = await takeLead(pool, 'relay')
const payer = new SolanaRelayer({
  ...{ pool, network: 'mainnet', chain: order.chain, autoRefunds: order.autoRefunds, epoch: leadership.epoch },
  releaseAfterMs: 3_600_000,
  signer: createSolanaSigner({
    maxUnitPrice: 0,
    rpc: createSolanaRpc({ label: 'solana', urls: [order.rpcUrl] }),
    registrar: createRegistrar(order.programId),
    commitment: 'confirmed',
    secretKey: parseSolanaSecretKey(order.secretKey)!,
  }),
  clock: { nowMs: () => Date.now() + order.aheadMs, random: () => 0.5 },
})
const endMs = Date.now() + PATIENCE_MS
while (Date.now() < endMs) {
  const kind = await payer.step().catch(() => 'failed')
  if (kind !== 'progressed') await sleep(POLL_MS)
}
await leadership.release()
await pool.end()
