import { describe, expect, it } from 'vitest'
import { clusterWorld, LATE, sorted } from '../../../test/model/clusterFold.js'
import {
  alice,
  ann,
  ben,
  bob,
  communityWorld,
  costing,
  eve,
  FREE,
  pat,
  wallet,
} from '../../../test/model/communityFold.js'
import { append, emptyRegistry, loadSlice, type MemoryRegistry } from '../../../test/model/memoryRegistry.js'
import { decodeEntry } from '../journal/decode.js'
import type { Entry } from '../journal/entry.js'
import { clusterId } from '../primitives/clusterId.js'
import { fold } from './index.js'

/** The entries of a registry again, folded in batches of so many. */
function again({ journal }: MemoryRegistry, size: number): MemoryRegistry {
  const entries = journal.map(
    ({ kind, position, txKey, causeMs, body }): Entry => ({ kind, position, txKey, causeMs, body }),
  )
  const registry = emptyRegistry('mainnet', 1n)
  while (entries.length > 0) append(registry, entries.splice(0, size), LATE)
  return registry
}
const SIZES = [2, 3, 5, 8, 1_000]

describe('the same rows wherever batches are cut', () => {
  it('come of clusters’ changes', () => {
    const w = clusterWorld()
    const [a, b, c, d, e] = [wallet(1), wallet(2), wallet(3), wallet(4), wallet(5)]
    w.bid(a, 'one')
    w.add(b, [c, 'c'], [d, 'd', true])
    w.bid(b, 'two')
    w.bid(a, 'three')
    w.verify(c, 2)
    w.rename(b, [d, 'x'], [c, 'cc'])
    w.add(a, [c, 'carl'], [e, 'main-2'])
    w.verify(c, 1)
    // left, and listed again where it was
    w.add(b, [c, 'back'])
    w.verify(c, 2)
    w.verify(d, 2)
    // removed elsewhere, and verified where it was
    w.add(a, [c, 'guest'])
    w.remove(a, c)
    w.rename(c, [c, 'still'])
    w.bid(d, 'four')
    w.backUp(a, e)
    w.remove(a, e)
    w.add(c, [a, 'a'], [e, 'e'])
    w.verify(a, 2)
    w.remove(c, b)
    w.create(b)
    w.remove(b, b)
    w.create(b)
    w.bid(e, 'five')
    for (const size of SIZES) expect(sorted(again(w.registry, size)), `${size}`).toEqual(sorted(w.registry))
  })

  it('come of names that move more than once', () => {
    const w = clusterWorld()
    const [a, b, c, d] = [wallet(1), wallet(2), wallet(3), wallet(4)]
    w.bid(b, 'two')
    w.bid(a, 'one')
    w.bid(b, 'three')
    w.add(b, [d, 'd'])
    w.create(c)
    w.add(a, [b, 'b'])
    w.verify(b, 2)
    w.add(c, [a, 'a'], [d, 'd'])
    w.remove(a, b)
    const { events } = w.verify(a, 3)
    const moved = events.flatMap((event) => (event.type === 'TRANSFER_NAME' ? event.name : []))
    expect(moved).toEqual(['two', 'one', 'three'])
    w.verify(d, 1)
    expect(w.verify(d, 3).events.map(({ type }) => type)).toEqual(['REMOVE_WALLET', 'VERIFY_WALLET'])
    for (const size of SIZES) expect(sorted(again(w.registry, size)), `${size}`).toEqual(sorted(w.registry))
  })

  it('come of communities', () => {
    const w = communityWorld()
    w.bid(alice, 'late')
    w.configure('foo', costing(5n))
    w.pay('foo/a')
    w.pay('foo/a', { payer: bob })
    w.configure('foo', costing(9n))
    w.pay('foo/b')
    w.configure('foo', FREE)
    w.register(eve, 'foo/c')
    w.register(eve, 'foo/c')
    w.register(bob, 'foo/bob', { isAssigned: true })
    w.register(ben, 'foo/ben', { isAssigned: true })
    w.register(ben, 'foo/bob', { isAssigned: true })
    w.register(alice, 'foo/alice', { isAssigned: true })
    w.change({ kind: 'add_wallets', actor: alice, wallets: [{ address: eve, name: 'c', isPrivate: false }] })
    w.change({ kind: 'rename_wallets', actor: ann, wallets: [{ address: ann, name: 'warm' }] })
    w.register(eve, 'foo/warm')
    w.register(eve, 'foo/ann')
    w.bid(pat, 'pats')
    w.bid(wallet(20), 'new')
    w.configure('new', FREE, wallet(20))
    w.register(eve, 'new/main')
    for (const size of SIZES) expect(sorted(again(w.registry, size)), `${size}`).toEqual(sorted(w.registry))
  })
})

describe('a batch', () => {
  const clusterEntry = (actor: Buffer): Entry => {
    const w = clusterWorld()
    w.create(actor)
    return w.entries[0]!
  }

  it('gives a wallet that has left its first cluster the next id', () => {
    const leaving = clusterWorld()
    leaving.create(alice)
    leaving.remove(alice, alice)
    leaving.create(alice)
    const all = leaving.entries.map(decodeEntry)
    const { clusters } = fold(loadSlice(emptyRegistry('mainnet'), all), all, LATE)
    expect(clusters.map(({ id }) => id)).toEqual([0, 1].map((n) => clusterId('mainnet', alice, n)))
  })

  it('writes what has changed and nothing else', () => {
    const w = clusterWorld()
    w.add(alice, [ann, 'ann'], [pat, 'pat', true], [bob, 'bob'])
    w.verify(bob, 1)
    const before = { ...w.registry, wallets: [...w.registry.wallets], clusters: [...w.registry.clusters] }
    w.rename(alice, [ann, 'x'])
    w.remove(alice, pat)
    w.remove(bob, bob)
    w.add(alice, [bob, 'again'], [eve, 'eve'])
    const entries = w.entries.slice(2).map(decodeEntry)
    const changes = fold(loadSlice({ ...before, head: { ...before.head } }, entries), entries, LATE)
    const addresses = (rows: readonly { address: Buffer }[]) => rows.map(({ address }) => address[1])
    expect(addresses(changes.walletUpdates)).toEqual([ann[1]])
    expect(addresses(changes.walletRemovals).toSorted()).toEqual([pat[1], bob[1]].toSorted())
    expect(addresses(changes.wallets)).toEqual([bob[1], eve[1]])
  })

  it('that lacks a row says which', () => {
    const w = clusterWorld()
    w.add(alice, [pat, 'pat', true])
    w.verify(pat, 1)
    const rename = decodeEntry({ ...clusterEntry(alice) })
    const slice = loadSlice(w.registry, [rename])
    const add = clusterWorld()
    add.add(alice, [eve, 'eve'])
    const adding = [decodeEntry(add.entries[0]!)]
    expect(() => fold({ ...slice, clusters: new Map() }, adding, LATE)).toThrow('the slice lacks cluster 1')
    const empty = loadSlice(emptyRegistry('mainnet'), [rename])
    expect(() => fold({ ...empty, nextClusterNumber: new Map() }, [rename], LATE)).toThrow(
      `the slice lacks the cluster number of wallet 0x${alice.toString('hex')}`,
    )
    const bidding = clusterWorld()
    bidding.bid(pat, 'pats')
    const bid = [decodeEntry(bidding.entries[0]!)]
    const whole = loadSlice(w.registry, bid)
    expect(() => fold({ ...whole, clusters: new Map() }, bid, LATE)).toThrow('the slice lacks cluster 1')
    const without = new Map([[1, { wallets: new Map(), names: [] }]])
    expect(() => fold({ ...whole, clusters: without }, bid, LATE)).toThrow('lacks a verified wallet of cluster 1')
  })
})
