import { expect, it } from 'vitest'
import { prepared, readRows } from '../../src/db/pg/rows.js'
import { findWinningBids } from '../../src/db/registry/owners.js'
import { findJournalledTxs } from '../../src/db/transactions/bids.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { bid, randomAddress, randomHash, startApi } from '../api/support.js'
import { READS } from '../scale/reads.js'
import { useWorld } from '../support/useWorld.js'

/** Statements of different modules on one connection, as in a process that serves every route. */

const world = useWorld(() => startApi())

it('the status of a lost bid and the winning bids of a feed page read on one connection', async () => {
  const from = randomAddress()
  const won = randomHash()
  const lost = randomHash()
  await world.append('mainnet', [
    bid({ from, name: 'contested', tx: won }),
    bid({ from, name: 'contested', tx: lost }),
  ])
  const client = await world.pool.connect()
  try {
    const [found] = await findJournalledTxs(client, 'mainnet', [fromHex(lost)])
    expect(found!.bids).toMatchObject([{ outcome: 'lost', winner: { tx: won } }])
    const winners = await findWinningBids(client, 'mainnet', ['contested'])
    expect([...winners.keys()]).toEqual(['contested'])
  } finally {
    client.release()
  }
})

it('the reads of all modules run twice on one connection', async () => {
  const client = await world.pool.connect()
  try {
    for (const [, , read] of [...READS, ...READS]) await read(client)
  } finally {
    client.release()
  }
})

it('two texts that differ in their last byte are two statements, with names that PostgreSQL does not cut', async () => {
  const long = `SELECT ${'1 + '.repeat(200)}`
  const client = await world.pool.connect()
  try {
    const results = []
    for (const last of ['1', '2'])
      results.push(await readRows(client, prepared(`${long}${last} AS sum`)))
    expect(results).toEqual([[{ sum: 201 }], [{ sum: 202 }]])
    const { rows } = await client.query(
      'SELECT name FROM pg_prepared_statements WHERE statement LIKE $1',
      [`${long}%`],
    )
    expect(rows.map(({ name }) => name).sort()).toEqual(
      ['1', '2'].map((last) => prepared(`${long}${last} AS sum`).name).sort(),
    )
  } finally {
    client.release()
  }
})
