import { expect, it } from 'vitest'
import {
  arePaymentCountsConsistent,
  mergeTransactionLists,
  type NodeProgramAnswers,
} from './view.js'

const view = (
  slot: number,
  names: number,
  communityNames = 0,
  listed?: string[],
): NodeProgramAnswers => ({
  host: `node-${slot}`,
  slot,
  headSlot: slot,
  names,
  communityNames,
  list: listed
    ? {
        listed: listed.map((signature) => ({ signature, slot: Number(signature.slice(1)) })),
        newest: listed[0] ?? null,
        downToSlot: 0,
      }
    : null,
})

it.each([
  ['the same counts as of one slot', view(7, 3), view(7, 3), true],
  ['the same counts as of two slots', view(7, 3), view(9, 3), true],
  ['more payments as of a later slot', view(7, 3), view(9, 4), true],
  ['more payments of the other kind as of a later slot', view(7, 3, 1), view(9, 3, 2), true],
  ['fewer payments as of a later slot', view(7, 4), view(9, 3), false],
  ['fewer payments of the other kind as of a later slot', view(7, 3, 2), view(9, 4, 1), false],
  // a local node may count within its newest slot
  ['more payments as of one slot', view(7, 3), view(7, 4), true],
])('nodes that count %s', (_, a, b, isPossible) => {
  expect(arePaymentCountsConsistent(a, b)).toBe(isPossible)
  expect(arePaymentCountsConsistent(b, a)).toBe(isPossible)
})

it.each<[string, NodeProgramAnswers[], string[]]>([
  ['one node lists', [view(9, 0, 0, ['a9', 'b7'])], ['b7', 'a9']],
  ['the first leaves out', [view(9, 0, 0, ['a9']), view(9, 0, 0, ['a9', 'b7'])], ['b7', 'a9']],
  ['the second leaves out', [view(9, 0, 0, ['a9', 'b7']), view(9, 0, 0, ['b7'])], ['b7', 'a9']],
  ['only the second was asked for', [view(9, 0), view(9, 0, 0, ['a9'])], ['a9']],
  ['the first says there are none of', [view(9, 0, 0, []), view(9, 0, 0, ['a9'])], ['a9']],
  ['no list was due of', [view(9, 0), view(9, 0)], []],
])('transactions that %s are read once, oldest first', (_, views, signatures) => {
  expect(mergeTransactionLists(views).map(({ signature }) => signature)).toEqual(signatures)
})
