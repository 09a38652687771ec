import { expect, it } from 'vitest'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import {
  createLocalWalletClient,
  localChainClients,
} from '../../src/testing/chains/localClients.js'
import { testAccount } from '../../src/testing/world.js'
import { waitForReceipt } from './receipt.js'
import { useWorld } from './useWorld.js'

const anvil = useWorld(() => startAnvil({ chainId: 31_337, blockTimeS: 0.1 }))

it('mines a transaction stuck in its pool once somebody waits for its receipt', async () => {
  const { reader, test } = localChainClients(anvil)
  const account = testAccount(0)
  const wallet = createLocalWalletClient(anvil, account)
  const send = (nonce: number) =>
    wallet.sendTransaction({ to: account.address, value: 1n, gas: 21_000n, nonce })
  // reproduces a transaction whose predecessor is mined while the pool adds it
  const hashes = [await send(1), await send(2)]
  await test.setNonce({ address: account.address, nonce: 1 })
  const receipts = await Promise.all(hashes.map((hash) => waitForReceipt(reader, hash)))
  expect(receipts.map(({ status }) => status)).toEqual(['success', 'success'])
})
