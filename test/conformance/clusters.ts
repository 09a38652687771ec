import assert from 'node:assert/strict'
import { type Row, row } from './row.js'
import {
  bearer,
  freshAddress,
  freshName,
  member,
  NotChecked,
  ok,
  registrant,
  type SignedIn,
  sampleOf,
  signIn,
  type Target,
} from './target.js'

/** Sections 4.2 and, for bundles, 4.10. */

const SUCCESS = { success: true }

/** A wallet in a cluster. One without a cluster gets a new cluster. */
async function inCluster(target: Target, wallet: SignedIn): Promise<SignedIn> {
  ok(await target.post('/v1/clusters', undefined, bearer(wallet)))
  return wallet
}

/** The wallets of a cluster in public, by address. */
async function walletsOf(target: Target, id: string) {
  const { wallets } = ok(await target.get(`/v1/clusters/id/${id}`))
  return new Map<string, { name: string; isVerified: boolean }>(
    wallets.map((wallet: { address: string }) => [wallet.address, wallet]),
  )
}

export const clusterRows: readonly Row[] = [
  row('4.2', 'POST /v1/clusters', async (target) => {
    const creator = await member(target)
    assert.match(creator.id, /^0x[0-9a-f]{64}$/)
    assert.equal(ok(await target.post('/v1/clusters', undefined, bearer(creator))).id, creator.id)
    assert.equal((await target.post('/v1/clusters')).status, 401)
  }),
  row('4.2', 'GET /v1/clusters/id/:id', async (target) => {
    const { clusterId, address } = await sampleOf(target)
    const cluster = ok(await target.get(`/v1/clusters/id/${clusterId}`))
    assert.equal(cluster.id, clusterId)
    assert.ok(cluster.wallets.some((wallet: { address: string }) => wallet.address === address))
    assert.equal((await target.get(`/v1/clusters/id/0x${'00'.repeat(32)}`)).status, 404)
  }),
  row('4.2', 'GET /v1/clusters/name/:name', async (target) => {
    const { clusterId, name } = await sampleOf(target)
    assert.equal(ok(await target.get(`/v1/clusters/name/${name}`)).id, clusterId)
    assert.equal((await target.get(`/v1/clusters/name/${freshName()}`)).status, 404)
  }),
  row('4.2', 'GET /v1/clusters/address/:address', async (target) => {
    const { clusterId, address } = await sampleOf(target)
    assert.deepEqual(ok(await target.get(`/v1/clusters/address/${address}`)), { clusterId })
    assert.equal((await target.get(`/v1/clusters/address/${freshAddress()}`)).status, 404)
  }),
  row('4.2', 'POST /v1/clusters/wallets', async (target) => {
    const creator = await member(target)
    const open = freshAddress()
    const hidden = freshAddress()
    const name = freshName()
    const added = [
      { address: open, name, isPrivate: false },
      { address: hidden, name: freshName(), isPrivate: true },
    ]
    assert.deepEqual(ok(await target.post('/v1/clusters/wallets', added, bearer(creator))), SUCCESS)
    const wallets = await walletsOf(target, creator.id)
    assert.deepEqual([wallets.get(open)?.name, wallets.get(open)?.isVerified], [name, false])
    assert.ok(!wallets.has(hidden))
  }),
  row('4.2', 'POST /v1/clusters/generate/wallet', async (target) => {
    const creator = await member(target)
    const name = freshName()
    const asked = { type: 'evm', name, isPrivate: false }
    const made = ok(await target.post('/v1/clusters/generate/wallet', asked, bearer(creator)))
    assert.deepEqual([made.type, made.name], ['evm', name])
    assert.match(made.address, /^0x[0-9a-f]{40}$/)
    assert.match(made.share, /^(0x)?[0-9a-f]+$/)
    assert.equal((await walletsOf(target, creator.id)).get(made.address)?.name, name)
  }),
  row('4.2', 'PUT /v1/clusters/wallets/names', async (target) => {
    const creator = await member(target)
    const name = freshName()
    const renamed = [{ address: creator.address, name }]
    assert.deepEqual(
      ok(await target.send('PUT', '/v1/clusters/wallets/names', renamed, bearer(creator))),
      SUCCESS,
    )
    assert.equal((await walletsOf(target, creator.id)).get(creator.address)?.name, name)
  }),
  row('4.2', 'DELETE /v1/clusters/wallets', async (target) => {
    const creator = await member(target)
    const address = freshAddress()
    const added = [{ address, name: freshName(), isPrivate: false }]
    ok(await target.post('/v1/clusters/wallets', added, bearer(creator)))
    assert.deepEqual(
      ok(await target.send('DELETE', '/v1/clusters/wallets', [address], bearer(creator))),
      SUCCESS,
    )
    assert.ok(!(await walletsOf(target, creator.id)).has(address))
  }),
  row('4.2', 'POST /v1/clusters/verify/:clusterId', async (target) => {
    const creator = await member(target)
    const guest = await signIn(target)
    const verify = () => target.post(`/v1/clusters/verify/${creator.id}`, undefined, bearer(guest))
    assert.equal((await verify()).status, 403)
    const added = [{ address: guest.address, name: freshName(), isPrivate: false }]
    ok(await target.post('/v1/clusters/wallets', added, bearer(creator)))
    assert.deepEqual(ok(await verify()), SUCCESS)
    assert.equal((await walletsOf(target, creator.id)).get(guest.address)?.isVerified, true)
  }),
  row('4.10', 'POST /v1/bundle', async (target) => {
    const creator = await member(target)
    assert.equal(ok(await target.post('/v1/bundle', undefined, bearer(creator))).id, creator.id)
  }),
  row('4.10', 'POST /v1/bundle/wallets', async (target) => {
    const creator = await member(target)
    const address = freshAddress()
    const added = [{ address, name: freshName(), isPrivate: false, type: 'evm' }]
    const answer = ok(await target.post('/v1/bundle/wallets', added, bearer(creator)))
    assert.deepEqual(answer, { success: true, id: creator.id })
    assert.ok((await walletsOf(target, creator.id)).has(address))
  }),
  row('4.10', 'GET /v1/airdrop/claim/:community', async (target) => {
    const path = '/v1/airdrop/claim'
    const creator = await member(target)
    assert.equal((await target.get(`${path}/${freshName()}`)).status, 401)
    assert.equal((await target.get(`${path}/${freshName()}`, bearer(creator))).status, 404)
    const { airdrop } = target.options
    if (airdrop === undefined)
      throw new NotChecked('needs the name of a community that has an airdrop')
    const nothing = ok(await target.get(`${path}/${airdrop}`, bearer(creator)))
    assert.deepEqual(
      [nothing.community, nothing.total, nothing.totalUnclaimed],
      [airdrop, '0', '0'],
    )
    assert.deepEqual([nothing.addresses, nothing.claims], [[creator.address], []])
    // the funded account may have a claim there
    const { total, totalUnclaimed, claims } = ok(
      await target.get(
        `${path}/${airdrop}`,
        bearer(await inCluster(target, await registrant(target))),
      ),
    )
    assert.ok(BigInt(totalUnclaimed) <= BigInt(total))
    for (const { address, amount, index, merkleRoot, proof, claimed } of claims) {
      assert.match(`${address} ${amount} ${index}`, /^\S+ [1-9][0-9]* [0-9]+$/)
      for (const hash of [merkleRoot, ...proof]) assert.match(hash, /^0x[0-9a-f]{64}$/)
      assert.equal(typeof claimed, 'boolean')
    }
  }),
]
