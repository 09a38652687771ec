import { type LogPlace, networkOfLog } from '../../registry/primitives/network.js'
import type { FilledTile } from '../../registry/transparencyLog/append.js'
import { type Tile, type TileHashes, tileKey } from '../../registry/transparencyLog/tiles.js'
import { HASH_BYTES } from '../../registry/transparencyLog/tree.js'
import type { Log } from '../generated/client.js'
import { assertIndexingLeader, type LeaderScope, requireHeadRow } from '../journal/head.js'
import { byteaArray, propertyArrays } from '../pg/arrays.js'
import { inPipeline } from '../pg/pipeline.js'
import { inPipelinedTransaction } from '../pg/pool.js'
import { type DecodedRow, execute, prepared, type Queryable, query, readRows } from '../pg/rows.js'

/** A Merkle log of a network's public events or evidence, as of its newest checkpoint. */
export type StoredTransparencyLog = Omit<DecodedRow<Log>, 'network'>

/**
 * Generation, origin, final size and root of a log that has ended. The first leaf of the next log repeats these values.
 */
export type PreviousTransparencyLog = Omit<StoredTransparencyLog, 'note' | 'server'>

/** State of a network's feed or evidence, and of its log. */
export interface TransparencyLogState {
  generation: number
  /** Number of the newest event, or of the newest piece of evidence. */
  newest: number
  isCaughtUp: boolean
  /** Log of the current generation. Null before its first leaf. */
  log: StoredTransparencyLog | null
  /** Log of the newest ended generation. Null where none has ended. */
  previous: StoredTransparencyLog | null
}

const LOG_COLUMNS = 'generation, origin, size, root, note, server'
/**
 * Reads the state of a log. `$1` is the code of the log (`LOG_CODE`): of an evidence log, its network's code plus 2.
 */
const READ_LOG_STATE =
  prepared(`SELECT h.feed_generation AS current, h.caught_up AS is_caught_up, l.*, CASE WHEN $1::int2 < 2 THEN h.public_seq
      ELSE coalesce((SELECT max(number) FROM evidence e WHERE e.network = h.network AND e.generation = h.feed_generation), 0)
    END AS newest
    FROM journal_heads h LEFT JOIN LATERAL (SELECT ${LOG_COLUMNS} FROM logs
      WHERE network = $1::int2 AND generation <= h.feed_generation ORDER BY generation DESC LIMIT 2) l ON true
    WHERE h.network = $1::int2 & 1::int2`)

export async function readTransparencyLogState(
  db: Queryable,
  network: LogPlace,
): Promise<TransparencyLogState> {
  type Head = Pick<TransparencyLogState, 'newest' | 'isCaughtUp'> & { current: number }
  // The query returns one row for each log. If there is no log, it returns one row without a generation.
  const rows = await query<Head & (StoredTransparencyLog | { generation: null })>(
    db,
    network,
    READ_LOG_STATE,
  )
  const { current, newest, isCaughtUp } = requireHeadRow(rows, networkOfLog(network))
  const logs = rows.flatMap(({ current: _, newest: __, isCaughtUp: ___, ...log }) =>
    log.generation === null ? [] : [log],
  )
  return {
    generation: current,
    newest,
    isCaughtUp,
    log: logs.find(({ generation }) => generation === current) ?? null,
    previous: logs.find(({ generation }) => generation < current) ?? null,
  }
}

const FIND_LOG = prepared(`SELECT ${LOG_COLUMNS} FROM logs WHERE network = $1 AND generation = $2`)

export const findTransparencyLog = async (
  db: Queryable,
  network: LogPlace,
  generation: number,
): Promise<StoredTransparencyLog | null> =>
  (await query<StoredTransparencyLog>(db, network, FIND_LOG, [generation]))[0] ?? null

/**
 * SQL: identity of this database. It has four parts. The server's identifier differs after a dump is restored on
 * another server. Its timeline changes when a standby is promoted or a backup is recovered. The ids of database and
 * table differ in a copy, and after a dump is restored in place.
 */
const DATABASE_IDENTITY_SQL = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), 'logs'::regclass::oid)`
const READ_DATABASE_IDENTITY = prepared(`SELECT ${DATABASE_IDENTITY_SQL} AS server`)

/** Identity of this database, in the form of a log's `server`. @throws Error on a standby */
export const readDatabaseIdentity = async (db: Queryable): Promise<string> =>
  (await readRows<{ server: string }>(db, READ_DATABASE_IDENTITY))[0]!.server

const READ_TILES =
  prepared(`SELECT t.level, t.index, substr(t.hashes, 1, a.width * ${HASH_BYTES}) AS hashes
    FROM unnest($3::int2[], $4::int8[], $5::int4[]) AS a(level, index, width)
    JOIN log_tiles t ON t.network = $1 AND t.generation = $2 AND t.level = a.level AND t.index = a.index
      AND length(t.hashes) >= a.width * ${HASH_BYTES}`)

/** Reads hashes of tiles, cut to the requested widths. Tiles that the log does not have are left out. */
export async function readTiles(
  db: Queryable,
  network: LogPlace,
  generation: number,
  tiles: readonly Tile[],
): Promise<TileHashes> {
  if (tiles.length === 0) return new Map()
  const rows = await query<{ level: number; index: number; hashes: Buffer }>(
    db,
    network,
    READ_TILES,
    [generation, ...propertyArrays(tiles, 'level', 'index', 'width')],
  )
  return new Map(rows.map((row) => [tileKey(row), row.hashes]))
}

const WRITE_LOG = prepared(`INSERT INTO logs (network, generation, origin, size, root, note, server)
  SELECT $1, $2, $3, $4, $5, $6, $7::text WHERE $7 IS NULL OR $7 = ${DATABASE_IDENTITY_SQL}
  ON CONFLICT (network, generation) DO UPDATE SET size = $4, root = $5, note = $6, server = $7`)
const WRITE_TILES = prepared(`INSERT INTO log_tiles AS t (network, generation, level, index, hashes)
  SELECT $1, $2, * FROM unnest($3::int2[], $4::int8[], $5::bytea[])
  ON CONFLICT (network, generation, level, index) DO UPDATE SET hashes = excluded.hashes
  WHERE length(t.hashes) < length(excluded.hashes)`)
/**
 * Deletes the tiles of generations before the previous generation. With the tree of the previous generation, a client
 * that has an older checkpoint can verify that the log continued from there.
 */
const DELETE_TILES = prepared(`DELETE FROM log_tiles WHERE network = $1
    AND generation < (SELECT max(generation) FROM logs WHERE network = $1 AND generation < $2)`)

/**
 * Writes a log that has grown from `size`, and its tiles, in one transaction.
 * @throws LostLeadershipError; Error where the log's size or the database's identity has changed meanwhile
 */
export async function writeTransparencyLog(
  { pool, network, epoch }: Omit<LeaderScope, 'network'> & { network: LogPlace },
  log: StoredTransparencyLog,
  { size, tiles }: { size: number; tiles: readonly FilledTile[] },
): Promise<void> {
  await inPipelinedTransaction(pool, {
    reads: (db) => [
      assertIndexingLeader(db, networkOfLog(network), epoch),
      findTransparencyLog(db, network, log.generation),
    ],
    work: async (client, [, now]) => {
      if ((now?.size ?? 0) !== size)
        throw new Error(
          `the log ${log.origin} has ${now?.size} entries, and ${size} when it was read`,
        )
      await inPipeline(client, (db) => [
        storeTiles(db, network, log.generation, tiles),
        writeTransparencyLogRow(db, network, log),
      ])
    },
  })
}

/**
 * Writes a log's row, and deletes the tiles of generations before the previous generation.
 * @throws Error if this database no longer has the identity `server`, as after a fail-over. Null is not compared
 */
export async function writeTransparencyLogRow(
  db: Queryable,
  network: LogPlace,
  { generation, origin, size, root, note, server }: StoredTransparencyLog,
): Promise<void> {
  const row = [generation, origin, size, root, note, server]
  const [written] = await Promise.all([
    execute(db, network, WRITE_LOG, row),
    execute(db, network, DELETE_TILES, [generation]),
  ])
  if (written !== 1)
    throw new Error(`another server than ${server} took over while the log ${origin} was signed`)
}

/** Writes tiles that are new, or longer than the stored ones. */
export async function storeTiles(
  db: Queryable,
  network: LogPlace,
  generation: number,
  tiles: readonly FilledTile[],
): Promise<void> {
  if (tiles.length === 0) return
  await execute(db, network, WRITE_TILES, [
    generation,
    ...propertyArrays(tiles, 'level', 'index'),
    byteaArray(tiles.map(({ hashes }) => hashes)),
  ])
}

const STORE_PREVIOUS_LOG = `INSERT INTO logs AS l (network, generation, origin, size, root) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (network, generation) DO UPDATE SET origin = $3, size = $4, root = $5, note = NULL
  WHERE (l.origin, l.size, l.root) <> ($3, $4, $5)`

/**
 * Stores origin, final size and root of a log that has ended, as the next log's first leaf gives them. If the stored
 * log has the same values, its signed checkpoint is kept.
 */
export const storePreviousTransparencyLog = (
  db: Queryable,
  network: LogPlace,
  { generation, origin, size, root }: PreviousTransparencyLog,
) => execute(db, network, STORE_PREVIOUS_LOG, [generation, origin, size, root])

const DELETE_LOGS = ['logs', 'log_tiles'].map(
  (table) => `DELETE FROM ${table} WHERE network = $1 AND generation >= $2`,
)

/** Deletes the logs of a generation and all later ones, because they belong to a discarded history. */
export async function deleteTransparencyLogs(
  db: Queryable,
  network: LogPlace,
  generation: number,
): Promise<void> {
  for (const text of DELETE_LOGS) await execute(db, network, text, [generation])
}
