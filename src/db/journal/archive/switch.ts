import { join } from 'node:path'
import type pg from 'pg'
import { failpoint } from '../../../ops/failpoint.js'
import { ACTOR_BYTES, isClusterChangeKind } from '../../../registry/journal/change.js'
import { ENTRY_KIND, type EntryKind } from '../../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { startCopy } from '../../pg/copy.js'
import { appliedMigrations, refuseUnknown } from '../../pg/migrate.js'
import { leaf, type StateTable } from '../../pg/partitions.js'
import { type Partition, readPartitions } from '../partitions.js'
import { switchInTries } from '../rewind/lock.js'
import { entriesHash } from '../stateHash.js'
import { type Archive, markArchive } from './archives.js'
import { ArchiveFile, type ArchiveIndex, BrokenArchiveError } from './file.js'
import { compare, numbersOf, type OnProgress } from './write.js'

/**
 * Columns that name an entry by its number. Who reads the journal, and what is left of a dropped partition for him:
 *
 * - Look-ups by such a number (`entryAt`, `readRules`, the bid of a payment in `DUE`) and by a chain's block
 *   (`readBodies`, `readJournalledLogs`, `hasEntries` of a rewind, refusals, payments for community names): the entries
 *   that a column names, and all of a chain's. Nobody reads a wallet's change's effects there, nor more of a cluster's
 *   change's body than the actor.
 * - The feed, and what walks over it (`readStretch`, `findSince`, checkpoints, streams): nothing. What is left says
 *   that it has no events, so that it stands in none of the feed's indexes; files answer (`serve.ts`).
 * - The fold and its hashes (replay, a rewind that begins a generation, export): nothing; they refuse
 *   (`refuseArchived`).
 * - The retention, and an operator who compares generations: entries of other generations, whole.
 */
export const NAMES_ENTRIES: Record<StateTable, readonly string[]> = {
  names: ['seq', 'updated_seq'],
  clusters: ['created_seq'],
  wallets: ['created_seq', 'updated_seq'],
  communities: ['seq'],
  community_names: ['seq'],
  moves: ['seq'],
}

/** What has to be moved, and where from. */
export interface Moved {
  network: Network
  archive: Archive
  /** Folder of the files. */
  dir: string
  onProgress?: OnProgress
}

/** Schema in which a partition's new table is made. */
export const schemaOf = (network: Network): string => `archive_${network}`

/**
 * Replaces a partition by what look-ups need of it, once its file was compared with it again. Readers and writers go
 * on; those of the partition wait for one brief lock.
 * @throws BrokenArchiveError, and an Error where the table stays locked or a rewind came between
 */
export async function dropPartition(client: pg.ClientBase, moved: Moved): Promise<void> {
  const { network, archive } = moved
  const partition = await partitionOf(client, moved)
  await withFile(moved, (file, index) =>
    compare(
      client,
      { ...partition, ...numbersOf(partition), network, generation: archive.generation },
      { file, index },
    ),
  )
  const made = await createTable(client, network, partition)
  await client.query(`INSERT INTO ${made} ${keptOf(network, archive, partition)}`)
  await replace(client, moved, { partition, made })
}

/**
 * Brings a partition back from its file, whose hashes are checked, with all that its table had.
 * @throws BrokenArchiveError, and an Error where the file is of a newer version or the table stays locked
 */
export async function restorePartition(client: pg.ClientBase, moved: Moved): Promise<void> {
  const { network, archive, onProgress = () => {} } = moved
  const { generation, seqFirst, seqLast } = archive
  const partition = await partitionOf(client, moved)
  const made = await createTable(client, network, partition)
  await withFile(moved, async (file, index) => {
    refuseUnknown(
      index.migrations,
      await appliedMigrations(client),
      (unknown) => new Error(`${file.path} is of a newer version (${unknown}): restore it with that one.`),
    )
    for (const block of index.blocks) {
      const rows = await file.read(block)
      const copy = startCopy(client, `${made} (${index.columns})`)
      await copy.write(rows)
      await copy.end()
      onProgress(block.seq - seqFirst, seqLast - seqFirst + 1)
    }
    const entries = { generation, after: seqFirst - 1, upTo: seqLast, table: made }
    if ((await entriesHash(client, network, entries)) !== index.entriesHash)
      throw new BrokenArchiveError(`${file.path} gives other entries than it was written from: put it elsewhere.`)
  })
  await client.query(`INSERT INTO ${made} SELECT * FROM public.${partition.table} WHERE generation <> ${generation}`)
  await replace(client, moved, { partition, made })
}

async function partitionOf(client: pg.ClientBase, { network, archive }: Moved): Promise<Partition> {
  const partitions = await readPartitions(client, network)
  const found = partitions.find((one) => numbersOf(one).first === archive.seqFirst && one.to - 1 === archive.seqLast)
  if (!found) throw new Error(`the journal of ${network} has no partition from entry ${archive.seqFirst} on.`)
  return found
}

/** Opens the file of an archive, if it is what was written. @throws BrokenArchiveError */
function withFile<T>(
  { archive, dir }: Moved,
  work: (file: ArchiveFile, index: ArchiveIndex) => Promise<T>,
): Promise<T> {
  return ArchiveFile.with(join(dir, archive.file), async (file) => {
    if (!(await file.hash()).equals(archive.fileHash))
      throw new BrokenArchiveError(`${file.path} is not the file that was written: put that one back from a copy.`)
    return work(file, (await file.index()).index)
  })
}

/** Makes an empty table beside a partition, with its indexes; the constraint saves the switch a scan. */
async function createTable(client: pg.ClientBase, network: Network, { table, from, to }: Partition): Promise<string> {
  const schema = schemaOf(network)
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await client.query(`CREATE SCHEMA ${schema}`)
  await client.query(`CREATE TABLE ${schema}.${table} (LIKE public.${table} INCLUDING ALL,
    CONSTRAINT archive_bounds CHECK (network = ${NETWORK_CODE[network]} AND seq >= ${from} AND seq < ${to}))`)
  return `${schema}.${table}`
}

const CLUSTER_CHANGES = (Object.keys(ENTRY_KIND) as EntryKind[])
  .filter(isClusterChangeKind)
  .map((kind) => ENTRY_KIND[kind])
  .join()

/** The rows that stay of a partition. */
function keptOf(network: Network, { generation, seqFirst, seqLast }: Archive, { table }: Partition): string {
  const code = NETWORK_CODE[network]
  const named = (Object.keys(NAMES_ENTRIES) as StateTable[]).flatMap((of) =>
    NAMES_ENTRIES[of].map(
      (column) =>
        `SELECT ${column} AS seq FROM public.${leaf(of, network)} WHERE network = ${code} AND ${column} BETWEEN ${seqFirst} AND ${seqLast}`,
    ),
  )
  const isArchived = `j.generation = ${generation}`
  const short = `CASE WHEN ${isArchived} AND j.kind IN (${CLUSTER_CHANGES}) THEN substring(j.body FROM 1 FOR ${ACTOR_BYTES}) ELSE j.body END`
  return `(network, generation, seq, kind, chain, block, log_index, tx_key, at_ms, public_first, public_count, actor, body, effects, ruleset)
    SELECT j.network, j.generation, j.seq, j.kind, j.chain, j.block, j.log_index, j.tx_key, j.at_ms, j.public_first,
      CASE WHEN ${isArchived} THEN 0 ELSE j.public_count END, j.actor, ${short},
      CASE WHEN ${isArchived} AND j.chain IS NULL THEN ''::bytea ELSE j.effects END, j.ruleset
    FROM public.${table} j LEFT JOIN (${named.join(' UNION ')}) named ON named.seq = j.seq
    WHERE NOT ${isArchived} OR j.chain IS NOT NULL OR named.seq IS NOT NULL`
}

/** Puts a table in the place of a partition. */
async function replace(
  client: pg.ClientBase,
  { network, archive }: Moved,
  { partition: { table, from, to }, made }: { partition: Partition; made: string },
): Promise<void> {
  await client.query(`ANALYZE ${made}`)
  failpoint('archive_made')
  const journal = `public.${leaf('journal', network)}`
  await switchInTries(client, [`public.${table}`], async () => {
    await client.query(`LOCK TABLE ONLY ${journal}, ONLY public.${table} IN ACCESS EXCLUSIVE MODE`)
    await markArchive(client, network, archive, archive.droppedMs === null)
    await client.query(`ALTER TABLE ${journal} DETACH PARTITION public.${table}`)
    await client.query(`DROP TABLE public.${table}`)
    await client.query(`ALTER TABLE ${made} SET SCHEMA public`)
    await client.query(`ALTER TABLE ${journal} ATTACH PARTITION public.${table} FOR VALUES FROM (${from}) TO (${to})`)
    await client.query(`ALTER TABLE public.${table} DROP CONSTRAINT archive_bounds`)
  })
}
