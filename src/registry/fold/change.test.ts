import { describe, expect, it } from 'vitest'
import { clusterWorld } from '../../../test/model/clusterFold.js'
import { wallet } from '../../../test/model/communityFold.js'
import { RULES } from '../journal/ruleset.js'

const [a, b, c, d] = [wallet(1), wallet(2), wallet(3), wallet(4)]
const NO_EFFECT = { refusal: null, hasEffect: false, events: [] }
const SILENT = { publicCount: 0, actor: null, effects: Buffer.alloc(0) }
const verified = { isVerified: true, isBackedUp: false }
const listed = { isVerified: false, isBackedUp: false }

describe('a cluster', () => {
  it('is created with its creator, public and verified, once', () => {
    const w = clusterWorld()
    expect(w.create(a)).toMatchObject({
      ...{ refusal: null, hasEffect: true, cluster: 1, row: { actor: a, publicCount: 2 } },
      events: [
        { type: 'CREATE_CLUSTER', cluster: 1 },
        { type: 'ADD_WALLET', cluster: 1, name: 'main', wallet: a, ...verified },
      ],
    })
    expect(w.registry.wallets).toEqual([
      { cluster: 1, address: a, name: 'main', ...verified, isPrivate: false, createdSeq: 1, updatedSeq: 1 },
    ])
    expect(w.create(a)).toMatchObject({ ...NO_EFFECT, cluster: 1, row: SILENT })
    expect(w.create(b)).toMatchObject({ hasEffect: true, cluster: 2 })
    expect(w.registry.clusters.map(({ serial, createdSeq }) => [serial, createdSeq])).toEqual([
      [1, 1],
      [2, 3],
    ])
  })
})

describe('wallets that are added', () => {
  it('by a wallet without a cluster are in a new one of its own', () => {
    const w = clusterWorld()
    expect(w.add(a, [b, 'cold'])).toMatchObject({
      ...{ hasEffect: true, cluster: 1, row: { actor: a, publicCount: 3 } },
      events: [
        { type: 'CREATE_CLUSTER', cluster: 1 },
        { type: 'ADD_WALLET', name: 'main', wallet: a, ...verified },
        { type: 'ADD_WALLET', name: 'cold', wallet: b, ...listed },
      ],
    })
    expect(w.entryOf(b)).toEqual({
      ...{ cluster: 1, address: b, name: 'cold', ...listed, isPrivate: false, createdSeq: 1, updatedSeq: 1 },
    })
    expect(w.add(c)).toMatchObject({ hasEffect: true, cluster: 2, row: { publicCount: 2 } })
  })

  it('may name their own entry in a new cluster, which can not be private: the cluster’s id shows it', () => {
    const w = clusterWorld()
    expect(w.add(a, [a, 'me', true]).refusal).toEqual({ code: 'already_public', address: a })
    expect(w.registry.clusters).toEqual([])
    expect(w.add(a, [b, 'main'], [a, 'me', false]).events).toMatchObject([{}, { name: 'me' }, { name: 'main' }])
    expect(w.registry.wallets).toHaveLength(2)
  })

  it('leave "main" to the creator, who else gets a number', () => {
    expect(clusterWorld().add(a, [b, 'main']).events).toMatchObject([{}, { name: 'main-2' }, { name: 'main' }])
    expect(clusterWorld().add(a, [b, 'main-2'], [c, 'main']).events[1]).toMatchObject({ name: 'main-3' })
    const w = clusterWorld()
    // a private name reserves nothing, but is not free either
    expect(w.add(a, [b, 'main', true]).refusal).toEqual({ code: 'wallet_name_taken', name: 'main' })
    expect(w.registry).toMatchObject({ clusters: [], wallets: [] })
  })

  it('are public unless they are asked to be private; the public sees only those', () => {
    const w = clusterWorld()
    w.create(a)
    const { row, events } = w.add(a, [b, 'b'], [c, 'c', true], [d, 'd', false])
    expect(events).toMatchObject([
      { type: 'ADD_WALLET', name: 'b' },
      { type: 'ADD_WALLET', name: 'd' },
    ])
    expect(row.publicCount).toBe(2)
    expect([b, c, d].map((address) => w.entryOf(address)!.isPrivate)).toEqual([false, true, false])
    expect(w.add(a, [wallet(9), 'e', true])).toMatchObject({ hasEffect: true, events: [] })
  })

  it('again are left as they are', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    for (const isPrivate of [null, false]) expect(w.add(a, [b, 'b', isPrivate])).toMatchObject(NO_EFFECT)
    for (const isPrivate of [null, true]) expect(w.add(a, [c, 'c', isPrivate])).toMatchObject(NO_EFFECT)
    expect(w.add(a, [a, 'main'])).toMatchObject({ ...NO_EFFECT, cluster: 1, row: SILENT })
    expect(w.entryOf(c)).toMatchObject({ isPrivate: true, updatedSeq: 1 })
  })

  it('never become private again, nor get another name on the way', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    expect(w.add(a, [b, 'b', true]).refusal).toEqual({ code: 'already_public', address: b })
    expect(w.add(a, [b, 'x']).refusal).toEqual({ code: 'wallet_exists', address: b })
    expect(w.add(a, [c, 'x']).refusal).toEqual({ code: 'wallet_exists', address: c })
    expect(w.add(a, [d, 'd'], [b, 'x'])).toMatchObject({ events: [], cluster: null, hasEffect: false, row: SILENT })
    expect(w.entryOf(d)).toBeUndefined()
  })

  it('become public where that is asked for, under the name that is asked for, as if new', () => {
    const w = clusterWorld()
    w.add(a, [c, 'c', true])
    w.verify(c, 1)
    w.backUp(a, c)
    const { events } = w.add(a, [c, 'cold', false])
    const seen = { name: 'cold', isVerified: true, isBackedUp: true }
    expect(events).toEqual([{ type: 'ADD_WALLET', cluster: 1, wallet: c, ...seen }])
    expect(w.entryOf(c)).toMatchObject({ ...seen, isPrivate: false, createdSeq: 4, updatedSeq: 4 })
  })

  it('have names of their own among the public ones; private ones reserve none', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    const taken = (name: string) => ({ code: 'wallet_name_taken', name })
    expect(w.add(a, [d, 'b']).refusal).toEqual(taken('b'))
    expect(w.add(a, [d, 'b', true]).refusal).toEqual(taken('b'))
    expect(w.add(a, [d, 'c', true]).refusal).toEqual(taken('c'))
    expect(w.add(a, [d, 'x'], [wallet(9), 'x']).refusal).toEqual(taken('x'))
    expect(w.add(a, [d, 'x'], [wallet(9), 'main']).refusal).toEqual(taken('main'))
    expect(w.add(a, [d, 'c'])).toMatchObject({ hasEffect: true })
    expect(w.add(a, [c, 'c', false]).refusal).toEqual(taken('c'))
    expect(w.add(a, [c, 'c-2', false])).toMatchObject({ hasEffect: true })
  })

  it('are as many as the rules allow, those that become public counted once', () => {
    const w = clusterWorld({ ...RULES, maxClusterWallets: 3 })
    expect(w.add(a, [b, 'b'], [c, 'c'], [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.registry.clusters).toEqual([])
    expect(w.add(a, [b, 'b'], [c, 'c', true])).toMatchObject({ hasEffect: true })
    expect(w.add(a, [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.add(a, [c, 'c', false])).toMatchObject({ hasEffect: true })
  })
})

describe('wallets that are renamed', () => {
  it('are those of the signer’s cluster', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'])
    for (const other of [b, c])
      expect(w.rename(other, [a, 'x']).refusal).toEqual({ code: 'not_in_cluster', address: null })
    expect(w.rename(a, [b, 'x'], [c, 'y']).refusal).toEqual({ code: 'not_in_cluster', address: c })
    expect(w.entryOf(b)!.name).toBe('b')
  })

  it('show their new names, the private ones to nobody', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    expect(w.rename(a, [b, 'x'], [c, 'y'], [a, 'z'])).toMatchObject({
      ...{ hasEffect: true, cluster: 1, row: { actor: a, publicCount: 2 } },
      events: [
        { type: 'UPDATE_WALLET_NAME', cluster: 1, name: 'x', wallet: b, isVerified: false },
        { type: 'UPDATE_WALLET_NAME', cluster: 1, name: 'z', wallet: a, isVerified: true },
      ],
    })
    expect(w.registry.wallets.map(({ name, createdSeq, updatedSeq }) => [name, createdSeq, updatedSeq])).toEqual([
      ['z', 1, 2],
      ['x', 1, 2],
      ['y', 1, 2],
    ])
    expect(w.rename(a, [c, 'c'])).toMatchObject({ hasEffect: true, events: [] })
    expect(w.rename(a, [b, 'x'], [a, 'z'])).toMatchObject({ ...NO_EFFECT, cluster: 1 })
    expect(w.rename(a)).toMatchObject(NO_EFFECT)
    expect(w.entryOf(b)!.updatedSeq).toBe(2)
  })

  it('may swap their names, and take none that another keeps', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    expect(w.rename(a, [a, 'b'], [b, 'main'])).toMatchObject({ hasEffect: true })
    expect(w.rename(a, [a, 'main']).refusal).toEqual({ code: 'wallet_name_taken', name: 'main' })
    expect(w.rename(a, [c, 'main']).refusal).toEqual({ code: 'wallet_name_taken', name: 'main' })
    expect(w.rename(a, [a, 'c'])).toMatchObject({ hasEffect: true })
  })
})

describe('wallets that are removed', () => {
  it('are gone, and seen to be where they were public', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    for (const other of [b, d]) expect(w.remove(other, a).refusal).toEqual({ code: 'not_in_cluster', address: null })
    expect(w.remove(a, b, c, d)).toMatchObject({
      ...{ hasEffect: true, cluster: 1, row: { actor: a, publicCount: 1 } },
      events: [{ type: 'REMOVE_WALLET', cluster: 1, wallet: b }],
    })
    expect(w.registry.wallets).toMatchObject([{ address: a }])
    expect(w.remove(a, b, d)).toMatchObject({ ...NO_EFFECT, cluster: 1 })
    w.add(a, [b, 'b'])
    w.verify(b, 1)
    expect(w.remove(b, b).row.actor).toEqual(b)
  })

  it('may be all of a cluster without names, and a wallet that left creates another one', () => {
    const w = clusterWorld()
    w.create(a)
    expect(w.remove(a, a)).toMatchObject({ hasEffect: true, row: { actor: a }, events: [{ type: 'REMOVE_WALLET' }] })
    expect(w.registry.wallets).toEqual([])
    expect(w.create(a)).toMatchObject({ hasEffect: true, cluster: 2 })
    const [first, second] = w.registry.clusters
    expect(first!.id).not.toEqual(second!.id)
  })

  it('leave a verified wallet where there are names', () => {
    const w = clusterWorld()
    w.bid(a, 'foo')
    w.add(a, [b, 'b'], [c, 'c'])
    w.verify(b, 1)
    expect(w.remove(a, a, b).refusal).toEqual({ code: 'last_verified_wallet' })
    expect(w.remove(b, a)).toMatchObject({ hasEffect: true })
    expect(w.remove(b, b, c).refusal).toEqual({ code: 'last_verified_wallet' })
    expect(w.remove(b, c)).toMatchObject({ hasEffect: true })
  })
})

describe('a wallet that is verified', () => {
  it('is one that a cluster has listed', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    expect(w.verify(b, 7).refusal).toEqual({ code: 'not_found' })
    expect(w.verify(d, 1).refusal).toEqual({ code: 'not_invited' })
    expect(w.verify(b, 1)).toMatchObject({
      ...{ hasEffect: true, cluster: 1, row: { actor: b, publicCount: 1 } },
      events: [{ type: 'VERIFY_WALLET', cluster: 1, name: 'b', wallet: b, isVerified: true }],
    })
    expect(w.entryOf(b)).toMatchObject({ isVerified: true, createdSeq: 1, updatedSeq: 4 })
    expect(w.verify(b, 1)).toMatchObject({ ...NO_EFFECT, cluster: 1 })
    expect(w.verify(c, 1)).toMatchObject({ hasEffect: true, events: [], row: { actor: null, publicCount: 0 } })
  })

  it('leaves the cluster in which it was, where it is seen to leave if it was public', () => {
    const w = clusterWorld()
    w.create(a)
    w.add(b, [c, 'c', true])
    w.verify(c, 2)
    w.add(a, [b, 'bob'], [c, 'carl'])
    expect(w.verify(b, 1).events).toEqual([
      { type: 'REMOVE_WALLET', cluster: 2, wallet: b },
      { type: 'VERIFY_WALLET', cluster: 1, name: 'bob', wallet: b, isVerified: true },
    ])
    expect(w.verify(c, 1).events).toMatchObject([{ type: 'VERIFY_WALLET', cluster: 1, name: 'carl' }])
    expect(w.entriesOf(b)).toMatchObject([{ cluster: 1, isVerified: true }])
    expect(w.entriesOf(c)).toMatchObject([{ cluster: 1, isVerified: true }])
    expect(w.create(b)).toMatchObject({ ...NO_EFFECT, cluster: 1 })
  })

  it('takes names along that no other verified wallet of its cluster would hold', () => {
    const w = clusterWorld()
    w.bid(b, 'two')
    w.bid(a, 'one')
    w.bid(b, 'three')
    w.add(b, [c, 'c'], [d, 'd'])
    w.verify(c, 1)
    w.add(a, [b, 'bob'], [c, 'carl'])
    expect(w.verify(b, 2).events.map(({ type }) => type)).toEqual(['REMOVE_WALLET', 'VERIFY_WALLET'])
    expect(w.verify(c, 2).events).toEqual([
      { type: 'REMOVE_WALLET', cluster: 1, wallet: c },
      { type: 'TRANSFER_NAME', cluster: 2, from: 1, name: 'two' },
      { type: 'TRANSFER_NAME', cluster: 2, from: 1, name: 'three' },
      { type: 'VERIFY_WALLET', cluster: 2, name: 'carl', wallet: c, isVerified: true },
    ])
    expect(w.registry.names.map(({ name, cluster }) => [name, cluster])).toEqual([
      ['two', 2],
      ['one', 2],
      ['three', 2],
    ])
    expect(w.bid(d, 'two').row.publicCount).toBe(0)
  })

  it('moves no names that would reveal a private wallet', () => {
    const w = clusterWorld()
    w.bid(b, 'foo')
    w.add(a, [b, 'b', true])
    expect(w.verify(b, 2).refusal).toEqual({ code: 'names_would_reveal' })
    w.add(b, [c, 'c', true])
    w.verify(c, 1)
    w.remove(c, b)
    w.add(a, [c, 'c'])
    expect(w.verify(c, 2).refusal).toEqual({ code: 'names_would_reveal' })
    expect(w.entriesOf(c)).toMatchObject([
      { cluster: 1, isVerified: true, isPrivate: true },
      { cluster: 2, isVerified: false },
    ])
  })
})

describe('a backup', () => {
  it('is confirmed once, of any wallet of the cluster, a private one’s to nobody', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b'], [c, 'c', true])
    expect(w.backUp(b, a).refusal).toEqual({ code: 'not_in_cluster', address: null })
    expect(w.backUp(a, d).refusal).toEqual({ code: 'not_in_cluster', address: d })
    expect(w.backUp(a, b)).toMatchObject({
      ...{ hasEffect: true, cluster: 1, row: { actor: a, publicCount: 1 } },
      events: [{ type: 'BACKUP_WALLET', cluster: 1, wallet: b }],
    })
    expect(w.entryOf(b)).toMatchObject({ isBackedUp: true, isVerified: false, updatedSeq: 4 })
    expect(w.backUp(a, b)).toMatchObject({ ...NO_EFFECT, cluster: 1 })
    expect(w.backUp(a, c)).toMatchObject({ hasEffect: true, events: [] })
    expect(w.entryOf(c)).toMatchObject({ isBackedUp: true, updatedSeq: 6 })
  })
})

describe('the actor that the public sees', () => {
  it('of a private wallet is the oldest public one of its cluster, by address among those of one entry', () => {
    const w = clusterWorld()
    w.add(a, [c, 'c'], [b, 'b'], [d, 'd', true])
    for (const member of [c, b, d]) w.verify(member, 1)
    expect(w.rename(d, [b, 'x']).row.actor).toEqual(a)
    w.remove(a, a)
    expect(w.rename(d, [b, 'y']).row.actor).toEqual(b)
    w.add(c, [a, 'late'])
    w.verify(a, 1)
    w.remove(c, b)
    expect(w.rename(d, [c, 'z']).row.actor).toEqual(c)
    w.remove(d, c)
    expect(w.rename(d, [a, 'sole']).row.actor).toEqual(a)
  })

  it('is as old as it has been public', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b', true], [c, 'c'], [d, 'd', true])
    for (const member of [b, c, d]) w.verify(member, 1)
    w.add(a, [b, 'b', false])
    w.remove(a, a)
    expect(w.rename(d, [c, 'x']).row.actor).toEqual(c)
  })

  it('is nobody where all are private, and the wallet itself once it is public', () => {
    const w = clusterWorld()
    w.add(a, [b, 'b', true], [c, 'c'])
    w.verify(b, 1)
    w.remove(b, a)
    expect(w.rename(b, [c, 'x']).row).toMatchObject({ actor: null, publicCount: 1 })
    expect(w.add(b, [b, 'b', false]).row.actor).toEqual(b)
    expect(w.remove(b, b).row.actor).toEqual(b)
  })
})
