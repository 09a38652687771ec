import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDatabaseIdentity } from '../../src/db/feed/transparencyLog.js'
import { withConnection } from '../../src/db/pg/pool.js'
import { type Anvil, startAnvil } from '../../src/testing/chains/anvil.js'
import type { World } from '../../src/testing/index.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { createDatabase, startPostgres } from '../../src/testing/processes/postgres.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { type Deployment, RECORDED, readJson, readRecorded } from './recorded.js'

/** The recorded deployment, alive again: its database and its chains, on which a new build can start. */

const BLOCK_S = 0.3
/** Nobody listens here. Solana has no state that could be kept: the cluster is away. */
const AWAY = 'http://127.0.0.1:9'

interface ChainEntry {
  label: string
  chainId: number
  rpcUrls: string[]
  wsUrl?: string
}
interface ChainsFile {
  chains: ChainEntry[]
  solana: Record<string, { rpcUrls: string[]; wsUrls: string[] }>
}

export interface Restored {
  deployment: Deployment
  databaseUrl: string
  /** Environment for a daemon, with all settings of the old one. */
  env: Record<string, string>
  /** The recorded world at its new addresses, but for the API. */
  world: World<'mainnet' | 'testnet'>
  stop(): Promise<void>
}

/** @param hook URL that replaces the receiver of webhooks */
export async function restore(folder: string, hook: string): Promise<Restored> {
  const deployment = readJson<Deployment>('answers.json')
  const server = await startPostgres({ dataDir: join(folder, 'pg') })
  const databaseUrl = await createDatabase(server.url, 'upgraded')
  await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
    await client.query(readRecorded('database.sql').toString('utf8'))
    await client.query('UPDATE public.webhooks SET url = $1', [hook])
    // dumps leave the path empty
    await client.query('SET search_path = public')
    // an upgrade stays on its server: on another one the feed begins anew, since signed events may be lost
    const identity = await readDatabaseIdentity(client)
    await client.query('UPDATE public.logs SET server = $1', [identity])
  })
  const file = JSON.parse(readFileSync(join(RECORDED, 'chains.json'), 'utf8')) as ChainsFile
  const anvils = await startChains(folder, file.chains)
  file.chains.forEach((chain, i) => {
    chain.rpcUrls = [anvils[i]!.rpcUrl]
    chain.wsUrl = anvils[i]!.wsUrl
  })
  for (const cluster of Object.values(file.solana)) {
    cluster.rpcUrls = [AWAY]
    cluster.wsUrls = []
  }
  const chainsFile = join(folder, 'chains.json')
  writeFileSync(chainsFile, JSON.stringify(file))
  const urlOf = (label: string) => file.chains.find((chain) => chain.label === label)!.rpcUrls[0]!
  const world = structuredClone(deployment.world)
  for (const { hub, spokes } of Object.values(world.networks))
    for (const chain of [hub, ...spokes]) chain.rpcUrl = urlOf(chain.network)
  return {
    deployment,
    databaseUrl,
    world,
    env: {
      ...deployment.env,
      LOG_FORMAT: 'json',
      DATABASE_URL: databaseUrl,
      CLUSTERD_HOME: folder,
      CLUSTERD_CHAINS: chainsFile,
    },
    async stop() {
      await Promise.all(anvils.map((anvil) => anvil.stop()))
      await server.stop()
    },
  }
}

/** Starts the EVM chains as they were when the recording ended. */
export const startChains = (
  folder: string,
  chains: readonly Pick<ChainEntry, 'label' | 'chainId'>[],
): Promise<Anvil[]> => Promise.all(chains.map((chain) => startChain(folder, chain)))

async function startChain(
  folder: string,
  { label, chainId }: Pick<ChainEntry, 'label' | 'chainId'>,
): Promise<Anvil> {
  const statePath = join(folder, 'anvil', `${label}.json`)
  mkdirSync(join(folder, 'anvil'), { recursive: true })
  writeFileSync(statePath, readRecorded(`anvil-${label}.json`))
  const port = await chooseFreePort()
  return startAnvil({ chainId, statePath, port, blockTimeS: BLOCK_S, slotsInAnEpoch: 1 })
}

const CURRENT_LIMIT_MS = 60_000

/**
 * Waits until a process answers about the present. The stored head is as old as the recording until a leader reads the
 * hub, and each look-up says so.
 */
export async function waitUntilCurrent(api: string): Promise<void> {
  const lookup = `${api}/v1/names/address/0x70997970c51812dc3a010c7d01b50e0d17dc79c8`
  const isCurrent = async (url: string) => {
    const { status, headers } = await fetch(url)
    return status === 200 && !headers.has('x-clusterd-stale')
  }
  for (const url of [lookup, `${lookup}?testnet=true`])
    await waitForCondition(() => isCurrent(url), CURRENT_LIMIT_MS)
}
