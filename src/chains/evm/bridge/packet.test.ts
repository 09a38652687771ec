import fc from 'fast-check'
import { encodePacked, type Hex, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  decodePacket,
  encodePacket,
  type Packet,
  packetGuid,
  packetHeader,
  packetPayloadHash,
} from './packet.js'

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const wordArbitrary = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf)
const packetArbitrary: fc.Arbitrary<Packet> = fc
  .record({
    nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    srcEid: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    sender: wordArbitrary,
    dstEid: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    receiver: wordArbitrary,
    message: fc.uint8Array({ maxLength: 300 }).map(hexOf),
  })
  .map((path) => ({ ...path, guid: packetGuid(path) }))

/** First packet from Base (30184) to Ethereum (30101), computed by hand from PacketV1Codec.sol and GUID.sol. */
const FIRST_PACKET: Packet = {
  nonce: 1n,
  srcEid: 30184,
  sender: `0x${'00'.repeat(12)}${'aa'.repeat(20)}`,
  dstEid: 30101,
  receiver: `0x${'00'.repeat(12)}${'bb'.repeat(20)}`,
  guid: '0x5d0ff9a0bdf1d8d6736f5fae36b45aa4dd21ebca2742a946b34daa050b3283b4',
  message: '0xc0ffee',
}

describe('packets', () => {
  it('have the bytes of PacketV1Codec', () => {
    const path = [
      '0000000000000001',
      '000075e8',
      FIRST_PACKET.sender.slice(2),
      '00007595',
      FIRST_PACKET.receiver.slice(2),
    ].join('')
    expect(keccak256(`0x${path}`)).toBe(FIRST_PACKET.guid)
    expect(packetGuid(FIRST_PACKET)).toBe(FIRST_PACKET.guid)
    expect(packetHeader(FIRST_PACKET)).toBe(`0x01${path}`)
    expect(encodePacket(FIRST_PACKET)).toBe(`0x01${path}${FIRST_PACKET.guid.slice(2)}c0ffee`)
    expect(packetPayloadHash(FIRST_PACKET)).toBe(keccak256(`${FIRST_PACKET.guid}c0ffee`))
    expect(decodePacket(encodePacket(FIRST_PACKET))).toEqual(FIRST_PACKET)
  })

  it('come back from their bytes, and equal what viem packs', () => {
    fc.assert(
      fc.property(packetArbitrary, (p) => {
        const encoded = encodePacket(p)
        expect(decodePacket(encoded)).toEqual(p)
        expect(encoded).toBe(
          encodePacked(
            ['uint8', 'uint64', 'uint32', 'bytes32', 'uint32', 'bytes32', 'bytes32', 'bytes'],
            [1, p.nonce, p.srcEid, p.sender, p.dstEid, p.receiver, p.guid, p.message],
          ),
        )
      }),
    )
  })

  it('are refused when any byte before the message is changed or missing', () => {
    const encoded = encodePacket(FIRST_PACKET)
    for (let byte = 0; byte < 113; byte++) {
      const bytes = Buffer.from(encoded.slice(2), 'hex')
      bytes[byte] = bytes[byte]! ^ 1
      expect(decodePacket(hexOf(bytes)), `byte ${byte}`).toBeNull()
      expect(decodePacket(hexOf(bytes.subarray(0, byte))), `${byte} bytes`).toBeNull()
    }
    expect(decodePacket('0x')).toBeNull()
    expect(decodePacket(`${encoded}f`)).toBeNull()
    expect(decodePacket(`${encoded}zz`)).toBeNull()
  })

  it('may carry an empty message', () => {
    const empty: Packet = { ...FIRST_PACKET, message: '0x' }
    expect(decodePacket(encodePacket(empty))).toEqual(empty)
  })
})
