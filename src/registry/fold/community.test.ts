import { describe, expect, it } from 'vitest'
import { append, emptyRegistry } from '../../testing/memoryRegistry.js'
import { addressToWord } from '../address.js'
import { bigIntToWord } from '../bytes.js'
import { type Change, encodeChange } from '../change.js'
import type { CommunityRules } from '../community.js'
import {
  type CommunityChange,
  type CommunityPaymentBody,
  encodeCommunityChange,
  encodePayment,
  requirementsHash,
} from '../communityChange.js'
import type { Entry } from '../entry.js'
import { eventData, publicEvents } from '../events.js'
import { nameToWord } from '../name.js'

const MINUTE_MS = 60_000
const T0 = Date.UTC(2026, 10, 20, 8)
const RECIPIENT = '0x00000000000000000000000000000000000000a1'
const USDC = '0x00000000000000000000000000000000000000b2'

/** Wallets by the bytes of their addresses, so that the order of addresses is theirs. */
const wallet = (n: number): Buffer => Buffer.of(1, ...Buffer.alloc(20, n))
const [alice, ann, pat] = [wallet(1), wallet(2), wallet(3)]
const [bob, ben, eve] = [wallet(4), wallet(5), wallet(6)]

const FREE: CommunityRules = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }
const OWNERS: CommunityRules = { ...FREE, ownersOnly: true }
const costing = (amount: bigint, other: Partial<CommunityRules['prices'][number]> = {}): CommunityRules => ({
  ...FREE,
  prices: [{ network: '1', token: 'native', amount, recipient: RECIPIENT, ...other }],
})
const NOTHING_ASKED = requirementsHash([])
const LISTED: CommunityRules = { ...FREE, requirements: [{ kind: 'allowlist', addresses: [RECIPIENT] }] }
const LISTED_HASH = requirementsHash(LISTED.requirements)

/**
 * A registry in which alice holds `foo` (cluster 1, with ann in public and pat in private, both verified) and bob holds `bar`
 * (cluster 2, with ben listed in private and verified). eve is nowhere. Each entry is a batch of its own, a minute apart.
 */
function world() {
  const registry = emptyRegistry('mainnet', 1n)
  let minute = 0
  const enter = (entry: Omit<Entry, 'causeMs'>) => {
    const causeMs = T0 + minute++ * MINUTE_MS
    const { outcomes, payments } = append(registry, [{ ...entry, causeMs }], Number.MAX_SAFE_INTEGER)
    const row = registry.journal.at(-1)!
    return { row, outcome: outcomes[0], payment: payments[0]?.judgement, events: publicEvents(row) }
  }
  const signed = { position: null, txKey: null }
  const change = (given: Change) => enter({ kind: given.kind, ...signed, body: encodeChange(given) })
  const ask = (given: CommunityChange) => enter({ kind: given.kind, ...signed, body: encodeCommunityChange(given) })
  let block = 0
  const at = (chain: number) => ({ position: { chain, block: block++, logIndex: 0 }, txKey: 1n })
  const bid = (from: Buffer, name: string) => {
    const body = Buffer.concat([Buffer.alloc(32, 1), addressToWord(from), bigIntToWord(5n), nameToWord(name)])
    return enter({ kind: 'bid', ...at(1), body })
  }
  const join = (host: Buffer, guest: Buffer, name: string, isPrivate: boolean) => {
    change({ kind: 'add_wallets', actor: host, wallets: [{ address: guest, name, isPrivate }] })
    const { cluster } = registry.wallets.find((row) => row.isVerified && row.address.equals(host))!
    change({ kind: 'verify_wallet', actor: guest, clusterId: registry.clusters[cluster - 1]!.id })
  }
  bid(alice, 'foo')
  bid(bob, 'bar')
  join(alice, ann, 'ann', false)
  join(alice, pat, 'pat', true)
  join(bob, ben, 'ben', true)
  return {
    ...{ registry, bid, change, ask, join },
    now: () => T0 + minute * MINUTE_MS,
    configure: (community: string, rules: CommunityRules, actor: Buffer | null = null) =>
      ask({ kind: 'configure_community', actor, community, rules }),
    register: (actor: Buffer, pair: string, more: { for?: Buffer; met?: Buffer; isAssigned?: boolean } = {}) => {
      const [community, name] = pair.split('/') as [string, string]
      const { for: to = actor, met = null, isAssigned = false } = more
      return ask({ kind: 'register_community_name', actor, community, name, wallet: to, met, isAssigned })
    },
    pay: (pair: string, more: Partial<CommunityPaymentBody> = {}) => {
      const [community, name] = pair.split('/') as [string, string]
      const body: CommunityPaymentBody = {
        ...{ tx: Buffer.alloc(32, 7), network: '1', payer: eve, token: 'native', amount: 5n, recipient: RECIPIENT },
        ...{ community: nameToWord(community), name: nameToWord(name), referral: null },
        ...{ blockMs: T0 + minute * MINUTE_MS, met: NOTHING_ASKED, ...more },
      }
      return enter({ kind: 'pay_community_name', ...at(2), body: encodePayment(body) })
    },
  }
}
type World = ReturnType<typeof world>

const codeOf = ({ outcome }: ReturnType<World['ask']>) => {
  const { refusal } = outcome!
  return refusal?.code === 'community' ? refusal.problem : (refusal?.code ?? null)
}
const HELD = { refusal: null, hasEffect: true }
const REPEATED = { refusal: null, hasEffect: false }

describe('a configuration', () => {
  it("is a holder's, a private one's too, or the operator's", () => {
    const { configure, registry } = world()
    expect(configure('foo', FREE, alice).outcome).toMatchObject({ ...HELD, cluster: 1 })
    expect(configure('foo', OWNERS, pat).outcome).toMatchObject(HELD)
    expect(configure('foo', costing(5n)).outcome).toMatchObject(HELD)
    expect(registry.communities.map(({ name }) => name)).toEqual(['foo', 'foo', 'foo'])
  })

  it('is no event, and names a private holder by the oldest public one', () => {
    const { configure } = world()
    const rows = [configure('foo', FREE, ann), configure('foo', OWNERS, pat), configure('foo', FREE)]
    expect(rows.map(({ row }) => row.actor)).toEqual([ann, alice, null])
    for (const { row, events } of rows) {
      expect([row.publicCount, events]).toEqual([0, []])
      expect(row.effects.length).toBeGreaterThan(0)
    }
  })

  it('is forbidden to strangers, and to those who are only listed', () => {
    const { configure, change, registry } = world()
    change({ kind: 'add_wallets', actor: alice, wallets: [{ address: eve, name: 'eve', isPrivate: false }] })
    for (const stranger of [bob, eve]) expect(codeOf(configure('foo', FREE, stranger))).toBe('forbidden')
    expect(registry.journal.at(-1)).toMatchObject({ effects: Buffer.alloc(0), actor: null, publicCount: 0 })
    expect(registry.communities).toEqual([])
  })

  it('needs a name that somebody holds', () => {
    const { configure } = world()
    expect(codeOf(configure('nobodys', FREE))).toBe('not_found')
    expect(codeOf(configure('nobodys', FREE, alice))).toBe('not_found')
  })

  it('that repeats what stands has no effect; one that goes back has', () => {
    const { configure, registry } = world()
    configure('foo', LISTED, alice)
    expect(configure('foo', LISTED, ann).outcome).toMatchObject(REPEATED)
    expect(configure('foo', LISTED).outcome).toMatchObject(REPEATED)
    expect(codeOf(configure('foo', LISTED, bob))).toBe('forbidden')
    configure('foo', FREE)
    expect(configure('foo', LISTED).outcome).toMatchObject(HELD)
    expect(registry.communities).toHaveLength(3)
  })

  it('is for whoever holds the name now', () => {
    const { configure, change, registry } = world()
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
    const { configure, register, registry } = world()
    configure('foo', FREE)
    const { row, outcome, events } = register(eve, 'foo/eve')
    expect(outcome).toMatchObject({ ...HELD, cluster: null })
    expect(row).toMatchObject({ actor: eve, publicCount: 1 })
    const data = { cluster: null, community: 'foo', name: 'eve', wallet: eve }
    expect(events).toEqual([{ type: 'REGISTER_COMMUNITY_NAME', ...data }])
    const rest = { isVerified: true, assigned: null, seq: row.seq }
    expect(registry.communityNames).toEqual([{ community: 'foo', name: 'eve', address: eve, ...rest }])
    expect(registry.clusters).toHaveLength(2)
  })

  it('takes its numbers among the public events, in order', () => {
    const { configure, register, bid } = world()
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

  it('is told with the cluster in which the public sees its owner', () => {
    const { configure, register } = world()
    configure('foo', FREE)
    const { events } = register(bob, 'foo/bob')
    const id = Buffer.alloc(32, 2)
    expect(eventData(events[0]!, (serial) => Buffer.alloc(32, serial))).toEqual({
      community: 'foo',
      name: 'bob',
      address: `0x${'04'.repeat(20)}`,
      cluster_id: `0x${id.toString('hex')}`,
    })
    const [hidden] = register(ben, 'foo/ben').events
    expect(eventData(hidden!, () => id)).toMatchObject({ address: `0x${'05'.repeat(20)}`, cluster_id: null })
  })

  it("is for the signer's own cluster, and for others where the signer holds the community", () => {
    const { configure, register } = world()
    configure('foo', FREE)
    expect(register(bob, 'foo/a', { for: ben }).outcome).toMatchObject(HELD)
    expect(register(ben, 'foo/b', { for: bob }).outcome).toMatchObject(HELD)
    for (const other of [eve, alice]) expect(codeOf(register(bob, 'foo/c', { for: other }))).toBe('not_verified')
    expect(codeOf(register(eve, 'foo/c', { for: bob }))).toBe('not_verified')
    for (const owner of [alice, ann, pat])
      expect(register(owner, `foo/d${owner[1]}`, { for: eve }).outcome).toMatchObject(HELD)
  })

  it('is refused to all but owners where only they register', () => {
    const { configure, register } = world()
    configure('foo', OWNERS)
    for (const stranger of [bob, eve]) expect(codeOf(register(stranger, 'foo/a'))).toBe('not_verified')
    expect(register(alice, 'foo/a').outcome).toMatchObject(HELD)
    expect(register(pat, 'foo/b').outcome).toMatchObject(HELD)
    expect(register(ann, 'foo/c', { for: bob }).outcome).toMatchObject(HELD)
  })

  it('is refused in what is no community, and before its start by the time of the entry', () => {
    const w = world()
    expect(codeOf(w.register(eve, 'foo/a'))).toBe('not_found')
    expect(codeOf(w.register(eve, 'nobodys/a'))).toBe('not_found')
    w.configure('foo', { ...FREE, startsAtMs: w.now() + 2 * MINUTE_MS })
    expect(codeOf(w.register(eve, 'foo/a'))).toBe('not_active')
    expect(w.register(eve, 'foo/a').outcome).toMatchObject(HELD)
  })

  it('finds a name taken that somebody has, or that is a public wallet of the cluster; not one that is private', () => {
    const { configure, register } = world()
    configure('foo', FREE)
    register(eve, 'foo/eve')
    for (const taken of ['eve', 'main', 'ann']) expect(codeOf(register(bob, `foo/${taken}`))).toBe('not_available')
    expect(codeOf(register(eve, 'foo/eve'))).toBe('not_available')
    expect(register(bob, 'foo/pat').outcome).toMatchObject(HELD)
    configure('bar', FREE)
    expect(register(eve, 'bar/eve').outcome).toMatchObject(HELD)
  })

  it('counts requirements as met only while the same is asked', () => {
    const { configure, register } = world()
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
    const { configure, register } = world()
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
    const { configure, register, registry } = world()
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
    const { configure, register, registry } = world()
    configure('foo', FREE)
    register(bob, 'foo/bob', { isAssigned: true })
    expect(register(bob, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({ ...REPEATED, cluster: 2 })
    expect(register(ben, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({ ...REPEATED, cluster: 2 })
    expect(registry.communityNames).toHaveLength(1)
    expect(registry.journal.at(-1)).toMatchObject({ publicCount: 0, actor: null })
  })

  it('is not once a name was merely registered: that is another thing', () => {
    const { configure, register } = world()
    configure('foo', FREE)
    register(bob, 'foo/bob')
    expect(codeOf(register(bob, 'foo/bob', { isAssigned: true }))).toBe('not_available')
    expect(register(bob, 'foo/bobby', { isAssigned: true }).outcome).toMatchObject(HELD)
  })

  it('needs a community, a cluster, a wallet that is verified there, and a free name', () => {
    const { configure, register, change } = world()
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

  it('stays with the cluster: who leaves it may get another one elsewhere', () => {
    const { configure, register, join } = world()
    configure('foo', FREE)
    register(ben, 'foo/ben', { isAssigned: true })
    join(alice, ben, 'benny', false)
    expect(register(ben, 'foo/ben-too', { isAssigned: true }).outcome).toMatchObject({ ...HELD, cluster: 1 })
    expect(codeOf(register(bob, 'foo/bob', { isAssigned: true }))).toBe('already_assigned')
  })
})

describe('a payment', () => {
  it('gives its payer the name, and no cluster', () => {
    const { configure, pay, registry } = world()
    configure('foo', costing(5n))
    const { payment, row, events } = pay('foo/eve')
    expect(payment).toEqual({ outcome: 'registered' })
    expect(row).toMatchObject({ actor: eve, publicCount: 1 })
    expect(events).toEqual([
      { type: 'REGISTER_COMMUNITY_NAME', cluster: null, community: 'foo', name: 'eve', wallet: eve },
    ])
    expect(registry.communityNames).toMatchObject([{ name: 'eve', address: eve, isVerified: true, assigned: null }])
    expect(pay('foo/bob', { payer: bob }).events).toMatchObject([{ cluster: 2, wallet: bob }])
  })

  it('of a private wallet leaves it private, and its cluster unsaid', () => {
    const { configure, pay, registry } = world()
    configure('foo', costing(5n))
    for (const payer of [pat, ben]) {
      const { events, row } = pay(`foo/p${payer[1]}`, { payer })
      expect([events[0]!.cluster, row.actor]).toEqual([null, payer])
    }
    expect(registry.wallets.filter((row) => row.isPrivate).map((row) => row.address)).toEqual([pat, ben])
  })

  it('is lost where the name is taken, by whomever', () => {
    const { configure, register, pay } = world()
    configure('foo', costing(5n))
    register(alice, 'foo/a', { for: bob })
    pay('foo/b')
    for (const taken of ['a', 'b', 'main', 'ann']) {
      const { payment, row, events } = pay(`foo/${taken}`)
      expect(payment).toEqual({ outcome: 'lost' })
      expect([row.publicCount, events, row.effects.length]).toEqual([0, [], 1])
    }
    expect(pay('foo/pat').payment).toEqual({ outcome: 'registered' })
  })

  it('is refused for each reason, and stays in the journal with it', () => {
    const w = world()
    const reasonOf = (pair: string, more: Partial<CommunityPaymentBody> = {}) => {
      const { payment, row } = w.pay(pair, more)
      expect([row.publicCount, row.effects.length]).toEqual([0, 2])
      return payment?.outcome === 'refused' ? payment.reason : payment?.outcome
    }
    expect(reasonOf('foo/a')).toBe('not_found')
    expect(reasonOf('nobodys/a')).toBe('not_found')
    w.configure('foo', costing(5n))
    const wrong = [Buffer.alloc(32, 65), Buffer.alloc(32), Buffer.from('a\0b'.padEnd(32, '\0'))]
    for (const word of wrong) {
      expect(reasonOf('foo/a', { name: word })).toBe('malformed_name')
      expect(reasonOf('foo/a', { community: word })).toBe('malformed_name')
    }
    expect(reasonOf('foo/a', { network: '8453' })).toBe('no_price')
    expect(reasonOf('foo/a', { token: USDC })).toBe('no_price')
    expect(reasonOf('foo/a', { recipient: USDC })).toBe('no_price')
    expect(reasonOf('foo/a', { amount: 4n })).toBe('underpaid')
    expect(reasonOf('foo/a', { met: null })).toBe('requirements_not_met')
    expect(reasonOf('foo/a', { met: LISTED_HASH })).toBe('requirements_not_met')
    w.configure('foo', { ...costing(5n), startsAtMs: w.now() + 10 * MINUTE_MS })
    expect(reasonOf('foo/a')).toBe('not_active')
    expect(w.registry.communityNames).toEqual([])
  })

  it('is judged by the rules at its block: those asked since then count for nothing', () => {
    const w = world()
    const blockMs = w.now()
    w.configure('foo', costing(5n))
    w.configure('foo', { ...costing(9n), ...{ requirements: LISTED.requirements, startsAtMs: Date.UTC(2030, 0) } })
    expect(w.pay('foo/a', { blockMs }).payment).toEqual({ outcome: 'registered' })
    expect(w.pay('foo/b', { blockMs: blockMs - MINUTE_MS }).payment).toMatchObject({ reason: 'not_found' })
    expect(w.pay('foo/b').payment).toMatchObject({ reason: 'not_active' })
  })

  it('needs the lowest price of the half hour before its block', () => {
    const w = world()
    w.configure('foo', costing(5n))
    const raisedMs = w.now()
    w.configure('foo', costing(9n))
    const paid = (amount: bigint, afterMinutes: number) =>
      w.pay(`foo/a${afterMinutes}`, { amount, blockMs: raisedMs + afterMinutes * MINUTE_MS }).payment!.outcome
    expect(paid(5n, 29)).toBe('registered')
    expect(paid(4n, 28)).toBe('refused')
    expect(paid(5n, 30)).toBe('refused')
    expect(paid(9n, 30)).toBe('registered')
    w.configure('foo', FREE)
    expect(w.pay('foo/late', { amount: 9n }).payment).toEqual({ outcome: 'registered' })
    expect(w.pay('foo/later', { amount: 9n, blockMs: w.now() + 30 * MINUTE_MS }).payment).toMatchObject({
      reason: 'no_price',
    })
  })

  it('may be entered late, after the name has gone', () => {
    const w = world()
    w.configure('foo', costing(5n))
    const blockMs = w.now()
    w.register(alice, 'foo/a', { for: bob })
    expect(w.pay('foo/a', { blockMs }).payment).toEqual({ outcome: 'lost' })
  })
})

describe('the names below a community and the public wallets of its cluster', () => {
  /** eve has foo/cold and foo/cold-2. */
  function shared() {
    const w = world()
    w.configure('foo', FREE)
    w.register(eve, 'foo/cold')
    w.register(eve, 'foo/cold-2')
    const add = (name: string, isPrivate: boolean, address = wallet(9)) =>
      w.change({ kind: 'add_wallets', actor: alice, wallets: [{ address, name, isPrivate }] })
    return { ...w, add }
  }
  const entryOf = ({ registry }: World, address: Buffer) => registry.wallets.find((row) => row.address.equals(address))!

  it('keep a public wallet from a name that is registered, not a private one', () => {
    const w = shared()
    expect(w.add('cold', false).outcome!.refusal).toEqual({ code: 'wallet_name_taken', name: 'cold' })
    expect(w.add('cold', true).outcome).toMatchObject(HELD)
    expect(w.add('cold', false).outcome!.refusal).toEqual({ code: 'wallet_name_taken', name: 'cold' })
    expect(w.add('warm', false).outcome).toMatchObject(HELD)
    expect(w.add('cold', false, wallet(10)).outcome!.refusal).toMatchObject({ code: 'wallet_name_taken' })
  })

  it('keep a public wallet from being renamed so, not a private one', () => {
    const w = shared()
    const rename = (address: Buffer, name: string) =>
      w.change({ kind: 'rename_wallets', actor: alice, wallets: [{ address, name }] })
    expect(rename(ann, 'cold').outcome!.refusal).toEqual({ code: 'wallet_name_taken', name: 'cold' })
    expect(rename(pat, 'cold').outcome).toMatchObject(HELD)
    expect(rename(ann, 'warm').outcome).toMatchObject(HELD)
    // and the name it had is free below the community
    expect(w.register(bob, 'foo/ann').outcome).toMatchObject(HELD)
    expect(codeOf(w.register(bob, 'foo/warm'))).toBe('not_available')
  })

  it('give a private wallet that a bid makes public the next number that nobody has', () => {
    const w = shared()
    w.change({ kind: 'rename_wallets', actor: pat, wallets: [{ address: pat, name: 'cold' }] })
    w.add('cold-3', false)
    w.bid(pat, 'pats')
    expect(entryOf(w, pat)).toMatchObject({ name: 'cold-4', isPrivate: false })
    expect(codeOf(w.register(bob, 'foo/cold-4'))).toBe('not_available')
  })

  it('are of every community that the cluster holds, and of no other cluster', () => {
    const w = shared()
    w.bid(alice, 'also')
    w.configure('also', FREE)
    w.register(eve, 'also/warm')
    expect(w.add('warm', false).outcome!.refusal).toMatchObject({ code: 'wallet_name_taken' })
    expect(codeOf(w.register(bob, 'also/ann'))).toBe('not_available')
    const elsewhere = { address: wallet(9), name: 'cold', isPrivate: false }
    expect(w.change({ kind: 'add_wallets', actor: bob, wallets: [elsewhere] }).outcome).toMatchObject(HELD)
  })

  it('stay with their owners where the community moves to another cluster', () => {
    const w = shared()
    w.change({ kind: 'add_wallets', actor: bob, wallets: [{ address: wallet(9), name: 'cold', isPrivate: false }] })
    w.change({ kind: 'remove_wallets', actor: alice, addresses: [ann, pat] })
    w.join(bob, alice, 'alice', false)
    expect(w.registry.names.map(({ name, cluster }) => [name, cluster])).toEqual([
      ['foo', 2],
      ['bar', 2],
    ])
    expect(codeOf(w.register(eve, 'foo/cold'))).toBe('not_available')
    expect(codeOf(w.register(eve, 'foo/alice'))).toBe('not_available')
    const renamed = w.change({ kind: 'rename_wallets', actor: bob, wallets: [{ address: alice, name: 'cold-2' }] })
    expect(renamed.outcome!.refusal).toMatchObject({ code: 'wallet_name_taken' })
    expect(w.configure('foo', OWNERS, bob).outcome).toMatchObject(HELD)
  })
})

describe('privacy: what the public is told of a registration', () => {
  /** From whom to whom, the owner's cluster, whether the owner had a hand in it. */
  const told = (w: World, actor: Buffer, pair: string, to = actor, more: { isAssigned?: boolean } = {}) => {
    const { row, events } = w.register(actor, pair, { for: to, ...more })
    const { isVerified } = w.registry.communityNames.at(-1)!
    const [event] = events
    if (event?.type !== 'REGISTER_COMMUNITY_NAME') throw new Error(`${pair} was not registered`)
    return [row.actor, event.wallet, event.cluster, isVerified]
  }

  it('who is private and registers for itself is a stranger, also among the owners', () => {
    const w = world()
    w.configure('foo', FREE)
    expect(told(w, eve, 'foo/1')).toEqual([eve, eve, null, true])
    expect(told(w, ben, 'foo/2')).toEqual([ben, ben, null, true])
    expect(told(w, pat, 'foo/3')).toEqual([pat, pat, null, true])
    expect(told(w, bob, 'foo/4')).toEqual([bob, bob, 2, true])
    expect(told(w, ann, 'foo/5')).toEqual([ann, ann, 1, true])
  })

  it('for whom only owners could have signed is anybody to the public', () => {
    const w = world()
    w.configure('foo', OWNERS)
    expect(told(w, alice, 'foo/1', eve)).toEqual([alice, eve, null, false])
    // pat is private: by alice, by itself, by ann
    expect(told(w, alice, 'foo/2', pat)).toEqual([alice, pat, null, false])
    expect(told(w, pat, 'foo/3')).toEqual([alice, pat, null, false])
    expect(told(w, ann, 'foo/4', pat)).toEqual([ann, pat, null, false])
    expect(told(w, pat, 'foo/5', ann)).toEqual([alice, ann, 1, true])
    expect(told(w, pat, 'foo/6', bob)).toEqual([alice, bob, 2, false])
    w.configure('foo', FREE)
    expect(told(w, alice, 'foo/7', pat)).toEqual([alice, pat, null, false])
    expect(told(w, pat, 'foo/8', eve)).toEqual([alice, eve, null, false])
  })

  it('within a cluster that holds no such name, a private owner stands for itself, whoever signed', () => {
    const w = world()
    w.configure('foo', FREE)
    expect(told(w, bob, 'foo/1', ben)).toEqual([ben, ben, null, true])
    expect(told(w, ben, 'foo/2', bob)).toEqual([bob, bob, 2, true])
    w.join(bob, eve, 'eve', true)
    expect(told(w, ben, 'foo/3', eve)).toEqual([eve, eve, null, true])
    expect(told(w, bob, 'foo/4', eve, { isAssigned: true })).toEqual([eve, eve, null, true])
  })

  it('an assignment to a private wallet of the owners does not show it as one', () => {
    const w = world()
    w.configure('foo', OWNERS)
    expect(told(w, pat, 'foo/1', pat, { isAssigned: true })).toEqual([alice, pat, null, false])
  })

  it('names nobody where nobody public is left among the owners', () => {
    const w = world()
    w.configure('foo', OWNERS)
    w.change({ kind: 'remove_wallets', actor: pat, addresses: [alice, ann] })
    expect(told(w, pat, 'foo/1', eve)).toEqual([null, eve, null, false])
    expect(w.configure('foo', FREE, pat).row.actor).toBeNull()
  })
})
