import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import { deployDistributor } from '../../src/cli/airdrop/deploy.js'
import { type Airdrop, findAirdrop } from '../../src/db/airdrop/airdrops.js'
import { readWatchedAirdrops, storeClaims } from '../../src/db/airdrop/claims.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { loadRows, storedOf } from '../support/airdrop.js'
import { chainAt, HUB_CHAIN_ID } from '../support/bridgeContracts.js'
import { useFolder } from '../support/folder.js'
import { startHubWorld } from '../support/hubWorld.js'
import { writeKeystore } from '../support/keystore.js'
import { waitForReceipt } from '../support/receipt.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

/** `clusterd airdrop deploy --fund`, run again: the distributor gets what it gives out once. */

const OWNER = 9
const home = useFolder()
const world = useWorld(() => startHubWorld())
const key = generatePrivateKey()
const funder = privateKeyToAccount(key)
const accounts = [1, 2, 3].map((i) => `0x${i.toString(16).padStart(40, '0')}`)
const TOTAL = 300n
let airdrop: Airdrop
let token: Hex
let terms: Parameters<typeof deployDistributor>[1]

beforeAll(async () => {
  vi.stubEnv('DATABASE_URL', world.postgres.url)
  vi.stubEnv('CLUSTERD_CHAINS', join(home, 'chains.json'))
  useNodes(world.anvil.rpcUrl)
  const [, keystore, , passwordFile] = writeKeystore(home, 'funder', key)
  await world.test.setBalance({ address: funder.address, value: 10n ** 20n })
  const { walletClient, public: publicClient } = chainAt(world.anvil.rpcUrl, HUB_CHAIN_ID)
  const client = { walletClient: walletClient(OWNER), publicClient }
  token = await deployLocalToken(client)
  airdrop = await loadRows(
    world.pool,
    accounts.map((address) => ({ address, amount: 100n })),
  )
  const mint = { functionName: 'mint', args: [funder.address, 10n * TOTAL] } as const
  const data = encodeFunctionData({ abi: localTokenAbi, ...mint })
  const minted = await walletClient(OWNER).sendTransaction({ to: token, data })
  await waitForReceipt(publicClient, minted)
  terms = {
    owner: fromHex(world.wallet(OWNER).address as Hex),
    token: fromHex(token),
    endsAt: Math.floor(Date.UTC(2028, 0, 31) / 1_000),
    fund: true,
    yes: true,
    keystore: keystore!,
    passwordFile: passwordFile!,
  }
})
afterAll(() => vi.unstubAllEnvs())
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => vi.restoreAllMocks())

const useNodes = (...rpcUrls: string[]) =>
  writeFileSync(
    join(home, 'chains.json'),
    JSON.stringify({ chains: [{ ...world.section, rpcUrls }] }),
  )
const transferOf = (to: Hex, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const balanceOf = (holder: Hex) =>
  world.public.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const distributorOf = async (): Promise<Hex> => {
  const { distributor } = (await findAirdrop(world.pool, 'mainnet', airdrop.community))!
  return `0x${distributor!.toString('hex')}`
}

it('waits for the transfer of an earlier run, and does not send it again', async () => {
  await deployDistributor(airdrop.community, { ...terms, fund: false })
  const distributor = await distributorOf()
  await world.test.setAutomine(false)
  const raw = await funder.signTransaction({
    type: 'eip1559',
    chainId: HUB_CHAIN_ID,
    to: token,
    data: transferOf(distributor, TOTAL),
    gas: 100_000n,
    nonce: await world.public.getTransactionCount({ address: funder.address }),
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  const hash = await world.public.sendRawTransaction({ serializedTransaction: raw })
  const again = deployDistributor(airdrop.community, terms)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await world.test.setAutomine(true)
  await world.test.mine({ blocks: 1 })
  await waitForReceipt(world.public, hash)
  await again
  expect(await balanceOf(distributor)).toBe(TOTAL)
})

it('counts what was claimed as funded', async () => {
  const distributor = await distributorOf()
  const [watched] = await readWatchedAirdrops(world.pool, 'mainnet', '1')
  const claim = {
    index: 1,
    logIndex: 0,
    block: watched!.nextBlock,
    blockHash: Buffer.alloc(32, 1),
    txHash: Buffer.alloc(32, 2),
    receiver: storedOf(accounts[1]!),
  }
  await inTransaction(world.pool, (client) => storeClaims(client, watched!, [claim], null))
  await world.test.impersonateAccount({ address: distributor })
  await world.test.setBalance({ address: distributor, value: 10n ** 18n })
  const data = transferOf(accounts[1] as Hex, 100n)
  const paid = await world.test.sendUnsignedTransaction({ from: distributor, to: token, data })
  await waitForReceipt(world.public, paid)
  await deployDistributor(airdrop.community, terms)
  expect(await balanceOf(distributor)).toBe(TOTAL - 100n)
})

it('sends nothing because one node of two shows an earlier balance', async () => {
  const distributor = await distributorOf()
  const balance = await balanceOf(distributor)
  const ofDistributor = distributor.slice(2).toLowerCase()
  const behind = await startRpcProxy(world.anvil.rpcUrl, async (method, body) =>
    method === 'eth_call' &&
    body.toLowerCase().includes(`70a08231${ofDistributor.padStart(64, '0')}`)
      ? (answer) => JSON.stringify({ ...JSON.parse(answer), result: `0x${'0'.repeat(64)}` })
      : undefined,
  )
  useNodes(behind.url, world.anvil.rpcUrl)
  await deployDistributor(airdrop.community, terms)
  await behind.stop()
  expect(await balanceOf(distributor)).toBe(balance)
})
