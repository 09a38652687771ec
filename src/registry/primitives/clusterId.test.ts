import fc from 'fast-check'
import { encodePacked, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressToWord, parseAddress } from './address.js'
import { toHex } from './bytes.js'
import { deriveClusterId, parseClusterId } from './clusterId.js'
import { NETWORK_CODE, NETWORKS, type Network } from './network.js'

const stored = (text: string): Buffer => {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(address)
  return address.bytes
}
const EVM = stored('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
const SOLANA = stored('vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg')

describe('clusterId', () => {
  // computed once with viem's keccak256 and encodePacked; an id is public and may never change
  it.each([
    ['mainnet', EVM, 0, '0x6c9fff068c2d64efbf2e8d20cbf306ed16148007cccbf298a6cef62f9cf1e7b3'],
    ['mainnet', EVM, 1, '0x688e5fb57f553e47e947c09a8d35af621106bcb33399259c65286cefaa002ae5'],
    ['testnet', EVM, 0, '0xfa22f1800be9bcec28c85f61a420a0f06c2bc34669e09978fd2e4f20bb0b018a'],
    ['mainnet', SOLANA, 0, '0x76aadd4c57b6f3139014dff1a5c427688834ed552651d4e75abe845917ccd02c'],
  ] satisfies [Network, Buffer, number, string][])(
    'on %s of %s, number %d',
    (network, creator, n, id) => {
      expect(toHex(deriveClusterId(network, creator, n))).toBe(id)
    },
  )

  it('is keccak256 of network, creator and number, packed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NETWORKS),
        fc.constantFrom(1, 3),
        fc.uint8Array({ minLength: 20, maxLength: 90 }),
        fc.nat(),
        (network, type, raw, n) => {
          // text of another chain's address may be longer than a word
          const creator = Buffer.of(type, ...(type === 1 ? raw.slice(0, 20) : raw))
          const packed = encodePacked(
            ['uint8', 'bytes32', 'uint64'],
            [NETWORK_CODE[network], toHex(addressToWord(creator)), BigInt(n)],
          )
          expect(toHex(deriveClusterId(network, creator, n))).toBe(keccak256(packed))
        },
      ),
    )
  })
})

describe('the text of a cluster id', () => {
  const digits = '0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCD'

  it('is 0x and 64 hex digits of either case', () => {
    expect(parseClusterId(`0x${digits}`)).toEqual(Buffer.from(digits, 'hex'))
  })

  it.each([
    `0x${digits}0`,
    `0x${digits.slice(1)}`,
    `00x${digits}`,
    `0x${digits.slice(1)}g`,
    digits,
    '0x',
    '0xa',
    '',
  ])('is not %j', (text) => expect(parseClusterId(text)).toBeNull())
})
