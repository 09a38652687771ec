import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '../../src/testing/chains/anvil.js'
import type { World } from '../../src/testing/index.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { createDatabase, startPostgres } from '../../src/testing/processes/postgres.js'
import { withPostgresClient } from '../../src/testing/processes/postgresClient.js'
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
  await withPostgresClient(databaseUrl, async (client) => {
    await client.query(readRecorded('database.sql').toString('utf8'))
    await client.query('UPDATE public.webhooks SET url = $1', [hook])
  })
  const file = JSON.parse(readFileSync(join(RECORDED, 'chains.json'), 'utf8')) as ChainsFile
  const anvils = await Promise.all(file.chains.map((chain) => startChain(folder, chain)))
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

async function startChain(folder: string, { label, chainId }: ChainEntry): Promise<Anvil> {
  const statePath = join(folder, 'anvil', `${label}.json`)
  mkdirSync(join(folder, 'anvil'), { recursive: true })
  writeFileSync(statePath, readRecorded(`anvil-${label}.json`))
  const port = await chooseFreePort()
  return startAnvil({ chainId, statePath, port, blockTimeS: BLOCK_S, slotsInAnEpoch: 1 })
}
