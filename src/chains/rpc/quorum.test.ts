import { expect, it } from 'vitest'
import { ContradictingNodeError, MissingDataError, RefutedAnswerError, RpcError } from './errors.js'
import { type RpcCall, RpcPool } from './nodes.js'

/** Asks a pool of nodes that give these answers, in their order. A node whose answer is an error throws it. */
const askPool = (...answers: unknown[]): Promise<unknown> =>
  agreedOn(...answers).then(({ answer }) => answer)
const agreedOn = (...answers: unknown[]) =>
  poolOf(answers.map((answer) => [answer])).agreed((call) => call('eth_call', []), {
    isProved: answers.includes(REFUTED_ERROR),
  })

/** Nodes that give these answers to one call after the other, and repeat the last one. */
const poolOf = (scripts: readonly (readonly unknown[])[]) =>
  new RpcPool<string>({
    label: '1',
    urls: scripts.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => 'genesis',
    connect: (url): RpcCall => {
      const left = [...scripts[Number(url.at(-1))]!]
      return async <T>() => {
        const answer = left.length > 1 ? left.shift() : left[0]
        if (answer instanceof Error) throw answer
        return answer as T
      }
    },
    headOf: async () => ({ height: 1, timeMs: null }),
  })
const AWAY_ERROR = new RpcError('transient', 'away')
const REFUSED_ERROR = new RpcError('refused', 'refused')
const TOO_MUCH_ERROR = new RpcError('too_much', 'too much')

const REFUTED_ERROR = new RefutedAnswerError('the logs do not make the record')
const RATE_LIMIT_ERROR = new RpcError('rate_limited', 'HTTP 429', 5_000)

it.each([
  ['of the only node', [1], 1, 1],
  ['of two that agree', [{ a: [1n] }, { a: [1n] }], { a: [1n] }, 2],
  ['of two of three, wherever the third is', [2, 1, 1], 1, 2],
  ['of two of three, the first among them', [1, 2, 1], 1, 2],
  ['of two of three, where the first is away', [AWAY_ERROR, 1, 1], 1, 2],
  ['of two of three, where the second asked to wait', [1, RATE_LIMIT_ERROR, 1], 1, 2],
  ['of two, where the first of three refuses the question', [REFUSED_ERROR, null, null], null, 2],
  ['of two of three, where it is too much for the first', [TOO_MUCH_ERROR, 1, 1], 1, 2],
  ['of the other one, where the chain refutes the first', [REFUTED_ERROR, 1], 1, 1],
])('the answer %s is accepted, with the number of nodes', async (_, answers, answer, nodes) => {
  expect(await agreedOn(...answers)).toMatchObject({ answer, nodes })
})

it.each([
  [
    'of two',
    [
      [AWAY_ERROR, TOO_MUCH_ERROR, 2],
      [AWAY_ERROR, 1],
    ],
  ],
  [
    'of three, beside one that asked to wait',
    [[AWAY_ERROR, TOO_MUCH_ERROR, 2], [AWAY_ERROR, 1], [RATE_LIMIT_ERROR]],
  ],
  [
    'of two, that gives two different ones',
    [
      [AWAY_ERROR, TOO_MUCH_ERROR, 2, 2],
      [AWAY_ERROR, 1, 2],
    ],
  ],
])('a node %s that is asked several times has one vote', async (_, scripts) => {
  await expect(poolOf(scripts).quorum((call) => call('eth_call', []))).rejects.toMatchObject({
    name: 'NodesDisagreeError',
  })
})

it('a node that is asked again for less still has one vote, beside another that confirms the smaller answer', async () => {
  const pool = poolOf([
    [TOO_MUCH_ERROR, 'first'],
    [AWAY_ERROR, 'first'],
  ])
  const agreed = await pool.agreed((call) => call('eth_getLogs', []))
  expect(agreed).toMatchObject({ answer: 'first', nodes: 2 })
  expect(agreed.givers.map(({ host }) => host)).toEqual(['0.0.0.1', '0.0.0.0'])
})

it('an error says what its nodes contradict each other about', async () => {
  const about = 'the running hash of block 7'
  await expect(
    poolOf([[1], [2]]).agreed((call) => call('eth_call', []), { about }),
  ).rejects.toThrow(
    /contradict each other \(0\.0\.0\.0, 0\.0\.0\.1\) about the running hash of block 7$/,
  )
})

it.each([
  ['of two, the lower one', [[5], [9]], 5],
  ['of three, the second', [[3], [9], [7]], 7],
  ['of one, its own', [[4]], 4],
])('the height that two nodes have reached is, %s', async (_, scripts, height) => {
  const pool = poolOf(scripts)
  const answers = await pool.answersOfAll((call) => call<number>('eth_blockNumber', []), 2)
  expect(answers.reached(pool.needed, (answer) => answer)?.answer).toBe(height)
})

it.each([
  ['is away', AWAY_ERROR],
  ['asked to wait', RATE_LIMIT_ERROR],
  ['does not have the item', new MissingDataError('not there')],
  ['refuses the question', REFUSED_ERROR],
])('one answer is not enough beside a node that %s, before it or after it', async (_, silent) => {
  for (const answers of [
    [1, silent],
    [silent, 1],
    [silent, 1, silent],
  ])
    await expect(askPool(...answers)).rejects.toMatchObject({
      name: 'NodesSilentError',
      message: expect.stringMatching(/only \S+ answers, and two nodes have to: .*did not$/),
    })
})

it('a node with another item counts as contradicting, not as silent', async () => {
  const other = new ContradictingNodeError('the node has another block')
  for (const answers of [
    [1, other],
    [other, 1],
    [other, 1, AWAY_ERROR],
  ])
    await expect(askPool(...answers)).rejects.toMatchObject({ name: 'NodesDisagreeError' })
})

it('answers of nodes that contradict each other are refused, and the error names the nodes', async () => {
  for (const answers of [
    [1, 2],
    [1, null],
    [1, 2, 3],
    [1, 2, AWAY_ERROR],
    [1, 2, REFUTED_ERROR],
  ])
    await expect(askPool(...answers)).rejects.toThrow(
      /contradict each other \(0\.0\.0\.0, 0\.0\.0\.1/,
    )
})

it('beside a node that the chain refutes, one answer is enough only if no other node is silent', async () => {
  for (const answers of [
    [REFUTED_ERROR, 1, AWAY_ERROR],
    [REFUTED_ERROR, 1, RATE_LIMIT_ERROR],
    [1, REFUTED_ERROR, AWAY_ERROR],
  ])
    await expect(askPool(...answers)).rejects.toMatchObject({ name: 'NodesDisagreeError' })
})

it('a question that is too much for one of two nodes fails with that cause, and names the node', async () => {
  for (const answers of [
    [TOO_MUCH_ERROR, 1],
    [1, TOO_MUCH_ERROR],
    [TOO_MUCH_ERROR, AWAY_ERROR],
    [1, TOO_MUCH_ERROR, 2],
  ])
    await expect(askPool(...answers)).rejects.toMatchObject({ cause: TOO_MUCH_ERROR })
})

it('an error names the node for which the question is too much', async () => {
  await expect(askPool(1, TOO_MUCH_ERROR)).rejects.toMatchObject({
    name: 'NodesSilentError',
    message: expect.stringContaining('0.0.0.1 (too much) did not'),
  })
})

it('the error names a missing item rather than an unavailable node', async () => {
  const lacking = new MissingDataError('not there')
  await expect(askPool(lacking, AWAY_ERROR)).rejects.toMatchObject({ cause: lacking })
})

it('two refusals are a refusal, one is not, and without any answer the chain is unavailable', async () => {
  await expect(askPool(REFUSED_ERROR, REFUSED_ERROR)).rejects.toBe(REFUSED_ERROR)
  await expect(askPool(REFUSED_ERROR, AWAY_ERROR)).rejects.toThrow('no RPC URL answers')
  await expect(askPool(AWAY_ERROR, AWAY_ERROR)).rejects.toThrow('no RPC URL answers (away)')
})

it('an error of our own decoder propagates, and is not a fault of the node', async () => {
  const bug = new TypeError("Cannot read properties of undefined (reading 'length')")
  await expect(askPool(bug, 1, 1)).rejects.toBe(bug)
})
