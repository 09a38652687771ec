import { describe, expect, it } from 'vitest'
import { NodeError, RpcError, type RpcFault } from '../../chains/rpc/errors.js'
import type { RpcCall } from '../../chains/rpc/nodes.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import {
  arePaymentCountsConsistent,
  listTransactions,
  mergeTransactionLists,
  type NodeProgramAnswers,
} from './list.js'

const registrar = createRegistrarClient('11111111111111111111111111111111')

const NONE_READ = () => false

const view = (
  slot: number,
  sequence: number,
  communitySequence = 0,
  listed?: string[],
): NodeProgramAnswers => ({
  host: `node-${slot}`,
  slot,
  headSlot: slot,
  sequence,
  communitySequence,
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
  const { transactions, isWhole } = mergeTransactionLists(views, NONE_READ)
  expect(transactions.map(({ signature }) => signature)).toEqual(signatures)
  expect(isWhole).toBe(true)
})

it('of the transactions that one of two nodes lists alone, a bounded number is read in a step', () => {
  const made = Array.from({ length: 5_000 }, (_, i) => `m${i}`)
  const views = [view(9, 0, 0, ['b', ...made]), view(9, 0, 0, ['b', 'z'])]
  const { transactions, isWhole } = mergeTransactionLists(views, NONE_READ)
  const signatures = transactions.map(({ signature }) => signature)
  expect(signatures).toHaveLength(2_002)
  expect(signatures).toEqual(expect.arrayContaining(['b', 'z']))
  expect(isWhole).toBe(false)
  const rest = mergeTransactionLists(views, (one) => signatures.includes(one))
  expect(rest.transactions).toHaveLength(2_000)
  expect(mergeTransactionLists([views[0]!], NONE_READ)).toMatchObject({ isWhole: true })
})

describe('a list of transactions', () => {
  const item = (signature: string, slot: number, err: object | null = null) => ({
    signature,
    slot,
    err,
  })
  /** A node that ignores the requested limit and returns pages of two. */
  const pages = (asked: unknown[]): RpcCall => {
    const all = [9, 8, 8, 7, 5].map((slot, i) => item(`s${i}`, slot, i === 1 ? {} : null))
    return async <T>(_method: string, [, options]: readonly unknown[]) => {
      const { before } = options as { before?: string }
      asked.push(before)
      const from =
        before === undefined ? 0 : all.findIndex(({ signature }) => signature === before) + 1
      return all.slice(from, from + 2) as T
    }
  }
  const list = (asked: unknown[], downToSlot: number) =>
    listTransactions(pages(asked), registrar, { commitment: 'confirmed', until: null, downToSlot })

  it('goes on after a short page, until one is empty', async () => {
    const asked: unknown[] = []
    const { listed, newest } = await list(asked, 0)
    expect(listed.map(({ signature }) => signature)).toEqual(['s0', 's2', 's3', 's4'])
    expect([newest, asked]).toEqual(['s0', [undefined, 's1', 's3', 's4']])
  })

  it('ends at the oldest slot that is wanted', async () => {
    const asked: unknown[] = []
    const { listed } = await list(asked, 8)
    expect(listed.map(({ signature }) => signature)).toEqual(['s0', 's2'])
    expect(asked).toEqual([undefined, 's1'])
  })

  /** A node that always returns another page, newest first. */
  const endless =
    (size: number, end = Number.POSITIVE_INFINITY): RpcCall =>
    async <T>(_method: string, params: readonly unknown[]): Promise<T> => {
      const { before } = params[1] as { before?: string }
      const from = before === undefined ? 0 : Number(before) + 1
      return Array.from({ length: from >= end ? 0 : size }, (_, i) => item(`${from + i}`, 7)) as T
    }
  const options = { commitment: 'confirmed', until: null, downToSlot: 0 } as const

  it('that is endless or too long is a fault of its node', async () => {
    const never = listTransactions(endless(1), registrar, { ...options, limitMs: 50 })
    await expect(never).rejects.toMatchObject({ fault: 'transient' })
    await expect(listTransactions(endless(5_000), registrar, options)).rejects.toMatchObject({
      fault: 'transient',
    })
  })

  it('longer than the memory limit begins with the oldest; the newer ones count as not listed', async () => {
    const { listed, newest } = await listTransactions(endless(1_000, 1_200_000), registrar, options)
    expect(listed.length).toBeLessThan(1_000_000)
    expect([listed.at(-1)?.signature, newest]).toEqual(['1199999', null])
  })

  describe('by a node that refuses `until`', () => {
    const all = [9, 8, 7, 5, 4].map((slot, i) => item(`s${i}`, slot))
    type Asked = { until?: string; before?: string }
    const nodeError = (fault: RpcFault, code: number, message: string) =>
      new RpcError(fault, message, null, { cause: new NodeError({ code, message }) })

    /** A node with pages of two, that ignores `until` where it does not refuse it. */
    const refusing =
      (asked: Asked[], refusal: (options: Asked) => Error | undefined): RpcCall =>
      async <T>(_method: string, [, options]: readonly unknown[]) => {
        const { until, before } = options as Asked
        asked.push({ ...(until && { until }), ...(before && { before }) })
        const error = refusal({ until, before } as Asked)
        if (error) throw error
        const from = before ? all.findIndex(({ signature }) => signature === before) + 1 : 0
        return all.slice(from, from + 2) as T
      }
    const cut = { commitment: 'confirmed', until: 'gone', downToSlot: 6 } as const

    it.each<[RpcFault, number, string]>([
      ['transient', -32_020, 'Transaction gone not found'],
      ['refused', -32_602, 'Invalid param: unknown until'],
      ['transient', -32_603, 'Internal error'],
      ['too_much', -32_000, 'query exceeds limit'],
    ])('the list goes on without it, down to the slot: %s, %d', async (fault, code, text) => {
      const asked: Asked[] = []
      const node = refusing(asked, ({ until }) =>
        until ? nodeError(fault, code, text) : undefined,
      )
      const { listed, newest } = await listTransactions(node, registrar, cut)
      expect(listed.map(({ signature }) => signature)).toEqual(['s0', 's1', 's2'])
      expect(newest).toBe('s0')
      expect(asked).toEqual([{ until: 'gone' }, {}, { before: 's1' }])
    })

    it('a later page is requested again with the same `before`', async () => {
      const asked: Asked[] = []
      const node = refusing(asked, ({ until, before }) =>
        until && before ? nodeError('transient', -32_020, 'not found') : undefined,
      )
      const { listed } = await listTransactions(node, registrar, cut)
      expect(listed.map(({ signature }) => signature)).toEqual(['s0', 's1', 's2'])
      expect(asked).toEqual([{ until: 'gone' }, { until: 'gone', before: 's1' }, { before: 's1' }])
    })

    it('an error that comes without it too is the error of the list', async () => {
      const asked: Asked[] = []
      const node = refusing(asked, ({ before }) =>
        before ? nodeError('transient', -32_020, 'not found') : undefined,
      )
      await expect(listTransactions(node, registrar, cut)).rejects.toThrow('not found')
      expect(asked).toEqual([{ until: 'gone' }, { until: 'gone', before: 's1' }, { before: 's1' }])
    })

    it.each([
      ['a rate limit', nodeError('rate_limited', 429, 'Too many requests')],
      ['a lost connection', new RpcError('transient', 'ECONNRESET')],
      ['an error of our own', new TypeError('undefined')],
    ])('%s is no refusal of it', async (_, error) => {
      const asked: Asked[] = []
      const list = listTransactions(
        refusing(asked, () => error),
        registrar,
        cut,
      )
      await expect(list).rejects.toBe(error)
      expect(asked).toEqual([{ until: 'gone' }])
    })

    it('the next list is requested without it where nothing is listed', async () => {
      const empty: RpcCall = async <T>(_method: string, [, options]: readonly unknown[]) => {
        if ((options as Asked).until) throw nodeError('transient', -32_020, 'not found')
        return [] as T
      }
      expect(await listTransactions(empty, registrar, cut)).toEqual({ listed: [], newest: null })
    })
  })

  it('that is empty keeps the known signature as the newest', async () => {
    const known = { ...options, until: 'known' }
    const { newest } = await listTransactions(async <T>() => [] as T, registrar, known)
    expect(newest).toBe('known')
  })
})
