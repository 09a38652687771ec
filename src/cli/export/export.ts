import fs from 'node:fs'
import type pg from 'pg'
import { ConfigError } from '../../config/index.js'
import { type Manifest, type Progress, readExport, type WrittenPiece } from '../../db/journal/export/read.js'
import { refuseNewer } from '../../db/pg/migrate.js'
import { countEntries } from '../../ops/progressBar.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { withPool } from '../database.js'
import { printJson } from '../output.js'
import { networkOf } from '../values.js'
import { readKeyFile } from './cipher.js'
import { BrokenExportError, CutExportError, ExportWriter, type Resumed, readFrames } from './frames.js'
import { printManifest } from './print.js'

export interface ExportCommand {
  out: string
  network?: string
  keyFile?: string
  plaintext?: boolean
  public?: boolean
  resume?: boolean
  json?: boolean
}

/** What is exported, and how. */
export interface Plan {
  /** Encrypts the file; null leaves it in the clear. */
  key: Buffer | null
  isPublic: boolean
  networks: readonly Network[]
}

export interface WrittenExport extends Manifest {
  /** Length of the file. */
  bytes: number
  /** Of the whole file, hex. */
  checksum: string
}

/**
 * `clusterd export`: writes a database to a file that `clusterd import` makes the same registry of. The daemon may run.
 * @throws ConfigError for options that contradict each other, and where private rows would be written in the clear
 */
export async function exportJournal(options: ExportCommand): Promise<void> {
  const { out, json, resume = false } = options
  const plan = planOf(options)
  const written = await withPool({ command: 'export' }, (pool) => exportTo(pool, out, plan, resume))
  if (json) return printJson({ file: out, ...written })
  console.log(`${out}: ${written.bytes} bytes, ${describe(plan)}, checksum ${written.checksum}`)
  printManifest(written)
}

/**
 * Writes an export file, or what a cut one lacks.
 * @throws ConfigError where a file is not what was asked for, Error for a database that a newer version has migrated
 */
export async function exportTo(pool: pg.Pool, file: string, plan: Plan, isResumed = false): Promise<WrittenExport> {
  const begun = isResumed ? await readBegun(file, plan) : null
  const client = await pool.connect()
  let writer: ExportWriter | undefined
  try {
    await refuseNewer(client, 'export')
    writer = await ExportWriter.open(file, plan.key, begun?.at ?? null).catch(explainExisting(file))
    const bars = new Map(NETWORKS.map((network) => [network, countEntries(network)]))
    const source = readExport(client, {
      ...{ ...plan, progress: begun?.progress ?? null },
      onProgress: (network, done, total) => bars.get(network)?.(done, total),
    })
    let manifest = begun?.progress?.manifest
    for await (const piece of source) {
      if ('manifest' in piece.fields) manifest = piece.fields.manifest
      await writer.write(piece)
    }
    const { checksum, bytes } = await writer.end({})
    return { ...manifest!, bytes, checksum: checksum.toString('hex') }
  } finally {
    await writer?.close()
    // destroyed, not pooled: the views of a public export belong to it
    client.release(true)
  }
}

const describe = ({ key, isPublic }: Plan): string =>
  isPublic ? 'what is public' : key ? 'encrypted' : 'in the clear, with private rows and secrets'

function planOf({ network, keyFile, plaintext = false, public: isPublic = false }: ExportCommand): Plan {
  if (!isPublic && !plaintext && keyFile === undefined)
    throw new ConfigError(
      'An export has private wallets, sessions and keys: name a key that encrypts it (--key-file), leave them out (--public), or say --plaintext.',
    )
  if (plaintext && (keyFile !== undefined || isPublic))
    throw new ConfigError('--plaintext is for an export with neither --key-file nor --public: leave one of them out.')
  return {
    key: keyFile === undefined ? null : readKeyFile(keyFile),
    isPublic,
    networks: network === undefined ? NETWORKS : [networkOf(network)],
  }
}

/** A file that was begun: where it goes on, and what it has; from its beginning where its tables are not whole. */
interface Begun {
  at: Resumed | null
  progress: Progress | null
}

/** Reads what a cut export has. @throws BrokenExportError for a whole one, ConfigError for one of another kind */
async function readBegun(file: string, { key, isPublic, networks }: Plan): Promise<Begun> {
  const found: { at: Resumed | null; manifest: Manifest | null; isCopied: boolean } = {
    ...{ at: null, manifest: null, isCopied: false },
  }
  const entries: Progress['entries'] = {}
  try {
    for await (const { fields, isEnd, end, checksum } of readFrames<WrittenPiece['fields']>(file, key)) {
      if (isEnd) throw new ConfigError(`${file} is whole: there is nothing to go on with.`)
      if ('manifest' in fields) found.manifest = fields.manifest
      if ('copied' in fields) found.isCopied = true
      if ('journal' in fields) entries[fields.journal.network] = fields.journal.to
      found.at = { end, checksum }
    }
  } catch (error) {
    // what is behind the last whole frame is written again
    const isBegun = found.at || error instanceof CutExportError
    if (!(error instanceof BrokenExportError) || !isBegun) throw error
  }
  const { at, manifest, isCopied } = found
  if (manifest && (manifest.isPublic !== isPublic || Object.keys(manifest.networks).join() !== networks.join()))
    throw new ConfigError(`${file} was begun with another --public or --network: go on with the same.`)
  if (manifest && isCopied) return { at, progress: { manifest, entries } }
  fs.rmSync(file)
  return { at: null, progress: null }
}

const explainExisting = (file: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'EEXIST') throw new ConfigError(`${file} exists: name another file, or go on with it by --resume.`)
  throw new ConfigError(`${file} can not be written (${error.code}): name a file in a folder that is there and yours.`)
}
