import { describe, expect, it } from 'vitest'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'

/** Envelopes that web pages, wallets and shells put around a signature. */

const BYTES = Buffer.from(Array.from({ length: 65 }, (_, i) => (i * 37) % 256))
const HEX = `0x${BYTES.toString('hex')}`
const BASE64 = BYTES.toString('base64')
const read = (text: string) => hexAndBase64Decodings(openSignatureEnvelope(text).encoded)

describe('a signature is found', () => {
  it.each([
    ['as hex', HEX],
    ['as hex in capitals', HEX.toUpperCase()],
    ['as hex without 0x', HEX.slice(2)],
    ['as base64', BASE64],
    ['as base64 without padding', BASE64.replace(/=+$/, '')],
    ['in the URL form of base64', BYTES.toString('base64url')],
    ['over several lines', `${BASE64.slice(0, 64)}\r\n${BASE64.slice(64)}\n`],
    ['between blanks of a page', `\u00a0${HEX}\u00a0\t`],
    ['behind a byte order mark', `\ufeff${HEX}`],
    ['between blanks without width', `\u200b${HEX}\u2060`],
    ['in quotes', `"${HEX}"`],
    ['in quotes of a shell', `'${HEX}'`],
    ['in typographic quotes', `“${HEX}”`],
    ['in JSON twice', JSON.stringify(JSON.stringify(HEX))],
    ['as a field', JSON.stringify({ address: 'x', signature: HEX })],
    ['as a field behind a blank of a page', `\u00a0${JSON.stringify({ signature: HEX })}`],
    ['as the result of JSON-RPC', JSON.stringify({ jsonrpc: '2.0', id: 1, result: HEX })],
    [
      'as the response of a Bitcoin wallet',
      JSON.stringify({ status: 'success', result: { address: 'x', signature: BASE64 } }),
    ],
    ['as a list of bytes', JSON.stringify([...BYTES])],
    ['as a Buffer', JSON.stringify({ signature: BYTES })],
    ['as an object with its bytes', JSON.stringify({ signature: { data: [...BYTES] } })],
    ['as a Uint8Array in JSON', JSON.stringify({ signature: { ...new Uint8Array(BYTES) } })],
    ['as the text of a Uint8Array', String(new Uint8Array(BYTES))],
  ])('%s', (_, text) => {
    expect(read(text)).toContainEqual(BYTES)
  })
})

describe('no signature is made of', () => {
  it.each([
    ['nothing', ''],
    ['blanks', ' \u00a0'],
    ['JSON that is cut off', `{"signature":"${HEX}`],
    ['numbers that are no bytes', '[1,2,256]'],
    ['a text of numbers that are no bytes', '1,2,256'],
    ['base64 with too much padding', `${BASE64}=`],
    ['an object without one', JSON.stringify({ message: HEX })],
    ['a number', '7'],
  ])('%s', (_, text) => {
    expect(read(text).filter(({ length }) => length === 65)).toEqual([])
  })

  it('a text that is too long', () => {
    expect(openSignatureEnvelope('a'.repeat(20_001)).encoded).toBe('')
  })
})
