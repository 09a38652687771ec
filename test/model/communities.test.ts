import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RowChanges } from '../../src/registry/fold/rows.js'
import { publicEvents } from '../../src/registry/journal/events.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { mirrorOf } from '../api/mirror.js'
import type { Step } from './clusterSteps.js'
import { CommunityModel, type CommunityResult } from './communityModel.js'
import {
  type CommunityStep,
  claimNumber,
  communitySteps,
  entryOf,
  HIDING,
} from './communitySteps.js'
import { causeOf, entriesIn, feedOf, folded, LATE, line, number, rowsOf, sorted } from './lines.js'
import { append, emptyRegistry, type MemoryRegistry } from './memoryRegistry.js'

/** The entries of steps, and the model's result of each. */
function play(list: readonly CommunityStep[]) {
  const model = new CommunityModel()
  const expected: CommunityResult[] = []
  const entries = list.map((step, i) => {
    const entry = entryOf(step, i + 1, model.origins)
    expected.push(model.play(step, i + 1))
    return entry
  })
  return { model, entries, expected }
}

const namesOf = ({ communityNames }: MemoryRegistry) =>
  communityNames.map(({ community, name, address, isVerified, assigned, claim, seq }) => ({
    community,
    name,
    w: number(address),
    isVerified,
    assigned: assigned && assigned - 1,
    at: seq,
    claim: claimNumber(claim),
  }))

const add = (w: number, item: { w: number; name: string; isPrivate: boolean }): Step => ({
  do: 'add',
  w,
  items: [item],
})

function refusalOf({ outcomes }: RowChanges): string | null {
  const refusal = outcomes[0]?.refusal
  return refusal?.code === 'community' ? `community ${refusal.problem}` : (refusal?.code ?? null)
}

function paymentOf({ payments }: RowChanges): string | undefined {
  const judgement = payments[0]?.judgement
  return judgement?.outcome === 'refused' ? judgement.reason : judgement?.outcome
}

/**
 * Names of a community move, with the names below it, to a cluster that already has a public wallet with one of these
 * names.
 */
const MOVING: readonly CommunityStep[] = [
  { do: 'bid', w: 0, name: 'foo' },
  { do: 'configure', w: 0, name: 'foo', rules: 0 },
  { do: 'register', w: 5, of: 5, name: 'foo', below: 'a', met: 0, isAssigned: false },
  { do: 'bid', w: 1, name: 'bar' },
  add(1, { w: 2, name: 'a', isPrivate: false }),
  add(1, { w: 0, name: 'b', isPrivate: false }),
  { do: 'verify', w: 0, c: 1 },
  { do: 'register', w: 5, of: 5, name: 'foo', below: 'b', met: 0, isAssigned: false },
  { do: 'rename', w: 1, items: [{ w: 0, name: 'a' }] },
  { do: 'configure', w: 1, name: 'foo', rules: 7 },
  { do: 'register', w: 5, of: 5, name: 'foo', below: 'c', met: 0, isAssigned: false },
  { do: 'pay', w: 5, name: 'foo', below: 'c', to: 0, amount: 9, ago: 0, met: 0 },
  { do: 'configure', w: null, name: 'foo', rules: 6 },
  { do: 'pay', w: 5, name: 'foo', below: 'c', to: 0, amount: 9, ago: 0, met: 1 },
]

const toWallet = (
  w: number,
  of: number,
  below: string,
  met: number | null = 0,
  isAssigned = false,
): CommunityStep => ({
  do: 'register',
  w,
  of,
  name: 'foo',
  below,
  met,
  isAssigned,
})
/** Owners register for themselves and for others, in private too; then requirements are asked. */
const OWNED: readonly CommunityStep[] = [
  { do: 'bid', w: 0, name: 'foo' },
  add(0, { w: 2, name: 'p', isPrivate: true }),
  { do: 'verify', w: 2, c: 0 },
  { do: 'configure', w: 2, name: 'foo', rules: 1 },
  ...[
    toWallet(0, 5, 'a'),
    toWallet(0, 2, 'b'),
    toWallet(2, 2, 'c'),
    toWallet(2, 0, 'd'),
    toWallet(2, 5, 'e'),
  ],
  ...[toWallet(5, 5, 'f'), toWallet(2, 2, 'f', 0, true)],
  { do: 'configure', w: 0, name: 'foo', rules: 0 },
  ...[toWallet(0, 2, 'g'), toWallet(2, 5, 'h'), toWallet(5, 5, 'h'), toWallet(5, 0, 'i')],
  { do: 'configure', w: null, name: 'foo', rules: 2 },
  ...[toWallet(5, 5, 'i', null), toWallet(5, 5, 'i'), toWallet(5, 5, 'i', 1)],
  { do: 'configure', w: 0, name: 'foo', rules: 3 },
  ...[toWallet(5, 5, 'j'), toWallet(0, 0, 'j'), toWallet(0, 2, 'j'), toWallet(0, 5, 'j')],
  { do: 'pay', w: 5, name: 'foo', below: 'j', to: 0, amount: 5, ago: 0, met: 0 },
]

const EVERYTHING = [
  ...[
    'not_found',
    'forbidden',
    'not_in_cluster',
    'already_assigned',
    'rules_changed',
    'wallet_name_taken',
  ],
  ...['not_found', 'not_active', 'not_verified', 'not_available'].map(
    (problem) => `community ${problem}`,
  ),
  ...[
    'malformed_name',
    'not_active',
    'no_price',
    'underpaid',
    'lost',
    'requirements_not_met',
    'registered',
  ],
  ...['REGISTER_COMMUNITY_NAME', 'TRANSFER_NAME'],
]

describe('communities', () => {
  it('are as the model has them: names, rules, payments, refusals, events, and who is shown to have acted', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(communitySteps, (list) => {
        const { model, entries, expected } = play(list)
        const registry = emptyRegistry('mainnet', 1n)
        entries.forEach((entry, i) => {
          const changes = append(registry, [entry], LATE)
          const row = registry.journal.at(-1)!
          const want = expected[i]!
          expect(refusalOf(changes)).toBe(list[i]!.do === 'bid' ? null : want.refusal)
          expect(paymentOf(changes)).toBe(want.payment)
          expect(publicEvents(row).map(line)).toEqual(want.events)
          expect(row.publicCount).toBe(want.events.length)
          const isShown =
            want.events.length > 0 || (list[i]!.do === 'configure' && row.effects.length > 0)
          if (isShown) expect(row.actor && number(row.actor)).toBe(want.actor)
          for (const word of [
            want.refusal,
            want.payment,
            ...want.events.map((text) => text.split(' ')[0]!),
          ])
            if (word) seen.add(word)
        })
        expect(rowsOf(registry)).toEqual(entriesIn(model))
        expect(namesOf(registry)).toEqual(model.below)
        expect(registry.communities).toEqual(
          model.configured.map(({ name, at }) => ({ name, seq: at })),
        )
        expect(
          registry.names
            .filter((row) => row.outcome === 'won')
            .map((row) => [row.name, row.cluster! - 1]),
        ).toEqual(model.names.map((held) => [held.name, held.cluster]))
      }),
      { numRuns: 200, examples: [MOVING, HIDING, OWNED].map((steps) => [[...steps]] as const) },
    )
    for (const word of EVERYTHING) expect(seen, word).toContain(word)
  })

  it('come out the same wherever the batches are cut', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 14 }), { maxLength: 12 })
    fc.assert(
      fc.property(communitySteps, sizes, (list, cuts) => {
        const { entries } = play(list)
        const single = folded(
          entries,
          entries.map(() => 1),
        )
        for (const other of [folded(entries, cuts), folded(entries)]) {
          expect(sorted(other.wallets)).toEqual(sorted(single.wallets))
          expect({ ...other, wallets: [] }).toEqual({ ...single, wallets: [] })
        }
      }),
      { numRuns: 25, examples: [[[...MOVING], [4]]] },
    )
  })
})

describe('the feed', () => {
  it('alone gives the names below communities, their owners and their clusters', () => {
    fc.assert(
      fc.property(communitySteps, (list) => {
        const registry = folded(play(list).entries)
        const known = registry.communityNames.map(
          ({ community, name, address, isVerified, seq }) => {
            const { ms: createdMs, by: createdBy } = causeOf(registry, seq)
            return [
              `${community}/${name}`,
              { address: decodeWallet(address).text, isVerified, createdMs, createdBy },
            ]
          },
        )
        expect([...mirrorOf(feedOf(registry)).communityNames]).toEqual(known)
      }),
      { numRuns: 80 },
    )
  })

  it('does not distinguish a private member from a stranger, whatever it registers, assigns, pays or configures', () => {
    const feed = (steps: readonly CommunityStep[]) => {
      const { journal, communityNames } = folded(play(steps).entries)
      return [
        journal
          .filter((row) => row.publicCount > 0)
          .map((row) => [row.publicFirst, row.actor, publicEvents(row)]),
        communityNames.map(({ community, name, address, isVerified }) => [
          community,
          name,
          address,
          isVerified,
        ]),
      ]
    }
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 25 }), (list) => {
        const { secret, open } = worldsOf(list)
        expect(feed(secret)).toEqual(feed(open))
      }),
      { numRuns: 80 },
    )
  })
})

const asked = fc.record({
  w: fc.constantFrom(0, 2, 3),
  of: fc.constantFrom(0, 2, 3, 4),
  name: fc.constantFrom('foo', 'bar'),
  doing: fc.constantFrom('register', 'register', 'assign', 'configure', 'pay'),
  rules: fc.constantFrom(0, 1, 3),
})
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

/**
 * Two worlds that must look the same. In both wallet 0 holds foo, wallet 1 holds bar, in public. In one of them wallets
 * 2 and 3 are private members of the first cluster, verified; in the other they belong nowhere, and what only a member
 * could do is done by wallet 0, what a member alone gets without price is paid for.
 */
function worldsOf(list: readonly Asked[]): { secret: CommunityStep[]; open: CommunityStep[] } {
  const open: CommunityStep[] = [
    { do: 'bid', w: 0, name: 'foo' },
    { do: 'bid', w: 1, name: 'bar' },
  ]
  const secret: CommunityStep[] = [
    ...open,
    ...[2, 3].flatMap((w): Step[] => [
      add(0, { w, name: `private-${w}`, isPrivate: true }),
      { do: 'verify', w, c: 0 },
    ]),
  ]
  const both = (one: CommunityStep, other = one) => {
    secret.push(one)
    open.push(other)
  }
  for (const name of ['foo', 'bar']) both({ do: 'configure', w: null, name, rules: 0 })
  const rules = new Map<string, number>()
  const isAssigned = new Set<string>()
  list.forEach(({ w, of, name, doing, rules: next }, i) => {
    const now = rules.get(name) ?? 0
    const isOurs = name === 'foo'
    const byOwner = isOurs && (now === 1 || w !== of)
    const what = { name, below: `n${i}`, met: 0 }
    const register = { do: 'register', of, ...what, isAssigned: false } as const
    const pay = { do: 'pay', ...what, to: 0, amount: 9, ago: 0 } as const
    switch (doing) {
      case 'configure':
        rules.set(name, next)
        both(
          { do: doing, w: isOurs ? w : 1, name, rules: next },
          { do: doing, w: isOurs ? 0 : 1, name, rules: next },
        )
        break
      case 'pay':
        both({ ...pay, w })
        break
      case 'register':
        if (of === 4 ? isOurs : now === 0 || (now === 1 && isOurs))
          both({ ...register, w }, { ...register, w: byOwner ? 0 : of })
        break
      case 'assign': {
        // a stranger could not get it at all
        if (of === 4 || isAssigned.has(name) || (now === 1 && !isOurs)) break
        isAssigned.add(name)
        const other =
          now === 3 && !byOwner ? { ...pay, w: of } : { ...register, w: byOwner ? 0 : of }
        both(
          { ...register, w, isAssigned: true },
          of === 0 ? { ...register, w: 0, isAssigned: true } : other,
        )
      }
    }
  })
  return { secret, open }
}
