import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf, publicEvent } from '../../../test/support/arbitraries.js'
import { eventDataJson } from '../journal/eventForms.js'
import { toHex } from '../primitives/bytes.js'
import { beginningLeaf, readBeginningLeaf } from './beginning.js'
import { createLeafWriter } from './leaf.js'
import { parseEventLeaf } from './leafReader.js'

const ORIGIN = 'names.example/mainnet/2'
const WALLET = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
const CLUSTER = `0x${'5f'.repeat(32)}`

const registered = (data: object = {}, more: object = {}) =>
  JSON.stringify({
    v: 1,
    type: 'REGISTER_NAME',
    at: 1_795_161_600_123,
    from: WALLET,
    data: { name: 'foobar', wei_amount: '10', cluster_id: CLUSTER, ...data },
    ...more,
  })

describe('the leaf of an event', () => {
  it('is read back, except for fields that v1 does not show', () => {
    const write = createLeafWriter<string>(String)
    const place = { number: 7, actor: null, atMs: 5 }
    fc.assert(
      fc.property(publicEvent(bytesOf(32).map((raw): string => toHex(raw))), (given) => {
        const one = parseEventLeaf(write({ event: given, ...place }), 7)
        expect(one).toEqual({ event: one.event, ...place })
        expect(given).toMatchObject(one.event)
        expect(eventDataJson(one.event, String)).toBe(eventDataJson(given, String))
      }),
    )
  })

  it.each<[what: string, text: string, why: string]>([
    ['a newer version', registered({}, { v: 2 }), 'version 2 of its form is unknown'],
    ['an unknown type', registered({}, { type: 'DROP_TABLE' }), 'type "DROP_TABLE" is unknown'],
    ['a name of a prototype', registered({}, { type: 'toString' }), 'type "toString" is unknown'],
    ['an amount in hex', registered({ wei_amount: '0x10' }), 'not written as events are'],
    ['an amount with zeros', registered({ wei_amount: '010' }), 'not written as events are'],
    ['an amount as a number', registered({ wei_amount: 10 }), 'not written as events are'],
    ['a name in capitals', registered({ name: 'FooBar' }), 'not written as events are'],
    ['a name with a tab', registered({ name: 'foo\tbar' }), 'not written as events are'],
    ['a cluster in capitals', registered({ cluster_id: CLUSTER.toUpperCase() }), 'not written'],
    ['no cluster', registered({ cluster_id: null }), 'not written as events are'],
    ['a field more', registered({ more: 1 }), 'not written as events are'],
    ['a field more beside', registered({}, { more: 1 }), 'not written as events are'],
    ['a time before 1970', registered({}, { at: -1 }), 'not written as events are'],
    ['a time that no date has', registered({}, { at: 1e21 }), 'not written as events are'],
    ['the fields of another type', registered({}, { type: 'ADD_WALLET' }), 'not written'],
    ['a space before', ` ${registered()}`, 'not written as events are'],
    ['a mark of the byte order', `\ufeff${registered()}`, 'not written as events are'],
    ['fields in another order', registered({}, { v: 1 }).replace('"v":1,', ''), 'not written'],
    ['null', 'null', 'not written as events are'],
    ['nothing', '', 'not written as events are'],
  ])('is not %s', (_what, text, why) => {
    expect(() => parseEventLeaf(text, 7)).toThrow(why)
  })
})

describe('the first leaf', () => {
  const previous = { origin: 'names.example/mainnet/1', size: 7, root: Buffer.alloc(32, 3) }

  it.each([
    ['no log before', null],
    ['a log before', previous],
  ])('is read with %s', (_case, given) => {
    const read = readBeginningLeaf(beginningLeaf(ORIGIN, given), ORIGIN)
    expect(read && { ...read, root: Buffer.from(read.root) }).toEqual(given)
  })

  it.each([
    ['of another log', beginningLeaf('names.example/mainnet/3', previous)],
    ['with a field more', beginningLeaf(ORIGIN, previous).replace('}}', '},"more":1}')],
    ['with a size in text', beginningLeaf(ORIGIN, previous).replace('"size":7', '"size":"7"')],
    ['of a newer version', beginningLeaf(ORIGIN, null).replace('"v":1', '"v":2')],
    ['an event', registered()],
  ])('is not one %s', (_case, text) => {
    expect(() => readBeginningLeaf(text, ORIGIN)).toThrow(`not the beginning of ${ORIGIN}`)
  })
})
