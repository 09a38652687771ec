import pg from 'pg'
import { appendEntries } from '../../src/db/journal/append.js'
import { readHead } from '../../src/db/journal/head.js'
import type { DecodedEntry } from '../../src/registry/journal/decode.js'
import { Entries } from './entries.js'
import type { Registry } from './registries.js'

/** What further registrations cost beside those that are stored: the daemon's own path, batch after batch. */

const NETWORK = 'mainnet'
/** As the first catch-up writes (src/indexer/evm/backfill.ts). */
const BIDS_A_BATCH = 3_000
const BATCHES = 14
/** Blocks of the generated chain begin again, far behind its last. */
const LATER_BLOCKS = 10_000_000

export interface Written {
  /** Registrations a second, and bytes of the write-ahead log for each. */
  perS: number
  walBytes: number
}

/** Appends bids for names that nobody has. */
export async function write({ databaseUrl, size }: Registry): Promise<Written> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('SET synchronous_commit = off')
  const entries = new Entries(size)
  const lsn = async () => (await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')).rows[0]!.lsn
  const { seq } = await readHead(client, NETWORK)
  // beyond all clusters that there are, and those of earlier runs
  let cluster = seq
  const nextBatch = (): DecodedEntry[] => {
    const batch: DecodedEntry[] = []
    for (; batch.length < BIDS_A_BATCH; cluster++) {
      const made: DecodedEntry[] = []
      entries.add(made, cluster)
      const [bid] = made
      const { position } = bid!
      batch.push({ ...bid!, position: { ...position!, block: position!.block + LATER_BLOCKS + seq } })
    }
    return batch
  }
  let [ms, begun, registrations] = [0, '', 0]
  for (let number = 0; number < BATCHES; number++) {
    const batch = nextBatch()
    // the first one plans, and finds the upper pages of the indexes
    if (number === 1) begun = await lsn()
    const startMs = performance.now()
    await client.query('BEGIN')
    await appendEntries(client, NETWORK, batch, { writerMs: Number.MAX_SAFE_INTEGER })
    await client.query('COMMIT')
    if (number === 0) continue
    ms += performance.now() - startMs
    registrations += batch.length
  }
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_wal_lsn_diff($1, $2) AS bytes', [
    await lsn(),
    begun,
  ])
  await client.end()
  return { perS: (registrations * 1_000) / ms, walBytes: Number(rows[0]!.bytes) / registrations }
}
