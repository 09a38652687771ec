import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAddress } from '../../registry/primitives/address.js'
import { readAllocations } from './allocations.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** Reads a file: rows as `address amount`, bad lines as `line message`. */
function read(text: string) {
  const { rows, bad } = readAllocations(text)
  return {
    rows: rows.map(({ account, amount }) => `${decodeAddress(account).text} ${amount}`),
    bad: bad.map(({ line, message }) => `${line} ${message}`),
  }
}

const address = fc.oneof(
  fc.uint8Array({ minLength: 20, maxLength: 20 }).map((raw) => Uint8Array.of(1, ...raw)),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((raw) => Uint8Array.of(2, ...raw)),
)
const row = fc.record({
  address: address
    .filter((bytes) => bytes.subarray(1).some((byte) => byte !== 0))
    .map((bytes) => decodeAddress(bytes).text),
  amount: fc.bigInt(1n, 2n ** 256n - 1n).map(String),
})
const rows = fc.uniqueArray(row, { maxLength: 8, selector: ({ address }) => address })

describe('a CSV file of an airdrop', () => {
  it('is read row by row, with or without a header', () => {
    const style = fc.record({
      header: fc.constantFrom(
        '',
        'address,amount\n',
        '"Address", "Amount"\r\n',
        '\ufeffaddress,amount\n',
      ),
      newline: fc.constantFrom('\n', '\r\n'),
      quote: fc.constantFrom('', '"'),
      comma: fc.constantFrom(',', ' , '),
      isEnded: fc.boolean(),
    })
    fc.assert(
      fc.property(rows, style, (rows, { header, newline, quote, comma, isEnded }) => {
        const lines = rows.map(
          (row) => `${quote}${row.address}${quote}${comma}${quote}${row.amount}${quote}`,
        )
        const text = header + lines.join(newline) + (isEnded ? newline : '')
        expect(read(text)).toEqual({
          rows: rows.map(({ address, amount }) => `${address} ${amount}`),
          bad: [],
        })
      }),
    )
  })

  it.each([
    ['no comma', EVM, 'must be address,amount (CSV)'],
    ['a column too many', `${EVM},1,2`, 'must be address,amount (CSV)'],
    ['a quote left open', `"${EVM},1`, 'has no address of a wallet that can sign in'],
    ['another separator', `${EVM};1`, 'must be address,amount (CSV)'],
    ['a header in the middle', 'address,amount', 'has no address of a wallet that can sign in'],
    ['no address', ',1', 'has no address of a wallet that can sign in'],
    ['a short address', `${EVM.slice(0, -1)},1`, 'has no address of a wallet that can sign in'],
    ['a name', 'foobar/main,1', 'has no address of a wallet that can sign in'],
    [
      'a wrong checksum',
      '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eb48,1',
      'has an address with a wrong checksum (EIP-55)',
    ],
    ['the zero address', `0x${'0'.repeat(40)},1`, 'has the zero address'],
    ['the zero key', '11111111111111111111111111111111,1', 'has the zero address'],
    ['no amount', `${EVM},`, 'has no amount above zero in base units'],
    ['zero', `${EVM},0`, 'has no amount above zero in base units'],
    ['less than zero', `${EVM},-1`, 'has no amount above zero in base units'],
    ['a fraction', `${EVM},1.5`, 'has no amount above zero in base units'],
    ['an exponent', `${EVM},1e18`, 'has no amount above zero in base units'],
    ['too much', `${EVM},${2n ** 256n}`, 'has no amount above zero in base units'],
  ])('has a bad line with %s, and its other rows are still read', (_, line, message) => {
    const text = `address,amount\n${EVM},1\n\n${line}\n${SOLANA},2\n`
    expect(read(text)).toEqual({ rows: [`${EVM} 1`, `${SOLANA} 2`], bad: [`4 ${message}`] })
  })

  it('may be empty', () => {
    expect(read('')).toEqual({ rows: [], bad: [] })
    expect(read('\n\n')).toEqual({ rows: [], bad: [] })
  })
})
