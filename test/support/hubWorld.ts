import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, toHex } from 'viem'
import { foundry } from 'viem/chains'
import { createChainRpc, createEvmChain, type EvmChain } from '../../src/chains/evm/chain.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type ChainConfig, parseChainsFile } from '../../src/config/index.js'
import { type ChainRow, registerChain } from '../../src/db/journal/chains.js'
import type { Leadership } from '../../src/db/pg/leader.js'
import { createPool } from '../../src/db/pg/pool.js'
import { type ChainIndexer, createChainIndexer, NO_PATIENCE } from '../../src/indexer/evm/chainIndexer.js'
import type { Progress } from '../../src/indexer/progress.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { type Anvil, startAnvil } from '../../src/testing/chains/anvil.js'
import { receiptOf } from '../../src/testing/chains/receipt.js'
import { deployHub } from '../../src/testing/contracts/deploy.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import { type TestAccount, testAccount } from '../../src/testing/world.js'
import { takeLead } from './lead.js'
import { startMigrated } from './migrated.js'

export const MINIMUM_WEI = 10n ** 16n

/** One anvil with a hub (automine), one PostgreSQL, no daemon: tests drive the indexer's steps by hand. */
export interface HubWorld {
  anvil: Anvil
  postgres: Postgres
  pool: pg.Pool
  hub: Hex
  config: ChainConfig
  public: ReturnType<typeof publicClient>
  test: ReturnType<typeof testClient>
  wallet(index: number): TestAccount
  /** Sends bids in one transaction and waits until it is mined. */
  bid(index: number, names: readonly string[], options?: { amountWei?: bigint; nonce?: number }): Promise<Hex>
  open(config?: Partial<ChainConfig>): Promise<{ chain: EvmChain; row: ChainRow }>
  /** A fresh indexer that leads, as after a restart. */
  restart(options?: { config?: Partial<ChainConfig>; onProgress?: (progress: Progress) => void }): Promise<ChainIndexer>
  stop(): Promise<void>
}

const publicClient = (url: string) => createPublicClient({ chain: foundry, transport: http(url), pollingInterval: 20 })
const testClient = (url: string) => createTestClient({ chain: foundry, mode: 'anvil', transport: http(url) })

/**
 * @param slotsInAnEpoch `finalized` is twice as many blocks below the newest; anvil's default is 32
 * @param ageS seconds that the chain's clock is behind
 */
export async function startHubWorld({ slotsInAnEpoch = 32, ageS = 0 } = {}): Promise<HubWorld> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-hub-'))
  const chainId = 900_000_001
  const [postgres, anvil] = await Promise.all([
    startMigrated(join(home, 'pg')),
    startAnvil({ chainId, slotsInAnEpoch, extraArgs: ['--timestamp', String(Math.floor(Date.now() / 1_000) - ageS)] }),
  ])
  const chain = { ...foundry, id: chainId }
  const client = publicClient(anvil.rpcUrl)
  const wallet = (index: number) => testAccount(index)
  const walletClient = (index: number) =>
    createWalletClient({ chain, account: wallet(index), transport: http(anvil.rpcUrl) })
  const owner = wallet(9).address
  const { hub, endpoint, block } = await deployHub({
    walletClient: walletClient(9),
    publicClient: client,
    eid: 30101,
    minimumWei: MINIMUM_WEI,
    owner,
    relayer: owner,
    pauser: owner,
  })
  const pool = createPool({ url: postgres.url, max: 4, applicationName: 'test' })
  const [config] = parseChainsFile(
    {
      chains: [
        {
          network: 'mainnet',
          label: '1',
          role: 'hub',
          chainId,
          rpcUrls: [anvil.rpcUrl],
          contract: hub,
          endpoint,
          startBlock: Number(block),
          confirmation: { blocks: 2 },
        },
      ],
    },
    'test',
  ).chains as [ChainConfig]
  let leadership: Leadership | null = null

  const world: HubWorld = {
    anvil,
    postgres,
    pool,
    hub: hub.toLowerCase() as Hex,
    config,
    public: client,
    test: testClient(anvil.rpcUrl),
    wallet,
    async bid(index, names, { amountWei = MINIMUM_WEI, nonce } = {}) {
      const words = names.map((name) => toHex(nameToWord(name)))
      const hash = await walletClient(index).writeContract({
        address: hub,
        abi: hubAbi,
        functionName: 'placeBids',
        args: [names.map(() => amountWei), words],
        value: amountWei * BigInt(names.length),
        gas: 300_000n + 100_000n * BigInt(names.length),
        ...(nonce === undefined ? {} : { nonce }),
      })
      await receiptOf(client, hash)
      return hash
    },
    async open(changes = {}) {
      const used = { ...config, ...changes }
      const rpc = createChainRpc({ ...used, local: true })
      const row = await registerChain(pool, {
        network: used.network,
        label: used.label,
        instance: '',
        chainId,
        genesisHash: fromHex(await rpc.genesisHash()),
        contract: fromHex(used.contract),
        startBlock: used.startBlock,
      })
      return { chain: createEvmChain({ config: used, chain: row.chain, rpc }), row }
    },
    async restart({ config: changes = {}, onProgress } = {}) {
      await leadership?.release()
      leadership = await takeLead(pool, 'index')
      const opened = await world.open(changes)
      const progress = onProgress ? { onProgress } : {}
      return createChainIndexer({
        pool,
        ...opened,
        ...progress,
        epoch: leadership.epoch,
        haltPatience: NO_PATIENCE,
        signal: new AbortController().signal,
      })
    },
    async stop() {
      await leadership?.release()
      await pool.end()
      await Promise.all([anvil.stop(), postgres.stop()])
      rmSync(home, { recursive: true, force: true })
    },
  }
  return world
}
