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
  pat,
  REPEATED,
} from '../../../test/model/communityFold.js'

/** Outcomes and events of changes. test/model/communities.test.ts compares names, payments and events with a model. */

describe('a configuration', () => {
  it('needs a registered name', () => {
    const { configure } = communityWorld()
    expect(codeOf(configure('nobodys', FREE))).toBe('not_found')
    const { outcome, row } = configure('nobodys', FREE, alice)
    expect(outcome).toEqual({
      seq: row.seq,
      refusal: { code: 'not_found' },
      hasEffect: false,
      cluster: null,
    })
  })

  it('that repeats the current rules has no effect, and one that restores earlier rules has one', () => {
    const { configure, registry } = communityWorld()
    configure('foo', LISTED, alice)
    expect(configure('foo', LISTED, ann).outcome).toMatchObject(REPEATED)
    expect(configure('foo', LISTED).outcome).toMatchObject(REPEATED)
    expect(codeOf(configure('foo', LISTED, bob))).toBe('forbidden')
    configure('foo', FREE)
    expect(configure('foo', LISTED).outcome).toMatchObject(HELD)
    expect(registry.communities).toHaveLength(3)
  })
})

describe('a name', () => {
  it('is registered where nothing prevents it', () => {
    const { configure, register } = communityWorld()
    configure('foo', FREE)
    const { outcome, row } = register(eve, 'foo/eve')
    expect(outcome).toMatchObject({ ...HELD, cluster: null })
    expect(row).toMatchObject({ actor: eve, publicCount: 1 })
  })

  it('that is requested again with a claim has no second effect', () => {
    const { configure, register, registry } = communityWorld()
    configure('foo', FREE)
    register(bob, 'foo/bob', { isAssigned: true })
    expect(register(bob, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({
      ...REPEATED,
      cluster: 2,
    })
    expect(register(ben, 'foo/bob', { isAssigned: true }).outcome).toMatchObject({
      ...REPEATED,
      cluster: 2,
    })
    expect(registry.communityNames).toHaveLength(1)
    expect(registry.journal.at(-1)).toMatchObject({ publicCount: 0, actor: null })
  })

  it('can be assigned only in a community, to a verified wallet of a cluster, and if it is free', () => {
    const { configure, register, change } = communityWorld()
    expect(codeOf(register(bob, 'foo/a', { isAssigned: true }))).toBe('not_found')
    configure('foo', FREE)
    expect(register(eve, 'foo/a', { isAssigned: true }).outcome!.refusal).toEqual({
      code: 'not_in_cluster',
      address: null,
    })
    change({
      kind: 'add_wallets',
      actor: bob,
      wallets: [{ address: eve, name: 'eve', isPrivate: true }],
    })
    const toEve = register(bob, 'foo/a', { for: eve, isAssigned: true })
    expect(toEve.outcome!.refusal).toEqual({ code: 'not_in_cluster', address: eve })
    const toAlice = register(bob, 'foo/a', { for: alice, isAssigned: true })
    expect(toAlice.outcome!.refusal).toEqual({ code: 'not_in_cluster', address: alice })
    expect(codeOf(register(bob, 'foo/main', { isAssigned: true }))).toBe('not_available')
    expect(register(bob, 'foo/a', { for: ben, isAssigned: true }).outcome).toMatchObject(HELD)
  })

  it('whose payer got the money back goes to the next valid payment', () => {
    const { configure, pay, registry } = communityWorld()
    configure('foo', costing(5n))
    const { seq: freed } = pay('foo/a').row
    expect(pay('foo/a', { payer: ben, amount: 1n, freed }).payment).toMatchObject({
      reason: 'underpaid',
    })
    expect(pay('foo/a', { payer: bob, freed }).events).toMatchObject([{ name: 'a', wallet: bob }])
    expect(pay('foo/a', { payer: ben, freed }).payment).toEqual({ outcome: 'lost' })
    expect(pay('foo/a', { payer: ben }).payment).toEqual({ outcome: 'lost' })
    expect(registry.communityNames).toMatchObject([{ name: 'a', address: bob }])
  })

  it('of a private wallet that a bid makes public gets the next free number', () => {
    const w = communityWorld()
    w.configure('foo', FREE)
    for (const taken of ['cold', 'cold-2']) w.register(eve, `foo/${taken}`)
    w.change({ kind: 'rename_wallets', actor: pat, wallets: [{ address: pat, name: 'cold' }] })
    w.change({ kind: 'rename_wallets', actor: alice, wallets: [{ address: ann, name: 'cold-3' }] })
    w.bid(pat, 'pats')
    expect(w.registry.wallets.find((row) => row.address.equals(pat))).toMatchObject({
      name: 'cold-4',
      isPrivate: false,
    })
    expect(codeOf(w.register(bob, 'foo/cold-4'))).toBe('not_available')
  })
})

it('a payment is decided by the rules at its block, not by later rules', () => {
  const w = communityWorld()
  const blockMs = w.now()
  w.configure('foo', costing(5n))
  w.configure('foo', {
    ...costing(9n),
    requirements: LISTED.requirements,
    startsAtMs: Date.UTC(2030, 0),
  })
  expect(w.pay('foo/a', { blockMs }).payment).toEqual({ outcome: 'registered' })
  expect(w.pay('foo/b', { blockMs: blockMs - 60_000 }).payment).toMatchObject({
    reason: 'not_found',
  })
  expect(w.pay('foo/b').payment).toMatchObject({ reason: 'not_active' })
})
