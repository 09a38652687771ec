import { expect } from 'vitest'
import { type Member, memberOf } from './members.js'
import { type ApiWorld, bid, freshName, randomAddress, START_MS } from './support.js'
import { solanaAccount } from './wallets.js'

/** Linear congruential generator, so that every run makes the same changes. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * sides)
  }
}

const FREE = { prices: [], startsAt: null, requirements: [] }

/** Lets members of a world make 200 random changes, of every kind that has an event. */
export async function walk(
  world: ApiWorld,
): Promise<{ members: Member[]; clusters: string[]; names: string[] }> {
  const members: Member[] = []
  for (let i = 0; i < 6; i++)
    members.push(await memberOf(world, i === 5 ? solanaAccount() : undefined))
  const strangers = Array.from({ length: 4 }, randomAddress)
  const clusters = [await members[0]!.create(), await members[1]!.create()]
  const roll = dice(7)
  const names: string[] = []
  const statuses = new Map<number, number>()
  for (let step = 0; step < 200; step++) {
    const member = members[roll(members.length)]!
    const other = roll(3)
      ? members[roll(members.length)]!.address
      : strangers[roll(strangers.length)]!
    const name = `w${roll(6)}`
    switch (roll(10)) {
      case 0: {
        const fresh = freshName()
        names.push(fresh)
        await world.append('mainnet', [
          bid({ from: member.address, name: fresh, atMs: START_MS + step }),
        ])
        break
      }
      case 1:
      case 2: {
        const { status } = await member.call('POST', '/v1/clusters/wallets', [
          { address: other, name, isPrivate: roll(2) === 0 },
        ])
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        break
      }
      case 3:
        await member.call('PUT', '/v1/clusters/wallets/names', [{ address: other, name }])
        break
      case 4:
        if (roll(3) === 0) await member.call('DELETE', '/v1/clusters/wallets', [other])
        break
      case 5:
        await member.call('POST', '/v1/clusters/generate/wallet/confirm', { address: other })
        break
      case 6:
      case 7: {
        const community = names[roll(names.length)]
        const rules = { ...FREE, ownersOnly: roll(3) === 0 }
        if (community && roll(4) === 0)
          await member.call('PUT', `/v1/communities/${community}`, rules)
        const body = { name: `c${roll(9)}`, ...(roll(2) ? { walletAddress: other } : {}) }
        if (community) await member.call('POST', `/v1/names/community/${community}/register`, body)
        break
      }
      default: {
        const { status } = await member.call(
          'POST',
          `/v1/clusters/verify/${clusters[roll(clusters.length)]!}`,
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const { clusterId } = (await world.get(`/v1/clusters/address/${member.address}`)).body
    if (clusterId && !clusters.includes(clusterId)) clusters.push(clusterId)
  }
  for (const status of [200, 403, 409])
    expect(statuses.get(status), `answers ${status}`).toBeGreaterThan(3)
  return { members, clusters, names }
}
