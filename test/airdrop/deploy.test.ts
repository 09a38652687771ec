import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData, erc20Abi, type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import { deployDistributor } from '../../src/cli/airdrop/deploy.js'
import { type Airdrop, findAirdrop } from '../../src/db/airdrop/airdrops.js'
import { readWatchedAirdrops, storeClaims } from '../../src/db/airdrop/claims.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { claimData, loadRows, storedOf } from '../support/airdrop.js'
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
  await mint(funder.address, 10n * TOTAL)
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
const mint = async (to: Hex, amount: bigint) => {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: 'mint', args: [to, amount] })
  const { walletClient } = chainAt(world.anvil.rpcUrl, HUB_CHAIN_ID)
  const hash = await walletClient(OWNER).sendTransaction({ to: token, data })
  await waitForReceipt(world.public, hash)
}
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

/** A node that answers questions for the distributor's balance with `amount`. */
const nodeWithBalance = (distributor: Hex, amount: bigint) =>
  startRpcProxy(world.anvil.rpcUrl, async (_, body) =>
    asksBalance(distributor, body)
      ? (answer) => JSON.stringify({ ...JSON.parse(answer), result: toHex(amount, { size: 32 }) })
      : undefined,
  )
const asksBalance = (holder: Hex, body: string) =>
  body.toLowerCase().includes(`70a08231${holder.slice(2).toLowerCase().padStart(64, '0')}`)
const nonceOf = () => world.public.getTransactionCount({ address: funder.address })
const deploy = (changes: Partial<typeof terms> = {}) =>
  deployDistributor(airdrop.community, { ...terms, ...changes })

it('refuses to take an empty distributor for funded because one node of two says so', async () => {
  await deploy({ fund: false })
  const distributor = await distributorOf()
  const lying = await nodeWithBalance(distributor, TOTAL)
  useNodes(lying.url, world.anvil.rpcUrl)
  await expect(deploy()).rejects.toThrow(/has (300 or 0|0 or 300) of the token/)
  await lying.stop()
  useNodes(world.anvil.rpcUrl)
  expect(await balanceOf(distributor)).toBe(0n)
})

it('sends nothing where another run funded the distributor before the yes', async () => {
  const distributor = await distributorOf()
  const before = await world.test.snapshot()
  let questions = 0
  const node = await startRpcProxy(world.anvil.rpcUrl, async (_, body) => {
    if (asksBalance(distributor, body) && ++questions === 2) await mint(distributor, TOTAL)
    return undefined
  })
  useNodes(node.url)
  await expect(deploy()).rejects.toThrow('the steps changed meanwhile: run this again')
  await node.stop()
  useNodes(world.anvil.rpcUrl)
  expect(await balanceOf(distributor)).toBe(TOTAL)
  await world.test.revert({ id: before })
})

it('signs with the nonce of two nodes, not with a later one of a third', async () => {
  const distributor = await distributorOf()
  const before = await world.test.snapshot()
  const nonce = await nonceOf()
  const ahead = await startRpcProxy(world.anvil.rpcUrl, async (method) =>
    method === 'eth_getTransactionCount'
      ? (answer) => JSON.stringify({ ...JSON.parse(answer), result: toHex(nonce + 3) })
      : undefined,
  )
  const honest = await startRpcProxy(world.anvil.rpcUrl, async () => undefined)
  useNodes(ahead.url, world.anvil.rpcUrl, honest.url)
  await deploy()
  await Promise.all([ahead.stop(), honest.stop()])
  useNodes(world.anvil.rpcUrl)
  expect(await nonceOf()).toBe(nonce + 1)
  expect(await balanceOf(distributor)).toBe(TOTAL)
  await world.test.revert({ id: before })
})

it('sends the whole total to an empty distributor, once', async () => {
  const distributor = await distributorOf()
  const before = await world.test.snapshot()
  await deploy()
  await deploy()
  expect(await balanceOf(distributor)).toBe(TOTAL)
  await world.test.revert({ id: before })
})

it('waits for the transfer of an earlier run, and does not send it again', async () => {
  const distributor = await distributorOf()
  await world.test.setAutomine(false)
  const raw = await funder.signTransaction({
    type: 'eip1559',
    chainId: HUB_CHAIN_ID,
    to: token,
    data: transferOf(distributor, TOTAL),
    gas: 100_000n,
    nonce: await nonceOf(),
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  const hash = await world.public.sendRawTransaction({ serializedTransaction: raw })
  // without --fund there is nothing to send, so it does not wait
  await deploy({ fund: false })
  const again = deploy()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await world.test.setAutomine(true)
  await world.test.mine({ blocks: 1 })
  await waitForReceipt(world.public, hash)
  await again
  expect(await balanceOf(distributor)).toBe(TOTAL)
})

it('funds no distributor that paid everything, though no claim was seen', async () => {
  const distributor = await distributorOf()
  const before = await world.test.snapshot()
  for (const from of accounts as Hex[]) {
    await world.test.impersonateAccount({ address: from })
    await world.test.setBalance({ address: from, value: 10n ** 18n })
    const data = await claimData(world.pool, airdrop, from)
    const claim = await world.test.sendUnsignedTransaction({ from, to: distributor, data })
    await waitForReceipt(world.public, claim)
  }
  expect(await balanceOf(distributor)).toBe(0n)
  const nonce = await nonceOf()
  await expect(deploy()).rejects.toThrow('has 0 of the token')
  expect(await nonceOf()).toBe(nonce)
  await world.test.revert({ id: before })
})

it('refuses where one node of two does not show the balance', async () => {
  const distributor = await distributorOf()
  const behind = await nodeWithBalance(distributor, 0n)
  useNodes(behind.url, world.anvil.rpcUrl)
  await expect(deploy()).rejects.toThrow('send what is missing of 300 by hand')
  await behind.stop()
  useNodes(world.anvil.rpcUrl)
  expect(await balanceOf(distributor)).toBe(TOTAL)
})

it('funds no second distributor, of other terms', async () => {
  const distributor = await distributorOf()
  const nonce = await nonceOf()
  const refused = `${distributor} is recorded, and these terms make 0x`
  await expect(deploy({ endsAt: terms.endsAt! + 1 })).rejects.toThrow(refused)
  expect(await nonceOf()).toBe(nonce)
})

it('does not replace tokens that were claimed, though the claim was not seen', async () => {
  const distributor = await distributorOf()
  await world.test.impersonateAccount({ address: distributor })
  await world.test.setBalance({ address: distributor, value: 10n ** 18n })
  const data = transferOf(accounts[1] as Hex, 100n)
  const paid = await world.test.sendUnsignedTransaction({ from: distributor, to: token, data })
  await waitForReceipt(world.public, paid)
  await expect(deploy()).rejects.toThrow('has 200 of the token')
  expect(await balanceOf(distributor)).toBe(TOTAL - 100n)
})

it('refuses after a claim: to fund, and to deploy with other terms', async () => {
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
  const nonce = await nonceOf()
  await expect(deploy()).rejects.toThrow(
    '1 of its claims were seen: send what is missing of 300 by hand',
  )
  for (const fund of [true, false])
    await expect(deploy({ fund, endsAt: terms.endsAt! + 1 })).rejects.toThrow(
      'claimed already: its distributor stays',
    )
  expect(await nonceOf()).toBe(nonce)
})

it('names no later time once the deployed distributor has ended', async () => {
  await world.test.setNextBlockTimestamp({ timestamp: BigInt(terms.endsAt!) })
  await world.test.mine({ blocks: 1 })
  await expect(deploy()).rejects.toThrow('The airdrop has ended')
  await expect(deploy({ fund: false })).resolves.toBeUndefined()
})
