import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { loadSlice } from '../../../test/support/slice.js'
import { rowKeysOfEntries } from '../../registry/fold/index.js'
import type { LoadedRegistryRows, RegistryRowKeys } from '../../registry/fold/rows.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import { deriveClusterId } from '../../registry/primitives/clusterId.js'
import { inTransaction } from '../pg/pool.js'
import { readJournalHead } from './head.js'

const database = useDatabase()
let pool: pg.Pool

/** A wallet's stored address: type byte and 20 bytes. */
const wallet = (n: number): Buffer => Buffer.concat([Buffer.of(1), Buffer.alloc(20, n)])

beforeAll(() => {
  pool = database.pool
})

const load = (keys: RegistryRowKeys): Promise<LoadedRegistryRows> =>
  inTransaction(pool, async (client) =>
    loadSlice(client, 'testnet', await readJournalHead(client, 'testnet'), keys),
  )

test('loads owners, verified wallets and the smallest free cluster number', async () => {
  // wallet 1 is verified; 2 has created 1 cluster, 3 has created 20, and neither is verified any more; 4 is new
  const created = [
    ...[0].map((n) => [2, n] as const),
    ...Array.from({ length: 20 }, (_, n) => [3, n] as const),
  ]
  for (const [serial, [creator, n]] of created.entries()) {
    await pool.query(
      'INSERT INTO clusters (network, serial, id, created_seq) VALUES (1, $1, $2, 1)',
      [serial + 10, deriveClusterId('testnet', wallet(creator), n)],
    )
  }
  await pool.query(
    `INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
     VALUES (1, 7, $1, 'cold', true, true, false, 1, 1), (1, 8, $2, 'main', false, false, false, 1, 1)`,
    [wallet(1), wallet(4)],
  )
  await pool.query(
    `INSERT INTO names (network, seq, name, cluster, outcome, updated_seq)
     VALUES (1, 1, 'taken', 7, 1, 1), (1, 2, 'lost', NULL, 2, 2)`,
  )
  const seqs = { createdSeq: 1, updatedSeq: 1 }
  const flags = { isVerified: true, isPrivate: true, isBackedUp: false }
  const cold = {
    cluster: 7,
    address: wallet(1),
    name: 'cold',
    evidenceSeq: null,
    ...flags,
    ...seqs,
  }
  const keys: RegistryRowKeys = {
    ...rowKeysOfEntries([]),
    names: new Set(['free', 'taken', 'lost']),
    wallets: new Set([1, 2, 3, 4].map((n) => mapKey(wallet(n)))),
    // as when the entry is a bid
    mayPublish: true,
  }
  const slice = await load(keys)
  expect(slice.owners).toEqual(new Map([['taken', 7]]))
  expect(slice.verified).toEqual(new Map([[mapKey(wallet(1)), { cluster: 7, isPrivate: true }]]))
  // a bid of a privately verified wallet makes its entry public, and the entry's name must not collide with others
  expect(slice.clusters).toEqual(
    new Map([
      [7, { wallets: new Map([[mapKey(wallet(1)), cold]]), names: [{ name: 'taken', seq: 1 }] }],
    ]),
  )
  const free = [
    [2, 1],
    [3, 20],
    [4, 0],
  ] as const
  const sorted = (map: ReadonlyMap<string, unknown> | undefined) =>
    [...(map ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  expect(sorted(slice.nextClusterNumber)).toEqual(free.map(([w, n]) => [mapKey(wallet(w)), n]))
  // for signed changes: the signers' clusters, the requested clusters, the names they hold, and a free number for
  // verified wallets too
  const clusterIds = new Set([
    mapKey(deriveClusterId('testnet', wallet(2), 0)),
    mapKey(Buffer.alloc(32)),
  ])
  const signed = await load({ ...keys, actors: new Set([mapKey(wallet(1))]), clusterIds })
  expect(signed.clusterSerials).toEqual(
    new Map([[mapKey(deriveClusterId('testnet', wallet(2), 0)), 10]]),
  )
  expect(signed.clusters.get(7)).toMatchObject({ names: [{ name: 'taken', seq: 1 }] })
  expect(signed.clusters.get(10)).toEqual({ wallets: new Map(), names: [] })
  expect(signed.nextClusterNumber.get(mapKey(wallet(1)))).toBe(0)
})

test('a wallet’s next cluster has the next number, at any number of created clusters', async () => {
  const creator = wallet(9)
  const keys: RegistryRowKeys = {
    ...rowKeysOfEntries([]),
    wallets: new Set([mapKey(creator)]),
    actors: new Set([mapKey(creator)]),
  }
  let made = 0
  for (const count of [1, 2, 3, 16, 17, 18, 300, 5_000]) {
    const ids = Array.from({ length: count - made }, (_, i) =>
      deriveClusterId('testnet', creator, made + i),
    )
    await pool.query(
      `INSERT INTO clusters (network, serial, id, created_seq)
       SELECT 1, 1000 + $2::int + i, id, 1 FROM unnest($1::bytea[]) WITH ORDINALITY AS u (id, i)`,
      [ids, made],
    )
    made = count
    const slice = await load(keys)
    expect(slice.nextClusterNumber.get(mapKey(creator)), `of ${count}`).toBe(count)
  }
})
