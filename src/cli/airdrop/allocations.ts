import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { AccountAllocation } from '../../db/airdrop/load.js'
import { walletKindOf } from '../../registry/auth/kinds.js'
import { parseWallet } from '../../registry/primitives/address.js'
import { parseAmountWei } from '../../registry/primitives/amount.js'

/** A line of an airdrop's file that cannot be read, with the reason. */
export interface UnreadableLine {
  /** Line number, from 1. */
  line: number
  message: string
}

const CSV_HEADER_PATTERN = /^"?address"?\s*,\s*"?amount"?$/i

/**
 * Reads the text of an airdrop's file: one `address,amount` per line, with or without a header line `address,amount`,
 * fields bare or in double quotes. Empty lines are ignored. Addresses have to be of wallets that can sign in. Amounts
 * are base units above zero, digits only.
 * @returns rows, each account once, and bad lines, in the order of the file
 */
export function readAllocations(text: string): {
  rows: AccountAllocation[]
  bad: UnreadableLine[]
} {
  const rows: AccountAllocation[] = []
  const bad: UnreadableLine[] = []
  const lineOf = new Map<string, number>()
  // some editors write a byte order mark
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const first = lines.findIndex((line) => line.trim() !== '')
  for (const [i, untrimmed] of lines.entries()) {
    const line = untrimmed.trim()
    if (line === '' || (i === first && CSV_HEADER_PATTERN.test(line))) continue
    const row = parseAllocation(line)
    const account = typeof row === 'string' ? '' : row.account.toString('hex')
    const earlier = lineOf.get(account)
    if (typeof row === 'string') bad.push({ line: i + 1, message: row })
    else if (earlier !== undefined)
      bad.push({ line: i + 1, message: `has the account of line ${earlier} again` })
    else {
      rows.push(row)
      lineOf.set(account, i + 1)
    }
  }
  return { rows, bad }
}

/** Parses a line of an airdrop's file. @returns account and amount, or the reason why the line is bad */
function parseAllocation(text: string): AccountAllocation | string {
  const [addressText, amountText, ...rest] = text
    .split(',')
    .map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
  if (amountText === undefined || rest.length > 0) return 'must be address,amount (CSV)'
  const address = parseWallet(addressText!)
  if (address === 'bad_checksum') return 'has an address with a wrong checksum (EIP-55)'
  if (address === 'unsupported_address' || !walletKindOf(address.type))
    return 'has no address of a wallet that can sign in'
  if (address.bytes.subarray(1).every((byte) => byte === 0)) return 'has the zero address'
  const amount = parseAmountWei(amountText)
  return amount ? { account: address.bytes, amount } : 'has no amount above zero in base units'
}

/** Reads an airdrop's file. A name ending in .gz means gzip. `fileHash` is the SHA-256 of the file's bytes. */
export async function readAirdropFile(file: string) {
  const bytes = await readFile(file)
  const text = (file.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes).toString('utf8')
  return { ...readAllocations(text), fileHash: createHash('sha256').update(bytes).digest() }
}
