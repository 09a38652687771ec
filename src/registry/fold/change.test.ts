import { describe, expect, it } from 'vitest'
import { clusterWorld } from '../../../test/model/clusterFold.js'
import { wallet } from '../../../test/model/communityFold.js'
import { NEWEST_RULESET } from '../journal/ruleset.js'

/**
 * Outcomes and events of changes. test/model/clusters.test.ts compares entries, names, events and actors with a
 * model.
 */

const a = wallet(1)
const b = wallet(2)
const c = wallet(3)
const d = wallet(4)
const NO_EFFECT = { refusal: null, hasEffect: false, events: [] }
const ROW_WITHOUT_EVENTS = { publicCount: 0, actor: null, effects: Buffer.alloc(0) }

type World = ReturnType<typeof clusterWorld>

/** A cluster of a, with b in public and c in private. */
function listed() {
  const w = clusterWorld()
  w.add(a, [b, 'b'], [c, 'c', true])
  return w
}

describe('a change', () => {
  it('that creates a cluster returns it, and has an effect only once', () => {
    const w = clusterWorld()
    expect(w.create(a)).toMatchObject({
      refusal: null,
      hasEffect: true,
      cluster: 1,
      row: { actor: a, publicCount: 2 },
    })
    expect(w.create(a)).toMatchObject({ ...NO_EFFECT, cluster: 1, row: ROW_WITHOUT_EVENTS })
    expect(w.add(d, [b, 'b'])).toMatchObject({
      hasEffect: true,
      cluster: 2,
      row: { actor: d, publicCount: 3 },
    })
  })

  it.each<{ name: string; change: (w: World) => unknown }>([
    { name: 'adds a public wallet', change: (w) => w.add(a, [b, 'b', null]) },
    { name: 'adds a public wallet as public', change: (w) => w.add(a, [b, 'b', false]) },
    { name: 'adds a private wallet', change: (w) => w.add(a, [c, 'c', null]) },
    { name: 'adds a private wallet as private', change: (w) => w.add(a, [c, 'c', true]) },
    { name: 'renames to the same names', change: (w) => w.rename(a, [b, 'b'], [a, 'main']) },
    { name: 'renames nothing', change: (w) => w.rename(a) },
    { name: 'removes what is not there', change: (w) => w.remove(a, d) },
    { name: 'verifies again', change: (w) => w.verify(b, 1) },
    { name: 'backs up again', change: (w) => w.backUp(a, b) },
  ])('that repeats the current state has no effect: $name', ({ change }) => {
    const w = listed()
    w.verify(b, 1)
    w.backUp(a, b)
    expect(change(w)).toMatchObject({ ...NO_EFFECT, cluster: 1, row: ROW_WITHOUT_EVENTS })
    expect(w.entryOf(b)!.updatedSeq).toBe(3)
    expect(w.entryOf(c)).toMatchObject({ isPrivate: true, updatedSeq: 1 })
  })

  it('that is private has an effect without an event', () => {
    const w = listed()
    const silent = { refusal: null, hasEffect: true, cluster: 1, events: [] }
    expect(w.rename(a, [c, 'x'])).toMatchObject(silent)
    expect(w.backUp(a, c)).toMatchObject(silent)
    expect(w.remove(a, c)).toMatchObject(silent)
    expect(w.add(a, [d, 'd', true])).toMatchObject(silent)
  })

  it.each<{ name: string; change: (w: World) => { refusal: unknown }; refusal: object }>([
    {
      name: 'adds a public wallet among others',
      change: (w) => w.add(a, [d, 'd'], [b, 'x']),
      refusal: { code: 'wallet_exists', address: b },
    },
    {
      name: 'adds a public wallet as private',
      change: (w) => w.add(a, [b, 'b', true]),
      refusal: { code: 'already_public', address: b },
    },
    {
      name: 'adds its actor as private',
      change: (w) => w.add(d, [d, 'me', true]),
      refusal: { code: 'already_public', address: d },
    },
    {
      name: 'adds two wallets of one name',
      change: (w) => w.add(a, [d, 'x'], [wallet(9), 'x']),
      refusal: { code: 'wallet_name_taken', name: 'x' },
    },
    {
      name: 'renames to a name in use',
      change: (w) => w.rename(a, [c, 'main']),
      refusal: { code: 'wallet_name_taken', name: 'main' },
    },
    {
      name: 'renames as an unverified wallet',
      change: (w) => w.rename(b, [a, 'x']),
      refusal: { code: 'not_in_cluster', address: null },
    },
    {
      name: 'renames a stranger among others',
      change: (w) => w.rename(a, [b, 'x'], [d, 'y']),
      refusal: { code: 'not_in_cluster', address: d },
    },
    {
      name: 'removes as a stranger',
      change: (w) => w.remove(d, a),
      refusal: { code: 'not_in_cluster', address: null },
    },
    {
      name: 'backs up a stranger',
      change: (w) => w.backUp(a, d),
      refusal: { code: 'not_in_cluster', address: d },
    },
  ])('is refused completely, with the wrong address or name: $name', (wrong) => {
    const w = listed()
    const change = wrong.change(w)
    expect(change.refusal).toEqual(wrong.refusal)
    expect(change).toMatchObject({
      events: [],
      cluster: null,
      hasEffect: false,
      row: ROW_WITHOUT_EVENTS,
    })
    expect(w.registry).toMatchObject({ clusters: [{ serial: 1 }], wallets: [{}, {}, {}] })
  })

  it('makes no cluster larger than the rules allow, and a wallet that becomes public counts once', () => {
    const w = clusterWorld(() => ({ ...NEWEST_RULESET, maxClusterWallets: 3 }))
    expect(w.add(a, [b, 'b'], [c, 'c'], [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.registry.clusters).toEqual([])
    expect(w.add(a, [b, 'b'], [c, 'c', true])).toMatchObject({ hasEffect: true })
    expect(w.add(a, [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.add(a, [c, 'c', false])).toMatchObject({ hasEffect: true })
  })

  it('of a private wallet shows its cluster’s oldest public wallet, ordered by address within an entry', () => {
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
})
