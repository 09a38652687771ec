import { expect, test } from 'vitest'
import { type ChainIdentity, ChainMismatchError, registerChain } from '../../src/db/journal/chains.js'
import { useDatabase } from './database.js'

const database = useDatabase()
const identity: ChainIdentity = {
  ...{ network: 'mainnet', label: '10', instance: '', chainId: 10, startBlock: 0 },
  ...{ genesisHash: Buffer.alloc(32), contract: Buffer.alloc(20) },
}

test('a chain keeps its label: under another one its payments would be taken twice', async () => {
  const { pool } = database
  const row = await registerChain(pool, identity)
  const renamed = registerChain(pool, { ...identity, label: '42161' })
  await expect(renamed).rejects.toThrow(ChainMismatchError)
  await expect(renamed).rejects.toThrow('knows chain 10 as "10"')
  const { rows } = await pool.query('SELECT label FROM chains')
  expect(rows).toEqual([{ label: '10' }])
  expect(await registerChain(pool, identity)).toMatchObject({ chain: row.chain })
  // a testnet's is another chain, and so is one beside it
  await registerChain(pool, { ...identity, network: 'testnet' })
  await registerChain(pool, { ...identity, label: '8453', chainId: 8453 })
})
