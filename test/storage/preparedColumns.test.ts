import { expect, it } from 'vitest'
import { findAirdropWithoutClaimCounts } from '../../src/db/airdrop/answers.js'
import { useDatabase } from '../support/database.js'

/** A newer version adds a column while this version is running with prepared statements. */

const database = useDatabase()

it('an airdrop can be read on connections that prepared statements before the column was added', async () => {
  const client = await database.pool.connect()
  try {
    expect(await findAirdropWithoutClaimCounts(client, 'mainnet', 'none')).toBeNull()
    await database.pool.query('ALTER TABLE airdrops ADD COLUMN more int')
    expect(await findAirdropWithoutClaimCounts(client, 'mainnet', 'none')).toBeNull()
  } finally {
    client.release()
  }
})
