/**
 * `npm run bench:export`: exports and imports a registry, beside COPY of the same tables to a file that is packed as
 * `pg_dump -Fc` does (zlib at level 6), and back. docs/backup.md has the figures.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { exportTo, type Plan } from '../src/cli/export/export.js'
import { importFrom, verify } from '../src/cli/export/import.js'
import { appendEntries } from '../src/db/journal/append.js'
import { migrate } from '../src/db/pg/migrate.js'
import { STATE_TABLES } from '../src/db/pg/partitions.js'
import { createPool, inTransaction } from '../src/db/pg/pool.js'
import { decodeEntry } from '../src/registry/journal/decode.js'
import type { Entry } from '../src/registry/journal/entry.js'
import { txKey } from '../src/registry/primitives/bytes.js'
import { createDatabase, startPostgres } from '../src/testing/processes/postgres.js'
import { type Bench, describeMachine, peakMemoryKib, printTable, runBench, thousands } from './bench/bench.js'

const BATCH = 20_000
const { values } = parseArgs({ options: { entries: { type: 'string', default: '1000000' } } })
const count = Number(values.entries)
const TABLES = ['journal', ...STATE_TABLES]

/** A bid of a wallet of its own for a name of its own. */
function bid(i: number): Entry {
  const hash = createHash('sha256').update(String(i)).digest()
  const word = (bytes: Buffer) => Buffer.concat([Buffer.alloc(32 - bytes.length), bytes])
  const name = Buffer.concat([Buffer.from(`name-${i}`), Buffer.alloc(32)]).subarray(0, 32)
  const body = Buffer.concat([hash, word(hash.subarray(0, 20)), word(Buffer.from('016345785d8a0000', 'hex')), name])
  const position = { chain: 1, block: Math.floor(i / 10), logIndex: i % 10 }
  return { kind: 'bid', position, txKey: txKey(hash), causeMs: 1_700_000_000_000 + i, body }
}

async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
  const startMs = performance.now()
  const result = await work()
  return [(performance.now() - startMs) / 1_000, result]
}

async function dump(pool: pg.Pool, home: string): Promise<number> {
  let bytes = 0
  for (const table of TABLES) {
    const client = await pool.connect()
    const file = join(home, `${table}.gz`)
    const source = client.query(copyTo(`COPY (SELECT * FROM ${table}) TO STDOUT`))
    await pipeline(source, createGzip({ level: 6 }), createWriteStream(file))
    client.release()
    bytes += statSync(file).size
  }
  return bytes
}

async function restore(url: string, home: string): Promise<void> {
  await migrate(url)
  const pool = createPool({ url, max: 1, applicationName: 'restore' })
  await inTransaction(pool, async (client) => {
    for (const table of TABLES) {
      const sink = client.query(copyFrom(`COPY ${table} FROM STDIN`))
      await pipeline(createReadStream(join(home, `${table}.gz`)), createGunzip(), sink)
    }
  })
  await pool.end()
}

async function main({ home, onEnd }: Bench): Promise<void> {
  const server = await startPostgres({ dataDir: join(home, 'pg') })
  onEnd(() => server.stop())
  const url = await createDatabase(server.url, 'source')
  await migrate(url)
  const pool = createPool({ url, max: 2, applicationName: 'bench' })
  onEnd(() => pool.end())
  for (let i = 0; i < count; i += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - i) }, (_, k) => decodeEntry(bid(i + k)))
    await inTransaction(pool, (client) =>
      appendEntries(client, 'mainnet', entries, { writerMs: Number.POSITIVE_INFINITY }),
    )
  }
  await pool.query('VACUUM ANALYZE')
  console.log(`${thousands(count)} entries, ${await describeMachine(url)}`)
  const rows: string[][] = [['what', 'written', 'bytes', 'read back']]
  const [dumped, bytes] = await timed(() => dump(pool, home))
  const copyUrl = await createDatabase(server.url, 'copy')
  const [restored] = await timed(() => restore(copyUrl, home))
  rows.push(['COPY, zlib level 6', seconds(dumped), mega(bytes), seconds(restored)])
  const key = randomBytes(32)
  const plans: [string, Plan][] = [
    ['export --key-file', { key, isPublic: false, networks: ['mainnet'] }],
    ['export --public', { key: null, isPublic: true, networks: ['mainnet'] }],
  ]
  for (const [i, [what, plan]] of plans.entries()) {
    const file = join(home, `export-${i}`)
    const [took, written] = await timed(() => exportTo(pool, file, plan))
    const [checked] = await timed(() => verify(file, plan.key))
    const target = await createDatabase(server.url, `target_${i}`)
    const [imported] = await timed(() => importFrom(target, file, plan.key))
    rows.push([what, seconds(took), mega(written.bytes), `${seconds(imported)}, check ${seconds(checked)}`])
  }
  printTable(rows)
  console.log(`peak memory of this process: ${Math.round(peakMemoryKib(process.pid) / 1_024)} MB`)
}

const seconds = (value: number): string => `${value.toFixed(1)} s`
const mega = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

await runBench(main)
