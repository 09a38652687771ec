import { expect, it } from 'vitest'
import { DATA } from '../../src/api/v1/events.js'
import { mirrorOf, readFeed, seconds, toldByV01, toldByV1 } from './mirror.js'
import { expectReplayed, useApi } from './support.js'
import { walk } from './walk.js'

const world = useApi()

it('a mirror built from /v1/events alone is the public state that the API answers, and v0.1 tells of it alike', async () => {
  const { members, clusters, names } = await walk(world)
  const events = await readFeed(world)
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(Object.keys(DATA)))
  const mirror = mirrorOf(events)
  expect(await toldByV01(world)).toEqual(toldByV1(events, mirror))

  for (const [id, mirrored] of mirror.clusters) {
    const { body } = await world.get(`/v1/clusters/id/${id}`)
    const { wallets, ...cluster } = body
    expect(cluster).toEqual({ id, createdBy: mirrored.createdBy, createdAt: mirrored.createdAt, isTestnet: false })
    const entries = wallets.map(({ address, ...entry }: { address: string }) => [address, entry])
    expect(new Map(entries)).toEqual(mirrored.wallets)
  }
  for (const id of clusters) expect(mirror.clusters.has(id)).toBe(true)

  for (const [name, { cluster, wei, createdMs, updatedMs, updatedBy }] of mirror.names) {
    expect((await world.get(`/v1/clusters/name/${name}`)).body.id).toBe(cluster)
    const owner = [...mirror.clusters.get(cluster)!.wallets].find(([, wallet]) => wallet.isVerified)?.[0]
    if (!owner) continue // whoever is verified there is private
    const records = (await world.get(`/v1/names/owner/address/${owner}`)).body
    const record = records.find((one: { name: string }) => one.name === name)
    expect(record).toMatchObject({ name, owner, totalWeiAmount: wei, clusterId: cluster, updatedBy })
    expect([record.createdAt.slice(0, 19), record.updatedAt.slice(0, 19)]).toEqual(
      [createdMs, updatedMs].map((ms) => seconds(ms).slice(0, 19)),
    )
  }
  expect([...mirror.names.keys()].sort()).toEqual(names.sort())

  const { rows } = await world.pool.query(`SELECT community || '/' || name AS pair FROM community_names ORDER BY seq`)
  expect([...mirror.communityNames.keys()]).toEqual(rows.map(({ pair }) => pair))
  for (const [pair, { address, isVerified, createdMs, createdBy }] of mirror.communityNames) {
    expect((await world.post('/v1/names', [{ name: pair }])).body).toMatchObject([{ address, isVerified }])
    const home = [...mirror.clusters].find(([, { wallets }]) => wallets.get(address)?.isVerified)
    const records = (await world.get(`/v1/names/owner/address/${address}`)).body
    const record = records.find((one: { name: string }) => one.name === pair)
    expect(record).toMatchObject({ owner: address, clusterId: home?.[0] ?? null, updatedBy: createdBy })
    expect(record.createdAt.slice(0, 19)).toBe(seconds(createdMs).slice(0, 19))
  }
  // look-ups find an address in the one cluster in which it is verified
  for (const { address } of members) {
    const home = [...mirror.clusters].find(([, { wallets }]) => wallets.get(address)?.isVerified)
    expect((await world.get(`/v1/clusters/address/${address}`)).body.clusterId).toBe(home?.[0] ?? null)
  }
  await expectReplayed(world)
})
