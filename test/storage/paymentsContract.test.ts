import { expect, test } from 'vitest'
import {
  type ChainIdentity,
  ChainMismatchError,
  registerChain,
} from '../../src/db/chains/chains.js'
import { readFormerPaymentsContracts, storePaymentsContract } from '../../src/db/outbox/contract.js'
import { parkOrResumeCostlyRefusals, requeueRefusals } from '../../src/db/outbox/refusals.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const first = Buffer.alloc(20, 1)
const second = Buffer.alloc(20, 2)
const identity: ChainIdentity = {
  network: 'mainnet',
  label: '1',
  instance: '',
  family: 'evm',
  chainId: 1,
  startBlock: 0,
  genesisHash: Buffer.alloc(32),
  contract: Buffer.alloc(20),
}

test('the payments contract can be replaced only while none of its payments is open', async () => {
  const { pool } = database
  const row = await registerChain(pool, identity)
  const keep = (contract: Buffer | null) => storePaymentsContract(pool, row, contract)
  await keep(first)
  await pool.query(
    `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, paid_ms, community_word, recipient, number)
     VALUES (0, '\\x01', 2, $1, 1, '\\x01', 1, 0, '\\x01', 'native', 1, '\\x01', 1, '\\x01', 'r', 1)`,
    [row.chain],
  )
  await expect(keep(second), 'another').rejects.toThrow(ChainMismatchError)
  await expect(keep(null), 'none').rejects.toThrow(ChainMismatchError)
  await expect(keep(second)).rejects.toThrow(`0x${'01'.repeat(20)}`)
  await keep(first)
  // decided, with a refusal that is not sent yet
  await pool.query('UPDATE payments SET state = 2')
  await pool.query(
    "INSERT INTO jobs (network, kind, chain, subject, state, created_ms, updated_ms) SELECT 0, 5, $1, '\\x01', 0, 1, 1",
    [row.chain],
  )
  await expect(keep(second)).rejects.toThrow(ChainMismatchError)
  await pool.query('UPDATE jobs SET state = 4')
  await keep(second)
  // bought its name, and held until its release is queued, sent, and mined
  await pool.query('DELETE FROM jobs')
  await expect(keep(first)).rejects.toThrow(ChainMismatchError)
  await pool.query(
    "INSERT INTO jobs (network, kind, chain, subject, state, created_ms, updated_ms) SELECT 0, 8, $1, '\\x01', 0, 1, 1",
    [row.chain],
  )
  await expect(keep(first)).rejects.toThrow(`0x${'02'.repeat(20)}`)
  await pool.query('UPDATE jobs SET state = 4')
  await keep(first)
  // left to its payer, or to an operator
  await pool.query('UPDATE jobs SET state = 5')
  await keep(second)
  await pool.query('DELETE FROM jobs')
  await expect(keep(null)).rejects.toThrow(ChainMismatchError)
  await pool.query('UPDATE payments SET outcome = 2')
  await keep(first)
  await keep(null)
  // processes that start at once: one of them is first
  await Promise.all([keep(first), keep(first), keep(first), keep(first), keep(first)])
})

test('refusals of payments at a former contract are never sent to the next contract', async () => {
  const { pool } = database
  const row = await registerChain(pool, { ...identity, label: '10', chainId: 10 })
  const keep = (contract: Buffer | null) => storePaymentsContract(pool, row, contract)
  const wake = (leastWei = 1n) =>
    inTransaction(pool, (client) => parkOrResumeCostlyRefusals(client, row, leastWei))
  const dust = async (id: string) => {
    const payment = `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, paid_ms, community_word, recipient, number)
      VALUES (0, $2, 2, $1, 2, '\\x01', 1, $3, '\\x01', 'native', 1, '\\x01', 1, '\\x01', 'r', 1)`
    await pool.query(payment, [row.chain, Buffer.from(id), id.charCodeAt(0)])
    const job = `INSERT INTO jobs (network, kind, chain, subject, state, reason, created_ms, updated_ms)
      VALUES (0, 5, $1, $2, 5, 'below_refusal_cost', 1, 1)`
    await pool.query(job, [row.chain, Buffer.from(id)])
  }
  await keep(first)
  await dust('a')
  expect([await wake(), await wake()]).toEqual([1, 0])
  await pool.query("UPDATE jobs SET state = 5, reason = 'below_refusal_cost'")
  await keep(second)
  expect((await readFormerPaymentsContracts(pool, 'mainnet')).get(row.chain)).toEqual([
    `0x${'01'.repeat(20)}`,
  ])
  expect(await wake()).toBe(0)
  // also after a rewind, which requeues its refusals
  await inTransaction(pool, (client) => requeueRefusals(client, 'mainnet', 1, 1))
  expect((await pool.query('SELECT state, alone FROM jobs')).rows).toEqual([
    { state: 5, alone: true },
  ])
  await dust('b')
  expect(await wake(2n), 'worth less than its refusal').toBe(0)
  await pool.query('UPDATE payments SET outcome = 3')
  expect(await wake(), 'taken back').toBe(0)
  await pool.query('UPDATE payments SET outcome = NULL')
  expect(await wake()).toBe(1)
})
