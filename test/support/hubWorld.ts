import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { type Hex, toHex } from 'viem'
import { createEvmChain, createEvmChainRpc, type EvmChain } from '../../src/chains/evm/chain.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type ChainConfig, parseChainsFile } from '../../src/config/index.js'
import { type ChainRow, registerChain } from '../../src/db/chains/chains.js'
import type { Leadership } from '../../src/db/leaders/lead.js'
import { createPool } from '../../src/db/pg/pool.js'
import { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { LOCAL_HALT_PATIENCE } from '../../src/indexer/evm/cursor.js'
import type { BackfillProgress } from '../../src/indexer/progress.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { type Anvil, startAnvil } from '../../src/testing/chains/anvil.js'
import { deployHub } from '../../src/testing/contracts/deploy.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import type { TestAccount } from '../../src/testing/world.js'
import {
  account,
  type ChainClients,
  chainAt,
  HUB_CHAIN_ID,
  HUB_EID,
  MINIMUM_WEI,
} from './bridgeContracts.js'
import { takeLead } from './lead.js'
import { startMigrated } from './migrated.js'
import { waitForReceipt } from './receipt.js'

export { MINIMUM_WEI }

/** One anvil with a hub (automine), one PostgreSQL, no daemon: tests drive the indexer's steps by hand. */
export interface HubWorld {
  anvil: Anvil
  postgres: Postgres
  pool: pg.Pool
  hub: Hex
  /** The hub as a chains file has it, and as it is read. */
  section: object
  config: ChainConfig
  public: ChainClients['public']
  test: ChainClients['test']
  wallet(index: number): TestAccount
  /** Sends bids in one transaction and waits until it is mined. */
  bid(
    index: number,
    names: readonly string[],
    options?: { amountWei?: bigint; nonce?: number },
  ): Promise<Hex>
  open(config?: Partial<ChainConfig>): Promise<{ chain: EvmChain; row: ChainRow }>
  /** A fresh indexer that leads, as after a restart. */
  restart(options?: {
    config?: Partial<ChainConfig>
    onProgress?: (progress: BackfillProgress) => void
  }): Promise<ChainIndexer>
  stop(): Promise<void>
}

/**
 * @param slotsInAnEpoch `finalized` is twice as many blocks below the newest; anvil's default is 32
 * @param ageS seconds that the chain's clock is behind
 */
export async function startHubWorld({ slotsInAnEpoch = 32, ageS = 0 } = {}): Promise<HubWorld> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-hub-'))
  const [postgres, anvil] = await Promise.all([
    startMigrated(join(home, 'pg')),
    startAnvil({
      chainId: HUB_CHAIN_ID,
      slotsInAnEpoch,
      behindS: ageS,
    }),
  ])
  const { public: client, test, walletClient } = chainAt(anvil.rpcUrl, HUB_CHAIN_ID)
  const owner = account(9).address
  const {
    app: hub,
    endpoint,
    block,
  } = await deployHub({
    walletClient: walletClient(9),
    publicClient: client,
    eid: HUB_EID,
    minimumWei: MINIMUM_WEI,
    owner,
    relayer: owner,
    pauser: owner,
  })
  const pool = createPool({ url: postgres.url, max: 4, applicationName: 'test' })
  const section = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: HUB_CHAIN_ID,
    rpcUrls: [anvil.rpcUrl],
    contract: hub,
    endpoint,
    startBlock: Number(block),
    confirmation: { blocks: 2 },
  }
  const [config] = parseChainsFile({ chains: [section] }, 'test').chains as [ChainConfig]
  let leadership: Leadership | null = null

  const world: HubWorld = {
    anvil,
    postgres,
    pool,
    hub: hub.toLowerCase() as Hex,
    section,
    config,
    public: client,
    test,
    wallet: account,
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
      await waitForReceipt(client, hash)
      return hash
    },
    async open(changes = {}) {
      const used = { ...config, ...changes }
      const rpc = createEvmChainRpc({ ...used, local: true })
      const row = await registerChain(pool, {
        network: used.network,
        label: used.label,
        instance: '',
        family: 'evm',
        chainId: HUB_CHAIN_ID,
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
      return new ChainIndexer({
        pool,
        ...opened,
        ...progress,
        epoch: leadership.epoch,
        haltPatience: LOCAL_HALT_PATIENCE,
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
