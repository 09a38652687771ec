import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../src/registry/journal/entry.js'
import { publicEvents } from '../../src/registry/journal/events.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { mirrorOf } from '../api/mirror.js'
import { Model } from './clusterModel.js'
import { entryOf, idOf, type Step, steps } from './clusterSteps.js'
import {
  causeOf,
  clusterIdOf,
  entriesIn,
  feedOf,
  folded,
  LATE,
  line,
  number,
  rowsOf,
  sorted,
} from './lines.js'
import { append, emptyRegistry } from './memoryRegistry.js'

/** Plays steps: their entries, with cluster ids that only the model knows, and the model's result of each. */
function play(list: readonly Step[]) {
  const model = new Model()
  const entries: Entry[] = []
  const expected = list.map((step, i) => {
    entries.push(entryOf(step, i + 1, model.origins))
    return model.run(step, i + 1)
  })
  return { model, entries, expected }
}

const add = (w: number, item: { w: number; name: string; isPrivate: boolean }): Step => ({
  do: 'add',
  w,
  items: [item],
})
/** Reaches every refusal and the transfer of a name, since random steps may miss the rarer ones. */
const OPENING: readonly Step[] = [
  { do: 'remove', w: 2, ws: [2] },
  { do: 'bid', w: 0, name: 'foo' },
  { do: 'bid', w: 1, name: 'bar' },
  { do: 'verify', w: 2, c: 4 },
  { do: 'verify', w: 2, c: 0 },
  { do: 'remove', w: 0, ws: [0] },
  add(0, { w: 2, name: 'main', isPrivate: false }),
  add(0, { w: 0, name: 'main', isPrivate: true }),
  add(0, { w: 1, name: 'a', isPrivate: true }),
  add(0, { w: 1, name: 'b', isPrivate: true }),
  { do: 'verify', w: 1, c: 0 },
  add(0, { w: 1, name: 'a', isPrivate: false }),
  { do: 'verify', w: 1, c: 0 },
]

describe('clusters', () => {
  it('equal the model’s: entries, names, events, refusals, and the shown actors', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(steps, (list: readonly Step[]) => {
        const { model, entries, expected } = play(list)
        const registry = emptyRegistry('mainnet', 1n)
        entries.forEach((entry, i) => {
          const { outcomes } = append(registry, [entry], LATE)
          const row = registry.journal.at(-1)!
          const want = expected[i]!
          if (list[i]!.do !== 'bid') expect(outcomes[0]!.refusal?.code ?? null).toBe(want.refusal)
          expect(publicEvents(row).map(line)).toEqual(want.events)
          expect(row.publicCount).toBe(want.events.length)
          if (want.events.length > 0) expect(row.actor && number(row.actor)).toBe(want.actor)
          for (const word of [want.refusal, ...want.events.map((text) => text.split(' ')[0]!)])
            if (word) seen.add(word)
        })
        expect(rowsOf(registry)).toEqual(entriesIn(model))
        const won = registry.names.filter((row) => row.outcome === 'won')
        expect(won.map((row) => [row.name, row.cluster! - 1])).toEqual(
          model.names.map((held) => [held.name, held.cluster]),
        )
        expect(registry.clusters.map((row) => row.id)).toEqual(model.origins.map(idOf))
      }),
      { numRuns: 600, examples: [[[...OPENING]]] },
    )
    // the sequences reach every case
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'not_found',
        'not_invited',
        'not_in_cluster',
        'wallet_exists',
        'wallet_name_taken',
        'already_public',
        'last_verified_wallet',
        'names_would_reveal',
        'TRANSFER_NAME',
      ]),
    )
  })

  it('keep a verified wallet in one cluster, public wallet names distinct, and names with somebody verified', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { wallets, names } = folded(play(list).entries)
        const verified = wallets.filter((row) => row.isVerified).map((row) => number(row.address))
        expect(new Set(verified).size).toBe(verified.length)
        const known = wallets
          .filter((row) => !row.isPrivate)
          .map((row) => `${row.cluster}/${row.name}`)
        expect(new Set(known).size).toBe(known.length)
        for (const { cluster } of names.filter((row) => row.outcome === 'won'))
          expect(wallets.some((row) => row.cluster === cluster && row.isVerified)).toBe(true)
      }),
    )
  })
})

describe('the feed', () => {
  it('is enough to rebuild the public state', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const registry = folded(play(list).entries)
        const known = registry.wallets
          .filter((row) => !row.isPrivate)
          .map(({ cluster, address, name, isVerified, isBackedUp, createdSeq, updatedSeq }) => {
            const { ms: updatedMs, by: updatedBy } = causeOf(registry, updatedSeq)
            const entry = {
              name,
              isVerified,
              isBackedUp,
              createdMs: causeOf(registry, createdSeq).ms,
            }
            return [
              clusterIdOf(registry, cluster),
              decodeWallet(address).text,
              { ...entry, updatedMs, updatedBy },
            ]
          })
        const won = registry.names
          .filter((row) => row.outcome === 'won')
          .map((row) => [row.name, clusterIdOf(registry, row.cluster!)])
        const { clusters, names } = mirrorOf(feedOf(registry))
        const expected = [...clusters].flatMap(([id, { wallets }]) =>
          [...wallets].map((wallet) => [id, ...wallet]),
        )
        expect([...clusters.keys()]).toEqual(registry.clusters.map(({ id }) => toHex(id)))
        expect(sorted(expected)).toEqual(sorted(known))
        expect([...names].map(([name, { cluster }]) => [name, cluster])).toEqual(won)
      }),
      { numRuns: 200 },
    )
  })

  it('is the same for a registry without private entries, unless they act', () => {
    // a public wallet adds, renames and removes private entries that never act: the feed has nothing of it
    const quiet = fc.array(
      fc.record({
        w: fc.integer({ min: 2, max: 5 }),
        name: fc.constantFrom('a', 'b', 'main'),
        isAdd: fc.boolean(),
      }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(quiet, fc.array(fc.constantFrom('foo', 'bar', 'baz')), (hidden, names) => {
        const loud: Step[] = names.map((name) => ({ do: 'bid', w: 0, name }))
        const secret: Step[] = hidden.map(({ w, name, isAdd }) =>
          isAdd
            ? { do: 'add', w: 0, items: [{ w, name, isPrivate: true }] }
            : { do: 'remove', w: 0, ws: [w] },
        )
        const begin: Step = { do: 'create', w: 0 }
        const mixed = [
          begin,
          ...loud.flatMap((step, i) => [step, ...secret.slice(i * 3, i * 3 + 3)]),
        ]
        const feed = (list: readonly Step[]) =>
          folded(play(list).entries)
            .journal.filter((row) => row.publicCount > 0)
            .map((row) => [row.publicFirst, row.actor, publicEvents(row)])
        expect(feed(mixed)).toEqual(feed([begin, ...loud]))
      }),
    )
  })
})
