import { EVIDENCE_PUBLISHED_AFTER_MS, evidenceEntry } from '../../registry/auth/evidence.js'
import { decodeChange } from '../../registry/journal/change.js'
import { decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { assertIndexingLeader, type LeaderScope } from '../journal/head.js'
import { journalEntrySql, prepareStatement } from '../journal/partitions.js'
import { propertyArrays } from '../pg/arrays.js'
import { inTransaction } from '../pg/pool.js'
import { execute, prepared, type Queryable, query } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'

/** Maximum number of pieces of evidence that one transaction publishes. */
const MAX_PUBLISHED_AT_ONCE = 256

/**
 * Evidence of a public wallet that is not in the evidence log yet. It is published in the order of position and
 * address.
 */
interface UnpublishedEvidence {
  /**
   * Number of the journal entry from which on the wallet was public and had this evidence. So it is never lower than
   * that of published evidence, and reveals nothing of the time when the wallet was private.
   */
  position: number
  address: Buffer
  /** Time of the `sign_membership` entry, ms. */
  atMs: number
  /** Body of the `sign_membership` entry. */
  body: Buffer
  /** True once the evidence is old enough to be published. */
  isDue: boolean
}
/** SQL: `position` of `UnpublishedEvidence`, for a row of `wallets`. */
const EVIDENCE_POSITION_SQL = 'GREATEST(created_seq, evidence_seq)'
/**
 * Reads the next evidence to publish. LATERAL makes PostgreSQL read journal entries one by one: before tables are
 * analyzed, it would join the whole journal with itself.
 */
const readUnpublishedEvidence = prepareStatement<UnpublishedEvidence>(
  (l) => `SELECT w.position, w.address, j.at_ms, j.body,
      GREATEST(j.at_ms, shown.at_ms) < ${NOW_MS_SQL} - $2::int8 AS is_due
    FROM journal_heads h
    CROSS JOIN LATERAL (SELECT coalesce(max(number), 0) AS count FROM evidence
      WHERE network = ${l.network} AND generation = h.feed_generation) n
    LEFT JOIN evidence last ON last.network = ${l.network} AND last.generation = h.feed_generation AND last.number = n.count
    CROSS JOIN LATERAL (SELECT ${EVIDENCE_POSITION_SQL} AS position, address, evidence_seq FROM ${l.wallets}
      WHERE network = ${l.network} AND evidence_seq IS NOT NULL AND NOT private
        AND (${EVIDENCE_POSITION_SQL}, address) > (coalesce(last.seq, 0), coalesce(last.address, ''))
      ORDER BY ${EVIDENCE_POSITION_SQL}, address LIMIT ${MAX_PUBLISHED_AT_ONCE}) w
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'w.evidence_seq')}) j
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'w.position')}) shown
    WHERE h.network = ${l.network} AND h.feed_generation = $1
    ORDER BY w.position, w.address`,
)

const PUBLISH_EVIDENCE =
  prepared(`INSERT INTO evidence (network, generation, number, seq, address, entry)
  SELECT $1, $2, coalesce((SELECT max(number) FROM evidence WHERE network = $1 AND generation = $2), 0) + ord, seq, address, entry
  FROM unnest($3::int8[], $4::bytea[], $5::text[]) WITH ORDINALITY AS e(seq, address, entry, ord)`)
const DELETE_EARLIER_EVIDENCE = prepared(
  'DELETE FROM evidence WHERE network = $1 AND generation < $2',
)

/**
 * Gives the next numbers of the evidence log to evidence whose signatures open no session any more. Deletes the
 * evidence of earlier generations.
 * @param generation generation of the feed; without effect if it is not the current one
 * @param afterMs least age of the evidence, ms
 * @throws LostLeadershipError
 */
export async function publishEvidence(
  { pool, network, epoch }: LeaderScope,
  generation: number,
  afterMs = EVIDENCE_PUBLISHED_AFTER_MS,
): Promise<void> {
  const rows = await readUnpublishedEvidence(pool, network, generation, afterMs)
  const young = rows.findIndex(({ isDue }) => !isDue)
  const due = young < 0 ? rows : rows.slice(0, young)
  if (due.length === 0) return
  const entries = due.map(({ atMs, body }) => {
    const { actor, clusterId, ...signed } = decodeChange('sign_membership', body)
    return evidenceEntry({
      ...signed,
      atMs,
      wallet: decodeWallet(actor),
      clusterId: toHex(clusterId),
    })
  })
  await inTransaction(pool, async (db) => {
    await assertIndexingLeader(db, network, epoch)
    await execute(db, network, DELETE_EARLIER_EVIDENCE, [generation])
    await execute(db, network, PUBLISH_EVIDENCE, [
      generation,
      ...propertyArrays(due, 'position', 'address'),
      entries,
    ])
  })
}

const STORE_MIRRORED_EVIDENCE =
  prepared(`INSERT INTO evidence (network, generation, number, seq, address, entry)
  SELECT $1, $2, $3::int8 + ord - 1, 0, '', entry FROM unnest($4::text[]) WITH ORDINALITY AS e(entry, ord) WHERE $3::int8 + ord > 1`)

/**
 * Writes entries of the source's evidence log into a mirror, from index `from` on. Index 0 begins a log: it is no
 * evidence, so it is not stored, and the evidence of an earlier log is deleted.
 */
export async function storeMirroredEvidence(
  db: Queryable,
  network: Network,
  generation: number,
  { from, texts }: { from: number; texts: readonly string[] },
): Promise<void> {
  if (from === 0) await execute(db, network, 'DELETE FROM evidence WHERE network = $1', [])
  await execute(db, network, STORE_MIRRORED_EVIDENCE, [generation, from, texts])
}

const READ_EVIDENCE_RANGE = prepared(`SELECT e.entry FROM journal_heads h
  LEFT JOIN evidence e ON e.network = h.network AND e.generation = $2 AND e.number BETWEEN $3 AND $4
  WHERE h.network = $1 AND h.feed_generation = $2 ORDER BY e.number`)

/** Entries `from` to `to` (inclusive, from 1) of a generation's evidence log. Null where the generation has ended. */
export const readEvidenceEntries = async (
  db: Queryable,
  network: Network,
  generation: number,
  { from, to }: { from: number; to: number },
): Promise<string[] | null> => {
  const values = [generation, from, to]
  const rows = await query<{ entry: string | null }>(db, network, READ_EVIDENCE_RANGE, values)
  if (rows.length === 0) return null
  return rows.flatMap(({ entry }) => (entry === null ? [] : [entry]))
}
