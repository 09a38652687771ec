import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Network } from '../../../registry/primitives/network.js'
import { alone } from '../rewind/lock.js'
import { type Archive, readArchives } from './archives.js'
import { dropPartition, restorePartition, schemaOf } from './switch.js'
import { archivable, type WriteOptions, writeArchive } from './write.js'

export interface ArchiveOptions extends WriteOptions {
  network: Network
}

/** Runs archive work of a network, beside which no rewind and no other of it runs. */
const work = <T>(pool: pg.Pool, { network }: ArchiveOptions, run: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  alone(pool, { network, schema: schemaOf(network) }, run)

/**
 * Writes the partitions that can be archived and have no file yet, or none any more, oldest first; of what is dropped
 * the file is all there is.
 * @returns them
 */
export function writeArchives(pool: pg.Pool, options: ArchiveOptions): Promise<Archive[]> {
  const { network, dir } = options
  return work(pool, options, async (client) => {
    const known = (await readArchives(client, network))
      .filter(({ droppedMs, file }) => droppedMs !== null || existsSync(join(dir, file)))
      .map(({ seqFirst }) => seqFirst)
    const written: Archive[] = []
    for (const stretch of await archivable(client, network))
      if (!known.includes(stretch.first)) written.push(await writeArchive(client, stretch, options))
    return written
  })
}

/**
 * Drops from the table what files have, oldest first, so that what is dropped is always the journal's beginning.
 * @returns the partitions that were dropped
 * @throws Error where one before them was never written
 */
export function dropArchives(pool: pg.Pool, options: ArchiveOptions): Promise<Archive[]> {
  const { network, dir } = options
  return work(pool, options, async (client) => {
    const known = await readArchives(client, network)
    const may = new Set((await archivable(client, network)).map(({ first }) => first))
    const gap = known.find(({ seqFirst }, i) => seqFirst !== (known[i - 1]?.seqLast ?? 0) + 1)
    if (gap)
      throw new Error(`entries of ${network} before ${gap.seqFirst} have no file: run \`clusterd archive --write\`.`)
    const waiting = known.filter(({ droppedMs, seqFirst }) => droppedMs === null && may.has(seqFirst))
    for (const archive of waiting) await dropPartition(client, { network, archive, dir })
    return waiting
  })
}

/** Brings dropped partitions back, newest first. @returns them */
export function restoreArchives(pool: pg.Pool, options: ArchiveOptions): Promise<Archive[]> {
  return work(pool, options, async (client) => {
    const dropped = (await readArchives(client, options.network))
      .filter(({ droppedMs }) => droppedMs !== null)
      .reverse()
    for (const archive of dropped) await restorePartition(client, { ...options, archive })
    return dropped
  })
}
