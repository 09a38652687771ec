import { expect, it } from 'vitest'
import { checkNodeVotes } from '../../../test/support/nodeVotes.js'
import { NodeAnswers } from './agreement.js'

const isSame = (a: number, b: number) => a === b

it('a later answer of a node replaces its earlier one', () => {
  const answers = new NodeAnswers<string, number>()
  answers.set('a', 1)
  answers.set('a', 1)
  expect(answers.agreement(2, isSame)).toBeNull()
  answers.set('b', 2)
  answers.set('a', 2)
  expect(answers.agreement(2, isSame)).toMatchObject({ answer: 2, givers: ['a', 'b'], nodes: 2 })
})

it('what follows from an answer rests on the same nodes', () => {
  const answers = new NodeAnswers<string, number>()
  answers.set('a', 1)
  answers.set('b', 1)
  const agreed = answers.agreement(2, isSame)!
  expect(agreed.map((value) => value + 1)).toMatchObject({ answer: 2, givers: ['a', 'b'] })
})

it('no final answer of random nodes is accepted that fewer than two of them gave', async () => {
  await checkNodeVotes(2_000)
}, 60_000)
