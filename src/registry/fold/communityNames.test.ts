import { describe, expect, it } from 'vitest'
import {
  alice,
  ann,
  ben,
  bob,
  type CommunityWorld,
  codeOf,
  communityWorld,
  eve,
  FREE,
  HELD,
  OWNERS,
  pat,
  wallet,
} from '../../../test/model/communityFold.js'

describe('the names below a community and the public wallets of its cluster', () => {
  /** eve has foo/cold and foo/cold-2. */
  function shared() {
    const w = communityWorld()
    w.configure('foo', FREE)
    w.register(eve, 'foo/cold')
    w.register(eve, 'foo/cold-2')
    const add = (name: string, isPrivate: boolean, address = wallet(9)) =>
      w.change({ kind: 'add_wallets', actor: alice, wallets: [{ address, name, isPrivate }] })
    return { ...w, add }
  }
  const entryOf = ({ registry }: CommunityWorld, address: Buffer) =>
    registry.wallets.find((row) => row.address.equals(address))!

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

describe('privacy: what the public sees of a registration', () => {
  /** From whom to whom, the owner's cluster, whether the owner had a hand in it. */
  const published = (
    w: CommunityWorld,
    actor: Buffer,
    pair: string,
    to = actor,
    more: { isAssigned?: boolean } = {},
  ) => {
    const { row, events } = w.register(actor, pair, { for: to, ...more })
    const { isVerified } = w.registry.communityNames.at(-1)!
    const [event] = events
    if (event?.type !== 'REGISTER_COMMUNITY_NAME') throw new Error(`${pair} was not registered`)
    return [row.actor, event.wallet, event.cluster, isVerified]
  }

  it('who is private and registers for itself is a stranger, also among the owners', () => {
    const w = communityWorld()
    w.configure('foo', FREE)
    expect(published(w, eve, 'foo/1')).toEqual([eve, eve, null, true])
    expect(published(w, ben, 'foo/2')).toEqual([ben, ben, null, true])
    expect(published(w, pat, 'foo/3')).toEqual([pat, pat, null, true])
    expect(published(w, bob, 'foo/4')).toEqual([bob, bob, 2, true])
    expect(published(w, ann, 'foo/5')).toEqual([ann, ann, 1, true])
  })

  it('for whom only owners could have signed is anybody to the public', () => {
    const w = communityWorld()
    w.configure('foo', OWNERS)
    expect(published(w, alice, 'foo/1', eve)).toEqual([alice, eve, null, false])
    // pat is private: by alice, by itself, by ann
    expect(published(w, alice, 'foo/2', pat)).toEqual([alice, pat, null, false])
    expect(published(w, pat, 'foo/3')).toEqual([alice, pat, null, false])
    expect(published(w, ann, 'foo/4', pat)).toEqual([ann, pat, null, false])
    expect(published(w, pat, 'foo/5', ann)).toEqual([alice, ann, 1, true])
    expect(published(w, pat, 'foo/6', bob)).toEqual([alice, bob, 2, false])
    w.configure('foo', FREE)
    expect(published(w, alice, 'foo/7', pat)).toEqual([alice, pat, null, false])
    expect(published(w, pat, 'foo/8', eve)).toEqual([alice, eve, null, false])
  })

  it('within a cluster that holds no such name, a private owner stands for itself, whoever signed', () => {
    const w = communityWorld()
    w.configure('foo', FREE)
    expect(published(w, bob, 'foo/1', ben)).toEqual([ben, ben, null, true])
    expect(published(w, ben, 'foo/2', bob)).toEqual([bob, bob, 2, true])
    w.join(bob, eve, 'eve', true)
    expect(published(w, ben, 'foo/3', eve)).toEqual([eve, eve, null, true])
    expect(published(w, bob, 'foo/4', eve, { isAssigned: true })).toEqual([eve, eve, null, true])
  })

  it('an assignment to a private wallet of the owners does not show it as one', () => {
    const w = communityWorld()
    w.configure('foo', OWNERS)
    expect(published(w, pat, 'foo/1', pat, { isAssigned: true })).toEqual([alice, pat, null, false])
  })

  it('names nobody where nobody public is left among the owners', () => {
    const w = communityWorld()
    w.configure('foo', OWNERS)
    w.change({ kind: 'remove_wallets', actor: pat, addresses: [alice, ann] })
    expect(published(w, pat, 'foo/1', eve)).toEqual([null, eve, null, false])
    expect(w.configure('foo', FREE, pat).row.actor).toBeNull()
  })
})
