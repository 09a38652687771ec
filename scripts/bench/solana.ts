import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Connection, Keypair } from '@solana/web3.js'
import pg from 'pg'
import { createClusterRpc } from '../../src/chains/solana/chain.js'
import { createRegistrar, type Registrar } from '../../src/chains/solana/registrar.js'
import { registerChain } from '../../src/db/journal/chains.js'
import { readEpoch } from '../../src/db/journal/head.js'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool } from '../../src/db/pg/pool.js'
import type { ProgramIdentity } from '../../src/indexer/solana/row.js'
import { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import { quoteId } from '../../src/registry/payment/quote.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { createDatabase, dropDatabase } from '../../src/testing/processes/postgres.js'
import { type LocalSolana, startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { fundSolana, sendSolanaEach } from '../../src/testing/solana/sendSolana.js'
import { type Bench, median, printTable, thousands } from './bench.js'
import { nameOf } from './chain.js'
import { byRun, recordFigure } from './figure.js'
import { countAll, type Loop, type Ours, readBare, storeRows } from './solanaLoop.js'

const SLOT_MS = 50
const PAYMENTS_AT_ONCE = 20
/** Payments that are made; the node shows each of them as often as it takes. */
const REAL_PAYMENTS = 200
const QUOTE_KEY = Buffer.alloc(32, 1)
const LAMPORTS = 1_000_000n

/** The loops beside which the watcher is measured. */
const LOOPS: readonly Loop[] = [storeRows, countAll]

/**
 * Payments per second from nothing beside bare loops over the same cluster. Surfpool takes no batches, so all go
 * through scripts/bench/batches.ts.
 */
export async function benchSolana({ onEnd }: Bench, postgresUrl: string, wanted: number, runs: number): Promise<void> {
  const solana = await startLocalSolana({ slotMs: SLOT_MS, log: console.log })
  if (!solana) return
  onEnd(() => solana.stop())
  const registrar = createRegistrar(solana.programId)
  const real = Math.min(wanted, REAL_PAYMENTS)
  const copies = Math.ceil(wanted / real)
  const payments = real * copies
  await fill(solana, registrar, real)
  console.log(`\n${thousands(payments)} payments on Solana, one a transaction`)
  const rpcUrl = await startBatches(solana.rpcUrl, copies, onEnd)
  const cluster = { ...solana, rpcUrl }
  const ours: Ours = { cluster, postgresUrl, payments }
  const perS = (ms: number) => (payments * 1_000) / ms
  // the first round of each is for the node's memory and the compiler
  for (const loop of LOOPS) await readBare(ours, loop)
  await watch(cluster, registrar, postgresUrl, payments)
  const watched: number[] = []
  const bare: number[][] = LOOPS.map(() => [])
  for (let run = 1; run <= runs; run++) {
    watched.push(perS(await watch(cluster, registrar, postgresUrl, payments)))
    for (const [i, loop] of LOOPS.entries()) bare[i]!.push(perS(await readBare(ours, loop)))
    console.log(`run ${run}: ${[watched, ...bare].map((speeds) => thousands(speeds.at(-1)!)).join(', ')} per second`)
  }
  printTable([
    ['', 'payments/s', 'times the loop’s time'],
    ['the watcher, into PostgreSQL', thousands(median(watched)), '1'],
    ...LOOPS.map(({ title }, i) => [
      ...[title, thousands(median(bare[i]!)), median(byRun(bare[i]!, watched)).toFixed(2)],
    ]),
  ])
  for (const [i, { title }] of LOOPS.entries())
    recordFigure({ title: `Solana, beside ${title}`, floor: title, ratios: byRun(bare[i]!, watched) })
}

/** The genesis hash under which the benchmark stores and quotes. */
const GENESIS = { genesisHash: Buffer.alloc(32) }

async function startBatches(target: string, copies: number, onEnd: Bench['onEnd']): Promise<string> {
  const file = fileURLToPath(new URL('./batches.ts', import.meta.url))
  const args = ['--import', 'tsx', file, target, String(copies)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onEnd(async () => {
    child.kill()
  })
  const [line] = await once(child.stdout, 'data')
  return String(line).trim()
}

async function fill({ rpcUrl, wsUrl }: LocalSolana, registrar: Registrar, payments: number): Promise<void> {
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const payer = Keypair.generate()
  await fundSolana(connection, [payer.publicKey])
  const expiresAt = BigInt(Math.floor(Date.now() / 1_000) + 3_600)
  const instruction = (n: number) => {
    const terms = {
      ...{ payer: payer.publicKey.toBytes(), name: nameToWord(nameOf(n)), amountWei: 10n ** 16n, lamports: LAMPORTS },
      ...{ expiresAt, referral: Buffer.alloc(32) },
    }
    const program = { ...GENESIS, network: 'mainnet', programId: registrar.programId.toBytes() } as const
    return registrar.register(terms, quoteId(QUOTE_KEY, program, terms))
  }
  for (let from = 0; from < payments; from += PAYMENTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(PAYMENTS_AT_ONCE, payments - from) }, (_, i) => from + i)
    await sendSolanaEach(
      connection,
      [payer],
      numbers.map((n) => [instruction(n)]),
    )
  }
}

/** @returns milliseconds from nothing until every payment is stored */
async function watch(
  { rpcUrl, programId, genesisHash, startSlot }: LocalSolana,
  registrar: Registrar,
  postgresUrl: string,
  payments: number,
): Promise<number> {
  const database = 'solana_bench'
  const url = await createDatabase(postgresUrl, database)
  await migrate(url)
  const pool = createPool({ url, max: 4, applicationName: 'bench' })
  try {
    const keys = { ...GENESIS, programId: registrar.programId.toBytes(), quoteKeys: [QUOTE_KEY] }
    const identity: ProgramIdentity = { network: 'mainnet', ...keys }
    const row = await registerChain(pool, {
      ...{ network: 'mainnet', label: 'solana', instance: programId, chainId: null, startBlock: startSlot },
      ...{ genesisHash: keys.genesisHash, contract: Buffer.from(keys.programId) },
    })
    const epoch = await readEpoch(pool, 'mainnet', 'index')
    const watcher = new PaymentWatcher({
      ...{ pool, registrar, identity, chain: row.chain, label: 'solana', startSlot, commitment: 'confirmed', epoch },
      rpc: createClusterRpc({ rpcUrls: [rpcUrl], genesisHash }),
      signal: new AbortController().signal,
    })
    const started = performance.now()
    while ((await watcher.step()).kind === 'took');
    const ms = performance.now() - started
    await checkCount(url, payments)
    return ms
  } finally {
    await pool.end()
    await dropDatabase(postgresUrl, database)
  }
}

async function checkCount(url: string, payments: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('SELECT count(*)::int AS n FROM payments WHERE verdict = 1 AND state > 0')
  await client.end()
  if (rows[0].n !== payments) throw new Error(`counting payments: the watcher has ${rows[0].n} of ${payments}`)
}
