import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clusterWorld } from '../../../test/model/clusterFold.js'
import { Model } from '../../../test/model/clusterModel.js'
import { entryOf, NAMES, type Step, step } from '../../../test/model/clusterSteps.js'
import { wallet } from '../../../test/model/communityFold.js'
import { entriesIn, LATE, line, rowsOf, sorted } from '../../../test/model/lines.js'
import {
  append,
  emptyRegistry,
  holderOf,
  type MemoryRegistry,
} from '../../../test/model/memoryRegistry.js'
import { runsOf } from '../../../test/setup/tiers.js'
import { encodeChange } from '../journal/change.js'
import type { Entry } from '../journal/entry.js'
import { publicEvents } from '../journal/events.js'
import { NEWEST_RULESET, type Ruleset } from '../journal/ruleset.js'

/** Rules with another number of names per entry. */
const inSlicesOf = (namesPerEntry: number): Ruleset => ({ ...NEWEST_RULESET, namesPerEntry })

const sliceOf = (clusterId: Buffer): Entry => ({
  kind: 'move_names',
  position: null,
  txKey: null,
  causeMs: LATE,
  body: encodeChange({ kind: 'move_names', clusterId }),
})

/** Names and the clusters that hold them, like look-ups return them. */
const held = (registry: MemoryRegistry) =>
  registry.names
    .filter(({ outcome }) => outcome === 'won')
    .map(({ name, cluster }) => [name, holderOf(registry, cluster!)])

/** The registry's state without its feed, and without who changed a name last. */
const answers = (registry: MemoryRegistry) => ({ held: held(registry), wallets: rowsOf(registry) })

/** Appends the next part of a move in progress. */
function moveOn(registry: MemoryRegistry, of: number, rules: Ruleset): Entry {
  const { source } = registry.moves[of % registry.moves.length]!
  const entry = sliceOf(registry.clusters[source - 1]!.id)
  append(registry, [entry], LATE, () => rules)
  return entry
}

const isTransfer = (text: string): boolean => text.startsWith('TRANSFER_NAME')
const eventsOf = (registry: MemoryRegistry, from = 0): string[] =>
  registry.journal.slice(from).flatMap((row) => publicEvents(row).map(line))

/**
 * Applies steps, with parts of moves between them, to the registry and to a model whose names move at once. Steps that are
 * refused because names are moving are skipped in the model.
 */
function play(list: readonly Step[], slices: readonly number[], rules: Ruleset) {
  const model = new Model()
  const registry = emptyRegistry('mainnet', 1n)
  const entries: Entry[] = []
  const refusals = new Set<string>()
  const modelEvents: string[] = []
  list.forEach((one, i) => {
    const entry = entryOf(one, i + 1, model.origins)
    entries.push(entry)
    const { outcomes } = append(registry, [entry], LATE, () => rules)
    const refusal = outcomes[0]?.refusal?.code ?? null
    if (refusal) refusals.add(refusal)
    if (refusal !== 'names_moving') {
      const want = model.run(one, registry.head.seq)
      if (one.do !== 'bid') expect(refusal).toBe(want.refusal)
      modelEvents.push(...want.events)
      const events = eventsOf(registry, -1)
      expect(events.filter((text) => !isTransfer(text))).toEqual(
        want.events.filter((text) => !isTransfer(text)),
      )
    }
    expectInvariants(registry, model)
    for (let n = slices[i % slices.length] ?? 0; n > 0 && registry.moves.length > 0; n--) {
      const before = answers(registry)
      entries.push(moveOn(registry, n, rules))
      expect(answers(registry)).toEqual(before)
    }
  })
  return { model, registry, entries, refusals, modelEvents }
}

function expectInvariants(registry: MemoryRegistry, model: Model): void {
  expect(held(registry)).toEqual(model.names.map(({ name, cluster }) => [name, cluster + 1]))
  expect(rowsOf(registry)).toEqual(entriesIn(model))
  const verified = new Set<unknown>(
    registry.wallets.filter((row) => row.isVerified).map(({ cluster }) => cluster),
  )
  expect(held(registry).filter(([, holder]) => !verified.has(holder))).toEqual([])
  expect(registry.moves.filter(({ source }) => verified.has(source))).toEqual([])
  const parts = registry.moves.flatMap(({ source, target }) => [source, target])
  expect(new Set(parts).size).toBe(parts.length)
}

/** Every name is held, by one of two wallets, and each of three clusters lists the wallets of the others. */
const opening = fc
  .tuple(...NAMES.slice(2).map(() => fc.nat(1)))
  .map((ws): Step[] => [
    ...[0, 1, ...ws].map((w, i): Step => ({ do: 'bid', w, name: NAMES[i]! })),
    ...[0, 1, 2].map(
      (w): Step => ({ do: 'add', w, items: [0, 1, 2].filter((of) => of !== w).map(inPublic) }),
    ),
  ])
const inPublic = (w: number) => ({ w, name: 'abc'[w]!, isPrivate: false })
const w = fc.nat(2)
/** Wallets that verify themselves where they are listed, and are listed again. */
const wandering: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(w, w)
      .map(([by, of]): Step => ({ do: 'add', w: by, items: [inPublic(of)] })),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('verify' as const), w, c: fc.nat(2) }) },
  { weight: 1, arbitrary: step },
)
const played = fc.tuple(
  fc
    .tuple(opening, fc.array(wandering, { minLength: 5, maxLength: 25, size: 'max' }))
    .map(([first, rest]): Step[] => [...first, ...rest]),
  fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }),
  fc.constantFrom(1, 1, 2),
)

/** Names move from one cluster into another, while other wallets try to enter and leave both. */
const CROWDED_STEPS: Step[] = [
  ...NAMES.map((name, i): Step => ({ do: 'bid', w: i < 3 ? 0 : 1, name })),
  { do: 'add', w: 1, items: [{ w: 0, name: 'a', isPrivate: false }] },
  { do: 'add', w: 0, items: [{ w: 1, name: 'b', isPrivate: false }] },
  { do: 'create', w: 2 },
  { do: 'add', w: 2, items: [{ w: 1, name: 'b', isPrivate: false }] },
  { do: 'verify', w: 0, c: 1 },
  { do: 'verify', w: 1, c: 0 },
  { do: 'verify', w: 1, c: 2 },
  { do: 'verify', w: 0, c: 2 },
]

describe('names that move in parts', () => {
  it('end in the same cluster as in one unbounded move, and no part changes a look-up', () => {
    const seen = { slices: 0, refusals: new Set<string>() }
    fc.assert(
      fc.property(played, ([list, slices, atOnce]) => {
        const rules = inSlicesOf(atOnce)
        const { model, registry, refusals, modelEvents } = play(list, slices, rules)
        while (registry.moves.length > 0) moveOn(registry, 0, rules)
        expect(
          registry.names.filter(({ outcome }) => outcome === 'won').map((row) => row.cluster! - 1),
        ).toEqual(model.names.map(({ cluster }) => cluster))
        expect(rowsOf(registry)).toEqual(entriesIn(model))
        // the feed shows each name's moves, step by step
        const wayOf = (events: readonly string[], name: string) =>
          events.filter((text) => isTransfer(text) && text.split(' ')[1] === name)
        for (const name of NAMES)
          expect(wayOf(eventsOf(registry), name)).toEqual(wayOf(modelEvents, name))
        seen.slices += registry.journal.filter(({ kind }) => kind === 'move_names').length
        for (const code of refusals) seen.refusals.add(code)
      }),
      { numRuns: 80, examples: [[[CROWDED_STEPS, [0], 1]], [[CROWDED_STEPS, [1], 1]]] },
    )
    expect(seen.slices).toBeGreaterThan(20)
    expect(seen.refusals).toContain('names_moving')
  })

  it('end in the same state for any batch sizes of a replay', () => {
    fc.assert(
      fc.property(
        played,
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }),
        ([list, slices, atOnce], cuts) => {
          const rules = inSlicesOf(atOnce)
          const { registry, entries } = play(list, slices, rules)
          const again = emptyRegistry('mainnet', 1n)
          const rest = [...entries]
          for (const size of [...cuts, entries.length])
            append(again, rest.splice(0, size), LATE, () => rules)
          expect(sorted(again.wallets)).toEqual(sorted(registry.wallets))
          const byStart = (one: MemoryRegistry) => one.moves.toSorted((a, b) => a.seq - b.seq)
          expect(byStart(again)).toEqual(byStart(registry))
          expect({ ...again, wallets: [], moves: [] }).toEqual({
            ...registry,
            wallets: [],
            moves: [],
          })
        },
      ),
      {
        numRuns: runsOf(60),
        examples: [
          [
            [CROWDED_STEPS, [1], 1],
            [7, 3],
          ],
        ],
      },
    )
  })
})

describe('a part', () => {
  const a = wallet(1)
  const b = wallet(2)
  const rules = inSlicesOf(2)
  function moving() {
    const w = clusterWorld(() => rules)
    for (const name of ['one', 'two', 'three', 'four', 'five']) w.bid(a, name)
    w.add(b, [a, 'a'])
    w.verify(a, 2)
    return w.registry
  }
  const namesIn = (events: readonly string[]) =>
    events.filter(isTransfer).map((text) => text.split(' ')[1])

  it('moves the oldest remaining names, with the moving wallet as actor, until none is left', () => {
    const registry = moving()
    expect(namesIn(eventsOf(registry, -1))).toEqual(['one', 'two'])
    moveOn(registry, 0, rules)
    expect(registry.journal.at(-1)).toMatchObject({ kind: 'move_names', actor: a, publicCount: 2 })
    expect(namesIn(eventsOf(registry, -1))).toEqual(['three', 'four'])
    moveOn(registry, 0, rules)
    expect(namesIn(eventsOf(registry, -1))).toEqual(['five'])
    expect(registry.moves).toEqual([])
  })

  it.each([
    { name: 'nothing leaves', idIn: (registry: MemoryRegistry) => registry.clusters[1]!.id },
    { name: 'is unknown', idIn: () => Buffer.alloc(32, 9) },
  ])('of a cluster that $name has no effect', ({ idIn }) => {
    const registry = moving()
    const before = answers(registry)
    append(registry, [sliceOf(idIn(registry))], LATE, () => rules)
    expect(registry.journal.at(-1)).toMatchObject({
      publicCount: 0,
      actor: null,
      effects: Buffer.alloc(0),
    })
    expect([answers(registry), registry.moves.length]).toEqual([before, 1])
  })
})
