import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { RepeatedAccountsError, Stage } from '../../db/airdrop/load.js'
import { type AirdropBadLine, type AirdropFormat, createAirdropReader } from './allocations.js'

/** Size of a read; its rows, a few thousand, are in memory at once. */
const PIECE_BYTES = 128 * 1_024

/** Bad lines of a file. */
export interface BadLines {
  count: number
  /** First bad lines, up to the limit. */
  first: AirdropBadLine[]
}

/** A file with bad lines, of which nothing is loaded. */
export class BadFileError extends Error {
  override name = 'BadFileError'
  constructor(readonly bad: BadLines) {
    super(`${bad.count} bad ${bad.count === 1 ? 'line' : 'lines'}`)
  }
}

/** Number of bad lines printed per file. */
export const BAD_LINES_LIMIT = 100

/** SHA-256 of a file's bytes. @throws the file system's error */
export async function hashOfFile(file: string): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) hash.update(piece as Buffer)
  return hash.digest()
}

export interface FileListener {
  /** Called after each piece with the rows so far and the share of the file that is read. */
  onProgress: (rows: number, share: number) => void
  /** Called for every bad line. */
  onBad?: (line: AirdropBadLine) => void
}

/**
 * Reads an airdrop's file into a stage. The first character tells CSV from JSON; a name that ends with .gz means gzip.
 * @throws BadFileError after the whole file was read
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
      // one bad line voids the file; the rest is only checked
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
    onProgress(rows, raw.bytesRead / Math.max(1, bytes))
  }
  reader?.end()
  if (bad.count > 0) throw new BadFileError(bad)
}

async function* textOf(raw: Readable, isCompressed: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const source = isCompressed ? raw.pipe(createGunzip({ chunkSize: PIECE_BYTES })) : raw
  // a pipe forwards no errors
  if (source !== raw) raw.once('error', (error) => source.destroy(error))
  for await (const piece of source) yield decoder.decode(piece as Buffer, { stream: true })
  yield decoder.decode()
}

/** JSON begins with a bracket, an address never does. */
const formatOf = (start: string): AirdropFormat => (/^\ufeff?\s*[[{]/.test(start) ? 'json' : 'csv')

/** Converts lines that repeat an account to bad lines. */
export const repeatedLines = ({ lines }: RepeatedAccountsError): AirdropBadLine[] =>
  lines.map(({ line, first }) => ({ line, message: `has the account of line ${first} again` }))
