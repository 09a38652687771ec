import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { logFilterOfContracts } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import {
  encodeRunningHashes,
  extendRunningHashes,
  initialRunningHashes,
  runningHashInputs,
} from '../../src/chains/evm/runningHash/hashes.js'
import type { ChainConfig } from '../../src/config/index.js'
import { readChain, registerChain } from '../../src/db/chains/chains.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool } from '../../src/db/pg/pool.js'
import { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { LOCAL_HALT_PATIENCE } from '../../src/indexer/evm/cursor.js'
import type { ChainIndexerOptions } from '../../src/indexer/evm/types.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { createDatabase, dropDatabase } from '../../src/testing/processes/postgres.js'
import { queryOn } from '../support/database.js'
import type { HubWorld } from '../support/hubWorld.js'

/** Of a world: its database `tables` is copied, in a fraction of the time that migrations take. */
const migrated = new WeakMap<object, Promise<unknown>>()

/** An indexer with its own database, on a chain that other indexers use too. */
export interface LoneIndexer extends Pick<ChainIndexerOptions, 'chain' | 'row' | 'epoch'> {
  pool: pg.Pool
  readonly indexer: ChainIndexer
  /** Continues only from the tables. */
  restart(): Promise<void>
  /** Steps until everything up to a block is in the journal. Steps may fail. @returns number of failed steps */
  drive(block: number): Promise<number>
  /** Hash of the live tables, which has to equal that of the rebuilt ones, with the number of entries. */
  state(): Promise<{ hash: string; entries: number }>
  stop(): Promise<void>
}

/** Record of a hub's logs before a block, as a checkpoint has it. */
async function recordBefore({ config, public: client }: HubWorld, block: number) {
  const { addresses, topics } = logFilterOfContracts(config)
  const toBlock = `0x${(block - 1).toString(16)}`
  const params = [{ address: addresses, topics: [topics], fromBlock: '0x0', toBlock }] as never
  const logs = (await client.request({ method: 'eth_getLogs', params })) as unknown as RawLog[]
  const timeOf = ({ blockTimestamp }: RawLog) => Number(blockTimestamp) * 1_000
  return extendRunningHashes(initialRunningHashes(config), runningHashInputs(config, logs, timeOf))
}

const DRIVE_DEADLINE_MS = 45_000
/** Nodes that failed rest for longer than this. */
const PAUSE_MS = 20

/**
 * @param changes of the world's configuration
 * @param options of the indexer; it halts at once unless they say otherwise
 */
export async function indexerOver(
  world: HubWorld,
  database: string,
  changes: Partial<ChainConfig>,
  options: Pick<ChainIndexerOptions, 'haltPatience'> = {
    haltPatience: LOCAL_HALT_PATIENCE,
  },
): Promise<LoneIndexer> {
  const server = world.postgres.url
  if (!migrated.has(world)) migrated.set(world, createDatabase(server, 'tables').then(migrate))
  await migrated.get(world)
  // a second try starts again
  await dropDatabase(server, database)
  await queryOn(server, `CREATE DATABASE "${database}" TEMPLATE tables STRATEGY file_copy`)
  const url = Object.assign(new URL(server), { pathname: database }).href
  const pool = createPool({ url, max: 4, applicationName: 'test' })
  const leadership = await takeLeadershipIfFree(pool, 'mainnet', 'index')
  if (!leadership) throw new Error('another leader holds the test network')
  const config = { ...world.config, ...changes }
  const { network, label, chainId, contract, startBlock } = config
  const genesisHash = fromHex(await createEvmChainRpc(world.config).genesisHash())
  const identity = {
    network,
    label,
    instance: '',
    family: 'evm',
    chainId,
    genesisHash,
    contract: fromHex(contract),
    startBlock,
  }
  const row = await registerChain(pool, identity)
  // the hub's first logs are before it
  const before = await world.public
    .getBlock({ blockNumber: BigInt(startBlock - 1) })
    .catch(() => null)
  if (before && startBlock > world.config.startBlock) {
    row.parentHash = fromHex(before.hash)
    row.record = encodeRunningHashes(config, row.parentHash, await recordBefore(world, startBlock))
  }
  // only local chains mine many blocks at once
  const chain = createEvmChain({
    config,
    chain: row.chain,
    rpc: createEvmChainRpc({ ...config, local: true }),
  })
  const signal = new AbortController().signal
  const open = () =>
    new ChainIndexer({ pool, chain, row, epoch: leadership.epoch, signal, ...options })
  let indexer = open()
  return {
    pool,
    chain,
    row,
    epoch: leadership.epoch,
    get indexer() {
      return indexer
    },
    async restart() {
      Object.assign(row, await readChain(pool, row))
      indexer = open()
    },
    async drive(block) {
      const end = performance.now() + DRIVE_DEADLINE_MS
      let failures = 0
      let last = ''
      while (row.nextBlock <= block) {
        if (performance.now() > end)
          throw new Error(
            `at block ${row.nextBlock} of ${block} after ${failures} failures; last: ${last}`,
          )
        try {
          const outcome = await indexer.step()
          last = outcome.kind
          if (outcome.kind === 'halted') throw new Error(`halted: ${outcome.reason}`)
          if (outcome.kind === 'idle' || outcome.kind === 'behind') await sleep(PAUSE_MS)
        } catch (error) {
          last = (error as Error).message
          if (last.startsWith('halted')) throw error
          failures += 1
          await sleep(PAUSE_MS)
        }
      }
      return failures
    },
    async state() {
      const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
      if (live !== rebuilt)
        throw new Error(`the live tables (${live}) are not what the journal gives (${rebuilt})`)
      return { hash: live, entries }
    },
    async stop() {
      await leadership.release()
      await pool.end()
    },
  }
}
