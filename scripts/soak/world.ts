import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withConnection } from '../../src/db/pg/pool.js'
import { type Stack, startStack } from '../../src/testing/index.js'
import { A_YEAR_AHEAD } from '../../test/chaos/lib/databaseWeathers.js'
import { type FaultyNode, startFaultyNode } from '../../test/support/faultyNode/faultyNode.js'
import { hasPgbouncer, startPgbouncer } from '../../test/support/pgbouncer.js'
import type { Bench } from '../bench/bench.js'

const HUB = '1'
const SPOKE = '8453'
/** Number of the pooler's server connections, as in examples/deploy/topology. */
const POOL_SIZE = 16
const CLOCK_SIGNAL = 'SIGUSR2'
/** Settings of the database role behind a pooler (docs/run/configuration.md). */
const ROLE_SETTINGS = [
  'enable_seqscan = off',
  'enable_bitmapscan = off',
  'jit = off',
  'plan_cache_mode = force_generic_plan',
]

/** A connection pooler (pgbouncer) that can be stopped, and started again on the same port. */
interface Pooler {
  url: string
  stop(): Promise<void>
  start(): Promise<void>
}

/** A local world whose daemon has rate limits, a connection pooler, and a fault proxy before each node. */
export interface SoakWorld {
  stack: Stack<'mainnet'>
  proxies: readonly FaultyNode[]
  /** Null where this machine has no pgbouncer. */
  pooler: Pooler | null
  /** Sets the daemon's clock a year ahead, or, at the next call, right again. */
  turnClock(): void
}

export async function startSoakWorld(onEnd: Bench['onEnd']): Promise<SoakWorld> {
  const stack = await startStack({
    chains: [HUB, SPOKE],
    seeds: false,
    solana: false,
    limits: true,
  })
  onEnd(() => stack.stop())
  const proxies = new Map<string, FaultyNode>()
  for (const label of [HUB, SPOKE]) {
    const { rpcUrl, wsUrl } = stack.anvils[label]!
    const proxy = await startFaultyNode({ target: { rpcUrl, wsUrl }, seed: proxies.size })
    onEnd(() => proxy.stop())
    proxies.set(label, proxy)
  }
  const pooler = hasPgbouncer ? await startPooler(stack.databaseUrl) : null
  if (pooler) onEnd(() => pooler.stop())
  await stack.daemon.restart({
    CLUSTERD_CHAINS: writeChainsFile(stack.home, proxies),
    CLOCK_SIGNAL,
    NODE_OPTIONS: A_YEAR_AHEAD.NODE_OPTIONS,
    CLOCK_AHEAD_MS: A_YEAR_AHEAD.CLOCK_AHEAD_MS,
    ...(pooler && { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: stack.databaseUrl }),
  })
  return {
    stack,
    proxies: [...proxies.values()],
    pooler,
    turnClock: () => process.kill(stack.daemon.pid, CLOCK_SIGNAL),
  }
}

async function startPooler(databaseUrl: string): Promise<Pooler> {
  await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
    for (const setting of ROLE_SETTINGS)
      await client.query(`ALTER ROLE CURRENT_USER SET ${setting}`)
  })
  let running: Awaited<ReturnType<typeof startPgbouncer>> | null = await startPgbouncer(
    databaseUrl,
    POOL_SIZE,
  )
  const { url, port } = running
  return {
    url,
    async stop() {
      await running?.stop()
      running = null
    },
    async start() {
      running = await startPgbouncer(databaseUrl, POOL_SIZE, port)
    },
  }
}

/** Writes a copy of the chains file, with the proxies' URLs in place of the nodes' URLs. @returns its path */
function writeChainsFile(home: string, proxies: ReadonlyMap<string, FaultyNode>): string {
  const file = JSON.parse(readFileSync(join(home, 'chains.json'), 'utf8')) as {
    chains: { label: string }[]
  }
  const chains = file.chains.map((chain) => {
    const { rpcUrl, wsUrl } = proxies.get(chain.label)!
    return { ...chain, rpcUrls: [rpcUrl], wsUrl }
  })
  const path = join(home, 'chains-behind-proxies.json')
  writeFileSync(path, JSON.stringify({ ...file, chains }))
  return path
}
