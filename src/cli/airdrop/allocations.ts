import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Allocation } from '../../db/airdrop/load.js'
import { type Address, parseAddress } from '../../registry/primitives/address.js'
import { parseAmountWei } from '../../registry/primitives/amount.js'

/**
 * Reads the file of an airdrop, one `address,amount` per row.
 *
 * CSV: one row per line, with or without the header `address,amount`, fields bare or in double quotes, empty lines
 * ignored. JSON: an array of `{ "address": "…", "amount": "…" }`. Addresses are EVM's and Solana's, mixed. Amounts are
 * base units: digits only (in JSON a string, or a number up to 2^53).
 */
interface AirdropRow {
  /** Line number from 1; of JSON, number of the row. */
  line: number
  address: Address
  amount: bigint
}

interface AirdropBadLine {
  line: number
  message: string
}

/** Rows and bad lines in the order of the file. */
interface Read {
  rows: AirdropRow[]
  bad: AirdropBadLine[]
}

const NO_OBJECT = 'must be an object with address and amount'
const NO_ADDRESS = 'has no EVM or Solana address'
const HEADER = /^"?address"?\s*,\s*"?amount"?$/i

/** A row, or the reason why the text is none. */
type Reading = Omit<AirdropRow, 'line'> | string

/** Reads a file's text; a JSON file begins with a bracket, which an address never does. */
export function readAllocations(text: string): Read {
  const read: Read = { rows: [], bad: [] }
  // some editors write a byte order mark
  const content = text.startsWith('\ufeff') ? text.slice(1) : text
  if (/^\s*\[/.test(content)) readJson(content, read)
  else readCsv(content, read)
  return read
}

function readCsv(text: string, read: Read): void {
  let isFirst = true
  for (const [i, line] of text.split('\n').entries()) {
    const row = line.trim()
    if (row === '') continue
    if (!isFirst || !HEADER.test(row)) tell(read, i + 1, readCsvRow(row))
    isFirst = false
  }
}

function readCsvRow(text: string): Reading {
  const [address, amount, ...rest] = text.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
  return amount === undefined || rest.length > 0 ? 'must be address,amount' : readRow(address, amount)
}

function readJson(text: string, read: Read): void {
  try {
    const rows: unknown[] = JSON.parse(text)
    for (const [i, row] of rows.entries()) tell(read, i + 1, readObject(row))
  } catch (error) {
    tell(read, 1, `is not JSON: ${(error as Error).message}`)
  }
}

function readObject(row: unknown): Reading {
  if (typeof row !== 'object' || row === null || !('address' in row && 'amount' in row)) return NO_OBJECT
  if (Object.keys(row).length !== 2) return NO_OBJECT
  return readRow(row.address, Number.isSafeInteger(row.amount) ? String(row.amount) : row.amount)
}

function readRow(addressText: unknown, amountText: unknown): Reading {
  const address = typeof addressText === 'string' ? parseAddress(addressText) : 'unsupported_address'
  if (address === 'bad_checksum') return 'has an address with a wrong checksum (EIP-55)'
  if (address === 'unsupported_address') return NO_ADDRESS
  if (address.bytes.subarray(1).every((byte) => byte === 0)) return 'has the zero address'
  const amount = parseAmountWei(amountText)
  return amount ? { address, amount } : 'has no amount above zero in base units'
}

function tell(read: Read, line: number, reading: Reading): void {
  if (typeof reading === 'string') read.bad.push({ line, message: reading })
  else read.rows.push({ line, ...reading })
}

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
