import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf, publicEvent } from '../../../test/support/arbitraries.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { bytesCodec, type Codec, decodeValue, encodeValue } from './codec.js'
import { clusterOfEvent, eventCodec, parseEventData } from './eventForms.js'
import { EVENTS, type EventType } from './eventTypes.js'

const id = bytesOf(32).map((raw): string => toHex(raw))
/** Events with the public ids of clusters, as shown outside of the journal. */
const event = publicEvent(id)

const idCodec: Codec<string> = {
  write: (out, value) => bytesCodec.write(out, fromHex(value)),
  read: (from) => toHex(bytesCodec.read(from)),
}
const codec = eventCodec(idCodec)
const VERSION = 1

describe('an event', () => {
  it('is decoded to the encoded event, with any form of clusters', () => {
    fc.assert(
      fc.property(event, (given) => {
        expect(decodeValue(codec, VERSION, encodeValue(codec, VERSION, given))).toEqual(given)
      }),
    )
  })

  it('is decoded only from the encoder’s bytes', () => {
    fc.assert(
      fc.property(event, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, flip) => {
        const changed = encodeValue(codec, VERSION, given)
        changed[at % changed.length]! ^= flip
        try {
          expect(encodeValue(codec, VERSION, decodeValue(codec, VERSION, changed))).toEqual(changed)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })

  it('belongs to its first cluster, or to none', () => {
    const name = { community: 'club', name: 'alice', wallet: Buffer.alloc(21, 1) }
    expect(clusterOfEvent({ type: 'CREATE_CLUSTER', cluster: 5 })).toBe(5)
    expect(clusterOfEvent({ type: 'TRANSFER_NAME', name: 'alice', cluster: 5, from: 4 })).toBe(5)
    expect(clusterOfEvent({ type: 'REGISTER_COMMUNITY_NAME', ...name, cluster: null })).toBeNull()
  })

  it('has a unique code', () => {
    const codes = Object.values(EVENTS).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it.each([
    ['CREATE_CLUSTER', {}],
    ['CREATE_CLUSTER', { cluster_id: '0x12' }],
    ['REMOVE_WALLET', { address: 'nobody', cluster_id: `0x${'12'.repeat(32)}` }],
    ['REGISTER_NAME', { name: 'a b', wei_amount: '1', cluster_id: `0x${'12'.repeat(32)}` }],
    ['REGISTER_NAME', { name: 'a', wei_amount: '-1', cluster_id: `0x${'12'.repeat(32)}` }],
  ] as [EventType, Record<string, unknown>][])('%s has no data %o', (type, data) => {
    expect(parseEventData(type, data)).toBeUndefined()
  })
})
