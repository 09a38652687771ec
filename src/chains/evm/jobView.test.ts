import { describe, expect, it } from 'vitest'
import { sent } from '../../../test/model/nonceJobs.js'
import type { RpcCall } from '../rpc/evm.js'
import {
  combineEvmJobStates,
  type EvmJobStateOnNode,
  readEvmJobState,
  type TransactionSigner,
} from './jobView.js'

const mined = { hash: '0xaa', block: 7, succeeded: true, isConfirmed: true, feeWei: 1n } as const
const look = (change: Partial<EvmJobStateOnNode> = {}): EvmJobStateOnNode => ({
  head: 10,
  confirmedHead: 8,
  done: 'confirmed',
  nonce: 'confirmed',
  mined,
  ...change,
})

describe('two nodes', () => {
  it('confirm each other', () => {
    expect(combineEvmJobStates([look(), look()], false)).toMatchObject({
      done: 'confirmed',
      mined,
      isSure: true,
    })
  })

  it.each([
    ['done', look({ done: 'no' }), { done: 'no' }],
    ['done, only later', look({ done: 'unconfirmed' }), { done: 'unconfirmed' }],
    ['the block', look({ mined: null }), { mined: { isConfirmed: false } }],
    [
      'the block, only later',
      look({ mined: { ...mined, isConfirmed: false } }),
      { mined: { isConfirmed: false } },
    ],
    ['success', look({ mined: { ...mined, succeeded: false } }), { mined: { isConfirmed: false } }],
  ])('one of which contradicts about %s', (_, second, expected) => {
    expect(combineEvmJobStates([look(), second], false)).toMatchObject({
      ...expected,
      isSure: true,
    })
    expect(combineEvmJobStates([second, look()], false)).toMatchObject(expected)
  })

  it('of which one does not have the block yet count as one', () => {
    expect(combineEvmJobStates([look(), look({ head: 7, done: 'no' })], false)).toMatchObject({
      done: 'confirmed',
      isSure: false,
    })
  })
})

/**
 * A node's view of a job that was sent at nonce 3, offering 100 wei for each of 1,000 gas.
 * @param receipt what the node's receipt has
 */
function seenWith(receipt: object): Promise<EvmJobStateOnNode> {
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
])(
  'a receipt %s shows a job that succeeded, and the most that it cost',
  async (_, receipt, feeWei) => {
    const { mined: found } = await seenWith(receipt)
    expect(found).toMatchObject({ succeeded: true, feeWei })
  },
)

it('one node is enough for a local chain', () => {
  expect(combineEvmJobStates([look()], true)).toMatchObject({ done: 'confirmed', isSure: true })
  expect(combineEvmJobStates([look()], false)).toMatchObject({ done: 'confirmed', isSure: false })
})
