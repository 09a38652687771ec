import { describe, expect, it } from 'vitest'
import { FEED_START, feedHash } from './feedHash.js'
import { createFeedReader } from './feedLine.js'

const WALLET = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
const CLUSTER = `0x${'5f'.repeat(32)}`
const line = (type: string, data: object, more: object = {}) =>
  JSON.stringify({ id: 'm-3-7', type, from: WALLET, data, isTestnet: false, timestamp: 1_795_161_600_123, ...more })
const registered = (data: object = {}, more: object = {}) =>
  line('REGISTER_NAME', { name: 'foobar', wei_amount: '10', cluster_id: CLUSTER, ...data }, more)

describe('a line of a feed', () => {
  it('is read as its event, and goes into the hash', () => {
    const reader = createFeedReader('mainnet')
    const { event, ids, number, generation } = reader.read(registered())
    expect({ event, ids, number, generation }).toEqual({
      event: { type: 'REGISTER_NAME', cluster: 0, name: 'foobar', amountWei: 10n },
      ...{ ids: [CLUSTER], number: 7, generation: 3 },
    })
    const moved = line('TRANSFER_NAME', { name: 'foobar', to: CLUSTER, from_cluster_id: `0x${'60'.repeat(32)}` })
    expect(reader.read(moved).ids).toHaveLength(2)
    expect(reader.hash()).toEqual([registered(), moved].reduce(feedHash, FEED_START))
  })

  it.each([
    registered({ wei_amount: '0x10' }),
    registered({ wei_amount: '010' }),
    registered({ wei_amount: 10 }),
    registered({ name: 'FooBar' }),
    registered({ name: 'foo\tbar' }),
    registered({ cluster_id: CLUSTER.toUpperCase() }),
    registered({ cluster_id: null }),
    registered({ more: 1 }),
    registered({}, { isTestnet: true }),
    registered({}, { id: 't-3-7' }),
    registered({}, { id: 'm-03-7' }),
    registered({}, { timestamp: -1 }),
    registered({}, { timestamp: 1e21 }),
    registered({}, { from: WALLET.toUpperCase().replace('0X', '0x') }),
    registered({}, { type: 'ADD_WALLET' }),
    line('VERIFY_WALLET', { address: 'nobody', cluster_id: CLUSTER }),
    line('BACKUP_WALLET', { address: WALLET }),
    ` ${registered()}`,
    'null',
    '',
  ])('is no other text: %s', (text) => {
    expect(() => createFeedReader('mainnet').read(text)).toThrow(RangeError)
  })
})
