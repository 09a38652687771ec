/**
 * The local world inside a test: registers a name from a spoke as a wallet would, kills the daemon meanwhile, and still
 * finds the name registered. Runnable: `npx tsx examples/local-world.ts`.
 */
import assert from 'node:assert/strict'
import { startStack, until } from 'clusterd/testing'
import { createWalletClient, defineChain, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

// a world in a temporary folder: the mainnet hub and one spoke, a block every 200 ms, no seeds
const stack = await startStack({ chains: ['1', '8453'], blockMs: 200, seeds: false })
try {
  const [spoke] = stack.networks.mainnet.spokes
  const [wallet] = stack.accounts.evm // ten accounts, funded on every chain and unused
  assert(spoke && wallet)

  // same steps as a frontend: request transaction data, sign, send
  const response = await fetch(`${stack.api}/v1/names/register/evm`, {
    method: 'POST',
    body: JSON.stringify({
      network: spoke.network,
      sender: wallet.address,
      names: [{ name: 'from-a-spoke' }],
    }),
  })
  assert.equal(response.status, 200)
  const { transactionData } = (await response.json()) as {
    transactionData: { to: Hex; data: Hex; value: string }
  }
  const client = createWalletClient({
    account: privateKeyToAccount(wallet.privateKey),
    chain: defineChain({
      id: spoke.chainId,
      name: 'local',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [spoke.rpcUrl] } },
    }),
    transport: http(),
  })
  const tx = await client.sendTransaction({
    ...transactionData,
    value: BigInt(transactionData.value),
  })

  await until.status(stack, tx, 'bridging')
  await stack.daemon.kill('SIGKILL')
  await stack.daemon.restart()
  await until.status(stack, tx, 'finalized')

  const event = await until.event(stack, ({ type }) => type === 'REGISTER_NAME')
  assert.equal(event.data.name, 'from-a-spoke')
  console.log(`${event.data.name} belongs to ${event.from}`)
} finally {
  await stack.stop()
}
