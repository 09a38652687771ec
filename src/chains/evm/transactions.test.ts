import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/evm.js'
import { findTransactionByNonce, readTransaction, type TransactionQuery } from './transactions.js'

const HASH = `0x${'ab'.repeat(32)}` as const
const CONTRACT = `0x${'11'.repeat(20)}` as const
const BLOCK_NUMBER = 20
const TX = {
  hash: HASH,
  from: CONTRACT,
  nonce: '0x7',
  blockNumber: `0x${BLOCK_NUMBER.toString(16)}`,
  to: null,
  input: '0x',
}
const RECEIPT = { transactionHash: HASH, status: '0x1', blockNumber: TX.blockNumber, logs: [] }

/**
 * Reads a transaction from a node that returns this receipt.
 * @param confirmed the newest block that was confirmed before
 */
function readState(receipt: object | null, confirmed: number) {
  const call = (async (method: string) =>
    method === 'eth_getTransactionByHash' ? TX : receipt) as RpcCall
  const ours: TransactionQuery['ours'] = { role: 'hub', contract: CONTRACT }
  const head = async () => ({ latest: BLOCK_NUMBER + 2, confirmed: BLOCK_NUMBER })
  return readTransaction(call, { hash: HASH, confirmed, ours, head })
}

it('a mined transaction counts as pending while its node has not indexed it', async () => {
  expect(await readState(null, BLOCK_NUMBER - 1)).toEqual({
    state: 'mempool',
    sender: null,
    nonce: null,
    isOurs: false,
  })
  expect(await readState(RECEIPT, BLOCK_NUMBER - 1)).toMatchObject({
    state: 'mined',
    isConfirmed: false,
  })
})

it('a node without a receipt for a transaction of a confirmed block is refused, since a final status must not change', async () => {
  expect(await readState(RECEIPT, BLOCK_NUMBER)).toMatchObject({
    state: 'mined',
    isConfirmed: true,
  })
  await expect(readState(null, BLOCK_NUMBER)).rejects.toMatchObject({ fault: 'transient' })
})

it.each([
  ['0x1', true],
  ['0x01', true],
  [1, true],
  ['0x0', false],
  ['0x00', false],
])('status %j of a receipt', async (status, succeeded) => {
  expect(await readState({ ...RECEIPT, status }, BLOCK_NUMBER)).toMatchObject({ succeeded })
})

it.each([['0x2'], ['yes'], [null], [undefined]])(
  'status %j of a receipt is refused',
  async (status) => {
    await expect(readState({ ...RECEIPT, status }, BLOCK_NUMBER)).rejects.toMatchObject({
      fault: 'transient',
    })
  },
)

it('a receipt of another transaction is refused', async () => {
  const other = { ...RECEIPT, transactionHash: `0x${'cd'.repeat(32)}` }
  await expect(readState(other, BLOCK_NUMBER)).rejects.toMatchObject({ fault: 'transient' })
})

/** Searches a nonce by a node that returns this error for the state of older blocks. */
function findHashByNonce(message: string) {
  const gone = new RpcError('transient', '', null, {
    cause: new NodeError({ code: -32_000, message }),
  })
  const call = (async (method: string, [, block]: [unknown, string]) => {
    if (method === 'eth_getBlockByNumber') return { transactions: [TX] }
    if (Number(block) < BLOCK_NUMBER - 3) throw gone
    return Number(block) < BLOCK_NUMBER ? TX.nonce : '0x8'
  }) as RpcCall
  return findTransactionByNonce(call, { sender: CONTRACT, nonce: 7, confirmed: BLOCK_NUMBER + 2 })
}

/** Messages as in the source code of the nodes. */
it.each([
  'missing trie node 6f3a (path ) state 0x6f3a is not available, not found', // geth
  'historical state 0x6f3a is not available', // geth
  'MissingTrieNodeException', // nethermind
  'old data not available due to pruning: requested block 5, history is available from block 90', // erigon
  'state at block #5 is pruned', // reth
  'BlockOutOfRangeError: block height is 22 but requested was 5', // anvil
])('a transaction is found where the state before it is gone: %s', async (message) => {
  expect(await findHashByNonce(message)).toBe(HASH)
})

it('the search for a transaction ends where a node fails otherwise', async () => {
  await expect(findHashByNonce('header not found')).rejects.toMatchObject({ fault: 'transient' })
})
