import { describe, expect, it } from 'vitest'
import { sent } from '../../../test/model/nonceJobs.js'
import type { RpcCall } from '../rpc/evm.js'
import {
  combineEvmJobStates,
  type EvmJobStateOnNode,
  readEvmJobState,
  type TransactionSigner,
} from './jobView.js'

const minedReceipt = {
  hash: '0xaa',
  block: 7,
  succeeded: true,
  isConfirmed: true,
  feeWei: 1n,
} as const
const jobStateWith = (change: Partial<EvmJobStateOnNode> = {}): EvmJobStateOnNode => ({
  head: 10,
  confirmedHead: 8,
  done: 'confirmed',
  nonce: 'confirmed',
  mined: minedReceipt,
  ...change,
})

const TWO_NODES = { configured: 2, isLocal: false }

describe('two nodes', () => {
  it('confirm each other', () => {
    expect(combineEvmJobStates([jobStateWith(), jobStateWith()], TWO_NODES)).toMatchObject({
      done: 'confirmed',
      mined: minedReceipt,
      isSure: true,
    })
  })

  it.each([
    ['done', jobStateWith({ done: 'no' }), { done: 'no' }],
    ['done, only later', jobStateWith({ done: 'unconfirmed' }), { done: 'unconfirmed' }],
    ['the block', jobStateWith({ mined: null }), { mined: { isConfirmed: false } }],
    [
      'the block, only later',
      jobStateWith({ mined: { ...minedReceipt, isConfirmed: false } }),
      { mined: { isConfirmed: false } },
    ],
    [
      'success',
      jobStateWith({ mined: { ...minedReceipt, succeeded: false } }),
      { mined: { isConfirmed: false } },
    ],
  ])('one of which contradicts about %s', (_, second, expected) => {
    expect(combineEvmJobStates([jobStateWith(), second], TWO_NODES)).toMatchObject({
      ...expected,
      isSure: true,
    })
    expect(combineEvmJobStates([second, jobStateWith()], TWO_NODES)).toMatchObject(expected)
  })

  it.each([
    ['one does not have the block yet', [jobStateWith(), jobStateWith({ head: 7, done: 'no' })]],
    ['one does not answer', [jobStateWith()]],
  ])('of which %s confirm nothing', (_, views) => {
    for (const isLocal of [true, false])
      expect(combineEvmJobStates(views, { configured: 2, isLocal })).toMatchObject({
        done: 'unconfirmed',
        nonce: 'unconfirmed',
        mined: { isConfirmed: false },
        isSure: false,
      })
  })

  it('of which one does not answer show an unused nonce and an open job as such', () => {
    const open = jobStateWith({ done: 'no', nonce: 'next', mined: null })
    expect(combineEvmJobStates([open], TWO_NODES)).toMatchObject({ done: 'no', nonce: 'next' })
  })
})

describe('one of three nodes', () => {
  const THREE = { configured: 3, isLocal: false }
  const failed = { ...minedReceipt, succeeded: false }
  const others = [jobStateWith(), jobStateWith()]

  it.each([
    ['with a confirmed block that others have not reached', { head: 1_000, confirmedHead: 999 }],
    ['with a confirmed block above its own head', { confirmedHead: 999 }],
    ['that reports the job as open', { done: 'no', nonce: 'next', mined: null }],
    ['that returns another outcome', { mined: failed }],
  ] as const)('%s delays no job', (_, lie) => {
    for (const views of [
      [jobStateWith(lie), ...others],
      [...others, jobStateWith(lie)],
    ])
      expect(combineEvmJobStates(views, THREE)).toMatchObject({
        done: 'confirmed',
        nonce: 'confirmed',
        mined: minedReceipt,
        isSure: true,
      })
  })

  it.each([1_000, 1])('that reports %d as its head decides no wait and no replacement', (head) => {
    const lie = jobStateWith({ head })
    expect(combineEvmJobStates([lie, ...others], THREE)).toMatchObject({ head: 10 })
    expect(combineEvmJobStates([...others, lie], THREE)).toMatchObject({ head: 10 })
  })

  it.each([
    ['the job as done', jobStateWith()],
    ['a failed transaction', jobStateWith({ mined: failed })],
  ])('that reports %s ends no job', (_, lie) => {
    const open = jobStateWith({ done: 'no', nonce: 'next', mined: null })
    const state = combineEvmJobStates([lie, open, open], THREE)
    expect(state).toMatchObject({ done: 'no', nonce: 'next', mined: { isConfirmed: false } })
  })
})

/**
 * A node's view of a job that was sent at nonce 3, offering 100 wei for each of 1,000 gas.
 * @param receipt what the node's receipt has
 */
function jobStateFromReceipt(receipt: object): Promise<EvmJobStateOnNode> {
  const hash = `0x${'aa'.repeat(32)}` as const
  const block = { number: '0x7', hash, parentHash: hash, timestamp: '0x1' }
  const answers: Record<string, unknown> = {
    eth_getBlockByNumber: block,
    eth_getTransactionCount: '0x4',
    eth_getTransactionReceipt: { transactionHash: '0x1', blockNumber: '0x7', logs: [], ...receipt },
  }
  const call = (async (method: string) => answers[method]) as RpcCall
  const signer = {
    chain: { config: { confirmation: { kind: 'depth', blocks: 0 } } },
    account: { address: `0x${'11'.repeat(20)}` },
  } as unknown as TransactionSigner
  return readEvmJobState(call, signer, { kind: 'noop' }, sent)
}

it.each([
  ['complete', { status: '0x1', gasUsed: '0x10', effectiveGasPrice: '0x5' }, 80n],
  ['without a price', { status: '0x1', gasUsed: '0x10' }, 1_600n],
  [
    'without a price, which is null',
    { status: '0x1', gasUsed: '0x10', effectiveGasPrice: null },
    1_600n,
  ],
  ['without gas and price', { status: '0x1' }, 100_000n],
  ['with a padded status', { status: '0x01', gasUsed: '0x10', effectiveGasPrice: '0x5' }, 80n],
  ['with a number as status', { status: 1, gasUsed: '0x10', effectiveGasPrice: '0x5' }, 80n],
  [
    'with more gas than was signed',
    { status: '0x1', gasUsed: `0x${'f'.repeat(64)}`, effectiveGasPrice: '0x5' },
    5_000n,
  ],
  [
    'with a higher price than was signed',
    { status: '0x1', gasUsed: '0x10', effectiveGasPrice: `0x${'f'.repeat(64)}` },
    1_600n,
  ],
])(
  'a receipt %s shows a job that succeeded, and the most that it cost',
  async (_, receipt, feeWei) => {
    const { mined: found } = await jobStateFromReceipt(receipt)
    expect(found).toMatchObject({ succeeded: true, feeWei })
  },
)

it.each([`0x${'f'.repeat(64)}`, '0x'])(
  'a receipt of block %s is a fault of its node',
  async (blockNumber) => {
    await expect(jobStateFromReceipt({ status: '0x1', blockNumber })).rejects.toMatchObject({
      name: 'RpcError',
      fault: 'transient',
    })
  },
)

it('a node whose head is older than its confirmed block is asked like others', () => {
  const state = combineEvmJobStates([jobStateWith({ head: 7 })], { configured: 1, isLocal: true })
  expect(state).toMatchObject({ done: 'confirmed', isSure: true })
})

it('the only configured node of a local chain is enough', () => {
  const of = (isLocal: boolean) => combineEvmJobStates([jobStateWith()], { configured: 1, isLocal })
  expect(of(true)).toMatchObject({ done: 'confirmed', mined: minedReceipt, isSure: true })
  expect(of(false)).toMatchObject({ done: 'confirmed', mined: minedReceipt, isSure: false })
})
