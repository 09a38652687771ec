import { it } from 'vitest'
import { checkNodeVotes } from '../support/nodeVotes.js'

it('in 100,000 runs no final answer is accepted that fewer than two nodes gave', async () => {
  await checkNodeVotes(100_000)
}, 600_000)
