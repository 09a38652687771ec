import { describe, expect, it } from 'vitest'
import { clusterWorld } from '../../../test/model/clusterFold.js'
import { wallet } from '../../../test/model/communityFold.js'
import { RULES } from '../journal/ruleset.js'

/** What a change tells of itself; test/model/clusters.test.ts has entries, names, events and actors by their model. */

const a = wallet(1)
const b = wallet(2)
const c = wallet(3)
const d = wallet(4)
const NO_EFFECT = { refusal: null, hasEffect: false, events: [] }
const SILENT = { publicCount: 0, actor: null, effects: Buffer.alloc(0) }

/** A cluster of a, with b in public and c in private. */
function listed() {
  const w = clusterWorld()
  w.add(a, [b, 'b'], [c, 'c', true])
  return w
}

describe('a change', () => {
  it('that makes a cluster names it, and has an effect once', () => {
    const w = clusterWorld()
    expect(w.create(a)).toMatchObject({
      refusal: null,
      hasEffect: true,
      cluster: 1,
      row: { actor: a, publicCount: 2 },
    })
    expect(w.create(a)).toMatchObject({ ...NO_EFFECT, cluster: 1, row: SILENT })
    expect(w.add(d, [b, 'b'])).toMatchObject({
      hasEffect: true,
      cluster: 2,
      row: { actor: d, publicCount: 3 },
    })
  })

  it('that repeats what stands has no effect', () => {
    const w = listed()
    w.verify(b, 1)
    w.backUp(a, b)
    const repeated = [
      ...[null, false].map((isPrivate) => w.add(a, [b, 'b', isPrivate])),
      ...[null, true].map((isPrivate) => w.add(a, [c, 'c', isPrivate])),
      ...[
        w.rename(a, [b, 'b'], [a, 'main']),
        w.rename(a),
        w.remove(a, d),
        w.verify(b, 1),
        w.backUp(a, b),
      ],
    ]
    for (const change of repeated)
      expect(change).toMatchObject({ ...NO_EFFECT, cluster: 1, row: SILENT })
    expect(w.entryOf(b)!.updatedSeq).toBe(3)
    expect(w.entryOf(c)).toMatchObject({ isPrivate: true, updatedSeq: 1 })
  })

  it('that only its cluster sees has an effect without an event', () => {
    const w = listed()
    for (const change of [
      w.rename(a, [c, 'x']),
      w.backUp(a, c),
      w.remove(a, c),
      w.add(a, [d, 'd', true]),
    ])
      expect(change).toMatchObject({ refusal: null, hasEffect: true, cluster: 1, events: [] })
  })

  it('is refused whole, with the address or the name that is wrong', () => {
    const w = listed()
    const at = (code: string, address: Buffer | null) => ({ code, address })
    const taken = (name: string) => ({ code: 'wallet_name_taken', name })
    const tried = [
      [w.add(a, [d, 'd'], [b, 'x']), at('wallet_exists', b)],
      [w.add(a, [b, 'b', true]), at('already_public', b)],
      [w.add(d, [d, 'me', true]), at('already_public', d)],
      [w.add(a, [d, 'x'], [wallet(9), 'x']), taken('x')],
      [w.rename(a, [c, 'main']), taken('main')],
      [w.rename(b, [a, 'x']), at('not_in_cluster', null)],
      [w.rename(a, [b, 'x'], [d, 'y']), at('not_in_cluster', d)],
      [w.remove(d, a), at('not_in_cluster', null)],
      [w.backUp(a, d), at('not_in_cluster', d)],
    ] as const
    for (const [change, refusal] of tried) {
      expect(change.refusal).toEqual(refusal)
      expect(change).toMatchObject({ events: [], cluster: null, hasEffect: false, row: SILENT })
    }
    expect(w.registry).toMatchObject({ clusters: [{ serial: 1 }], wallets: [{}, {}, {}] })
  })

  it('makes no cluster larger than the rules allow; what becomes public counts once', () => {
    const w = clusterWorld(() => ({ ...RULES, maxClusterWallets: 3 }))
    expect(w.add(a, [b, 'b'], [c, 'c'], [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.registry.clusters).toEqual([])
    expect(w.add(a, [b, 'b'], [c, 'c', true])).toMatchObject({ hasEffect: true })
    expect(w.add(a, [d, 'd']).refusal).toEqual({ code: 'wallet_limit' })
    expect(w.add(a, [c, 'c', false])).toMatchObject({ hasEffect: true })
  })

  it('of a private wallet shows the oldest public one of its cluster, by address among those of one entry', () => {
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
