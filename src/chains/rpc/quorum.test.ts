import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { LackingError, RpcError } from './errors.js'
import { type Call, NodePool } from './nodes.js'

/** Asks nodes that answer what is told, in their order; an error is thrown. */
const ask = (...told: unknown[]): Promise<unknown> => askFor(true, ...told)
const askFor = (heedsTooMuch: boolean, ...told: unknown[]): Promise<unknown> => {
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
  return pool.quorum((call) => call('eth_call', []), isDeepStrictEqual, heedsTooMuch)
}
const AWAY = new RpcError('transient', 'away')
const REFUSED = new RpcError('refused', 'refused')
const TOO_MUCH = new RpcError('too_much', 'too much')

it.each([
  ['of the only node', [1], 1],
  ['of two that agree', [{ a: [1n] }, { a: [1n] }], { a: [1n] }],
  ['of two of three, wherever the third is', [2, 1, 1], 1],
  ['of two of three, the first among them', [1, 2, 1], 1],
  ['of the other one, where one is away', [AWAY, 1], 1],
  ['of the first one, where the other is away', [1, AWAY], 1],
  ['of two, where the first of three refuses the question', [REFUSED, null, null], null],
  ['of two of three, where it is too much for the first', [TOO_MUCH, 1, 1], 1],
])('the word %s is believed', async (_, told, word) => {
  expect(await ask(...told)).toEqual(word)
})

it('nodes that contradict each other are not', async () => {
  for (const told of [
    [1, 2],
    [1, null],
    [1, 2, 3],
    [1, 2, AWAY],
  ])
    await expect(ask(...told)).rejects.toThrow('contradict each other')
})

it('a range that is too much for one of two has to be smaller, as long as that is heeded', async () => {
  for (const told of [
    [TOO_MUCH, 1],
    [1, TOO_MUCH],
  ]) {
    await expect(ask(...told)).rejects.toBe(TOO_MUCH)
    expect(await askFor(false, ...told)).toBe(1)
  }
  for (const told of [
    [TOO_MUCH, AWAY],
    [1, TOO_MUCH, 2],
  ])
    await expect(askFor(false, ...told)).rejects.toBe(TOO_MUCH)
})

it('a node that lacks the item says more than one that is away', async () => {
  const lacking = new LackingError('not there')
  await expect(ask(lacking, AWAY)).rejects.toMatchObject({ cause: lacking })
})

it('what all refuse is refused, and where none answers the chain is away', async () => {
  await expect(ask(REFUSED, REFUSED)).rejects.toBe(REFUSED)
  await expect(ask(AWAY, AWAY)).rejects.toThrow('no RPC URL answers (away)')
})
