import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Connection, Keypair } from '@solana/web3.js'
import PQueue from 'p-queue'
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

const SLOT_MS = 50
const PAYMENTS_AT_ONCE = 20
/** Calls per batch and batches at once, as in the watcher. */
const BATCH_CALLS = 100
const REQUESTS_AT_ONCE = 4
const QUOTE_KEY = Buffer.alloc(32, 1)
const LAMPORTS = 1_000_000n

/**
 * Payments per second from nothing beside a bare loop over the same cluster: `getSignaturesForAddress` page by page,
 * then batches of `getTransaction`, parsed and forgotten. Surfpool takes no batches, so both go through
 * scripts/bench/batches.ts.
 */
export async function benchSolana(
  { onEnd }: Bench,
  postgresUrl: string,
  payments: number,
  runs: number,
): Promise<void> {
  const solana = await startLocalSolana({ slotMs: SLOT_MS, log: console.log })
  if (!solana) return
  onEnd(() => solana.stop())
  const registrar = createRegistrar(solana.programId)
  await fill(solana, registrar, payments)
  console.log(`\n${thousands(payments)} payments on Solana, one a transaction`)
  const rpcUrl = await startBatches(solana.rpcUrl, onEnd)
  const cluster = { ...solana, rpcUrl }
  await readBare(cluster, payments)
  const watched: number[] = []
  const bare: number[] = []
  for (let run = 1; run <= runs; run++) {
    watched.push((payments * 1_000) / (await watch(cluster, registrar, postgresUrl, payments)))
    bare.push((payments * 1_000) / (await readBare(cluster, payments)))
    console.log(`run ${run}: ${thousands(watched.at(-1)!)}/s, bare ${thousands(bare.at(-1)!)}/s`)
  }
  printTable([
    ['', 'payments/s'],
    ['the watcher, into PostgreSQL', thousands(median(watched))],
    ['bare signatures + transactions', thousands(median(bare))],
  ])
  recordFigure({ title: 'Solana, from nothing', floor: 'bare signatures + transactions', ratios: byRun(bare, watched) })
  const ratio = median(byRun(watched, bare)).toFixed(2)
  console.log(`ratio of the watcher to the bare loop ${ratio}`)
}

/** The genesis hash under which the benchmark stores and quotes. */
const GENESIS = { genesisHash: Buffer.alloc(32) }

async function startBatches(target: string, onEnd: Bench['onEnd']): Promise<string> {
  const file = fileURLToPath(new URL('./batches.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, target], { stdio: ['ignore', 'pipe', 'inherit'] })
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

interface BareTransaction {
  transaction: { message: { accountKeys: string[] } }
  meta: { innerInstructions: { instructions: { programIdIndex: number }[] }[] }
}

/** Tells whether the program called itself, which it does for events alone; its initialization calls the system. */
function hasEventOf(programId: string, { transaction, meta }: BareTransaction): boolean {
  const index = transaction.message.accountKeys.indexOf(programId)
  return meta.innerInstructions.some(({ instructions }) =>
    instructions.some(({ programIdIndex }) => programIdIndex === index),
  )
}

/** @returns milliseconds */
async function readBare({ rpcUrl, programId, startSlot }: LocalSolana, payments: number): Promise<number> {
  const post = async <T>(body: unknown): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as T
  }
  const started = performance.now()
  const signatures: string[] = []
  for (let before: string | undefined; ; ) {
    const options = { commitment: 'confirmed', limit: 1_000, ...(before ? { before } : {}) }
    const { result: page } = await post<{ result: { signature: string; slot: number; err: unknown }[] }>({
      ...{ jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress', params: [programId, options] },
    })
    for (const { signature, slot, err } of page) if (err === null && slot >= startSlot) signatures.push(signature)
    if (page.length < 1_000) break
    before = page.at(-1)!.signature
  }
  const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }
  const queue = new PQueue({ concurrency: REQUESTS_AT_ONCE })
  let paid = 0
  const read = async (batch: readonly string[]): Promise<void> => {
    const answers = await post<{ result: BareTransaction }[]>(
      batch.map((one, id) => ({ jsonrpc: '2.0', id, method: 'getTransaction', params: [one, options] })),
    )
    for (const { result } of answers) if (hasEventOf(programId, result)) paid += 1
  }
  const batches = Array.from({ length: Math.ceil(signatures.length / BATCH_CALLS) }, (_, i) =>
    signatures.slice(i * BATCH_CALLS, (i + 1) * BATCH_CALLS),
  )
  await queue.addAll(batches.map((batch) => () => read(batch)))
  if (paid !== payments) throw new Error(`counting payments: the bare loop has ${paid} of ${payments}`)
  return performance.now() - started
}
