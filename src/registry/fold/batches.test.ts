import { describe, expect, it } from 'vitest'
import { clusterWorld, LATE } from '../../../test/model/clusterFold.js'
import { alice, ann, bob, eve, pat } from '../../../test/model/communityFold.js'
import { emptyRegistry, loadSlice } from '../../../test/model/memoryRegistry.js'
import { decodeEntry } from '../journal/decode.js'
import type { Entry } from '../journal/entry.js'
import { NEWEST_RULESET } from '../journal/ruleset.js'
import { deriveClusterId } from '../primitives/clusterId.js'
import { foldEntriesToRows } from './index.js'

describe('a batch', () => {
  const clusterEntry = (actor: Buffer): Entry => {
    const w = clusterWorld()
    w.create(actor)
    return w.entries[0]!
  }

  it('gives the second cluster of a wallet the next id', () => {
    const leaving = clusterWorld()
    leaving.create(alice)
    leaving.remove(alice, alice)
    leaving.create(alice)
    const all = leaving.entries.map(decodeEntry)
    const { clusters } = foldEntriesToRows(loadSlice(emptyRegistry('mainnet'), all), all, LATE)
    expect(clusters.map(({ id }) => id)).toEqual(
      [0, 1].map((n) => deriveClusterId('mainnet', alice, n)),
    )
  })

  it('writes only what has changed', () => {
    const w = clusterWorld()
    w.add(alice, [ann, 'ann'], [pat, 'pat', true], [bob, 'bob'])
    w.verify(bob, 1)
    const before = {
      ...w.registry,
      wallets: [...w.registry.wallets],
      clusters: [...w.registry.clusters],
    }
    w.rename(alice, [ann, 'x'])
    w.remove(alice, pat)
    w.remove(bob, bob)
    w.add(alice, [bob, 'again'], [eve, 'eve'])
    const entries = w.entries.slice(2).map(decodeEntry)
    const changes = foldEntriesToRows(
      loadSlice({ ...before, head: { ...before.head } }, entries),
      entries,
      LATE,
    )
    const addresses = (rows: readonly { address: Buffer }[]) =>
      rows.map(({ address }) => address[1])
    expect(addresses(changes.walletUpdates)).toEqual([ann[1]])
    expect(addresses(changes.walletRemovals).toSorted()).toEqual([pat[1], bob[1]].toSorted())
    expect(addresses(changes.wallets)).toEqual([bob[1], eve[1]])
  })

  it('decides each entry by the rules of its own version', () => {
    // the wallet limit depends on the version
    const rulesOf = (version: number) => ({ ...NEWEST_RULESET, maxClusterWallets: version })
    const w = clusterWorld()
    for (const guest of [ann, bob]) w.add(alice, [guest, `of-${guest[1]}`])
    const decided = (...versions: number[]) => {
      const entries = w.entries.map((entry, i) => decodeEntry({ ...entry, ruleset: versions[i]! }))
      const { outcomes, journal } = foldEntriesToRows(
        loadSlice(emptyRegistry('mainnet'), entries),
        entries,
        LATE,
        rulesOf,
      )
      expect(journal.map(({ ruleset }) => ruleset)).toEqual(versions)
      return outcomes.map(({ refusal }) => refusal?.code ?? null)
    }
    expect(decided(2, 3)).toEqual([null, null])
    expect(decided(3, 2)).toEqual([null, 'wallet_limit'])
    expect(decided(1, 2)).toEqual(['wallet_limit', null])
  })

  it('throws an error that names a missing row', () => {
    const w = clusterWorld()
    w.add(alice, [pat, 'pat', true])
    w.verify(pat, 1)
    const rename = decodeEntry({ ...clusterEntry(alice) })
    const slice = loadSlice(w.registry, [rename])
    const add = clusterWorld()
    add.add(alice, [eve, 'eve'])
    const adding = [decodeEntry(add.entries[0]!)]
    expect(() => foldEntriesToRows({ ...slice, clusters: new Map() }, adding, LATE)).toThrow(
      'cluster 1 is missing in the slice',
    )
    const empty = loadSlice(emptyRegistry('mainnet'), [rename])
    expect(() =>
      foldEntriesToRows({ ...empty, nextClusterNumber: new Map() }, [rename], LATE),
    ).toThrow(`the cluster number is missing in the slice of wallet 0x${alice.toString('hex')}`)
    const bidding = clusterWorld()
    bidding.bid(pat, 'pats')
    const bid = [decodeEntry(bidding.entries[0]!)]
    const whole = loadSlice(w.registry, bid)
    expect(() => foldEntriesToRows({ ...whole, clusters: new Map() }, bid, LATE)).toThrow(
      'cluster 1 is missing in the slice',
    )
    const without = new Map([[1, { wallets: new Map(), names: [] }]])
    expect(() => foldEntriesToRows({ ...whole, clusters: without }, bid, LATE)).toThrow(
      'a verified wallet is missing in the slice of cluster 1',
    )
  })
})
