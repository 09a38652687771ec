import { expect, it } from 'vitest'
import { findOpenAirdrop } from '../../src/db/airdrop/answers.js'
import { useDatabase } from '../support/database.js'

/** A newer version adds a column while this one serves, whose statements PostgreSQL has prepared. */

const database = useDatabase()

it('an airdrop is read on connections that knew its table before a column came', async () => {
  const client = await database.pool.connect()
  try {
    expect(await findOpenAirdrop(client, 'mainnet', 'none')).toBeNull()
    await database.pool.query('ALTER TABLE airdrops ADD COLUMN more int')
    expect(await findOpenAirdrop(client, 'mainnet', 'none')).toBeNull()
  } finally {
    client.release()
  }
})
