import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import {
  createDatabase,
  databaseUrl,
  dropDatabase,
  type Postgres,
  startPostgres,
} from '../../src/testing/processes/postgres.js'
import { thousands } from '../bench/bench.js'
import { type Generated, generate } from './generate.js'

/** Generated registries, each in a database of its own on one server whose folder may be kept between runs. */

/** A registry, and where it is. */
export interface Registry extends Generated {
  databaseUrl: string
  /** Names that were asked for. */
  size: number
}

/** While rows are made nothing has to reach the disk; what comes after stands on a server that is started anew. */
const FILLING = {
  ...{ fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0', autovacuum: 'off' },
  ...{ shared_buffers: '2GB', max_parallel_maintenance_workers: '0', checkpoint_timeout: '1h', max_wal_size: '16GB' },
}
/** A server of ten million names on a machine of 24 GiB: what look-ups go down is in its own memory. */
const SERVING = { shared_buffers: '14GB', effective_cache_size: '20GB', random_page_cost: '1.1', autovacuum: 'off' }

export const startServing = (folder: string): Promise<Postgres> =>
  startPostgres({ dataDir: join(folder, 'pg'), settings: SERVING })

/** Whether a server has its shared_buffers in huge pages, which it takes where the kernel has enough: on or off. */
export async function hugePages(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ huge_pages_status: string }>('SHOW huge_pages_status')
  await client.end()
  return rows[0]!.huge_pages_status
}

/** Names from which on what a run writes changes little of a registry: smaller ones are made anew for each. */
const KEPT_FROM = 1_000_000

/** Forgets registries in which a run has written, and which the next one makes anew. */
export function forgetWritten(folder: string, sizes: readonly number[]): void {
  for (const size of sizes) if (size < KEPT_FROM) rmSync(noteOf(folder, size), { force: true })
}

/** Makes the registries that a folder lacks. */
export async function makeRegistries(folder: string, sizes: readonly number[]): Promise<void> {
  const missing = sizes.filter((size) => !existsSync(noteOf(folder, size)))
  if (missing.length === 0) return
  const postgres = await startPostgres({ dataDir: join(folder, 'pg'), settings: FILLING })
  try {
    for (const size of missing) {
      // what a run that was stopped left
      await dropDatabase(postgres.url, nameOf(size))
      const url = await createDatabase(postgres.url, nameOf(size))
      const made = await generate({ databaseUrl: url, names: size, onProgress: createProgress(size) })
      console.log(`${thousands(size)} names: ${JSON.stringify(made)}`)
      writeFileSync(noteOf(folder, size), JSON.stringify(made))
    }
  } finally {
    await postgres.stop()
  }
}

/** A registry that a folder has, without the chain that an earlier run asked. */
export async function openRegistry(folder: string, size: number, server: Postgres): Promise<Registry> {
  const url = databaseUrl(server.url, nameOf(size))
  const made = JSON.parse(readFileSync(noteOf(folder, size), 'utf8')) as Generated
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('DELETE FROM chains')
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm')
  await client.query(`SELECT pg_prewarm(oid) ${LOOKED_UP}`)
  await client.query(`SELECT pg_prewarm(oid, 'read') ${JOURNAL}`)
  await client.end()
  return { ...made, size, databaseUrl: url }
}

/** What look-ups go down: read into shared_buffers, as on a server that has run for a while. */
const LOOKED_UP = `FROM pg_class WHERE relkind IN ('r', 'i') AND relname ~ '_mainnet'
  AND relname !~ '^journal_mainnet_[0-9]+($|_(network_generation_(actor|public|chain)|position))'`
/** The journal's rows, of which a look-up reads some: as much of them as the system's memory has room for. */
const JOURNAL = `FROM pg_class WHERE relkind = 'r' AND relname ~ '^journal_mainnet_[0-9]+$'`

const nameOf = (size: number): string => `names_${size}`
const noteOf = (folder: string, size: number): string => join(folder, `${nameOf(size)}.json`)

/** Says each twentieth. */
function createProgress(size: number): (names: number) => void {
  const startMs = performance.now()
  let said = 0
  return (names) => {
    if (names < said + size / 20) return
    said = names
    console.log(`  ${thousands(names)} names after ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
  }
}
