import { expect, it } from 'vitest'
import { parseEventLeaf } from '../transparencyLog/leafReader.js'
import { groupEventsIntoEntries } from './mirrorFold.js'

const WALLET = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
const OTHER = WALLET.replace('a', 'b')
const CLUSTER = `0x${'5f'.repeat(32)}`

const leaf = (type: string, data: object, { at = 1_795_161_600_123, from = WALLET } = {}) =>
  JSON.stringify({ v: 1, type, at, from, data })
const made = leaf('CREATE_CLUSTER', { cluster_id: CLUSTER })
const registered = leaf('REGISTER_NAME', {
  name: 'foobar',
  wei_amount: '10',
  cluster_id: CLUSTER,
})
const added = (address: string, more: object = {}) =>
  leaf(
    'ADD_WALLET',
    { name: 'main', address, cluster_id: CLUSTER, is_verified: true, is_backed_up: false },
    more,
  )

it.each([
  ['a cluster with its wallet', [made, added(WALLET), registered, registered], [2, 1, 1]],
  ['a cluster with two wallets', [made, added(WALLET), added(OTHER), registered], [3, 1]],
  ['a cluster behind a wallet', [registered, added(WALLET), made], [1, 1, 1]],
  ['wallets of two times', [added(WALLET), added(OTHER, { at: 1_795_161_600_124 })], [1, 1]],
  ['wallets of two actors', [added(WALLET), added(OTHER, { from: OTHER })], [1, 1]],
])('groups %s into the entries of their changes', (_case, leaves, sizes) => {
  const events = leaves.map((text, i) => parseEventLeaf(text, i + 1))
  expect(groupEventsIntoEntries(events).map((entry) => entry.length)).toEqual(sizes)
})
