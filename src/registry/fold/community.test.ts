import { describe, expect, it } from 'vitest'
import {
  alice,
  ann,
  ben,
  bob,
  codeOf,
  communityWorld,
  costing,
  eve,
  FREE,
  HELD,
  LISTED,
  LISTED_HASH,
  MINUTE_MS,
  NOTHING_ASKED,
  OWNERS,
  pat,
  REPEATED,
} from '../../../test/model/communityFold.js'
import { eventData } from '../journal/events.js'
import { addressToWord } from '../primitives/address.js'

describe('a configuration', () => {
  it("is a holder's, a private one's too, or the operator's", () => {
    const { configure, registry } = communityWorld()
    expect(configure('foo', FREE, alice).outcome).toMatchObject({ ...HELD, cluster: 1 })
    expect(configure('foo', OWNERS, pat).outcome).toMatchObject(HELD)
    expect(configure('foo', costing(5n)).outcome).toMatchObject(HELD)
    expect(registry.communities.map(({ name }) => name)).toEqual(['foo', 'foo', 'foo'])
  })

  it('is no event, and names a private holder by the oldest public one', () => {
    const { configure } = communityWorld()
    const rows = [configure('foo', FREE, ann), configure('foo', OWNERS, pat), configure('foo', FREE)]
    expect(rows.map(({ row }) => row.actor)).toEqual([ann, alice, null])
    for (const { row, events } of rows) {
      expect([row.publicCount, events]).toEqual([0, []])
      expect(row.effects.length).toBeGreaterThan(0)
    }
  })

  it('is forbidden to strangers, and to those who are only listed', () => {
    const { configure, change, registry } = communityWorld()
    change({ kind: 'add_wallets', actor: alice, wallets: [{ address: eve, name: 'eve', isPrivate: false }] })
    for (const stranger of [bob, eve]) expect(codeOf(configure('foo', FREE, stranger))).toBe('forbidden')
    expect(registry.journal.at(-1)).toMatchObject({ effects: Buffer.alloc(0), actor: null, publicCount: 0 })
    expect(registry.communities).toEqual([])
  })

  it('needs a name that somebody holds', () => {
    const { configure } = communityWorld()
    expect(codeOf(configure('nobodys', FREE))).toBe('not_found')
    const { outcome, row } = configure('nobodys', FREE, alice)
    expect(outcome).toEqual({ seq: row.seq, refusal: { code: 'not_found' }, hasEffect: false, cluster: null })
  })

  it('that repeats what stands has no effect; one that goes back has', () => {
    const { configure, registry } = communityWorld()
    configure('foo', LISTED, alice)
    expect(configure('foo', LISTED, ann).outcome).toMatchObject(REPEATED)
    expect(configure('foo', LISTED).outcome).toMatchObject(REPEATED)
    expect(codeOf(configure('foo', LISTED, bob))).toBe('forbidden')
    configure('foo', FREE)
    expect(configure('foo', LISTED).outcome).toMatchObject(HELD)
    expect(registry.communities).toHaveLength(3)
  })

  it('is for whoever holds the name now', () => {
    const { configure, change, registry } = communityWorld()
    configure('bar', FREE, ben)
    change({ kind: 'add_wallets', actor: alice, wallets: [{ address: bob, name: 'bob', isPrivate: false }] })
    change({ kind: 'remove_wallets', actor: bob, addresses: [ben] })
    change({ kind: 'verify_wallet', actor: bob, clusterId: registry.clusters[0]!.id })
    expect(configure('bar', OWNERS, alice).outcome).toMatchObject({ ...HELD, cluster: 1 })
    expect(codeOf(configure('bar', FREE, ben))).toBe('forbidden')
  })
})

describe('a free registration', () => {
  it('gives a stranger a name, which belongs to no cluster', () => {
    const { configure, register, registry } = communityWorld()
    configure('foo', FREE)
    const { row, outcome, events } = register(eve, 'foo/eve')
    expect(outcome).toMatchObject({ ...HELD, cluster: null })
    expect(row).toMatchObject({ actor: eve, publicCount: 1 })
    const data = { cluster: null, community: 'foo', name: 'eve', wallet: eve }
    expect(events).toEqual([{ type: 'REGISTER_COMMUNITY_NAME', ...data }])
    const rest = { isVerified: true, assigned: null, claim: null, seq: row.seq }
    expect(registry.communityNames).toEqual([{ community: 'foo', name: 'eve', address: eve, ...rest }])
    expect(registry.clusters).toHaveLength(2)
  })

  it('takes its numbers among the public events, in order', () => {
    const { configure, register, bid } = communityWorld()
    const before = bid(eve, 'eve').row
    configure('foo', FREE)
    const rows = [register(eve, 'foo/a'), register(bob, 'foo/b'), register(bob, 'foo/b')].map(({ row }) => row)
    const next = before.publicFirst + before.publicCount
    expect(rows.map((row) => [row.publicFirst, row.publicCount])).toEqual([
      [next, 1],
      [next + 1, 1],
      [next + 2, 0],
    ])
  })

  it('is published with the cluster in which the public sees its owner', () => {
    const { configure, register } = communityWorld()
    configure('foo', FREE)
    const { events } = register(bob, 'foo/bob')
    expect(JSON.parse(eventData(events[0]!, (serial) => `0x${serial}`))).toEqual({
      community: 'foo',
      name: 'bob',
      address: `0x${'04'.repeat(20)}`,
      cluster_id: '0x2',
    })
    const [hidden] = register(ben, 'foo/ben').events
    expect(JSON.parse(eventData(hidden!, () => ''))).toMatchObject({
      address: `0x${'05'.repeat(20)}`,
      cluster_id: null,
    })
  })

  it("is for the signer's own cluster, and for others where the signer holds the community", () => {
    const { configure, register } = communityWorld()
    configure('foo', FREE)
    expect(register(bob, 'foo/a', { for: ben }).outcome).toMatchObject(HELD)
    expect(register(ben, 'foo/b', { for: bob }).outcome).toMatchObject(HELD)
    for (const other of [eve, alice]) expect(codeOf(register(bob, 'foo/c', { for: other }))).toBe('not_verified')
    expect(codeOf(register(eve, 'foo/c', { for: bob }))).toBe('not_verified')
    for (const owner of [alice, ann, pat])
      expect(register(owner, `foo/d${owner[1]}`, { for: eve }).outcome).toMatchObject(HELD)
  })

  it('is refused to all but owners where only they register', () => {
    const { configure, register } = communityWorld()
    configure('foo', OWNERS)
    for (const stranger of [bob, eve]) expect(codeOf(register(stranger, 'foo/a'))).toBe('not_verified')
    expect(register(alice, 'foo/a').outcome).toMatchObject(HELD)
    expect(register(pat, 'foo/b').outcome).toMatchObject(HELD)
    expect(register(ann, 'foo/c', { for: bob }).outcome).toMatchObject(HELD)
  })

  it('is refused in what is no community, and before its start by the time of the entry', () => {
    const w = communityWorld()
    expect(codeOf(w.register(eve, 'foo/a'))).toBe('not_found')
    expect(codeOf(w.register(eve, 'nobodys/a'))).toBe('not_found')
    w.configure('foo', { ...FREE, startsAtMs: w.now() + 2 * MINUTE_MS })
    expect(codeOf(w.register(eve, 'foo/a'))).toBe('not_active')
    expect(w.register(eve, 'foo/a').outcome).toMatchObject(HELD)
  })

  it('finds a name taken that somebody has, or that is a public wallet of the cluster; not one that is private', () => {
    const { configure, register } = communityWorld()
    configure('foo', FREE)
    register(eve, 'foo/eve')
    for (const taken of ['eve', 'main', 'ann']) expect(codeOf(register(bob, `foo/${taken}`))).toBe('not_available')
    expect(codeOf(register(eve, 'foo/eve'))).toBe('not_available')
    expect(register(bob, 'foo/pat').outcome).toMatchObject(HELD)
    configure('bar', FREE)
    expect(register(eve, 'bar/eve').outcome).toMatchObject(HELD)
  })

  it('counts requirements as met only while the same is asked', () => {
    const { configure, register } = communityWorld()
    configure('foo', LISTED)
    expect(codeOf(register(eve, 'foo/a'))).toBe('rules_changed')
    expect(codeOf(register(eve, 'foo/a', { met: NOTHING_ASKED }))).toBe('rules_changed')
    expect(register(eve, 'foo/a', { met: LISTED_HASH }).outcome).toMatchObject(HELD)
    configure('foo', { ...LISTED, startsAtMs: 0 })
    expect(register(eve, 'foo/b', { met: LISTED_HASH }).outcome).toMatchObject(HELD)
    configure('foo', { ...FREE, requirements: [...LISTED.requirements, { kind: 'cluster', name: 'bar' }] })
    expect(codeOf(register(eve, 'foo/c', { met: LISTED_HASH }))).toBe('rules_changed')
    configure('foo', FREE)
    expect(register(eve, 'foo/c', { met: LISTED_HASH }).outcome).toMatchObject(HELD)
  })

  it('is none where a payment is asked; what owners give to others is without price', () => {
    const { configure, register } = communityWorld()
    configure('foo', costing(5n))
    for (const [actor, to] of [
      [eve, eve],
      [alice, alice],
      [alice, pat],
    ] as const)
      expect(codeOf(register(actor, 'foo/a', { for: to }))).toBe('rules_changed')
    expect(register(alice, 'foo/a', { for: eve }).outcome).toMatchObject(HELD)
  })
})

describe('an assignment', () => {
  it('gives a cluster one name of a community, whatever its rules ask', () => {
    const { configure, register, registry } = communityWorld()
    configure('foo', { ...costing(5n), startsAtMs: Date.UTC(2030, 0), requirements: LISTED.requirements })
    const { outcome, row, events } = register(bob, 'foo/bob', { isAssigned: true })
    expect(outcome).toMatchObject({ ...HELD, cluster: 2 })
    expect(row.actor).toEqual(bob)
    expect(events).toMatchObject([{ cluster: 2, name: 'bob', wallet: bob }])
    expect(registry.communityNames).toMatchObject([{ name: 'bob', assigned: 2, isVerified: true }])
    expect(codeOf(register(bob, 'foo/other', { isAssigned: true }))).toBe('already_assigned')
    expect(codeOf(register(ben, 'foo/other', { isAssigned: true }))).toBe('already_assigned')
    expect(register(alice, 'foo/alice', { isAssigned: true }).outcome).toMatchObject(HELD)
    configure('bar', OWNERS)
    expect(register(alice, 'bar/alice', { isAssigned: true }).outcome).toMatchObject(HELD)
  })

  it('that is asked for again stands as asked', () => {
    const { configure, register, registry } = communityWorld()
    configure('foo', FREE)
    register(bob, 'foo/bob', { isAssigned: true })
    expect(register(bob, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({ ...REPEATED, cluster: 2 })
    expect(register(ben, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({ ...REPEATED, cluster: 2 })
    expect(registry.communityNames).toHaveLength(1)
    expect(registry.journal.at(-1)).toMatchObject({ publicCount: 0, actor: null })
  })

  it('is not once a name was merely registered: that is another thing', () => {
    const { configure, register } = communityWorld()
    configure('foo', FREE)
    register(bob, 'foo/bob')
    expect(codeOf(register(bob, 'foo/bob', { isAssigned: true }))).toBe('not_available')
    expect(register(bob, 'foo/bobby', { isAssigned: true }).outcome).toMatchObject(HELD)
  })

  it('needs a community, a cluster, a wallet that is verified there, and a free name', () => {
    const { configure, register, change } = communityWorld()
    expect(codeOf(register(bob, 'foo/a', { isAssigned: true }))).toBe('not_found')
    configure('foo', FREE)
    expect(register(eve, 'foo/a', { isAssigned: true }).outcome!.refusal).toEqual({
      code: 'not_in_cluster',
      address: null,
    })
    change({ kind: 'add_wallets', actor: bob, wallets: [{ address: eve, name: 'eve', isPrivate: true }] })
    for (const other of [eve, alice])
      expect(register(bob, 'foo/a', { for: other, isAssigned: true }).outcome!.refusal).toEqual({
        code: 'not_in_cluster',
        address: other,
      })
    expect(codeOf(register(bob, 'foo/main', { isAssigned: true }))).toBe('not_available')
    expect(register(bob, 'foo/a', { for: ben, isAssigned: true }).outcome).toMatchObject(HELD)
  })

  it('is made once for a claim, wherever the account that claimed is verified by then', () => {
    const { configure, register, join, registry } = communityWorld()
    for (const community of ['foo', 'bar']) configure(community, FREE)
    const byClaim = { isAssigned: true, met: addressToWord(ben) }
    expect(register(bob, 'foo/bob', byClaim).outcome).toMatchObject(HELD)
    expect(registry.communityNames).toMatchObject([{ assigned: 2, claim: ben }])
    join(alice, ben, 'benny', false)
    for (const member of [ben, alice]) expect(codeOf(register(member, 'foo/more', byClaim))).toBe('already_assigned')
    expect(register(bob, 'foo/bob', byClaim).outcome).toMatchObject(REPEATED)
    // another community, and another claim
    expect(register(alice, 'bar/alice', byClaim).outcome).toMatchObject(HELD)
    expect(register(alice, 'foo/more', { isAssigned: true, met: addressToWord(ann) }).outcome).toMatchObject(HELD)
  })

  it('stays with the cluster: who leaves it may get another one elsewhere', () => {
    const { configure, register, join } = communityWorld()
    configure('foo', FREE)
    register(ben, 'foo/ben', { isAssigned: true })
    join(alice, ben, 'benny', false)
    expect(register(ben, 'foo/ben-too', { isAssigned: true }).outcome).toMatchObject({ ...HELD, cluster: 1 })
    expect(codeOf(register(bob, 'foo/bob', { isAssigned: true }))).toBe('already_assigned')
  })
})
