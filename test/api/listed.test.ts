import { afterAll, describe, expect, it } from 'vitest'
import { type Member, memberOf } from './members.js'
import { bid, expectReplayed, freshName, useApi } from './support.js'

const world = useApi()
afterAll(() => expectReplayed(world))

const member = () => memberOf(world)
const register = (of: Member, name: string) =>
  world.append('mainnet', [bid({ from: of.address, name, atMs: Date.now() })])

describe('a wallet that a cluster lists', () => {
  it('finds the clusters that list it in public, and no private listing', async () => {
    const guest = await member()
    const asked = `/v1/clusters/address/${guest.address}?orNull=true&invitations=true`
    expect((await world.get(asked)).body).toEqual({ clusterId: null, invitations: [] })
    const hosts = [await member(), await member(), await member()]
    const ids: string[] = []
    for (const [i, host] of hosts.entries()) {
      ids.push(await host.create())
      const entry = { address: guest.address, name: `guest-${i}`, isPrivate: i === 1 }
      await host.call('POST', '/v1/clusters/wallets', [entry])
    }
    const name = freshName()
    await register(hosts[2]!, name)
    const invitations = [
      { clusterId: ids[2], clusterName: name, walletName: 'guest-2' },
      { clusterId: ids[0], clusterName: null, walletName: 'guest-0' },
    ]
    expect((await world.get(asked)).body).toEqual({ clusterId: null, invitations })
    expect((await guest.call('GET', asked)).body).toEqual({ clusterId: null, invitations })
    await guest.call('POST', `/v1/clusters/verify/${ids[2]}`)
    expect((await world.get(asked)).body).toEqual({
      clusterId: ids[2],
      invitations: invitations.slice(1),
    })
    const listers = []
    for (let i = 0; i < 20; i++) {
      const host = await member()
      listers.unshift(await host.create())
      await host.call('POST', '/v1/clusters/wallets', [
        { address: guest.address, name: 'many', isPrivate: false },
      ])
      if (i === 18) expect((await world.get(asked)).body).not.toHaveProperty('moreInvitations')
    }
    const { body } = await world.get(asked)
    expect(body.invitations.map(({ clusterId }: { clusterId: string }) => clusterId)).toEqual(
      listers,
    )
    expect(body.moreInvitations).toBe(true)
  })

  it('reads its own first 1,000 names, and whether there are more; nobody else does', async () => {
    const owner = await member()
    const asked = `/v1/clusters/address/${owner.address}?names=true`
    const own = async () => (await owner.call('GET', asked)).body
    const bids = Array.from({ length: 1_001 }, () =>
      bid({ from: owner.address, name: freshName(), atMs: Date.now() }),
    )
    await world.append('mainnet', bids.slice(1))
    expect((await own()).names).toHaveLength(1_000)
    expect(await own()).not.toHaveProperty('moreNames')
    await world.append('mainnet', bids.slice(0, 1))
    expect(await own()).toMatchObject({ moreNames: true })
    expect((await own()).names).toHaveLength(1_000)
    for (const { body } of [await world.get(asked), await (await member()).call('GET', asked)])
      expect(Object.keys(body)).toEqual(['clusterId'])
  })
})
