import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import type { FeedEvent } from '../../src/client/types.js'
import { requirementsHash } from '../../src/registry/community/requirements.js'
import { encodePayment } from '../../src/registry/journal/payment.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { type Member, memberOf } from '../api/members.js'
import { readFeed } from '../api/mirror.js'
import { bid, randomHash } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { lookupsOf, testEns } from '../support/ens.js'
import { bytesOf, expectOk, useObservedApi, wordOf } from './observedApi.js'
import { pathsOf } from './paths.js'

/**
 * Private wallets get names below communities in every possible way. The names are public, but their owners' cluster
 * is not: from outside they have to look like wallets of no cluster that do the same.
 */
const RECIPIENT = `0x${'55'.repeat(20)}`
const NOBODY = `0x${'0'.repeat(40)}`
const FREE = { prices: [], ownersOnly: false, startsAt: null, requirements: [] }

const { world, logged } = useObservedApi({
  ...testEns(),
  configs: (configs) =>
    configs.map((config) => ({ ...config, communityPayments: `0x${'77'.repeat(20)}` })),
})
/** alice holds foo, with pat and paul (Solana) in private. bob holds bar. eve and emil (Solana) are in no cluster. */
let alice: Member
let bob: Member
let pat: Member
let paul: Member
let eve: Member
let emil: Member
let foo: string

beforeAll(async () => {
  alice = await memberOf(world)
  bob = await memberOf(world)
  pat = await memberOf(world)
  eve = await memberOf(world)
  paul = await memberOf(world, solanaAccount())
  emil = await memberOf(world, solanaAccount())
  await world.append('mainnet', [
    bid({ from: alice.address, name: 'foo', atMs: Date.now() }),
    bid({ from: bob.address, name: 'bar', atMs: Date.now() }),
  ])
  foo = (await world.get(`/v1/clusters/address/${alice.address}`)).body.clusterId
  const listed = [
    { address: pat.address, name: 'secret-pat', isPrivate: true },
    { address: paul.address, name: 'secret-paul', isPrivate: true },
  ]
  await expectOk(alice.call('POST', '/v1/clusters/wallets', listed))
  for (const member of [pat, paul])
    await expectOk(member.call('POST', `/v1/clusters/verify/${foo}`))
})

const configure = (as: Member, name: string, rules: object = {}) =>
  as.call('PUT', `/v1/communities/${name}`, { ...FREE, ...rules })
const register = (as: Member, pair: string, owner?: Member) => {
  const [community, name] = pair.split('/')
  const body = { name, ...(owner && { walletAddress: owner.address }) }
  return as.call('POST', `/v1/names/community/${community}/register`, body)
}

let block = 50_000
/** A confirmed payment of 5 wei, under the current rules. */
async function pay(payer: Member, pair: string): Promise<void> {
  const [community, name] = pair.split('/') as [string, string]
  const body = encodePayment({
    tx: Buffer.from(randomHash().slice(2), 'hex'),
    network: '1',
    payer: bytesOf(payer.address),
    token: 'native',
    amount: 5n,
    recipient: RECIPIENT,
    community: nameToWord(community),
    name: nameToWord(name),
    referral: null,
    blockMs: Date.now(),
    met: requirementsHash([]),
  })
  const position = { chain: 1, block: block++, logIndex: 0 }
  await world.append('mainnet', [
    {
      kind: 'pay_community_name',
      position,
      txKey: body.readBigInt64BE(0),
      causeMs: Date.now(),
      body,
    },
  ])
}

/** Events that `work` adds, without ids and times. */
async function feedAfter(
  work: () => Promise<void>,
): Promise<Pick<FeedEvent, 'type' | 'from' | 'data'>[]> {
  const before = (await readFeed(world)).length
  await work()
  return (await readFeed(world)).slice(before).map(({ type, from, data }) => ({ type, from, data }))
}

/** All public responses about a wallet and a name, with both removed from the text. */
async function publicAnswers({ address }: Member, pair: string): Promise<string> {
  const asked = await Promise.all([
    ...[
      '/v1/names/address/?',
      '/v1/names/owner/address/?',
      '/v1/clusters/address/?',
      '/v1/events?from=?',
    ].map((path) =>
      world.get(path.replace('from=?', `from=${address}`).replace('/?', `/${address}`)),
    ),
    ...['/v0.1/name/?', '/v0.1/cluster/address/?'].map((path) =>
      world.get(path.replace('?', address)),
    ),
    world.get(`/v0.1/address/${pair}`),
    world.get(`/v1/names/community/${pair.replace('/', '/check/')}`),
    world.post('/v1/names', [{ name: pair }]),
    world.post('/v1/names/address', [address]),
    world.post('/v0.1/address/names', [pair]),
    world.post('/v0.1/name/addresses', [address]),
    world.post('/v1/names/register/check', [pair]),
  ])
  // page tokens contain the wallet; twins.test.ts compares them
  return JSON.stringify(asked.map(({ status, body }) => [status, body?.items ?? body]))
    .replaceAll(address, '<wallet>')
    .replaceAll(wordOf(address), '<word>')
    .replaceAll(pair, '<pair>')
    .replaceAll(`"${pair.split('/')[1]}"`, '"<name>"')
    .replaceAll(/self-[0-9a-z]{5}/g, '<self>')
    .replaceAll(/\d{4}-\d{2}-\d{2}[T ][\d:.]+(Z|\+00)/g, '<date>')
    .replaceAll(/"timestamp":\d+/g, '"timestamp":0')
    .replaceAll(/"id":"m-1-\d+"/g, '"id":"<id>"')
}
const registered = (
  from: string,
  pair: string,
  owner: Member,
  cluster_id: string | null = null,
) => {
  const [community, name] = pair.split('/')
  return {
    type: 'REGISTER_COMMUNITY_NAME',
    from,
    data: { community, name, address: owner.address, cluster_id },
  }
}

describe('private wallets and communities', () => {
  it('configure a community as the cluster’s oldest public wallet, and no event reveals them', async () => {
    expect(
      await feedAfter(async () => {
        await expectOk(configure(pat, 'foo'))
        await expectOk(configure(bob, 'bar'))
      }),
    ).toEqual([])
    const { actor } = (
      await world.pool.query('SELECT actor FROM journal WHERE kind = 22 ORDER BY seq LIMIT 1')
    ).rows[0]
    expect(actor.toString('hex')).toBe(`01${alice.address.slice(2)}`)
  })

  it.each<{ name: string; community: string; theirs: () => Member; other: () => Member }>([
    { name: 'pat in foo', community: 'foo', theirs: () => pat, other: () => eve },
    { name: 'pat in bar', community: 'bar', theirs: () => pat, other: () => eve },
    { name: 'paul in foo', community: 'foo', theirs: () => paul, other: () => emil },
    { name: 'paul in bar', community: 'bar', theirs: () => paul, other: () => emil },
  ])(
    'register for themselves like wallets of no cluster: $name',
    async ({ community, ...members }) => {
      const theirs = members.theirs()
      const other = members.other()
      const a = `${community}/self-${theirs.address.slice(-5)}`.toLowerCase()
      const b = `${community}/self-${other.address.slice(-5)}`.toLowerCase()
      const events = await feedAfter(async () => {
        await expectOk(register(theirs, a))
        await expectOk(register(other, b))
      })
      expect(events).toEqual([
        registered(theirs.address, a, theirs),
        registered(other.address, b, other),
      ])
      expect(await publicAnswers(theirs, a)).toBe(await publicAnswers(other, b))
    },
  )

  it('appear without their cluster when a member of it registers for them elsewhere', async () => {
    const events = await feedAfter(async () => {
      await expectOk(register(alice, 'bar/by-alice', pat))
      await expectOk(register(pat, 'bar/by-pat', paul))
      await expectOk(register(pat, 'bar/for-alice', alice))
    })
    expect(events).toEqual([
      registered(pat.address, 'bar/by-alice', pat),
      registered(paul.address, 'bar/by-pat', paul),
      registered(alice.address, 'bar/for-alice', alice, foo),
    ])
    expect((await register(alice, 'bar/other', eve)).body.error).toBe('not_verified')
  })

  it('look like any wallet for which an owner registers a name', async () => {
    await expectOk(configure(paul, 'foo', { ownersOnly: true }))
    const fresh = await memberOf(world)
    const hidden = await memberOf(world)
    await expectOk(
      alice.call('POST', '/v1/clusters/wallets', [
        { address: hidden.address, name: 'secret-late', isPrivate: true },
      ]),
    )
    await expectOk(hidden.call('POST', `/v1/clusters/verify/${foo}`))
    const events = await feedAfter(async () => {
      await expectOk(register(hidden, 'foo/h-self'))
      await expectOk(register(alice, 'foo/h-fresh', fresh))
      await expectOk(register(alice, 'foo/h-pat', pat))
      await expectOk(register(pat, 'foo/h-eve', eve))
    })
    const by = alice.address
    expect(events).toEqual([
      registered(by, 'foo/h-self', hidden),
      registered(by, 'foo/h-fresh', fresh),
      registered(by, 'foo/h-pat', pat),
      registered(by, 'foo/h-eve', eve),
    ])
    expect(await publicAnswers(hidden, 'foo/h-self')).toBe(
      await publicAnswers(fresh, 'foo/h-fresh'),
    )
    // a name below a community adds nobody to the community's cluster
    for (const [name, { address }] of Object.entries({ hidden, fresh })) {
      const { body } = await world.get(`/v0.1/cluster/address/${address}`)
      expect(body, name).toBeNull()
    }
    const [resolved] = (await world.post('/v1/names', [{ name: 'foo/h-self' }])).body
    expect(resolved.isVerified).toBe(false)
    await expectOk(alice.call('DELETE', '/v1/clusters/wallets', [hidden.address]))
  })

  it('pay and stay private', async () => {
    await expectOk(
      configure(pat, 'foo', {
        prices: [{ network: '1', token: 'native', amount: '5', recipient: RECIPIENT }],
      }),
    )
    const fresh = await memberOf(world)
    const hidden = await memberOf(world)
    await expectOk(
      alice.call('POST', '/v1/clusters/wallets', [
        { address: hidden.address, name: 'secret-payer', isPrivate: true },
      ]),
    )
    await expectOk(hidden.call('POST', `/v1/clusters/verify/${foo}`))
    const events = await feedAfter(async () => {
      await pay(hidden, 'foo/paid-1')
      await pay(fresh, 'foo/paid-2')
      await pay(hidden, 'foo/paid-2')
      await pay(hidden, 'foo/main')
    })
    expect(events).toEqual([
      registered(hidden.address, 'foo/paid-1', hidden),
      registered(fresh.address, 'foo/paid-2', fresh),
    ])
    expect(await publicAnswers(hidden, 'foo/paid-1')).toBe(await publicAnswers(fresh, 'foo/paid-2'))
  })

  it('do not meet requirements that would reveal their cluster', async () => {
    await expectOk(configure(bob, 'bar', { requirements: [{ kind: 'cluster', name: 'foo' }] }))
    for (const [name, member] of Object.entries({ pat, paul, eve })) {
      const { body } = await register(member, 'bar/needs-foo')
      expect(body.error, name).toBe('requirements_not_met')
    }
    await expectOk(register(alice, 'bar/needs-foo'))
    await expectOk(configure(bob, 'bar'))
  })

  it('reserve no name below a community, and lose none of their own to it', async () => {
    await expectOk(configure(alice, 'foo'))
    await expectOk(register(eve, 'foo/secret-pat'))
    const [resolved] = (await world.post('/v1/names', [{ name: 'foo/secret-pat' }])).body
    expect(resolved).toMatchObject({
      address: eve.address,
      walletName: 'secret-pat',
      isVerified: true,
    })
    const add = (isPrivate: boolean) =>
      alice.call('POST', '/v1/clusters/wallets', [
        { address: pat.address, name: 'secret-pat', isPrivate },
      ])
    await expectOk(add(true))
    expect((await add(false)).body.error).toBe('wallet_name_taken')
  })

  it('appear in no response about their cluster, to any caller', async () => {
    const given: Record<string, readonly string[]> = {
      id: [foo],
      tx: [randomHash()],
      address: [alice.address],
      sender: [alice.address],
      name: ['foo', 'bar', 'main'],
      walletName: ['main', 'free'],
      data: lookupsOf(['foo', 'secret-pat.foo', 'secret-paul.foo']),
    }
    // names below communities are public together with their owners
    const reads = routes.filter(
      ({ method, auth, path }) =>
        method === 'get' && auth !== 'required' && !/events|members/.test(path),
    )
    let asked = 0
    for (const { path: pattern } of reads) {
      for (const path of pathsOf(pattern, given)) {
        for (const headers of [{}, eve.headers, bob.headers]) {
          const response = await fetch(`${world.url}${path}`, { headers })
          const text =
            `${JSON.stringify([...response.headers])} ${await response.text()}`.toLowerCase()
          for (const { address } of [pat, paul]) {
            const form = address.startsWith('0x') ? address.slice(2) : address.toLowerCase()
            expect(text, path).not.toContain(form)
            expect(text, path).not.toContain(wordOf(address))
          }
          asked += 1
        }
      }
    }
    expect(asked).toBeGreaterThan(60)
  })

  it('appear in the feed only with their names below communities, and never with a cluster', async () => {
    for (const { id, type, from, data } of await readFeed(world)) {
      for (const { address } of [pat, paul]) {
        if (!JSON.stringify([from, data]).includes(address)) continue
        expect(type, id).toBe('REGISTER_COMMUNITY_NAME')
        expect(data, id).toMatchObject({ address, cluster_id: null })
        expect([address, alice.address, NOBODY], id).toContain(from)
      }
    }
    expect(logged.length).toBeGreaterThan(100)
    for (const line of logged) expect(line).not.toContain('secret-')
  })

  it('are published with their cluster once they become public', async () => {
    const { address } = pat
    const events = await feedAfter(async () => {
      await expectOk(
        alice.call('POST', '/v1/clusters/wallets', [{ address, name: 'pat', isPrivate: false }]),
      )
      await expectOk(register(pat, 'foo/now-public'))
    })
    expect(events).toMatchObject([
      { type: 'ADD_WALLET', data: { address, is_verified: true } },
      registered(address, 'foo/now-public', pat, foo),
    ])
    const owned = (await world.get(`/v1/names/owner/address/${address}`)).body
    expect(owned.map(({ clusterId }: { clusterId: string }) => clusterId)).toEqual(
      owned.map(() => foo),
    )
  })
})
