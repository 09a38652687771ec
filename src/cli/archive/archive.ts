import fs from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { ConfigError, readEnvironment } from '../../config/index.js'
import { type Archive, readArchives } from '../../db/journal/archive/archives.js'
import { dropArchives, restoreArchives, writeArchives } from '../../db/journal/archive/index.js'
import { armFailpoint } from '../../ops/failpoint.js'
import { countEntries } from '../../ops/progressBar.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { withPool } from '../database.js'
import { printJson, table } from '../output.js'
import { networkOf } from '../values.js'

export interface ArchiveCommand {
  write?: boolean
  drop?: boolean
  restore?: boolean
  network?: string
  dir?: string
  json?: boolean
}

const ORDERS = { write: writeArchives, drop: dropArchives, restore: restoreArchives } as const
const DONE = { write: 'written', drop: 'dropped from the table', restore: 'restored' } as const
const order = Object.keys(ORDERS) as (keyof typeof ORDERS)[]

/**
 * `clusterd archive`: shows what of the journal is archived. Writes full partitions to files with `--write`, drops from
 * the table what files have with `--drop`, after that where both are given, and brings it back with `--restore`.
 * @throws ConfigError where there is no folder, or --restore comes with one of the others
 */
export async function archive(command: ArchiveCommand): Promise<void> {
  const asked = order.filter((one) => command[one])
  if (command.restore && asked.length > 1) throw new ConfigError('--restore goes alone: leave out --write and --drop.')
  const { archiveDir, failpoint } = readEnvironment()
  armFailpoint(failpoint)
  const dir = command.dir ?? archiveDir
  if (asked.length > 0) assertFolder(dir)
  const networks = command.network === undefined ? NETWORKS : [networkOf(command.network)]
  const archives = await withPool({ command: 'archive' }, async (pool) => {
    for (const network of networks)
      for (const one of asked) {
        const done = await ORDERS[one](pool, { network, dir: dir!, onProgress: countEntries(network) })
        if (!command.json) for (const { file } of done) console.log(`${file}: ${DONE[one]}`)
      }
    return listed(pool, networks)
  })
  if (command.json) return printJson(archives.map((one) => shown(one, dir)))
  if (archives.length === 0) return console.log('Nothing is archived.')
  const rows = archives.map((one) => {
    const { network, generation, entries, bytes, isDropped, hasFile } = shown(one, dir)
    const where = isDropped ? 'in its file' : 'in the table and its file'
    return [network, `${generation}`, entries, `${bytes}`, hasFile === false ? `${where}, WHICH IS MISSING` : where]
  })
  console.log(table([['network', 'generation', 'entries', 'bytes', 'is'], ...rows]))
}

type Listed = Archive & { network: Network }

async function listed(pool: pg.Pool, networks: readonly Network[]): Promise<Listed[]> {
  const found: Listed[] = []
  for (const network of networks) for (const one of await readArchives(pool, network)) found.push({ ...one, network })
  return found
}

/** @param dir folder of the files, where one is known */
const shown = ({ network, ...one }: Listed, dir: string | undefined) => ({
  ...{ network, generation: one.generation, entries: `${one.seqFirst}-${one.seqLast}` },
  ...{ file: one.file, bytes: one.bytes, sha256: one.fileHash.toString('hex'), isDropped: one.droppedMs !== null },
  hasFile: dir === undefined ? null : fs.existsSync(join(dir, one.file)),
})

function assertFolder(dir: string | undefined): void {
  if (dir === undefined) throw new ConfigError('ARCHIVE_DIR is not set: name the folder of the files with --dir.')
  if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new ConfigError(`${dir} is no folder: make it, readable by its owner alone (\`install -d -m 700 ${dir}\`).`)
}
