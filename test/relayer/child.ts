import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { createRegistrarClient } from '../../src/chains/solana/registrar.js'
import { createSolanaSigner } from '../../src/chains/solana/signer.js'
import { parseSolanaSecretKey } from '../../src/config/solanaKey.js'
import { createPool } from '../../src/db/pg/pool.js'
import { armFailpoint } from '../../src/ops/failpoint.js'
import { SolanaRelayer } from '../../src/relayer/solanaRelayer.js'
import { openRelayer } from '../support/bridgeWorld.js'
import { takeLead } from '../support/lead.js'

/**
 * A relayer in its own process, which dies at a fail point. It ends normally only if the fail point is never passed.
 */
export interface ChildOrder {
  databaseUrl: string
  failpoint: string
  /** Milliseconds that its clock is ahead. */
  aheadMs: number
  /** The chains file of a relayer on an EVM chain; or the cluster of one on Solana, with its secret key, base58. */
  at: { file: object } | { rpcUrl: string; programId: string; secretKey: string; chain: number }
}

const PATIENCE_MS = 25_000

const { databaseUrl, failpoint, aheadMs, at } = JSON.parse(process.argv[2]!) as ChildOrder
armFailpoint(failpoint)
const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'test child' })
const leadership = await takeLead(pool, 'relay')
const relayer = await open(pool, leadership.epoch)
const endMs = Date.now() + PATIENCE_MS
while (Date.now() < endMs) {
  if ((await relayer.step().catch(() => 'failed')) !== 'progressed') await sleep(20)
}
await leadership.release()
await pool.end()

async function open(pool: pg.Pool, epoch: number) {
  const clock = { nowMs: () => Date.now() + aheadMs, random: () => 0.5 }
  if ('file' in at) return openRelayer(pool, at.file, epoch, { clock })
  const { rpcUrl, programId, secretKey, chain } = at
  return new SolanaRelayer({
    pool,
    network: 'mainnet',
    chain,
    epoch,
    clock,
    releaseAfterMs: 3_600_000,
    signer: createSolanaSigner({
      maxUnitPrice: 0,
      commitment: 'confirmed',
      secretKey: parseSolanaSecretKey(secretKey)!,
      rpc: createSolanaRpc({ rpcUrls: [rpcUrl] }),
      registrar: createRegistrarClient(programId),
    }),
  })
}
