import assert from 'node:assert/strict'
import { address } from './objects.js'
import { type Row, row } from './row.js'
import {
  authKey,
  freshAddress,
  freshName,
  ok,
  registrant,
  registration,
  sampleOf,
} from './target.js'

/** Sections 4.5 and 4.6: look-ups of names, addresses and clusters. */

const deprecated = (headers: Headers): void => {
  assert.match(headers.get('deprecation') ?? '', /^@\d+$/)
  assert.match(headers.get('link') ?? '', /^<\/v1\/[^>]*>; rel="successor-version"$/)
}

export const lookupRows: readonly Row[] = [
  row('4.5', 'GET /v0.1/address/:name', async (target) => {
    const sample = await sampleOf(target)
    const reply = await target.get(`/v0.1/address/${sample.name}/`)
    deprecated(reply.headers)
    assert.equal(ok(reply).name.split('/')[0], sample.name)
    assert.equal(ok(await target.get(`/v0.1/address/${freshName()}`)), null)
  }),
  row('4.5', 'GET /v0.1/address/:name/:addressName', async (target) => {
    const { name, walletName, address } = await sampleOf(target)
    const record = ok(await target.get(`/v0.1/address/${name}/${walletName}`))
    assert.deepEqual(record, {
      type: record.type,
      address,
      name: `${name}/${walletName}`,
      isVerified: true,
    })
    assert.equal(ok(await target.get(`/v0.1/address/${name}/${freshName()}`)), null)
  }),
  row('4.5', 'POST /v0.1/address/names', async (target) => {
    const { name, walletName, address } = await sampleOf(target)
    const full = `${name}/${walletName}`
    const records = ok(
      await target.post('/v0.1/address/names', [full, `${freshName()}/`, `${name}/`]),
    )
    assert.deepEqual(
      records.map((record: { name: string }) => record.name),
      [full, `${name}/`],
    )
    assert.equal(records[0].address, address)
    assert.deepEqual(Object.keys(records[0]).sort(), ['address', 'isVerified', 'name', 'type'])
  }),
  row('4.5', 'GET /v0.1/name/:address', async (target) => {
    const { name, walletName, address } = await sampleOf(target)
    assert.equal(ok(await target.get(`/v0.1/name/${address}`)), `${name}/${walletName}`)
    for (const unknown of [freshAddress(), 'junk'])
      assert.equal(ok(await target.get(`/v0.1/name/${unknown}`)), null)
  }),
  row('4.5', 'POST /v0.1/name/addresses', async (target) => {
    const { name, walletName, address } = await sampleOf(target)
    const unknown = freshAddress()
    assert.deepEqual(ok(await target.post('/v0.1/name/addresses', [unknown, address])), [
      { address: unknown, name: null },
      { address, name: `${name}/${walletName}` },
    ])
  }),
  row('4.5', 'GET /v0.1/cluster/:name', async (target) => {
    const { name, address } = await sampleOf(target)
    const cluster = ok(await target.get(`/v0.1/cluster/${name}/`))
    assert.equal(cluster.name, `${name}/`)
    assert.ok(cluster.wallets.some((wallet: { address: string }) => wallet.address === address))
    assert.equal(ok(await target.get(`/v0.1/cluster/${freshName()}`)), null)
  }),
  row('4.5', 'POST /v0.1/cluster/names', async (target) => {
    const { name } = await sampleOf(target)
    const clusters = ok(await target.post('/v0.1/cluster/names', [freshName(), `${name}/`]))
    assert.deepEqual(clusters, [ok(await target.get(`/v0.1/cluster/${name}`))])
  }),
  row('4.5', 'POST /v0.1/cluster/:name/update/wallets', async (target) => {
    const wallet = await registrant(target)
    const { name } = await registration(target)
    const one = freshAddress()
    const two = freshAddress()
    const first = freshName()
    const second = freshName()
    const renamed = freshName()
    const update = (body: object) =>
      target.post(`/v0.1/cluster/${name}/update/wallets`, body, authKey(wallet))
    const add = [
      { address: one, name: first },
      { address: two, name: second },
    ]
    assert.equal((await update({ add, update: [], remove: [] })).status, 201)
    const change = { add: [], update: [{ address: one, name: renamed }], remove: [two] }
    assert.equal((await update(change)).status, 201)
    const found = ok(await target.get(`/v0.1/address/${name}/${renamed}`))
    assert.deepEqual([found.address, found.isVerified], [one, false])
    assert.equal(ok(await target.get(`/v0.1/address/${name}/${second}`)), null)
    assert.equal((await target.post(`/v0.1/cluster/${name}/update/wallets`, change)).status, 401)
    assert.equal((await update({ add: [], update: [], remove: [one] })).status, 201)
  }),
  row('4.6', 'GET /v1/names/address/:address', async (target) => {
    const { name, walletName, address } = await sampleOf(target)
    const record = ok(await target.get(`/v1/names/address/${address}`))
    assert.deepEqual(
      [record.address, record.clusterName, record.walletName],
      [address, name, walletName],
    )
    const unknown = await target.get(`/v1/names/address/${freshAddress()}`)
    assert.deepEqual([unknown.status, unknown.body.clusterName], [404, null])
  }),
  row('4.6', 'GET /v1/names/owner/address/:address', async (target) => {
    const sample = await sampleOf(target)
    const records = ok(await target.get(`/v1/names/owner/address/${sample.address}`))
    const record = records.find((one: { name: string }) => one.name === sample.name)
    assert.equal(record.owner, sample.address)
    assert.equal(record.clusterId, sample.clusterId)
    address.parse(record.updatedBy)
  }),
  row('4.6', 'POST /v1/names/address', async (target) => {
    const { name, address } = await sampleOf(target)
    const records = ok(await target.post('/v1/names/address', [freshAddress(), address]))
    assert.deepEqual(
      records.map((record: { clusterName: string | null }) => record.clusterName),
      [null, name],
    )
  }),
]
