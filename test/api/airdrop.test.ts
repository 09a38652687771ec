import { decodeFunctionData, type Hex, recoverTypedDataAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { airdropDistributorAbi } from '../../src/chains/evm/contracts/index.js'
import { type Airdrop, setDistributor } from '../../src/db/airdrop/airdrops.js'
import { findClaimedAccount } from '../../src/db/airdrop/answers.js'
import { readWatchedAirdrops, storeClaims } from '../../src/db/airdrop/claims.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { claimPermissionTypedData } from '../../src/registry/airdrop/permission.js'
import { airdropLeaf } from '../../src/registry/airdrop/tree.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { loadRows, type Row, storedOf } from '../support/airdrop.js'
import { rootOfProof } from '../support/merkleProof.js'
import { type Member, memberOf } from './members.js'
import { freshName, randomAddress, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

const operatorKey = generatePrivateKey()
const DISTRIBUTOR = `0x${'d1'.repeat(20)}` as const
const TOKEN = `0x${'70'.repeat(20)}` as const
const CHAIN_ID = 31_337
const FAR_S = Math.floor(Date.now() / 1_000) + 1_000_000

/**
 * Wallets of a bundle, oldest first, all verified: an EVM wallet, a private EVM wallet, a Solana wallet, and a
 * private Solana wallet.
 */
let alice: Member
let hidden: Member
let sol: Member
let hiddenSol: Member
let bundleId: string

const world = useApi({ airdropOperatorKey: operatorKey })
beforeAll(async () => {
  ;[alice, hidden, sol, hiddenSol] = await Promise.all([
    memberOf(world),
    memberOf(world),
    memberOf(world, solanaAccount()),
    memberOf(world, solanaAccount()),
  ])
  bundleId = await alice.create()
  // added one by one, because their order matters
  await alice.call('POST', '/v1/clusters/wallets', [
    { address: hidden.address, name: 'hidden', isPrivate: true },
  ])
  await alice.call('POST', '/v1/clusters/wallets', [{ address: sol.address, name: 'sol' }])
  await alice.call('POST', '/v1/clusters/wallets', [
    { address: hiddenSol.address, name: 'hidden-sol', isPrivate: true },
  ])
  for (const member of [hidden, sol, hiddenSol])
    expect((await member.call('POST', `/v1/clusters/verify/${bundleId}`)).status).toBe(200)
})

const bundle = () => [alice, hidden, sol, hiddenSol]
const rows = (): Row[] => [
  ...bundle().map(({ address }, i) => ({ address, amount: 100n + BigInt(i) })),
  ...Array.from({ length: 60 }, () => ({ address: randomAddress(), amount: 7n })),
]

/** Creates a community with an airdrop of these rows. */
async function given(
  of: readonly Row[],
  settings: { label?: string; endsAtS?: number; isDeployed?: boolean } = {},
): Promise<Airdrop> {
  const { label = '1', endsAtS = FAR_S, isDeployed = true } = settings
  const airdrop = await loadRows(world.pool, of, { community: freshName(), label })
  const to = {
    label,
    distributor: fromHex(DISTRIBUTOR),
    token: fromHex(TOKEN),
    endsAtS,
    fromBlock: 5,
  }
  if (isDeployed) await setDistributor(world.pool, 'mainnet', airdrop.community, to)
  return airdrop
}

const ask = (member: Member, { community }: Pick<Airdrop, 'community'>, query = '') =>
  member.call('GET', `/v1/airdrop/claim/${community}${query}`)

interface Claim {
  address: string
  amount: string
  index: number
  proof: Hex[]
  receiver?: string
  sender?: string
  transaction?: { to: Hex; data: Hex; value: string }
  reason?: string
}
/** Receiver of each wallet's claim, in the order of the bundle, or the reason why there is none. */
const outcomes = (claims: readonly Claim[]) =>
  bundle().map(({ address }) => {
    const claim = claims.find((one) => one.address === address)
    return claim?.receiver ?? claim?.reason
  })

describe('GET /v1/airdrop/claim/:community', () => {
  it('lists the claims of every verified wallet of the bundle, with proofs that give the root', async () => {
    const airdrop = await given(rows())
    const { status, body, headers } = await ask(alice, airdrop)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(body).toMatchObject({
      community: airdrop.community,
      total: '406',
      totalUnclaimed: '406',
      network: '1',
      distributor: DISTRIBUTOR,
      token: TOKEN,
      endsAt: new Date(FAR_S * 1_000).toISOString(),
    })
    expect(body.addresses).toEqual(bundle().map(({ address }) => address))
    expect(body.claims.map(({ amount }: Claim) => amount)).toEqual(['100', '101', '102', '103'])
    for (const { address, amount, index, proof, ...claim } of body.claims) {
      const leaf = airdropLeaf(BigInt(index), addressToWord(storedOf(address)), BigInt(amount))
      expect(rootOfProof(leaf, proof.map(fromHex)), address).toEqual(airdrop.merkleRoot)
      expect(claim, address).toMatchObject({
        merkleRoot: toHex(airdrop.merkleRoot),
        claimed: false,
      })
    }
    expect((await ask(alice, { community: `${airdrop.community.toUpperCase()}` })).body).toEqual(
      body,
    )
  })

  it('pays an EVM account directly, and a Solana account through the caller’s EVM wallet with a permission', async () => {
    const airdrop = await given(rows())
    const { claims } = (await ask(alice, airdrop)).body
    expect(outcomes(claims)).toEqual([
      alice.address,
      'private_wallet',
      alice.address,
      'private_wallet',
    ])
    const [own, , ofSolana] = claims as [Claim, Claim, Claim]
    expect(own).toMatchObject({
      sender: alice.address,
      transaction: { to: DISTRIBUTOR, value: '0' },
    })
    expect(ofSolana.sender).toBeUndefined()
    const read = (claim: Claim) =>
      decodeFunctionData({ abi: airdropDistributorAbi, data: claim.transaction!.data })
    expect(read(own)).toEqual({
      functionName: 'claim',
      args: [BigInt(own.index), toHex(addressToWord(storedOf(alice.address))), 100n, own.proof],
    })
    const { functionName, args } = read(ofSolana)
    expect(functionName).toBe('claimFor')
    const [index, account, amount, proof, to, deadline, signature] = args as unknown as [
      ...[bigint, Hex, bigint, Hex[], Hex, bigint, Hex],
    ]
    expect([index, amount, proof, to.toLowerCase()]).toEqual([
      BigInt(ofSolana.index),
      102n,
      ofSolana.proof,
      alice.address,
    ])
    expect(Number(deadline) * 1_000 - Date.now()).toBeGreaterThan(49 * 60_000)
    expect(Number(deadline) * 1_000 - Date.now()).toBeLessThanOrEqual(60 * 60_000)
    const permission = claimPermissionTypedData({
      chainId: CHAIN_ID,
      distributor: DISTRIBUTOR,
      index,
      account: fromHex(account),
      to: to.toLowerCase() as Hex,
      deadlineS: deadline,
    })
    expect(await recoverTypedDataAddress({ ...permission, signature })).toBe(
      privateKeyToAddress(operatorKey),
    )
  })

  it('links private wallets with others on chain only with link=true', async () => {
    const airdrop = await given(rows())
    const asked = async (member: Member, query = '') =>
      outcomes((await ask(member, airdrop, query)).body.claims)
    const a = alice.address
    const h = hidden.address
    expect(await asked(alice, '?link=true')).toEqual([a, h, a, a])
    expect(await asked(alice, '?link=1')).toEqual([a, 'private_wallet', a, 'private_wallet'])
    // the transaction would show a private caller beside the Solana account
    expect(await asked(hidden)).toEqual([a, 'private_wallet', 'private_wallet', 'private_wallet'])
    expect(await asked(hidden, '?link=true')).toEqual([a, h, h, h])
    // a Solana caller is paid through the oldest public EVM wallet
    expect(await asked(sol)).toEqual([a, 'private_wallet', a, 'private_wallet'])
    expect(await asked(hiddenSol, '?link=true')).toEqual([a, h, a, a])
  })

  it('offers no transaction where a bundle has no EVM wallet, or only a private one', async () => {
    const [lonely, guest] = await Promise.all([memberOf(world, solanaAccount()), memberOf(world)])
    const id = await lonely.create()
    const airdrop = await given([{ address: lonely.address, amount: 9n }])
    const reason = async (query = '') => (await ask(lonely, airdrop, query)).body.claims[0]
    expect(await reason()).toMatchObject({ amount: '9', proof: [], reason: 'no_evm_wallet' })
    await lonely.call('POST', '/v1/clusters/wallets', [
      { address: guest.address, name: 'guest', isPrivate: true },
    ])
    expect(await reason('?link=true')).toMatchObject({ reason: 'no_evm_wallet' })
    await guest.call('POST', `/v1/clusters/verify/${id}`)
    expect(await reason()).toMatchObject({ reason: 'private_wallet' })
    expect(await reason('?link=true')).toMatchObject({ receiver: guest.address })
  })

  it('reveals nothing to strangers, to unverified wallets of the bundle, and to callers without a bundle', async () => {
    const [stranger, listed, nobody] = await Promise.all([
      memberOf(world),
      memberOf(world),
      memberOf(world),
    ])
    await stranger.create()
    await alice.call('POST', '/v1/clusters/wallets', [
      { address: listed.address, name: freshName() },
    ])
    const airdrop = await given([...rows(), { address: listed.address, amount: 1_000n }])
    const nothing = { total: '0', totalUnclaimed: '0', claims: [] }
    for (const [name, member] of Object.entries({ stranger, listed, nobody })) {
      const { status, body } = await ask(member, airdrop, '?link=true')
      expect([status, body], name).toEqual([200, expect.objectContaining(nothing)])
      for (const { address } of bundle())
        expect(JSON.stringify(body), `${name}, ${address}`).not.toContain(address)
    }
    // members do not see unverified wallets either
    expect((await ask(alice, airdrop)).body.total).toBe('406')
    expect((await world.get(`/v1/airdrop/claim/${airdrop.community}`)).status).toBe(401)
  })

  it('shows claims that are pending and claims that are confirmed', async () => {
    const airdrop = await given(rows())
    const [watched] = (await readWatchedAirdrops(world.pool, 'mainnet', '1')).filter(
      (one) => one.airdrop === airdrop.airdrop,
    )
    const tx = `0x${'ab'.repeat(32)}` as const
    const seen = (index: number) => ({
      index,
      receiver: storedOf(alice.address),
      block: 6,
      blockHash: Buffer.alloc(32, 6),
      logIndex: index,
      txHash: fromHex(tx),
    })
    const ids = {
      network: 'mainnet' as const,
      caller: storedOf(sol.address),
      community: airdrop.community,
      clusterId: fromHex(bundleId),
    }
    await inTransaction(world.pool, (client) => storeClaims(client, watched!, [seen(0)], null))
    const before = (await ask(alice, airdrop)).body
    expect(before).toMatchObject({ total: '406', totalUnclaimed: '406' })
    expect(before.claims[0]).toMatchObject({ claimed: false, pending: true, tx, reason: 'pending' })
    expect(await findClaimedAccount(world.pool, ids)).toBeNull()
    const range = { to: 6, hash: Buffer.alloc(32, 6), isEnded: false }
    await inTransaction(world.pool, (client) => storeClaims(client, watched!, [seen(0)], range))
    const after = (await ask(alice, airdrop)).body
    expect(after).toMatchObject({ total: '406', totalUnclaimed: '306' })
    expect(after.claims[0]).toMatchObject({ claimed: true, tx, reason: 'claimed' })
    expect(after.claims[0].transaction ?? after.claims[0].pending).toBeUndefined()
    expect(await findClaimedAccount(world.pool, ids)).toEqual(storedOf(alice.address))
    expect(await findClaimedAccount(world.pool, { ...ids, clusterId: Buffer.alloc(32) })).toBeNull()
    expect(await findClaimedAccount(world.pool, { ...ids, network: 'testnet' })).toBeNull()
  })

  it.each([
    ['is not deployed', { isDeployed: false }, 'no_distributor'],
    ['has ended', { endsAtS: 1_700_000_000 }, 'ended'],
    ['is on a chain that is not served', { label: '10' }, 'chain_not_served'],
  ])('has no transactions where the distributor %s', async (_what, settings, reason) => {
    const { claims, total } = (await ask(alice, await given(rows(), settings), '?link=true')).body
    expect([total, outcomes(claims)]).toEqual(['406', [reason, reason, reason, reason]])
  })

  it('reads the new file where an airdrop is replaced during the read, and answers 404 once it is removed', async () => {
    const one = await given(rows())
    const other = await given(rows().slice(0, 3))
    /** Response to a member whose claims are read while the airdrop changes. */
    const meanwhile = async (member: Member, old: Airdrop, change: string) => {
      const client = await world.pool.connect()
      try {
        await client.query('BEGIN; LOCK TABLE airdrop_pages IN ACCESS EXCLUSIVE MODE')
        const answer = ask(member, one)
        const waiting =
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%airdrop_pages%'"
        await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1)
        for (const table of ['airdrop_pages', 'airdrop_allocations', 'airdrops'])
          await client.query(`DELETE FROM ${table} WHERE airdrop = $1`, [old.airdrop])
        await client.query(`${change}; COMMIT`)
        return await answer
      } finally {
        client.release(true)
      }
    }
    const move = `UPDATE airdrops SET community = '${one.community}' WHERE airdrop = ${other.airdrop}`
    const { status, body } = await meanwhile(alice, one, move)
    expect([status, body.total]).toEqual([200, '303'])
    expect((await meanwhile(sol, other, 'SELECT')).body.error).toBe('not_found')
  })

  it('answers 404 for a community without an airdrop, on the other network, and for a malformed name', async () => {
    const airdrop = await given(rows())
    expect((await ask(alice, { community: freshName() })).body.error).toBe('not_found')
    expect((await ask(alice, airdrop, '?testnet=true')).body.error).toBe('not_found')
    expect((await ask(alice, { community: 'a b' })).body.error).toBe('invalid_name')
    expect((await ask(alice, airdrop, '?link=true&link=true')).body.error).toBe('invalid_request')
  })
})

describe('GET /v1/airdrops', () => {
  it('lists the airdrops that can be claimed, the newest first, to everybody', async () => {
    const older = await given([{ address: alice.address, amount: 5n }])
    const ended = await given([{ address: alice.address, amount: 5n }], { endsAtS: 1_000_000_000 })
    const undeployed = await given([{ address: alice.address, amount: 5n }], { isDeployed: false })
    const newer = await given([{ address: alice.address, amount: 7n }], { label: '8453' })
    const { status, body } = await world.get('/v1/airdrops')
    expect(status).toBe(200)
    expect(body.slice(0, 2)).toEqual([
      {
        community: newer.community,
        network: '8453',
        total: '7',
        token: TOKEN,
        distributor: DISTRIBUTOR,
        endsAt: new Date(FAR_S * 1_000).toISOString(),
      },
      expect.objectContaining({ community: older.community, network: '1', total: '5' }),
    ])
    const listed = body.map(({ community }: { community: string }) => community)
    expect(listed).not.toContain(ended.community)
    expect(listed).not.toContain(undeployed.community)
    expect((await world.get('/v1/airdrops?testnet=true')).body).toEqual([])
  })
})
