import { pino } from 'pino'
import { expect, test } from 'vitest'
import { parseChainsFile } from '../../src/config/index.js'
import { openEvmChain } from '../../src/daemon/families/evm.js'
import {
  type ChainIdentity,
  ChainMismatchError,
  registerChain,
} from '../../src/db/chains/chains.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { bid, freshName, randomAddress } from '../api/support.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const identity: ChainIdentity = {
  network: 'mainnet',
  label: '10',
  instance: '',
  family: 'evm',
  chainId: 10,
  startBlock: 0,
  genesisHash: Buffer.alloc(32),
  contract: Buffer.alloc(20),
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

test('two families with one program are refused: ids of their payments would be the same', async () => {
  const { pool } = database
  const genesisHash = Buffer.alloc(32, 7)
  const program = { ...identity, label: 'ledger', family: 'ledger', chainId: null, genesisHash }
  const row = await registerChain(pool, program)
  const tally = { ...program, label: 'tally', family: 'tally' }
  await expect(registerChain(pool, tally)).rejects.toThrow(
    `as "ledger", and "tally" has the same two: name the program of "tally" and its genesis.`,
  )
  // the genesis may become known at the first contact
  await registerChain(pool, { ...tally, genesisHash: null })
  await expect(registerChain(pool, tally)).rejects.toThrow(ChainMismatchError)
  await registerChain(pool, { ...tally, genesisHash: Buffer.alloc(32, 8) })
  // the genesis of another network, and another program of one genesis
  await registerChain(pool, { ...tally, network: 'testnet' })
  await registerChain(pool, { ...program, label: 'third', contract: Buffer.alloc(20, 7) })
  expect(await registerChain(pool, program)).toMatchObject({ chain: row.chain })
})

test('the hub of a filled database is no spoke, nor any other chain the hub', async () => {
  const { pool } = database
  const config = (label: string, role: 'hub' | 'spoke') => ({
    network: 'testnet',
    label,
    role,
    chainId: Number(label),
    rpcUrls: ['http://127.0.0.1:9'],
    contract: `0x${label.padStart(40, '0')}`,
    genesisHash: `0x${'00'.repeat(32)}`,
    confirmation: { blocks: 2 },
  })
  const open = async (hub: string, ...spokes: string[]) => {
    const file = { chains: [config(hub, 'hub'), ...spokes.map((label) => config(label, 'spoke'))] }
    for (const chain of parseChainsFile({ chains: file.chains }, 'test').chains)
      await openEvmChain(chain, { pool, log: pino({ level: 'silent' }) })
  }
  await pool.query('DELETE FROM chains')
  for (const label of ['11155111', '17000'])
    await registerChain(pool, {
      ...identity,
      network: 'testnet',
      label,
      chainId: Number(label),
      contract: Buffer.from(label.padStart(40, '0'), 'hex'),
    })
  await open('11155111', '17000')
  await open('17000', '11155111')
  const entry = decodeEntry(bid({ from: randomAddress(), name: freshName() }))
  await inTransaction(pool, (client) =>
    appendEntries(client, 'testnet', [entry], { writerMs: Number.MAX_SAFE_INTEGER }),
  )
  await open('11155111', '17000')
  const swapped = open('17000', '11155111')
  await expect(swapped).rejects.toThrow(ChainMismatchError)
  await expect(swapped).rejects.toThrow('give chain "11155111" the role of the hub again')
})

test('a cluster that a version before the families met gets its family at the next start', async () => {
  const { pool } = database
  const cluster = { ...identity, label: 'solana', family: 'solana', chainId: null }
  const row = await registerChain(pool, cluster)
  // the default of the column
  await pool.query(`UPDATE chains SET family = 'evm' WHERE label = 'solana'`)
  expect(await registerChain(pool, cluster)).toMatchObject({ chain: row.chain })
  const { rows } = await pool.query(`SELECT family FROM chains WHERE label = 'solana'`)
  expect(rows).toEqual([{ family: 'solana' }])
})
