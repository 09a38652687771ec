import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { failpoint } from '../../../ops/failpoint.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { appliedMigrations } from '../../pg/migrate.js'
import { query, readRows } from '../../pg/rows.js'
import { JOURNAL_COLUMNS } from '../export/tables.js'
import { type Partition, readPartitions } from '../partitions.js'
import { entriesHash } from '../stateHash.js'
import { ActorPairs } from './actors.js'
import { type Archive, keepArchive, readArchives } from './archives.js'
import { ArchiveFile, type ArchiveIndex, ArchiveWriter, type Block, BrokenArchiveError } from './file.js'
import { entriesOf } from './rows.js'

/** Entries of a block: about 300 kB, of which a page of a wallet's own feed may need many. */
const BLOCK_ENTRIES = 1_024
/** Length of a block that is shortened, unless it has one entry: far below what a reader takes. */
const BLOCK_BYTES = 16 << 20
/** Digits of an entry's number in a file's name, so that names sort. */
const NUMBER_DIGITS = 12
/** Newest partitions that are never archived: the head's, and the one before it. */
const NEWEST = 2
/** Age of the last entry: answers about the last month, as an overview's days, are never read from files. */
export const LEAST_AGE_MS = 32 * 86_400_000

/** What is being archived. */
export interface Stretch extends Partition {
  network: Network
  generation: number
  /** Numbers of the first and the last entry. */
  first: number
  last: number
}

/** How a partition is written, and where to. */
export interface WriteOptions {
  /** Folder of the files. */
  dir: string
  onProgress?: OnProgress
  /** Entries of a block. */
  blockEntries?: number
}

export type OnProgress = (done: number, total: number) => void

/** Numbers of the first and the last entry of a partition: entries count from 1. */
export const numbersOf = ({ from, to }: Partition) => ({ first: Math.max(from, 1), last: to - 1 })

/**
 * The full partitions of a network's generation in force that no chain could take back any more: all of their blocks
 * are confirmed, as far as the daemon last knew, no chain is halted, and their entries are older than a month.
 */
export async function archivable(client: pg.ClientBase, network: Network): Promise<Stretch[]> {
  const [head] = await query<{ generation: number; seq: number; nowMs: number }>(
    client,
    network,
    `SELECT generation, seq, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms FROM journal_heads
     WHERE network = $1 AND NOT EXISTS (SELECT FROM chains c WHERE c.network = $1 AND c.halted IS NOT NULL)`,
  )
  if (!head) return []
  const { generation, seq, nowMs } = head
  const full = (await readPartitions(client, network)).filter(({ from }) => from <= seq).slice(0, -NEWEST)
  const stretches = full.map((partition) => ({ ...partition, ...numbersOf(partition), network, generation }))
  const found: Stretch[] = []
  for (const stretch of stretches) {
    if (nowMs - (await lastMsOf(client, stretch)) < LEAST_AGE_MS || !(await isConfirmed(client, stretch))) break
    found.push(stretch)
  }
  return found
}

const whereOf = ({ network, generation }: Stretch): string =>
  `network = ${NETWORK_CODE[network]} AND generation = ${generation}`

/** Time of the last entry, ms; of what is left, where the partition is dropped. */
async function lastMsOf(client: pg.ClientBase, stretch: Stretch): Promise<number> {
  const text = `SELECT at_ms FROM public.${stretch.table} WHERE ${whereOf(stretch)} ORDER BY seq DESC LIMIT 1`
  return (await readRows<{ atMs: number }>(client, text))[0]?.atMs ?? 0
}

/** Whether each chain's newest block in the partition is below its checkpoint, and below what it last counted final. */
async function isConfirmed(client: pg.ClientBase, stretch: Stretch): Promise<boolean> {
  const text = `SELECT FROM chains c LEFT JOIN chain_states s ON s.network = c.network AND s.label = c.label
    CROSS JOIN LATERAL (SELECT max(block) AS block FROM public.${stretch.table} j
      WHERE j.network = c.network AND j.generation = $2 AND j.chain = c.chain) j
    WHERE c.network = $1 AND j.block > least(c.next_block - 1, (s.state->>'confirmed')::int8) LIMIT 1`
  return (await query(client, stretch.network, text, [stretch.generation])).length === 0
}

/** Entries from one number to another, inclusive, as a whole COPY. @throws Error where one is missing */
async function copyEntries(
  client: pg.ClientBase,
  stretch: Stretch,
  { columns, from, to }: { columns: string; from: number; to: number },
): Promise<Buffer> {
  const rows = `FROM public.${stretch.table} WHERE ${whereOf(stretch)} AND seq BETWEEN ${from} AND ${to}`
  const stream = client.query(copyTo(`COPY (SELECT ${columns} ${rows} ORDER BY seq) TO STDOUT (FORMAT binary)`))
  const bytes = Buffer.concat((await stream.toArray()) as Buffer[])
  if (stream.rowCount !== to - from + 1)
    throw new Error(`${stretch.table} lacks entries between ${from} and ${to}: it can't be archived.`)
  return bytes
}

/**
 * Writes the file of a partition, reads it back and compares it with the table, byte by byte; only then it counts.
 * What was cut is written anew, and a file that is there already is compared alone.
 * @throws Error where the folder has another file of that name
 */
export async function writeArchive(client: pg.ClientBase, stretch: Stretch, options: WriteOptions): Promise<Archive> {
  const { network, generation, first, last } = stretch
  const [from, to] = [first, last].map((seq) => String(seq).padStart(NUMBER_DIGITS, '0'))
  const file = `${network}-${generation}-${from}-${to}.archive`
  const path = join(options.dir, file)
  if (!existsSync(path)) await writeFile(client, stretch, path, options)
  const archive = await ArchiveFile.with(path, async (opened) => {
    const { index, indexHash } = await opened.index()
    await compare(client, stretch, { file: opened, index })
    const [block, end] = [index.blocks[0]!, index.blocks.at(-1)!]
    const bounds = { seqFirst: first, seqLast: last, eventFirst: block.event, eventLast: end.eventEnd - 1 }
    const { size: bytes } = await fs.stat(path)
    return { generation, ...bounds, lastMs: end.lastMs, file, fileHash: await opened.hash(), indexHash, bytes }
  })
  await keepArchive(client, network, archive)
  return (await readArchives(client, network)).find(({ seqFirst }) => seqFirst === first)!
}

async function writeFile(
  client: pg.ClientBase,
  stretch: Stretch,
  path: string,
  { onProgress, blockEntries = BLOCK_ENTRIES }: WriteOptions,
): Promise<void> {
  const part = `${path}.part`
  const writer = await ArchiveWriter.open(part)
  try {
    const blocks: Block[] = []
    const pairs = new ActorPairs()
    const { network, generation, table, first, last } = stretch
    let event: number | null = null
    for (let from = first, to: number; from <= last; from = to + 1) {
      to = Math.min(last, from + blockEntries - 1)
      let copy = await copyEntries(client, stretch, { columns: JOURNAL_COLUMNS, from, to })
      while (copy.length > BLOCK_BYTES && to > from) {
        to = Math.floor((from + to) / 2)
        copy = await copyEntries(client, stretch, { columns: JOURNAL_COLUMNS, from, to })
      }
      const rows = entriesOf(JOURNAL_COLUMNS, copy)
      const shown = rows.filter(({ publicCount }) => publicCount > 0)
      pairs.add(
        blocks.length,
        shown.map(({ actor }) => actor),
      )
      // an entry without events has the number of the next one
      event ??= rows[0]!.publicFirst
      const newest = shown.at(-1)
      const eventEnd: number = newest ? newest.publicFirst + newest.publicCount : event
      blocks.push({ ...(await writer.add(copy)), seq: from, event, eventEnd, lastMs: rows.at(-1)!.atMs })
      event = eventEnd
      failpoint('archive_block')
      onProgress?.(to - first + 1, last - first + 1)
    }
    await writer.end({
      ...{ network, generation, first, last, columns: JOURNAL_COLUMNS, blocks, actors: await pairs.write(writer) },
      migrations: await appliedMigrations(client),
      entriesHash: await entriesHash(client, network, { generation, after: first - 1, upTo: last, table }),
    })
  } finally {
    await writer.close()
  }
  await fs.rename(part, path)
  await syncFolder(path)
  failpoint('archive_renamed')
}

async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(join(path, '..'), 'r')
  await folder.sync().finally(() => folder.close())
}

/** Compares each block of a file with the table. @throws BrokenArchiveError for a difference */
export async function compare(
  client: pg.ClientBase,
  stretch: Stretch,
  { file, index }: { file: ArchiveFile; index: ArchiveIndex },
): Promise<void> {
  const { network, generation, first, last } = stretch
  if (index.columns !== JOURNAL_COLUMNS)
    throw new BrokenArchiveError(`${file.path} was written by another version: put it elsewhere, and write it again.`)
  if ([index.network, index.generation, index.first, index.last].join() !== [network, generation, first, last].join())
    throw new BrokenArchiveError(`${file.path} has other entries than its name says: put it elsewhere.`)
  for (const [i, block] of index.blocks.entries()) {
    const to = (index.blocks[i + 1]?.seq ?? last + 1) - 1
    const copy = await copyEntries(client, stretch, { columns: index.columns, from: block.seq, to })
    if (!copy.equals(await file.read(block)))
      throw new BrokenArchiveError(`${file.path} has not what ${stretch.table} has: put it elsewhere.`)
  }
}
