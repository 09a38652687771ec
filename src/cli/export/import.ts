import type pg from 'pg'
import type { ExportedNetwork, Manifest, WrittenPiece } from '../../db/journal/export/read.js'
import { ImportError, type Imported, writeExport } from '../../db/journal/export/write.js'
import { migrate } from '../../db/pg/migrate.js'
import { createPool, inTransaction } from '../../db/pg/pool.js'
import { countEntries } from '../../ops/progressBar.js'
import { readEvents } from '../../push/events.js'
import { FEED_START, feedHash } from '../../registry/journal/feedHash.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { withDatabase } from '../database.js'
import { printJson } from '../output.js'
import { readKeyFile } from './cipher.js'
import { BrokenExportError, readFrames } from './frames.js'
import { printManifest } from './print.js'

export interface ImportCommand {
  keyFile?: string
  check?: boolean
  json?: boolean
}

/** Entries whose events are hashed at once. */
const ENTRIES_AT_ONCE = 1_000

/**
 * `clusterd import`: makes an empty database the registry of an export. The file is read to its end before anything of
 * it is believed, and all of it is written in one transaction: what fails changes nothing.
 * @throws BrokenExportError for a file that is not whole; ImportError for a database that is not empty
 */
export async function importJournal(file: string, { keyFile, check, json }: ImportCommand): Promise<void> {
  const key = keyFile === undefined ? null : readKeyFile(keyFile)
  const { manifest, checksum } = await verify(file, key)
  if (check) {
    if (json) return printJson({ file, checksum, ...manifest })
    console.log(`${file} is whole, checksum ${checksum}`)
    return printManifest(manifest)
  }
  const networks = await withDatabase((url) => importFrom(url, file, key))
  if (json) return printJson({ file, checksum, isPublic: manifest.isPublic, networks })
  console.log(`${file} is imported, checksum ${checksum}:`)
  for (const [network, imported] of Object.entries(networks)) printImported(network, imported)
  console.log('Start the daemon with the keys of its environment; signed changes wait until the hub’s head is folded.')
}

/** Writes a verified file into an empty database, in one transaction. @throws ImportError */
export async function importFrom(
  url: string,
  file: string,
  key: Buffer | null,
): Promise<Partial<Record<Network, Imported>>> {
  await migrate(url)
  const pool = createPool({ url, max: 2, applicationName: 'clusterd import' })
  const bars = new Map(NETWORKS.map((network) => [network, countEntries(network)]))
  const options = {
    onProgress: (network: Network, done: number, total: number) => bars.get(network)?.(done, total),
    check: assertFeed,
  }
  try {
    return await inTransaction(pool, (client) => writeExport(client, piecesOf(file, key), options))
  } finally {
    await pool.end()
  }
}

function printImported(network: string, { feed, entries, stateHash }: Imported): void {
  console.log(`  ${network}: ${entries} entries, the same state hash ${stateHash}`)
  console.log(`    the feed’s number ${feed.from} becomes ${feed.to}, so that every reader begins anew`)
}

/** Reads a file to its end. @throws BrokenExportError */
export async function verify(file: string, key: Buffer | null): Promise<{ manifest: Manifest; checksum: string }> {
  let manifest: Manifest | null = null
  let checksum = ''
  for await (const frame of readFrames<WrittenPiece['fields']>(file, key)) {
    if (!frame.isEnd && 'manifest' in frame.fields) manifest = frame.fields.manifest
    checksum = frame.checksum.toString('hex')
  }
  if (!manifest) throw new BrokenExportError(`${file} says nothing of itself: export again.`)
  return { manifest, checksum }
}

async function* piecesOf(file: string, key: Buffer | null): AsyncGenerator<WrittenPiece> {
  for await (const { isEnd, ...piece } of readFrames<WrittenPiece['fields']>(file, key)) if (!isEnd) yield piece
}

/** Compares the feed of what was imported with the export's checkpoint. */
async function assertFeed(client: pg.ClientBase, network: Network, { checkpoint }: ExportedNetwork): Promise<void> {
  let at = FEED_START
  for (let first = 1; first <= checkpoint.count; ) {
    const found = await readEvents(client, network, { first, limit: ENTRIES_AT_ONCE })
    const events = found?.events.filter(({ number }) => number <= checkpoint.count) ?? []
    if (events.length === 0) break
    for (const { json } of events) at = feedHash(at, json)
    first += events.length
  }
  if (at.toString('hex') !== checkpoint.hash)
    throw new ImportError(`the feed of ${network} is not the one of the export’s checkpoint: export again.`)
}
