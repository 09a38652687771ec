import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAddress } from '../../registry/primitives/address.js'
import { readAllocations } from './allocations.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** Reads a file: rows as `line address amount`, bad lines as `line message`. */
function read(text: string) {
  const { rows, bad } = readAllocations(text)
  return {
    rows: rows.map(({ line, address, amount }) => `${line} ${address.text} ${amount}`),
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
const rows = fc.array(row, { maxLength: 8 })

describe('a CSV file of an airdrop', () => {
  it('is read row by row, with or without a header', () => {
    const style = fc.record({
      header: fc.constantFrom('', 'address,amount\n', '"Address", "Amount"\r\n', '\ufeffaddress,amount\n'),
      newline: fc.constantFrom('\n', '\r\n'),
      quote: fc.constantFrom('', '"'),
      comma: fc.constantFrom(',', ' , '),
      isEnded: fc.boolean(),
    })
    fc.assert(
      fc.property(rows, style, (rows, { header, newline, quote, comma, isEnded }) => {
        const lines = rows.map((row) => `${quote}${row.address}${quote}${comma}${quote}${row.amount}${quote}`)
        const text = header + lines.join(newline) + (isEnded ? newline : '')
        const first = header === '' ? 1 : 2
        expect(read(text)).toEqual({
          rows: rows.map(({ address, amount }, i) => `${i + first} ${address} ${amount}`),
          bad: [],
        })
      }),
    )
  })

  it.each([
    ['no comma', EVM, 'must be address,amount'],
    ['a column too many', `${EVM},1,2`, 'must be address,amount'],
    ['a quote left open', `"${EVM},1`, 'has no EVM or Solana address'],
    ['another separator', `${EVM};1`, 'must be address,amount'],
    ['a header in the middle', 'address,amount', 'has no EVM or Solana address'],
    ['no address', ',1', 'has no EVM or Solana address'],
    ['a short address', `${EVM.slice(0, -1)},1`, 'has no EVM or Solana address'],
    ['a name', 'foobar/main,1', 'has no EVM or Solana address'],
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
  ])('has a bad line with %s, and its other rows all the same', (_, line, message) => {
    const text = `address,amount\n${EVM},1\n\n${line}\n${SOLANA},2\n`
    expect(read(text)).toEqual({ rows: [`2 ${EVM} 1`, `5 ${SOLANA} 2`], bad: [`4 ${message}`] })
  })

  it('may be empty', () => {
    expect(read('')).toEqual({ rows: [], bad: [] })
    expect(read('\n\n')).toEqual({ rows: [], bad: [] })
  })
})

describe('a JSON file of an airdrop', () => {
  it('is read object by object, in whatever layout', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(0, 2), (rows, indent) => {
        expect(read(JSON.stringify(rows, null, indent))).toEqual({
          rows: rows.map(({ address, amount }, i) => `${i + 1} ${address} ${amount}`),
          bad: [],
        })
      }),
    )
  })

  it('takes numbers that JSON holds exactly', () => {
    const one = (amount: string) => read(`[{"address":"${EVM}","amount":${amount}}]`)
    expect(one('9007199254740991').rows).toEqual([`1 ${EVM} 9007199254740991`])
    for (const amount of ['9007199254740992', '1e18', '1.5', '-1', 'true', 'null', '["1"]']) {
      expect(one(amount)).toEqual({ rows: [], bad: ['1 has no amount above zero in base units'] })
    }
  })

  it.each([
    ['no object', '["0x1", "1"]', 'must be an object with address and amount'],
    ['a word', '"foobar"', 'must be an object with address and amount'],
    ['a field missing', `{"address":"${EVM}"}`, 'must be an object with address and amount'],
    ['a field too many', `{"address":"${EVM}","amount":"1","name":"x"}`, 'must be an object with address and amount'],
    ['no address', '{"address":1,"amount":"1"}', 'has no EVM or Solana address'],
  ])('has a bad row with %s, and its other rows all the same', (_, row, message) => {
    const good = (address: string) => `{"address":"${address}","amount":"1"}`
    const text = `[${good(EVM)},\n${row},\n${good(SOLANA)}]`
    expect(read(text)).toEqual({ rows: [`1 ${EVM} 1`, `3 ${SOLANA} 1`], bad: [`2 ${message}`] })
  })

  it.each(['', ',', '\n', '}'])('that is not whole, or no JSON, has no rows: %j', (end) => {
    const { rows, bad } = read(`[{"address":"${EVM}","amount":"1"}${end}`)
    expect([rows, bad]).toEqual([[], [expect.stringContaining('1 is not JSON: ')]])
  })
})
