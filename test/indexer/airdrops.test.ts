import { pino } from 'pino'
import { createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvmChain } from '../../src/chains/evm/chain.js'
import type { Airdrop } from '../../src/db/airdrop/airdrops.js'
import { findClaimedAccount } from '../../src/db/airdrop/answers.js'
import { removeAirdrop } from '../../src/db/airdrop/load.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { type Leadership, takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import { AirdropWatcher } from '../../src/indexer/airdrops.js'
import type { DeployerClients } from '../../src/testing/chains/send.js'
import { again, claimData, loadRows, payBy, storedOf } from '../support/airdrop.js'
import { startHubWorld } from '../support/hubWorld.js'
import { waitForReceipt } from '../support/receipt.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

const world = useWorld(() => startHubWorld())
let chain: EvmChain
let client: DeployerClients
let leadership: Leadership
let airdrop: Airdrop
let distributor: Hex
const restarts: string[] = []
const log = pino({ level: 'warn' }, { write: (line) => restarts.push(JSON.parse(line).community) })
const accounts = Array.from(
  { length: 100 },
  (_, i) => `0x${(4096 + i).toString(16).padStart(40, '0')}`,
)

const watcherOf = (epoch = leadership.epoch) =>
  new AirdropWatcher({ pool: world.pool, chain, epoch, log })
let watcher: ReturnType<typeof watcherOf>

beforeAll(async () => {
  chain = (await world.open()).chain
  leadership = (await takeLeadershipIfFree(world.pool, 'mainnet', 'index'))!
  const account = world.wallet(9)
  const viemChain = { ...foundry, id: world.config.chainId }
  const walletClient = createWalletClient({
    chain: viemChain,
    account,
    transport: http(world.anvil.rpcUrl),
  })
  client = { walletClient, publicClient: world.public as DeployerClients['publicClient'] }
})
afterAll(() => leadership.release())

beforeEach(async () => {
  if (airdrop) await removeAirdrop(world.pool, 'mainnet', 'drop')
  airdrop = await loadRows(
    world.pool,
    accounts.map((address, i) => ({ address, amount: 1_000n + BigInt(i) })),
  )
  ;({ distributor } = await payBy(world.pool, client, airdrop))
  watcher = watcherOf()
  restarts.length = 0
})

const claim = async (i: number): Promise<Hex> => {
  const data = await claimData(world.pool, airdrop, accounts[i]!)
  const account = accounts[i] as Hex
  await world.test.impersonateAccount({ address: account })
  await world.test.setBalance({ address: account, value: 10n ** 18n })
  const unlocked = createWalletClient({ transport: http(world.anvil.rpcUrl) })
  const hash = await unlocked.sendTransaction({ account, chain: null, to: distributor, data })
  await waitForReceipt(world.public, hash)
  return hash
}

/** Steps until nothing new is confirmed. @returns the claims as stored */
async function stepAll(): Promise<string[]> {
  while ((await watcher.step()) === 'progressed') {}
  const { rows } = await world.pool.query<{ index: number; confirmed: boolean }>(
    'SELECT index, confirmed FROM airdrop_claims ORDER BY index',
  )
  return rows.map(({ index, confirmed }) => `${index} ${confirmed ? 'confirmed' : 'seen'}`)
}

/** The allocations of a bundle with one wallet. */
async function bundleOf(caller: Buffer) {
  const clusterId = Buffer.alloc(32, caller)
  const [serial] = (
    await world.pool.query(
      'INSERT INTO clusters SELECT 0, 1000 + count(*), $1, 1 FROM clusters RETURNING serial',
      [clusterId],
    )
  ).rows
  const row = `INSERT INTO wallets VALUES (0, $1, $2, 'main', true, false, false, 1, 1)`
  await world.pool.query(row, [serial.serial, caller])
  return { network: 'mainnet', community: 'drop', clusterId, caller } as const
}

const mine = (blocks: number) => world.test.mine({ blocks })

describe('claims of an airdrop', () => {
  it('are seen at once, and confirmed when their chain is', async () => {
    const tx = await claim(3)
    expect(await stepAll()).toEqual(['3 seen'])
    const claimer = await bundleOf(storedOf(accounts[3]!))
    const other = await bundleOf(storedOf(accounts[4]!))
    expect(await findClaimedAccount(world.pool, claimer)).toBeNull()
    await mine(2)
    expect(await stepAll()).toEqual(['3 confirmed'])
    expect(await findClaimedAccount(world.pool, claimer)).toEqual(storedOf(accounts[3]!))
    expect(await findClaimedAccount(world.pool, other)).toBeNull()
    expect(await findClaimedAccount(world.pool, { ...claimer, community: 'none' })).toBeNull()
    expect((await again(world.pool, airdrop)).claimed).toEqual({ seen: 1, confirmed: 1 })
    const { rows } = await world.pool.query('SELECT tx_hash, receiver FROM airdrop_claims')
    expect(`0x${rows[0].tx_hash.toString('hex')}`).toBe(tx)
    expect(rows[0].receiver).toEqual(storedOf(accounts[3]!))
    expect(await stepAll()).toEqual(['3 confirmed'])
  })

  it('of a restarted daemon go on from the cursor, over many blocks', async () => {
    await claim(1)
    await mine(100)
    await claim(2)
    await mine(3)
    watcher = watcherOf()
    expect(await stepAll()).toEqual(['1 confirmed', '2 confirmed'])
    await claim(5)
    await mine(1)
    watcher = watcherOf()
    expect(await stepAll()).toEqual(['1 confirmed', '2 confirmed', '5 seen'])
  })

  it('that a reorg removes are deleted, and return with their block', async () => {
    await mine(2)
    await claim(1)
    await claim(2)
    expect(await stepAll()).toEqual(['1 seen', '2 seen'])
    await world.test.request({ method: 'anvil_rollback' as never, params: [2] as never })
    await mine(1)
    expect(await stepAll()).toEqual([])
    await claim(2)
    expect(await stepAll()).toEqual(['2 seen'])
    await mine(2)
    expect(await stepAll()).toEqual(['2 confirmed'])
  })

  it('that were confirmed and still replaced are read again from the start', async () => {
    await mine(2)
    await claim(1)
    await claim(2)
    await mine(2)
    expect(await stepAll()).toEqual(['1 confirmed', '2 confirmed'])
    await world.test.request({ method: 'anvil_rollback' as never, params: [4] as never })
    await claim(7)
    await mine(8)
    expect(await stepAll()).toEqual(['7 confirmed'])
    expect(restarts).toEqual(['drop'])
  })

  it('are not stored by a process that no longer leads', async () => {
    await claim(1)
    await leadership.release()
    const next = (await takeLeadershipIfFree(world.pool, 'mainnet', 'index'))!
    await expect(stepAll()).rejects.toThrow(LostLeadershipError)
    leadership = next
    watcher = watcherOf()
    expect(await stepAll()).toEqual(['1 seen'])
  })

  it('of an airdrop that always fails do not delay others', async () => {
    await world.pool.query(`UPDATE airdrops SET distributor = '\\x01' WHERE airdrop = $1`, [
      airdrop.airdrop,
    ])
    airdrop = await loadRows(world.pool, [{ address: accounts[3]!, amount: 5n }], {
      community: 'later',
    })
    ;({ distributor } = await payBy(world.pool, client, airdrop))
    try {
      await claim(3)
      await mine(2)
      await expect(watcher.step()).rejects.toThrow(/getting logs of blocks/)
      expect((await again(world.pool, airdrop)).claimed).toEqual({ seen: 1, confirmed: 1 })
    } finally {
      await removeAirdrop(world.pool, 'mainnet', 'later')
    }
  })

  it('end with the time of the distributor, which is then no longer read', async () => {
    await removeAirdrop(world.pool, 'mainnet', 'drop')
    airdrop = await loadRows(world.pool, [{ address: accounts[0]!, amount: 5n }])
    const endsAtS = (await world.public.getBlock()).timestamp + 1_000n
    ;({ distributor } = await payBy(world.pool, client, airdrop, { endsAtS }))
    await claim(0)
    await mine(2)
    expect(await stepAll()).toEqual(['0 confirmed'])
    await world.test.increaseTime({ seconds: 2_000 })
    await mine(3)
    expect(await stepAll()).toEqual(['0 confirmed'])
    expect((await again(world.pool, airdrop)).state).toBe('ended')
    expect(await watcher.step()).toBe('idle')
  })

  it('are not confirmed by a single node’s finality', async () => {
    await claim(3)
    await mine(1)
    const eager = await startRpcProxy(world.anvil.rpcUrl, async (_method, body) =>
      body.includes('"finalized"') ? { body: body.replace('"finalized"', '"latest"') } : undefined,
    )
    const honest = chain
    const confirmation = { kind: 'tag', tag: 'finalized' } as const
    const rpcUrls = [eager.url, world.anvil.rpcUrl]
    chain = (await world.open({ rpcUrls, confirmation })).chain
    watcher = watcherOf()
    chain = honest
    expect(await stepAll()).toEqual(['3 seen'])
    await mine(66)
    expect(await stepAll()).toEqual(['3 confirmed'])
    await eager.stop()
  })

  it('do not end because of a single node’s clock', async () => {
    await claim(0)
    await mine(2)
    // by the first node's headers it is a day later
    const liar = await startRpcProxy(world.anvil.rpcUrl, async (method) => {
      if (method !== 'eth_getBlockByNumber') return undefined
      return (answer) =>
        answer.replace(/"timestamp":"(0x[0-9a-f]+)"/, (_, timestamp: Hex) => {
          return `"timestamp":"0x${(BigInt(timestamp) + 10n ** 9n).toString(16)}"`
        })
    })
    const honest = chain
    chain = (await world.open({ rpcUrls: [liar.url, world.anvil.rpcUrl] })).chain
    watcher = watcherOf()
    chain = honest
    await expect(watcher.step()).rejects.toThrow('contradict each other')
    expect((await again(world.pool, airdrop)).state).toBe('open')
    await liar.stop()
  })
})
