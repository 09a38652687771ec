import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { RepeatedAccountsError, Stage } from '../../db/airdrop/load.js'
import { type AirdropBadLine, type AirdropFormat, createAirdropReader } from './allocations.js'

/** Reads of the disk; a piece's rows are in memory at once, a few thousand. */
const PIECE_BYTES = 128 * 1_024

/** Lines that are no rows. */
export interface BadLines {
  count: number
  /** The first ones, up to the limit. */
  first: AirdropBadLine[]
}

/** The file has bad lines: nothing of it is loaded. */
export class BadFileError extends Error {
  override name = 'BadFileError'
  constructor(readonly bad: BadLines) {
    super(`${bad.count} bad ${bad.count === 1 ? 'line' : 'lines'}`)
  }
}

/** So many bad lines are told of a file. */
export const BAD_LINES_LIMIT = 100

/** SHA-256 of a file as it lies on the disk. Throws what the disk says. */
export async function hashOfFile(file: string): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) hash.update(piece as Buffer)
  return hash.digest()
}

export interface FileListener {
  /** Told of rows so far and of the share of the file that is read, after each piece. */
  onProgress: (rows: number, share: number) => void
  /** Told of every bad line. */
  onBad?: (line: AirdropBadLine) => void
}

/**
 * Reads the file of an airdrop, CSV or JSON by what it begins with, compressed where its name ends with .gz, and hands its rows
 * to the stage as they come.
 * @throws BadFileError after the whole file was looked through
 */
export async function readAirdropFile(
  file: string,
  stage: Stage,
  { onProgress, onBad = () => {} }: FileListener,
): Promise<void> {
  const bytes = statSync(file).size
  const raw = createReadStream(file, { highWaterMark: PIECE_BYTES })
  const bad: BadLines = { count: 0, first: [] }
  let rows = 0
  const sink = {
    row: (row: { address: { bytes: Buffer }; amount: bigint; line: number }) => {
      rows += 1
      // what is bad makes all of it void; the rest is only looked through
      if (bad.count === 0) stage.add(row.address.bytes, row.amount, row.line)
    },
    bad: (line: AirdropBadLine) => {
      bad.count += 1
      onBad(line)
      if (bad.first.length < BAD_LINES_LIMIT) bad.first.push(line)
    },
  }
  let reader: ReturnType<typeof createAirdropReader> | null = null
  for await (const text of textOf(raw, file.endsWith('.gz'))) {
    reader ??= createAirdropReader(formatOf(text), sink)
    reader.push(text)
    await stage.drain()
    onProgress(rows, raw.bytesRead / bytes)
  }
  reader?.end()
  if (bad.count > 0) throw new BadFileError(bad)
}

async function* textOf(raw: Readable, isCompressed: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const source = isCompressed ? raw.pipe(createGunzip({ chunkSize: PIECE_BYTES })) : raw
  // a pipe hands no errors on
  if (source !== raw) raw.once('error', (error) => source.destroy(error))
  for await (const piece of source) yield decoder.decode(piece as Buffer, { stream: true })
  yield decoder.decode()
}

/** No address begins with a bracket. */
const formatOf = (start: string): AirdropFormat => (/^\ufeff?\s*[[{]/.test(start) ? 'json' : 'csv')

/** Lines that repeat an account, as bad lines. */
export const repeatedLines = ({ lines }: RepeatedAccountsError): AirdropBadLine[] =>
  lines.map(({ line, first }) => ({ line, message: `has the account of line ${first} again` }))
