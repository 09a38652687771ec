import type pg from 'pg'
import { pause } from '../../../ops/notify.js'
import type { Network } from '../../../registry/primitives/network.js'
import { LOCK_CLASS, lockKeys } from '../../pg/codes.js'
import { createPool } from '../../pg/pool.js'
import { readRows } from '../../pg/rows.js'
import { cut } from '../../pg/silence.js'
import { type Replayed, replay } from '../replay.js'
import { SNAPSHOT_BEHIND } from './index.js'

/** Entries that are folded at once: some ten milliseconds of this process, then a pause that is as long. */
const BATCH_ENTRIES = 500
/** Between two looks whether somebody waits for what the replay reads. */
const WATCH_MS = 500

export interface KeepOptions {
  /** For the looks. */
  pool: pg.Pool
  /** For two connections of the replay's own, to the server itself. */
  databaseUrl: string
  network: Network
  signal: AbortSignal
  /** Called while the replay goes on. */
  alive: () => void
  behind?: number
}

/**
 * Whether a rewind of a network runs, or anybody waits for what its replay has locked: the switch of a rewind, or a
 * migration, which readers and writers wait behind.
 */
const AWAITED = {
  name: 'awaited',
  text: `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ${LOCK_CLASS}
      AND objid = $1::int4 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    OR EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = ANY (pg_blocking_pids(l.pid))
      WHERE NOT l.granted AND starts_with(a.application_name, $2)) AS awaited`,
}

/**
 * Goes on from a network's snapshot with pauses, compares, and keeps the next snapshot where both hashes are the same.
 * It gives way at the signal, at a rewind and to whoever waits for the tables: its connections are cut. What that, or
 * a kill, leaves behind the next replay removes.
 * @returns null where it gave way
 */
export async function keepSnapshot(options: KeepOptions): Promise<Replayed | null> {
  const { databaseUrl: url, network, signal, behind = SNAPSHOT_BEHIND } = options
  const applicationName = `clusterd snapshot ${network}`
  const [ended, awaited] = [new AbortController(), new AbortController()]
  const givesWay = AbortSignal.any([signal, awaited.signal])
  const pool = createPool({ url, max: 2, applicationName })
  const clients = new Set<pg.PoolClient>()
  const cutAll = () => {
    for (const client of clients) cut(client, 'a snapshot gives way')
  }
  pool.on('connect', (client) => clients.add(client))
  givesWay.addEventListener('abort', cutAll)
  const watching = watch(options, applicationName, ended.signal).catch(() => {})
  void watching.then(() => awaited.abort())
  let lastMs = performance.now()
  const onProgress = async () => {
    givesWay.throwIfAborted()
    await pause(performance.now() - lastMs, givesWay)
    lastMs = performance.now()
  }
  try {
    const options = { isIncremental: true, keepBehind: behind, onProgress, batchEntries: BATCH_ENTRIES }
    return await replay(pool, network, options)
  } catch (error) {
    if (givesWay.aborted) return null
    throw error
  } finally {
    ended.abort()
    await watching
    await pool.end()
  }
}

/** Looks until the signal, or until somebody waits. @throws as the look does */
async function watch({ pool, network, alive }: KeepOptions, applicationName: string, ended: AbortSignal) {
  const [, rewind] = lockKeys(network, 'rewind')
  while (!ended.aborted) {
    const [found] = await readRows<{ awaited: boolean }>(pool, AWAITED, [rewind, applicationName])
    if (found!.awaited) return
    alive()
    await pause(WATCH_MS, ended)
  }
}
