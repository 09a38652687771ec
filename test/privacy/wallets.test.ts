import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { type Member, memberOf } from '../api/members.js'
import { mirrorOf, readFeed } from '../api/mirror.js'
import { bid, freshName, randomAddress, randomHash } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { lookupsOf, testEns } from '../support/ens.js'
import { expectOk, formsOf, useObservedApi } from './observedApi.js'
import { pathsOf } from './paths.js'

const { world, logged } = useObservedApi({ ...testEns(), shareKeys: [Buffer.alloc(32, 9)] })
/** Traces of private wallets in a text. */
let shows = (_text: string): string[] => []

beforeAll(plant)

const CLAIM = routes.find(({ path }) => path === '/v1/airdrop/claim/:community')

/** Names of wallets that nobody outside may see. */
const SECRET = [
  'secret-listed',
  'secret-actor',
  'secret-renamed',
  'secret-payer',
  'secret-made',
  'secret-last',
  'secret-solana',
  'secret-invited',
]

let alice: Member
let stranger: Member
const hidden: Record<'listed' | 'actor' | 'payer' | 'last' | 'solana' | 'made', string> = {
  listed: randomAddress(),
  actor: '',
  payer: '',
  last: '',
  solana: '',
  made: '',
}
const clusters: string[] = []
const names: string[] = []
const txs = [randomHash(), randomHash()]

const at = (): number => Date.now()

/** Private wallets that act in every possible way. */
async function plant(): Promise<void> {
  alice = await memberOf(world)
  stranger = await memberOf(world)
  const fresh = Array.from({ length: 4 }, () => memberOf(world))
  const [actor, payer, last, leaver] = (await Promise.all(fresh)) as [
    Member,
    Member,
    Member,
    Member,
  ]
  const solana = await memberOf(world, solanaAccount())
  Object.assign(hidden, {
    actor: actor.address,
    payer: payer.address,
    last: last.address,
    solana: solana.address,
  })
  const name = freshName()
  names.push(name)
  await world.append('mainnet', [bid({ from: alice.address, name, atMs: at() })])
  const id = (await world.get(`/v1/clusters/address/${alice.address}`)).body.clusterId
  clusters.push(id)
  const listed = [
    { address: hidden.listed, name: 'secret-listed' },
    { address: actor.address, name: 'secret-actor' },
    { address: payer.address, name: 'secret-payer' },
    { address: solana.address, name: 'secret-solana' },
  ]
  await expectOk(
    alice.call(
      'POST',
      '/v1/clusters/wallets',
      listed.map((wallet) => ({ ...wallet, isPrivate: true })),
    ),
  )
  // as actors: verify, add, rename, confirm, remove, in public and in private
  for (const of of [actor, payer, solana])
    await expectOk(of.call('POST', `/v1/clusters/verify/${id}`))
  const seen = randomAddress()
  const gone = randomAddress()
  await expectOk(
    actor.call('POST', '/v1/clusters/wallets', [
      { address: seen, name: 'seen' },
      { address: gone, name: 'gone' },
    ]),
  )
  await expectOk(
    actor.call('PUT', '/v1/clusters/wallets/names', [{ address: seen, name: 'seen-again' }]),
  )
  await expectOk(solana.call('POST', '/v1/clusters/generate/wallet/confirm', { address: seen }))
  await expectOk(solana.call('DELETE', '/v1/clusters/wallets', [gone]))
  await expectOk(
    actor.call('PUT', '/v1/clusters/wallets/names', [
      { address: actor.address, name: 'secret-renamed' },
    ]),
  )
  await expectOk(
    actor.call('POST', '/v1/clusters/generate/wallet/confirm', { address: solana.address }),
  )
  const made = { type: 'evm', name: 'secret-made', isPrivate: true }
  hidden.made = (await actor.call('POST', '/v1/clusters/generate/wallet', made)).body.address
  // as payer of a lost bid, and of one below the minimum: neither makes the wallet public
  await world.append('mainnet', [
    bid({ from: payer.address, name, tx: txs[0]!, atMs: at() }),
    bid({ from: payer.address, name: freshName(), amountWei: 1n, tx: txs[1]!, atMs: at() }),
  ])
  // as last verified wallet of a cluster that holds a name, after the wallet that registered it has left
  const kept = freshName()
  names.push(kept)
  await world.append('mainnet', [bid({ from: leaver.address, name: kept, atMs: at() })])
  const second = (await world.get(`/v1/clusters/address/${leaver.address}`)).body.clusterId
  clusters.push(second)
  await expectOk(
    leaver.call('POST', '/v1/clusters/wallets', [
      { address: last.address, name: 'secret-last', isPrivate: true },
    ]),
  )
  await expectOk(last.call('POST', `/v1/clusters/verify/${second}`))
  await expectOk(
    alice.call('POST', '/v1/clusters/wallets', [{ address: leaver.address, name: 'leaver' }]),
  )
  await expectOk(leaver.call('POST', `/v1/clusters/verify/${id}`))
  await expectOk(
    last.call('POST', '/v1/clusters/wallets', [{ address: randomAddress(), name: 'orphan' }]),
  )
  // refusals there reveal nothing either
  for (const [reply, error] of [
    [last.call('DELETE', '/v1/clusters/wallets', [last.address]), 'last_verified_wallet'],
    [last.call('POST', `/v1/clusters/verify/${id}`), 'not_invited'],
    [
      alice.call('POST', '/v1/clusters/wallets', [
        { address: hidden.listed, name: 'other', isPrivate: true },
      ]),
      'wallet_exists',
    ],
    [
      actor.call('POST', '/v1/clusters/wallets', [
        { address: seen, name: 'seen-again', isPrivate: true },
      ]),
      'already_public',
    ],
    [stranger.call('POST', `/v1/clusters/verify/${id}`), 'not_invited'],
  ] as const)
    expect((await reply).body.error).toBe(error)
  await expectOk(
    alice.call('POST', '/v1/clusters/wallets', [
      { address: last.address, name: 'secret-invited', isPrivate: true },
    ]),
  )
  expect((await last.call('POST', `/v1/clusters/verify/${id}`)).body.error).toBe(
    'names_would_reveal',
  )
  await expectOk(alice.call('DELETE', '/v1/clusters/wallets', [last.address]))
  const traces = [...SECRET, ...Object.values(hidden).flatMap(formsOf)]
  shows = (text) => traces.filter((trace) => text.toLowerCase().includes(trace.toLowerCase()))
}

describe('private wallets', () => {
  it('are shown to the verified wallets of their cluster', async () => {
    const { body, headers } = await alice.call('GET', `/v1/clusters/id/${clusters[0]}`)
    const secret = body.wallets.filter((wallet: { isPrivate: boolean }) => wallet.isPrivate)
    expect(secret.map((wallet: { name: string }) => wallet.name).sort()).toEqual(
      ['secret-listed', 'secret-made', 'secret-payer', 'secret-renamed', 'secret-solana'].sort(),
    )
    const seen = body.wallets.find((wallet: { name: string }) => wallet.name === 'seen-again')
    expect(seen.updatedBy).toBe(hidden.solana)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('vary')).toBe('Authorization, X-AUTH-KEY')
    const byName = await alice.call('GET', `/v1/clusters/name/${names[0]}`)
    expect(byName.body).toEqual(body)
    expect(byName.headers.get('cache-control')).toBe('private, no-store')
  })

  it('that have left are not shown to members as those who changed a wallet', async () => {
    const owner = await memberOf(world)
    const guest = await memberOf(world)
    const id = await owner.create()
    await expectOk(
      owner.call('POST', '/v1/clusters/wallets', [
        { address: guest.address, name: 'guest', isPrivate: true },
      ]),
    )
    await expectOk(guest.call('POST', `/v1/clusters/verify/${id}`))
    await expectOk(
      guest.call('POST', '/v1/clusters/wallets', [{ address: randomAddress(), name: 'added' }]),
    )
    const updatedBy = async () => {
      const { body } = await owner.call('GET', `/v1/clusters/id/${id}`)
      return body.wallets.find(({ name }: { name: string }) => name === 'added').updatedBy
    }
    expect(await updatedBy()).toBe(guest.address)
    await expectOk(guest.call('DELETE', '/v1/clusters/wallets', [guest.address]))
    expect(await updatedBy()).toBe(owner.address)
    const guess = [{ address: guest.address, name: 'again', isPrivate: true }]
    await expectOk(owner.call('POST', '/v1/clusters/wallets', guess))
    expect(await updatedBy()).toBe(owner.address)
  })

  it('leave no trace in any GET of a non-member, and are shown to members where a route says so', async () => {
    const given: Record<string, readonly string[]> = {
      id: clusters,
      tx: txs,
      address: [alice.address, stranger.address],
      sender: [alice.address],
      name: [...names, `${names[0]}/`],
      walletName: ['seen-again', 'orphan'],
      data: lookupsOf([...names, ...SECRET].flatMap((name) => [name, `${name}.${names[0]}`])),
    }
    const reads = routes.filter(({ method }) => method === 'get')
    const showing = new Set<string>()
    let asked = 0
    for (const route of reads) {
      for (const path of pathsOf(route.path, given)) {
        const { text: shown } = await raw(path, { headers: alice.headers })
        if (shows(shown).length > 0) showing.add(route.path)
        for (const headers of [{}, stranger.headers]) {
          const { text } = await raw(path, { headers })
          expect(shows(text), `${path}: ${text}`).toEqual([])
          asked += 1
        }
      }
    }
    expect(asked).toBeGreaterThan(60)
    // callers here have nothing to claim
    const toMembers = reads.filter((route) => route.privateDataFor === 'members' && route !== CLAIM)
    expect([...showing]).toEqual(toMembers.map(({ path }) => path))
  })

  it('appear in public as their cluster’s oldest public verified wallet, else as the zero address', async () => {
    const feed = await readFeed(world)
    expect(shows(JSON.stringify(feed))).toEqual([])
    const from = (type: string, name: string) =>
      feed.find(({ type: of, data }) => of === type && 'name' in data && data.name === name)!.from
    expect(from('ADD_WALLET', 'seen')).toBe(alice.address)
    expect(from('UPDATE_WALLET_NAME', 'seen-again')).toBe(alice.address)
    expect(from('ADD_WALLET', 'orphan')).toBe(`0x${'0'.repeat(40)}`)
    for (const [name, address] of Object.entries(hidden)) {
      const { body } = await world.get(`/v1/events?from=${address}`)
      expect(body.items, name).toEqual([])
    }
    expect(feed.map(({ id }) => id)).toEqual(feed.map((_, i) => `m-1-${i + 1}`))
    const mirror = mirrorOf(feed)
    for (const [id, { wallets }] of mirror.clusters) {
      const shown = (await world.get(`/v1/clusters/id/${id}`)).body.wallets
      const addresses = shown.map((wallet: { address: string }) => wallet.address).sort()
      expect(addresses, id).toEqual([...wallets.keys()].sort())
    }
  })

  it('reserve nothing: a public wallet takes the name of a private one and wins its resolution', async () => {
    const address = randomAddress()
    await expectOk(alice.call('POST', '/v1/clusters/wallets', [{ address, name: 'secret-listed' }]))
    const [record] = (await world.post('/v1/names', [{ name: `${names[0]}/secret-listed` }])).body
    expect(record).toMatchObject({ address, walletName: 'secret-listed' })
    expect(
      (
        await alice.call('POST', '/v1/clusters/wallets', [
          { address: hidden.listed, name: 'secret-listed', isPrivate: false },
        ])
      ).body.error,
    ).toBe('wallet_name_taken')
    await expectOk(alice.call('DELETE', '/v1/clusters/wallets', [address]))
  })

  it('leave no trace in logs and metrics', () => {
    expect(logged.length).toBeGreaterThan(100)
    for (const line of logged) expect(shows(line), line).toEqual([])
  })

  it('become public when they register, as if they had been added then', async () => {
    const { payer } = hidden
    // the name of its private entry belongs to a public wallet by now
    await expectOk(
      alice.call('POST', '/v1/clusters/wallets', [
        { address: randomAddress(), name: 'secret-payer' },
      ]),
    )
    const before = (await readFeed(world)).length
    const name = freshName()
    await world.append('mainnet', [bid({ from: payer, name, atMs: at() })])
    const events = (await readFeed(world)).slice(before)
    expect(events.map(({ type, from, data }) => [type, from, 'name' in data && data.name])).toEqual(
      [
        ['ADD_WALLET', payer, 'secret-payer-2'],
        ['REGISTER_NAME', payer, name],
      ],
    )
    const { wallets } = (await world.get(`/v1/clusters/name/${name}`)).body
    const entry = wallets.at(-1)
    expect(entry).toMatchObject({ address: payer, name: 'secret-payer-2', isVerified: true })
    expect(entry).toMatchObject({ isPrivate: false, updatedBy: payer })
    expect(entry.createdAt).toBe(entry.updatedAt)
    expect(
      (
        await alice.call('POST', '/v1/clusters/wallets', [
          { address: payer, name: 'secret-payer-2', isPrivate: true },
        ])
      ).body.error,
    ).toBe('already_public')
  })

  it('stay private when a repeated request omits isPrivate', async () => {
    const before = await readFeed(world)
    await expectOk(
      alice.call('POST', '/v1/clusters/wallets', [
        { address: hidden.listed, name: 'secret-listed' },
      ]),
    )
    expect(await readFeed(world)).toEqual(before)
    expect(
      (
        await alice.call('POST', '/v1/clusters/wallets', [
          { address: hidden.listed, name: 'other' },
        ])
      ).body.error,
    ).toBe('wallet_exists')
  })

  it('become public when they are added again as public', async () => {
    const { listed } = hidden
    const before = (await readFeed(world)).length
    await expectOk(
      alice.call('POST', '/v1/clusters/wallets', [
        { address: listed, name: 'listed-now', isPrivate: false },
      ]),
    )
    const events = (await readFeed(world)).slice(before)
    expect(events).toMatchObject([
      { type: 'ADD_WALLET', data: { address: listed, name: 'listed-now', is_verified: false } },
    ])
  })
})

/** A request whose answer may be any media type, with its headers. */
async function raw(path: string, init: RequestInit): Promise<{ text: string }> {
  const response = await fetch(`${world.url}${path}`, init)
  return {
    text: `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`,
  }
}
