import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { restartFeedsAfterRestore } from '../../src/cli/journal/restored.js'
import { registerChain } from '../../src/db/chains/chains.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { printed } from '../support/cli.js'
import { useDatabase } from '../support/database.js'

/** Commands behind the heads' locks are done again where PostgreSQL ends their transactions for a deadlock. */

const database = useDatabase()

/** Runs work that locks the head before the leaders beside a transaction that locks them the other way round. */
async function crossed<T>(work: () => Promise<T>): Promise<T> {
  const other = await database.pool.connect()
  try {
    await other.query('BEGIN')
    await other.query('SELECT FROM leaders WHERE network = 0 FOR SHARE')
    const done = work()
    done.catch(() => {})
    // it waits for the leaders by now, and is the first to look for a deadlock, a second after it began to
    await sleep(400)
    await other.query('SELECT FROM journal_heads WHERE network = 0 FOR UPDATE')
    await other.query('COMMIT')
    return await done
  } finally {
    await other.query('ROLLBACK')
    other.release()
  }
}

it('a rewind of rows alone', async () => {
  const chain = {
    network: 'mainnet',
    label: '1',
    instance: '',
    family: 'evm',
    chainId: 1,
    startBlock: 0,
  } as const
  const row = await registerChain(database.pool, {
    ...chain,
    genesisHash: Buffer.alloc(32),
    contract: Buffer.alloc(20),
  })
  await database.pool.query('UPDATE chains SET next_block = 10')
  const target = {
    row: { ...row, nextBlock: 10 },
    isHub: true,
    block: 5,
    parentHash: Buffer.alloc(32, 4),
    parentMs: 4,
  }
  await crossed(() => rewindJournal(database.pool, target, { apply: true }))
  expect((await database.pool.query('SELECT next_block FROM chains')).rows).toEqual([
    { next_block: 5 },
  ])
})

it('what begins anew after a restore', async () => {
  const epochs = async () =>
    (await database.pool.query('SELECT epoch FROM leaders ORDER BY network, role')).rows
  const before = await epochs()
  await crossed(() =>
    printed({ DATABASE_URL: database.url }, () =>
      restartFeedsAfterRestore({ yes: true, json: true }),
    ),
  )
  expect(await epochs()).toEqual(before.map(({ epoch }) => ({ epoch: epoch + 1 })))
})
