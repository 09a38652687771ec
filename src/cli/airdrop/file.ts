import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Allocation } from '../../db/airdrop/load.js'
import { type AirdropBadLine, readAllocations } from './allocations.js'

/** A file with bad lines, of which nothing is loaded. */
export class BadFileError extends Error {
  override name = 'BadFileError'
  constructor(readonly bad: readonly AirdropBadLine[]) {
    super(`${bad.length} bad ${bad.length === 1 ? 'line' : 'lines'}`)
  }
}

/**
 * Reads an airdrop's file; a name that ends with .gz means gzip.
 * @returns its rows and the SHA-256 of its bytes
 * @throws BadFileError; the file system's error
 */
export async function readAirdropFile(file: string): Promise<{ rows: Allocation[]; fileHash: Buffer }> {
  const bytes = await readFile(file)
  const fileHash = createHash('sha256').update(bytes).digest()
  const text = (file.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes).toString('utf8')
  const { rows, bad } = readAllocations(text)
  const lines = new Map<string, number>()
  for (const { line, address } of rows) {
    const account = address.bytes.toString('hex')
    const first = lines.get(account)
    if (first === undefined) lines.set(account, line)
    else bad.push({ line, message: `has the account of line ${first} again` })
  }
  if (bad.length > 0) throw new BadFileError(bad.sort((a, b) => a.line - b.line))
  return { rows: rows.map(({ address, amount }) => ({ account: address.bytes, amount })), fileHash }
}
