import { expect, it } from 'vitest'
import { ContradictingError, LackingError, RefutedError, RpcError } from './errors.js'
import { type Call, NodePool } from './nodes.js'

/** Asks nodes that answer what is told, in their order; an error is thrown. */
const ask = (...told: unknown[]): Promise<unknown> => agreedOn(...told).then(({ answer }) => answer)
const agreedOn = (...told: unknown[]) => {
  const pool = new NodePool<string>({
    label: '1',
    urls: told.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => 'genesis',
    connect: (url): Call => {
      const answer = told[Number(url.at(-1))]
      return async <T>() => {
        if (answer instanceof Error) throw answer
        return answer as T
      }
    },
    headOf: async () => ({ height: 1, timeMs: null }),
  })
  return pool.agreed((call) => call('eth_call', []), { isProved: told.includes(REFUTED) })
}
const AWAY = new RpcError('transient', 'away')
const REFUSED = new RpcError('refused', 'refused')
const TOO_MUCH = new RpcError('too_much', 'too much')

const REFUTED = new RefutedError('the logs do not make the record')
const MUTED = new RpcError('rate_limited', 'HTTP 429', 5_000)

it.each([
  ['of the only node', [1], 1, 1],
  ['of two that agree', [{ a: [1n] }, { a: [1n] }], { a: [1n] }, 2],
  ['of two of three, wherever the third is', [2, 1, 1], 1, 2],
  ['of two of three, the first among them', [1, 2, 1], 1, 2],
  ['of two of three, where the first is away', [AWAY, 1, 1], 1, 2],
  ['of two of three, where the second asked to wait', [1, MUTED, 1], 1, 2],
  ['of two, where the first of three refuses the question', [REFUSED, null, null], null, 2],
  ['of two of three, where it is too much for the first', [TOO_MUCH, 1, 1], 1, 2],
  ['of the other one, where the chain refutes the first', [REFUTED, 1], 1, 1],
])('the answer %s is accepted, with the number of nodes', async (_, told, answer, nodes) => {
  expect(await agreedOn(...told)).toEqual({ answer, nodes })
})

it.each([
  ['is away', AWAY],
  ['asked to wait', MUTED],
  ['lacks the item', new LackingError('not there')],
  ['refuses the question', REFUSED],
])('one answer is not enough beside a node that %s, before it or after it', async (_, silent) => {
  for (const told of [
    [1, silent],
    [silent, 1],
    [silent, 1, silent],
  ])
    await expect(ask(...told)).rejects.toMatchObject({
      name: 'SilenceError',
      message: expect.stringMatching(/only \S+ answers, and two nodes have to: .*did not$/),
    })
})

it('a node that has another item has answered, and is not silent', async () => {
  const other = new ContradictingError('the node has another block')
  for (const told of [
    [1, other],
    [other, 1],
    [other, 1, AWAY],
  ])
    await expect(ask(...told)).rejects.toMatchObject({ name: 'DisagreementError' })
})

it('nodes that contradict each other are not believed, and are named', async () => {
  for (const told of [
    [1, 2],
    [1, null],
    [1, 2, 3],
    [1, 2, AWAY],
    [1, 2, REFUTED],
  ])
    await expect(ask(...told)).rejects.toThrow(/contradict each other \(0\.0\.0\.0, 0\.0\.0\.1/)
})

it('what is too much for one of two has to be smaller', async () => {
  for (const told of [
    [TOO_MUCH, 1],
    [1, TOO_MUCH],
    [TOO_MUCH, AWAY],
    [1, TOO_MUCH, 2],
  ])
    await expect(ask(...told)).rejects.toBe(TOO_MUCH)
})

it('a node that lacks the item says more than one that is away', async () => {
  const lacking = new LackingError('not there')
  await expect(ask(lacking, AWAY)).rejects.toMatchObject({ cause: lacking })
})

it('what two refuse is refused, what one refuses is not, and where none answers the chain is away', async () => {
  await expect(ask(REFUSED, REFUSED)).rejects.toBe(REFUSED)
  await expect(ask(REFUSED, AWAY)).rejects.toThrow('no RPC URL answers')
  await expect(ask(AWAY, AWAY)).rejects.toThrow('no RPC URL answers (away)')
})

it('an error of our own decoder propagates, and is no fault of the node', async () => {
  const bug = new TypeError("Cannot read properties of undefined (reading 'length')")
  await expect(ask(bug, 1, 1)).rejects.toBe(bug)
})
