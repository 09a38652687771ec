import { type FileHandle, open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { ConfigError } from '../../config/index.js'
import { readEvents } from '../../push/feedReader.js'
import { FEED_START, feedHash } from '../../registry/journal/feedHash.js'
import type { Network } from '../../registry/primitives/network.js'
import { withPool } from '../database.js'
import { printJson } from '../output.js'
import { type NetworkOptions, networksOf } from '../values.js'

/** Result of a network. */
interface Exported {
  network: Network
  /** Number of the feed, as in event ids. */
  feed: number
  /** Events, from the first on. */
  count: number
  /** Hash over them, hex, as `GET /v1/events/checkpoint` gives it. */
  checkpoint: string
}

/** Entries that are read at once. */
const ENTRIES_AT_ONCE = 1_000

/**
 * `clusterd journal export`: writes the public feed to a file, JSON lines packed by gzip, oldest first. Each event is
 * as `GET /v1/events` gives it. The daemon may run.
 * @throws ConfigError for a file that is there, Error where the feed begins anew meanwhile
 */
export async function exportFeed(
  options: NetworkOptions & { out: string; json?: boolean },
): Promise<void> {
  const { out, json } = options
  const file = await create(out)
  const written: Exported[] = []
  try {
    await withPool({ command: 'export' }, (pool) => {
      const lines = Readable.from(linesOf(pool, networksOf(options), written))
      return pipeline(lines, createGzip(), file.createWriteStream())
    })
  } catch (error) {
    await file.close()
    await rm(out)
    throw error
  }
  if (json) return printJson({ file: out, networks: written })
  for (const { network, feed, count, checkpoint } of written)
    console.log(`${network}: ${count} events of feed ${feed}, checkpoint ${checkpoint}`)
}

function create(file: string): Promise<FileHandle> {
  return open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new ConfigError(`${file} exists: name another file.`)
    throw error
  })
}

async function* linesOf(
  pool: pg.Pool,
  networks: readonly Network[],
  written: Exported[],
): AsyncGenerator<string> {
  for (const network of networks) {
    let hash = FEED_START
    let count = 0
    let feed: number | null = null
    for (;;) {
      const found = await readEvents(pool, network, { first: count + 1, limit: ENTRIES_AT_ONCE })
      if (found === null || (feed !== null && found.generation !== feed))
        throw new Error(`the feed of ${network} began anew meanwhile: export again.`)
      feed = found.generation
      if (found.events.length === 0) break
      for (const { json } of found.events) {
        hash = feedHash(hash, json)
        yield `${json}\n`
      }
      count += found.events.length
    }
    written.push({ network, feed, count, checkpoint: `0x${hash.toString('hex')}` })
  }
}
