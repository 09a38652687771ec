import { expect, it } from 'vitest'
import type { Call } from '../rpc/evm.js'
import { readTransaction, type TransactionQuery } from './transactions.js'

const HASH = `0x${'ab'.repeat(32)}` as const
const CONTRACT = `0x${'11'.repeat(20)}` as const
const BLOCK = 20
const TX = { hash: HASH, from: CONTRACT, nonce: '0x7', blockNumber: `0x${BLOCK.toString(16)}`, to: null, input: '0x' }
const RECEIPT = { transactionHash: HASH, status: '0x1', blockNumber: TX.blockNumber, logs: [] }

/** Asks a node that gives this receipt. @param confirmed the newest block that was confirmed before */
function read(receipt: object | null, confirmed: number) {
  const call = (async (method: string) => (method === 'eth_getTransactionByHash' ? TX : receipt)) as Call
  const ours: TransactionQuery['ours'] = { role: 'hub', contract: CONTRACT }
  const head = async () => ({ latest: BLOCK + 2, confirmed: BLOCK })
  return readTransaction(call, { hash: HASH, confirmed, ours, head })
}

it('a transaction in a block is as in the mempool while its node has not indexed it', async () => {
  expect(await read(null, BLOCK - 1)).toEqual({ state: 'mempool', sender: CONTRACT, nonce: 7, isOurs: false })
  expect(await read(RECEIPT, BLOCK - 1)).toMatchObject({ state: 'mined', isConfirmed: false })
})

it('a node that has no receipt for a transaction of a confirmed block is not believed: what was final would change', async () => {
  expect(await read(RECEIPT, BLOCK)).toMatchObject({ state: 'mined', isConfirmed: true })
  await expect(read(null, BLOCK)).rejects.toMatchObject({ fault: 'transient' })
})

it('a receipt of another transaction is none of this one', async () => {
  const other = { ...RECEIPT, transactionHash: `0x${'cd'.repeat(32)}` }
  await expect(read(other, BLOCK)).rejects.toMatchObject({ fault: 'transient' })
})
