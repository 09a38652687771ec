import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Allocation } from '../../db/airdrop/load.js'
import { type Address, parseAddress } from '../../registry/primitives/address.js'
import { parseAmountWei } from '../../registry/primitives/amount.js'

interface AirdropRow {
  /** Line number from 1. */
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

const HEADER = /^"?address"?\s*,\s*"?amount"?$/i

/** A row, or the reason why the text is none. */
type Reading = Omit<AirdropRow, 'line'> | string

/**
 * Reads the text of an airdrop's file, one `address,amount` per line, with or without that header, fields bare or in
 * double quotes; empty lines are ignored. Addresses are EVM's and Solana's, mixed. Amounts are base units: digits only.
 */
export function readAllocations(text: string): Read {
  const read: Read = { rows: [], bad: [] }
  let isFirst = true
  // some editors write a byte order mark
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    const row = line.trim()
    if (row === '') continue
    if (!isFirst || !HEADER.test(row)) tell(read, i + 1, readRow(row))
    isFirst = false
  }
  return read
}

function readRow(text: string): Reading {
  const [addressText, amountText, ...rest] = text.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
  if (amountText === undefined || rest.length > 0) return 'must be address,amount (CSV)'
  const address = parseAddress(addressText!)
  if (address === 'bad_checksum') return 'has an address with a wrong checksum (EIP-55)'
  if (address === 'unsupported_address') return 'has no EVM or Solana address'
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
