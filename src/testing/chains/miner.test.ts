import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { testAccount } from '../world.js'
import { startAnvil } from './anvil.js'
import { createLocalWalletClient, localChainClients } from './localClients.js'
import { startMiner } from './miner.js'

const CHAIN_ID = 31_337
const anvil = await startAnvil({ chainId: CHAIN_ID, blockTimeS: 0 })
const clients = localChainClients(anvil)
afterAll(() => anvil.stop())

it('mines seldom while nobody sends a transaction, and a transaction at once', async () => {
  const height = () => clients.reader.getBlockNumber()
  const miner = startMiner(clients, 20, 60_000, 500)
  await sleep(1_500)
  const idle = await height()
  expect(idle).toBeGreaterThan(2n)
  await sleep(500)
  expect(await height()).toBe(idle)
  const wallet = createLocalWalletClient(anvil, testAccount(0))
  const hash = await wallet.sendTransaction({ to: wallet.account.address, value: 1n })
  await clients.reader.waitForTransactionReceipt({ hash, confirmations: 3, timeout: 5_000 })
  miner.stop()
})
