import { expect, it } from 'vitest'
import { EVENTS, type EventField } from '../../src/registry/journal/eventTypes.js'
import { homeOf, mirrorOf, readFeed, seconds, stateFromV1, stateFromV01 } from './mirror.js'
import { expectReplayed, useApi } from './support.js'
import { walk } from './walk.js'

const world = useApi()

it('a mirror built only from /v1/events equals the API’s public state, and so does one from v0.1’s events', async () => {
  const { members, clusters, names } = await walk(world)
  const events = await readFeed(world)
  const types = new Set(events.map(({ type }) => type))
  expect(types, 'types that test/api/walk.ts emits').toEqual(new Set(Object.keys(EVENTS)))
  for (const { type, data } of events) {
    const fields = Object.values<EventField>(EVENTS[type].fields)
    const shown = fields.flatMap(({ v1 }) => v1 ?? [])
    expect(Object.keys(data), type).toEqual(shown)
  }
  const mirror = mirrorOf(events)
  expect(await stateFromV01(world)).toEqual(stateFromV1(events, mirror))

  for (const [id, mirrored] of mirror.clusters) {
    const { body } = await world.get(`/v1/clusters/id/${id}`)
    const { wallets, ...cluster } = body
    const { createdBy, createdMs } = mirrored
    expect(cluster, id).toEqual({
      id,
      createdBy,
      createdAt: seconds(createdMs),
      isTestnet: false,
    })
    const shown = [...mirrored.wallets].map(([address, { createdMs, updatedMs, ...entry }]) => {
      const times = { createdAt: seconds(createdMs), updatedAt: seconds(updatedMs) }
      return { address, ...entry, ...times, isPrivate: false }
    })
    // evidence has a log of its own
    const listed = wallets.map(({ evidence, ...wallet }: { evidence: string }) => wallet)
    expect(new Set(listed), id).toEqual(new Set(shown))
  }
  for (const id of clusters) expect(mirror.clusters.has(id), id).toBe(true)

  for (const [name, { cluster, wei, createdMs, updatedMs, updatedBy }] of mirror.names) {
    expect((await world.get(`/v1/clusters/name/${name}`)).body.id, name).toBe(cluster)
    const owner = [...mirror.clusters.get(cluster)!.wallets].find(
      ([, wallet]) => wallet.isVerified,
    )?.[0]
    if (!owner) continue // its verified wallets are private
    const records = (await world.get(`/v1/names/owner/address/${owner}`)).body
    const record = records.find((one: { name: string }) => one.name === name)
    expect(record, name).toMatchObject({
      name,
      owner,
      totalWeiAmount: wei,
      clusterId: cluster,
      updatedBy,
    })
    expect([record.createdAt.slice(0, 19), record.updatedAt.slice(0, 19)], name).toEqual(
      [createdMs, updatedMs].map((ms) => seconds(ms).slice(0, 19)),
    )
  }
  expect([...mirror.names.keys()].sort()).toEqual(names.sort())

  const { rows } = await world.pool.query(
    `SELECT community || '/' || name AS pair FROM community_names ORDER BY seq`,
  )
  expect([...mirror.communityNames.keys()]).toEqual(rows.map(({ pair }) => pair))
  for (const [pair, { address, isVerified, createdMs, createdBy }] of mirror.communityNames) {
    expect((await world.post('/v1/names', [{ name: pair }])).body, pair).toMatchObject([
      { address, isVerified },
    ])
    const records = (await world.get(`/v1/names/owner/address/${address}`)).body
    const record = records.find((one: { name: string }) => one.name === pair)
    expect(record, pair).toMatchObject({
      owner: address,
      clusterId: homeOf(mirror, address),
      updatedBy: createdBy,
    })
    expect(record.createdAt.slice(0, 19), pair).toBe(seconds(createdMs).slice(0, 19))
  }
  // look-ups return the only cluster in which an address is verified
  for (const { address } of members) {
    const { clusterId } = (await world.get(`/v1/clusters/address/${address}`)).body
    expect(clusterId, address).toBe(homeOf(mirror, address))
  }
  await expectReplayed(world)
})
