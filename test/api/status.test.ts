import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  type TransactionReceipt,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Entry } from '../../src/registry/journal/entry.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { startAnvil, TEST_MNEMONIC } from '../../src/testing/chains/anvil.js'
import { deployHub } from '../../src/testing/contracts/deploy.js'
import { holdBlocks } from '../support/miner.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'
import {
  type ApiWorld,
  bid,
  freshName,
  limitsOf,
  MINIMUM_WEI,
  randomHash,
  START_MS,
  startApi,
  tailBlock,
} from './support.js'

const ABI = parseAbi(['function placeBids(uint256[] amounts, bytes32[] names) payable'])

let world: ApiWorld
const anvil = useWorld(() => startAnvil({ chainId: foundry.id }))
let hub: Hex
const account = mnemonicToAccount(TEST_MNEMONIC)
const clients = () => {
  const transport = http(anvil.rpcUrl)
  return {
    walletClient: createWalletClient({ chain: foundry, transport, account }),
    publicClient: createPublicClient({ chain: foundry, transport, cacheTime: 0 }),
    test: createTestClient({ chain: foundry, mode: 'anvil', transport }),
  }
}

beforeAll(async () => {
  const { address } = account
  const roles = { owner: address, relayer: address, pauser: address }
  hub = (await deployHub({ ...clients(), eid: 30_101, minimumWei: MINIMUM_WEI, ...roles })).app
  world = await startApi({ rpcUrls: { '1': anvil.rpcUrl }, contract: hub.toLowerCase() as Hex })
})
afterAll(() => world.stop())

const statusOf = async (tx: string, query = '') => {
  const { status, body, headers } = await world.get(`/v1/names/register/tx/${tx}${query}`)
  if (status === 200) {
    expect(Object.keys(body).slice(0, 2)).toEqual(['tx', 'status'])
    expect(headers.get('cache-control')).toBe('no-store')
  }
  return { http: status, ...body }
}

/** Sends a registration like a wallet. With an explicit gas limit a reverting one is sent too. */
function register(names: readonly string[], amountWei = MINIMUM_WEI): Promise<Hex> {
  return clients().walletClient.writeContract({
    address: hub,
    abi: ABI,
    functionName: 'placeBids',
    args: [names.map(() => amountWei), names.map((name) => toHex(nameToWord(name)))],
    value: amountWei * BigInt(names.length),
    gas: 500_000n,
  })
}

const minedReceipt = (hash: Hex): Promise<TransactionReceipt> =>
  waitForReceipt(clients().publicClient, hash)
const mine = (blocks: number) => clients().test.mine({ blocks })
/** Mines blocks and confirms them, as the indexer would. */
async function confirm(blocks: number): Promise<void> {
  await mine(blocks)
  const head = await clients().publicClient.getBlockNumber()
  await world.pool.query(`UPDATE chains SET next_block = $1 WHERE network = 0 AND label = '1'`, [
    Number(head) - 1,
  ])
}
const rememberedRow = async (hash: Hex) =>
  (
    await world.pool.query('SELECT * FROM tracked_txs WHERE hash = $1', [
      Buffer.from(hash.slice(2), 'hex'),
    ])
  ).rows[0]

async function bidsOf(
  hash: Hex,
  names: readonly string[],
): Promise<{ block: number; entries: Entry[] }> {
  const { blockNumber, logs } = await minedReceipt(hash)
  const block = Number(blockNumber)
  const from = account.address.toLowerCase()
  const entries = names.map((name, i) =>
    bid({ from, name, tx: hash, block, logIndex: logs[i]!.logIndex }),
  )
  return { block, entries }
}

/** Runs `work` while transactions wait in the mempool. */
async function withoutMining(work: () => Promise<void>): Promise<void> {
  await holdBlocks(clients())
  try {
    await work()
  } finally {
    await clients().test.setAutomine(true)
  }
}

describe('GET /v1/names/register/tx/:tx', () => {
  it('answers not_found for unknown hashes and leaves no row', async () => {
    const hash = randomHash()
    expect(await statusOf(hash)).toEqual({ http: 200, tx: hash, status: 'not_found' })
    expect(await statusOf(hash.toUpperCase().replace('0X', '0x'))).toMatchObject({
      http: 200,
      status: 'not_found',
    })
    expect(await statusOf('5'.repeat(87))).toMatchObject({ http: 200, status: 'not_found' })
    expect(await rememberedRow(hash)).toBeUndefined()
  })

  const ZEROS = '0'.repeat(64)

  it.each([
    ['no digit', '0x'],
    ['two digits', '0x12'],
    ['no 0x', ZEROS],
    ['a digit too many', `0x${ZEROS}0`],
    ['other digits', `0x${'g'.repeat(64)}`],
    ['200 characters', '5'.repeat(200)],
    ['other characters than base58', 'l'.repeat(88)],
  ])('refuses a malformed hash: %s', async (_, junk) => {
    expect(await statusOf(junk)).toMatchObject({ http: 400, error: 'invalid_request' })
  })

  it('answers 503 when no record decides and a chain is down; look-ups go on', async () => {
    const reply = await world.get(`/v1/names/register/tx/${randomHash()}?testnet=true`)
    expect(reply).toMatchObject({ status: 503, body: { status: 503, error: 'unavailable' } })
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await world.post('/v1/names/register/check?testnet=true', ['free'])).status).toBe(200)
  })

  it('follows a registration from the mempool into the journal', async () => {
    const names = [freshName(), freshName()]
    let hash: Hex = '0x'
    await withoutMining(async () => {
      hash = await register(names)
      expect(await statusOf(hash)).toEqual({
        http: 200,
        tx: hash,
        status: 'pending',
        network: '1',
      })
    })
    await mine(1)
    expect(await statusOf(hash)).toMatchObject({ status: 'pending', confirmations: { need: 2 } })
    expect(await rememberedRow(hash)).toMatchObject({ chain: 1, verdict: null })

    const { block, entries } = await bidsOf(hash, names)
    await world.tail('mainnet', [tailBlock(block, entries), tailBlock(block + 1, [])])
    expect(await statusOf(hash)).toEqual({
      http: 200,
      tx: hash,
      status: 'pending',
      network: '1',
      paid: { token: 'native', amount: String(2n * MINIMUM_WEI) },
      step: 'leading',
      names: names.map((name) => ({ name, outcome: 'leading' })),
      confirmations: { have: 1, need: block + 2 },
      hubTx: hash,
      block,
      hubBlock: block,
      updatedAt: '2026-11-20 08:00:00.123+00',
    })

    await world.append('mainnet', entries)
    expect(await statusOf(hash)).toMatchObject({
      status: 'finalized',
      network: '1',
      sender: account.address.toLowerCase(),
      paid: { token: 'native', amount: String(2n * MINIMUM_WEI) },
      names: names.map((name) => ({ name, outcome: 'won' })),
      hubTx: hash,
      block,
      hubBlock: block,
      updatedAt: expect.any(String),
    })
    await world.tail('mainnet', [])
  })

  it('takes one statement for a registered name, facts included', async () => {
    const tx = randomHash()
    await world.append('mainnet', [bid({ from: account.address, name: freshName(), tx })])
    const asked = vi.spyOn(world.pool, 'query')
    const found = await statusOf(tx)
    const statements = asked.mock.calls.map(
      ([query]) => (query as unknown as { text: string }).text,
    )
    asked.mockRestore()
    expect(found).toMatchObject({
      status: 'finalized',
      network: '1',
      sender: account.address.toLowerCase(),
      paid: { token: 'native', amount: String(MINIMUM_WEI) },
    })
    // every 250 ms a request also reads how far the tables are behind
    const ofStatus = statements.filter((text) => !/AS version|AS is_mirror/.test(text))
    expect(ofStatus).toEqual([expect.stringMatching(/AS i\(tx_key, hash, ord\)/)])
  })

  it('reports who leads in the tail, and who won', async () => {
    const name = freshName()
    const winner = randomHash()
    const loser = randomHash()
    const late = randomHash()
    const from = account.address
    const entries = [
      bid({ from, name, tx: loser, block: 91, logIndex: 3 }),
      bid({ from, name, tx: winner, block: 91, logIndex: 2 }),
      bid({ from, name: freshName(), tx: late, block: 92, logIndex: 1, amountWei: 1n }),
      bid({ from, name, tx: late, block: 92, logIndex: 0 }),
    ]
    await world.tail('mainnet', [
      tailBlock(91, entries.slice(0, 2)),
      tailBlock(92, entries.slice(2)),
    ])
    expect(await statusOf(winner)).toMatchObject({ status: 'pending', step: 'leading' })
    expect(await statusOf(loser)).toMatchObject({ status: 'pending', step: 'behind' })
    expect((await statusOf(late)).names.map((n: { outcome: string }) => n.outcome)).toEqual([
      'behind',
      'behind',
    ])
    await world.append('mainnet', [entries[1]!])
    await world.tail('mainnet', [tailBlock(92, entries.slice(2))])
    expect(await statusOf(winner)).toMatchObject({ status: 'finalized' })
    expect(await statusOf(late)).toMatchObject({ status: 'pending', step: 'behind' })
    await world.tail('mainnet', [])
    await world.append('mainnet', [entries[0]!, entries[3]!, entries[2]!])
    const beaten = { name, outcome: 'lost', winner: { amountWei: String(MINIMUM_WEI), tx: winner } }
    expect(await statusOf(loser)).toMatchObject({
      status: 'lost_bid',
      reason: 'name_taken',
      names: [beaten],
    })
    expect((await statusOf(late)).names.map((n: { outcome: string }) => n.outcome)).toEqual([
      'lost',
      'refused',
    ])
  })

  it('answers invalid for refused bids, with the reason and the raw word of a malformed name', async () => {
    const poor = randomHash()
    const malformed = randomHash()
    const word = Buffer.from(`${'ff'.repeat(31)}00`, 'hex')
    await world.append('mainnet', [
      bid({ from: account.address, name: freshName(), tx: poor, amountWei: 1n }),
      bid({ from: account.address, name: 'x', tx: malformed, word }),
    ])
    expect(await statusOf(poor)).toMatchObject({ status: 'invalid', reason: 'below_minimum' })
    expect(await statusOf(malformed)).toMatchObject({
      status: 'invalid',
      reason: 'malformed_name',
      names: [{ name: toHex(word), outcome: 'refused' }],
    })
  })

  it('compares the whole hash, not only its first eight bytes', async () => {
    const known = randomHash()
    await world.append('mainnet', [bid({ from: account.address, name: freshName(), tx: known })])
    const similarHash = known.slice(0, 18) + randomHash().slice(18)
    expect(await statusOf(similarHash)).toMatchObject({ status: 'not_found' })
    expect(await statusOf(known)).toMatchObject({ status: 'finalized' })
    expect(await statusOf(known.toUpperCase().replace('0X', '0x'))).toMatchObject({
      status: 'finalized',
    })
  })

  it('answers invalid for a reverted transaction once it is confirmed', async () => {
    const hash = await register([freshName()], 1n)
    expect((await minedReceipt(hash)).status).toBe('reverted')
    expect(await statusOf(hash)).toMatchObject({
      status: 'pending',
      confirmations: { have: 0, need: 2 },
    })
    await confirm(3)
    expect(await statusOf(hash)).toMatchObject({ status: 'invalid', reason: 'reverted' })
    expect(await rememberedRow(hash)).toMatchObject({ verdict: 'reverted' })
  })

  it('answers invalid for a transaction that is no registration', async () => {
    const hash = await clients().walletClient.sendTransaction({ to: account.address, value: 1n })
    await minedReceipt(hash)
    await confirm(3)
    for (let i = 0; i < 2; i++)
      expect(await statusOf(hash)).toMatchObject({
        status: 'invalid',
        reason: 'not_a_registration',
      })
    // nothing is stored for it, because anybody may request any transaction of a chain
    expect(await rememberedRow(hash)).toBeUndefined()
  })

  it('charges each status of a transaction that is no registration like that of an unknown one', async () => {
    const limits = limitsOf(1_000)
    const limited = await startApi({
      rpcUrls: { '1': anvil.rpcUrl },
      contract: hub.toLowerCase() as Hex,
      limits,
    })
    try {
      const unitsOf = async (tx: string, query = '') => {
        const leftOf = async (path: string) =>
          Number(/r=(\d+)/.exec((await limited.get(path)).headers.get('ratelimit')!)![1])
        const before = await leftOf('/v1/networks')
        return before - (await leftOf(`/v1/names/register/tx/${tx}${query}`))
      }
      const foreign = await clients().walletClient.sendTransaction({
        to: account.address,
        value: 1n,
      })
      await minedReceipt(foreign)
      expect(await unitsOf(randomHash())).toBe(5)
      expect([await unitsOf(foreign), await unitsOf(foreign)]).toEqual([5, 5])
      // a wait reads the status of a pending transaction once more at its end
      expect(await unitsOf(foreign, '?wait=1')).toBe(10)
      const ours = await register([freshName()], 1n)
      await minedReceipt(ours)
      expect([await unitsOf(ours), await unitsOf(ours)]).toEqual([1, 1])
    } finally {
      await limited.stop()
    }
  })

  it('remembers a transaction with our contract’s address in its data, as of a wallet contract, and no other', async () => {
    await withoutMining(async () => {
      const send = (data: Hex) =>
        clients().walletClient.sendTransaction({ to: account.address, data, gas: 100_000n })
      const wrapped = await send(`0x12345678${'00'.repeat(12)}${hub.slice(2)}`)
      const other = await send('0x12345678')
      expect(await statusOf(wrapped)).toMatchObject({ status: 'pending' })
      expect(await statusOf(other)).toMatchObject({ status: 'pending' })
      expect(await rememberedRow(wrapped)).toMatchObject({ chain: 1, verdict: null })
      expect(await rememberedRow(other)).toBeUndefined()
    })
    await mine(1)
  })

  it('remembers a transaction of the tail that a reorg removes', async () => {
    const name = freshName()
    const { test } = clients()
    const snapshot = await test.snapshot()
    const hash = await register([name])
    const { block, entries } = await bidsOf(hash, [name])
    await world.tail('mainnet', [tailBlock(block, entries)])
    expect(await statusOf(hash)).toMatchObject({ status: 'pending', step: 'leading' })
    await expect.poll(() => rememberedRow(hash)).toMatchObject({ chain: 1 })
    await test.revert({ id: snapshot })
    await world.tail('mainnet', [tailBlock(block, [])])
    expect(await statusOf(hash)).toMatchObject({ status: 'pending' })
    await world.tail('mainnet', [])
  })

  it('returns terminal statuses while the chain is down', async () => {
    const known = randomHash()
    const reverted = await register([freshName()], 1n)
    await confirm(3)
    expect(await statusOf(reverted)).toMatchObject({ status: 'invalid' })
    await world.append('mainnet', [
      bid({ from: account.address, name: freshName(), tx: known, atMs: START_MS }),
    ])
    await anvil.stop()
    expect(await statusOf(known)).toMatchObject({ status: 'finalized' })
    expect(await statusOf(reverted)).toMatchObject({ status: 'invalid', reason: 'reverted' })
    expect(await statusOf(randomHash())).toMatchObject({ http: 503, error: 'unavailable' })
  })
})
