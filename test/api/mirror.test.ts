import { expect, it } from 'vitest'
import { type Member, memberOf } from './members.js'
import { mirrorOf, readFeed, seconds, toldByV01, toldByV1 } from './mirror.js'
import { bid, expectReplayed, freshName, randomAddress, START_MS, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

const world = useApi()

/** Linear congruential generator, so that every run takes the same walk. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * sides)
  }
}

const FREE = { prices: [], startsAt: null, requirements: [] }

it('a mirror built from /v1/events alone is the public state that the API answers, and v0.1 tells of it alike', async () => {
  const members: Member[] = []
  for (let i = 0; i < 6; i++) members.push(await memberOf(world, i === 5 ? solanaAccount() : undefined))
  const strangers = Array.from({ length: 4 }, randomAddress)
  const clusters = [await members[0]!.create(), await members[1]!.create()]
  const roll = dice(7)
  const names: string[] = []
  const statuses = new Map<number, number>()
  for (let step = 0; step < 200; step++) {
    const member = members[roll(members.length)]!
    const other = roll(3) ? members[roll(members.length)]!.address : strangers[roll(strangers.length)]!
    const name = `w${roll(6)}`
    switch (roll(10)) {
      case 0: {
        const fresh = freshName()
        names.push(fresh)
        await world.append('mainnet', [bid({ from: member.address, name: fresh, atMs: START_MS + step })])
        break
      }
      case 1:
      case 2: {
        const { status } = await member.add([{ address: other, name, isPrivate: roll(2) === 0 }])
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        break
      }
      case 3:
        await member.rename(other, name)
        break
      case 4:
        if (roll(3) === 0) await member.remove(other)
        break
      case 5:
        await member.confirm(other)
        break
      case 6:
      case 7: {
        const community = names[roll(names.length)]
        const rules = { ...FREE, ownersOnly: roll(3) === 0 }
        if (community && roll(4) === 0) await member.call('PUT', `/v1/communities/${community}`, rules)
        const body = { name: `c${roll(9)}`, ...(roll(2) ? { walletAddress: other } : {}) }
        if (community) await member.call('POST', `/v1/names/community/${community}/register`, body)
        break
      }
      default: {
        const { status } = await member.verify(clusters[roll(clusters.length)]!)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const { clusterId } = (await world.get(`/v1/clusters/address/${member.address}`)).body
    if (clusterId && !clusters.includes(clusterId)) clusters.push(clusterId)
  }
  for (const status of [200, 403, 409]) expect(statuses.get(status), `answers ${status}`).toBeGreaterThan(3)

  const events = await readFeed(world)
  for (const type of [
    'CREATE_CLUSTER',
    'ADD_WALLET',
    'REGISTER_NAME',
    'UPDATE_WALLET_NAME',
    'VERIFY_WALLET',
    'REMOVE_WALLET',
    'BACKUP_WALLET',
    'TRANSFER_NAME',
    'REGISTER_COMMUNITY_NAME',
  ])
    expect(events.map((event) => event.type)).toContain(type)
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
