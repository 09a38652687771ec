import { randomBytes } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { setDistributor } from '../../src/db/airdrop/airdrops.js'
import { readWatchedAirdrops, storeClaims } from '../../src/db/airdrop/claims.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { WALLET_KIND_NAMES } from '../../src/registry/auth/kinds.js'
import { loadRows, storedOf } from '../support/airdrop.js'
import { type Account, SIGNERS } from '../support/signers.js'
import { type Member, memberOf } from './members.js'
import { bid, expectReplayed, freshName, START_MS, useApi } from './support.js'

const FAR_S = Math.floor(Date.now() / 1_000) + 1_000_000
let bids = 0
const world = useApi()
afterAll(() => expectReplayed(world))

/** Creates a community whose airdrop of 40 rows only these wallets have claimed. */
async function claimedBy(...members: readonly Member[]): Promise<string> {
  const community = freshName()
  const owner = await memberOf(world)
  await world.append('mainnet', [
    bid({ from: owner.address, name: community, block: 10_000 + bids++, atMs: START_MS }),
  ])
  expect(
    (await owner.call('PUT', `/v1/communities/${community}`, { ownersOnly: true })).status,
  ).toBe(200)
  const others = Array.from(
    { length: 40 - members.length },
    (_, i) => `0x${(4096 + i).toString(16).padStart(40, '0')}`,
  )
  const rows = [...members.map(({ address }) => address), ...others].map((address) => ({
    address,
    amount: 5n,
  }))
  const airdrop = await loadRows(world.pool, rows, { community })
  const to = {
    label: '1',
    distributor: Buffer.alloc(20, 0xd1),
    token: Buffer.alloc(20, 0x70),
    endsAtS: FAR_S,
  }
  await setDistributor(world.pool, 'mainnet', community, { ...to, fromBlock: 5 })
  const watched = (await readWatchedAirdrops(world.pool, 'mainnet', '1')).find(
    (one) => one.airdrop === airdrop.airdrop,
  )!
  const claims = members.map(({ address }, index) => ({
    index,
    receiver: storedOf(address),
    block: 6,
    blockHash: Buffer.alloc(32, 6),
    logIndex: index,
    txHash: Buffer.alloc(32, index),
  }))
  const range = { to: 6, hash: Buffer.alloc(32, 6), isEnded: false }
  expect(
    await inTransaction(world.pool, (client) => storeClaims(client, watched, claims, range)),
  ).toBe(true)
  return community
}

/** A wallet with a new bundle. */
async function founder(account?: Account): Promise<Member & { id: string }> {
  const member = await memberOf(world, account)
  return { ...member, id: await member.create() }
}

async function join(host: Member & { id: string }, guest: Member): Promise<void> {
  await host.call('POST', '/v1/clusters/wallets', [{ address: guest.address, name: freshName() }])
  expect((await guest.call('POST', `/v1/clusters/verify/${host.id}`)).status).toBe(200)
}

const USED = { status: 409, body: { error: 'already_assigned' } }

it('a claim gives one name, even if its wallet is verified in several bundles one after the other', async () => {
  const [claimant, ...helpers] = await Promise.all([
    memberOf(world),
    founder(),
    founder(),
    founder(),
  ])
  const community = await claimedBy(claimant)
  const [first, ...others] = helpers
  await join(first!, claimant)
  expect((await first!.call('POST', '/bundles/assign', { community, name: 'first' })).status).toBe(
    200,
  )
  for (const helper of others) {
    await join(helper, claimant)
    const byHelper = await helper.call('POST', '/bundles/assign', { community, name: freshName() })
    expect(byHelper, `helper ${helper.address}`).toMatchObject(USED)
    const byClaimant = await claimant.call('POST', '/bundles/assign', {
      community,
      name: freshName(),
    })
    expect(byClaimant, `the claimant, joined by ${helper.address}`).toMatchObject(USED)
  }
  const { rows } = await world.pool.query(
    'SELECT name, claim FROM community_names WHERE community = $1',
    [community],
  )
  expect(rows).toEqual([{ name: 'first', claim: storedOf(claimant.address) }])
})

it.each(WALLET_KIND_NAMES)(
  'a bundle gets a name by an unused claim of a wallet of kind %s',
  async (kind) => {
    const accounts = await Promise.all(
      [1, 2].map(async () => (await SIGNERS[kind].accounts(randomBytes(32))).at(-1)!),
    )
    const [founding, other, third] = await Promise.all([
      founder(accounts[0]),
      founder(),
      memberOf(world, accounts[1]),
    ])
    const community = await claimedBy(founding, third)
    await join(founding, third)
    expect((await third.call('POST', '/bundles/assign', { community, name: 'third' })).status).toBe(
      200,
    )
    // repeated, which uses the same claim
    expect((await third.call('POST', '/bundles/assign', { community, name: 'third' })).status).toBe(
      200,
    )
    expect(
      await founding.call('POST', '/bundles/assign', { community, name: 'founding' }),
    ).toMatchObject(USED)
    await join(other, third)
    expect(await other.call('POST', '/bundles/assign', { community, name: 'other' })).toMatchObject(
      USED,
    )
    await join(other, founding)
    expect((await other.call('POST', '/bundles/assign', { community, name: 'other' })).status).toBe(
      200,
    )
  },
)
