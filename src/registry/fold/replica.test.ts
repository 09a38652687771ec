import { describe, expect, it } from 'vitest'
import { clustersOf } from '../journal/eventForms.js'
import { createEventReader } from '../journal/eventReader.js'
import { entriesOf } from './replica.js'

const read = createEventReader('mainnet')
const WALLET = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
const CLUSTER = `0x${'5f'.repeat(32)}`
const line = (type: string, data: object, more: object = {}) =>
  JSON.stringify({
    id: 'm-3-7',
    type,
    from: WALLET,
    data,
    isTestnet: false,
    timestamp: 1_795_161_600_123,
    ...more,
  })
const registered = (data: object = {}, more: object = {}) =>
  line('REGISTER_NAME', { name: 'foobar', wei_amount: '10', cluster_id: CLUSTER, ...data }, more)

describe('a line of a feed', () => {
  it('is read as its event', () => {
    const { event, number, generation } = read(registered())
    expect({ number, generation }).toEqual({ number: 7, generation: 3 })
    expect(event).toEqual({
      type: 'REGISTER_NAME',
      cluster: CLUSTER,
      name: 'foobar',
      amountWei: 10n,
    })
    const moved = line('TRANSFER_NAME', {
      name: 'foobar',
      to: CLUSTER,
      from_cluster_id: `0x${'60'.repeat(32)}`,
    })
    expect(clustersOf(read(moved).event)).toHaveLength(2)
  })

  it('is one entry with those before it where a change lists several wallets', () => {
    const added = (address: string, more: object = {}) =>
      line(
        'ADD_WALLET',
        { name: 'main', address, cluster_id: CLUSTER, is_verified: true, is_backed_up: false },
        more,
      )
    const made = line('CREATE_CLUSTER', { cluster_id: CLUSTER })
    const other = WALLET.replace('a', 'b')
    const sizes = (...lines: string[]) =>
      entriesOf(lines.map((one) => read(one))).map((one) => one.length)
    expect(sizes(made, added(WALLET), registered(), registered())).toEqual([2, 1, 1])
    expect(sizes(made, added(WALLET), added(other), registered())).toEqual([3, 1])
    expect(sizes(registered(), added(WALLET), made)).toEqual([1, 1, 1])
    expect(sizes(added(WALLET), added(other, { timestamp: 1_795_161_600_124 }))).toEqual([1, 1])
    expect(sizes(added(WALLET), added(other, { from: other }))).toEqual([1, 1])
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
    expect(() => read(text)).toThrow('no event of the feed')
  })
})
