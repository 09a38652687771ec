import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { migrate } from '../db/migrate.js'
import { NETWORKS, type Network } from '../registry/network.js'
import { ChainHaltedError, type DaemonEnvironment, type DaemonProcess, startDaemonProcess } from './daemonProcess.js'
import { type FileLock, tryLock, writeAtomically } from './files.js'
import { LOCAL_CHAINS, type LocalChain, previousChains, startLocalChain } from './localChain.js'
import { PidFile } from './pidFile.js'
import { freePort, isPortFree, releasePort } from './ports.js'
import { createDatabase, type Postgres, startPostgres } from './postgres.js'
import { endProcess } from './processes.js'
import { seedChain } from './seeds.js'
import { until } from './until.js'
import { removeWorld, type Seed, type World, type WorldNetwork, worldAccounts, writeWorld } from './world.js'

const DEFAULT_BLOCK_MS = 1_000
const DATABASE_NAME = 'clusterd'

export interface StackOptions<N extends Network = Network> {
  /** The folder that holds the world; kept afterwards. Absent: a temporary one, removed by `stop`, nothing kept. */
  home?: string
  /** Default both. */
  networks?: readonly N[]
  /** Milliseconds between blocks of every chain, default 1000. */
  blockMs?: number
  /** Ports of the API and the operator's routes; absent: free ones. */
  port?: number
  opsPort?: number
  /** A PostgreSQL database to use instead of an embedded server. */
  databaseUrl?: string
  /** Register a few names at the first start; default true. */
  seeds?: boolean
  /** Gets a line for each step of the start. */
  log?: (line: string) => void
  /** More environment for the daemon. */
  daemonEnv?: DaemonEnvironment
}

/** A running local world; its fields of `World` are those of `world`. */
export interface Stack<N extends Network = Network> extends World<N> {
  /** What stack.json says. */
  readonly world: World<N>
  readonly home: string
  readonly daemon: DaemonProcess
  /** The chains by network label, to stop, kill and start again. */
  readonly anvils: Readonly<Record<string, LocalChain>>
  /** The embedded server, undefined where a database was given. */
  readonly postgres: PostgresHandle | undefined
  /** Resolves with a sentence when a process of the world ends that nobody asked to end. */
  readonly failed: Promise<string>
  /** Ends every process; a temporary home is removed. Safe to call twice. */
  stop(): Promise<void>
}

export interface PostgresHandle {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
  /** SIGKILL, as a power cut would. */
  kill(): Promise<void>
  /** Stops it if it runs and starts it again on the same port. */
  restart(): Promise<void>
}

/** What parts of a start share. */
interface Ground {
  readonly home: string
  readonly isKept: boolean
  readonly pids: PidFile
  readonly lock: FileLock
  readonly log: (line: string) => void
  /** Tells that a process has ended; nobody is told of those that `clearGround` ends. */
  fail: (sentence: string) => void
  /** Ends what has been started so far, in any order and repeatedly. */
  readonly closers: (() => Promise<void>)[]
  daemon: DaemonProcess | undefined
}

/**
 * Starts a whole local world: PostgreSQL, the hub chains of the networks with the contracts deployed, a few registered
 * names, and the daemon. On a home folder that has been used it goes on with the data there, also after kill -9 of
 * everything. Any number of worlds run side by side, one a home folder.
 * @throws with one sentence when the home folder is in use, a port is taken, a package is missing, ...
 */
export async function startStack<N extends Network = Network>(options: StackOptions<N> = {}): Promise<Stack<N>> {
  let fail: (sentence: string) => void = () => {}
  const failed = new Promise<string>((resolve) => {
    fail = resolve
  })
  const ground = layGround(options.home, options.log ?? (() => {}), (sentence) => fail(sentence))
  try {
    return await build(ground, options, failed)
  } catch (error) {
    await clearGround(ground)
    throw error
  }
}

function layGround(home: string | undefined, log: Ground['log'], fail: Ground['fail']): Ground {
  const folder = home === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-world-')) : path.resolve(home)
  fs.mkdirSync(folder, { recursive: true })
  const result = tryLock(path.join(folder, 'launcher.lock'))
  if ('heldBy' in result) {
    throw new Error(
      `A world already runs in ${folder} (process ${result.heldBy}): stop it, or set CLUSTERD_HOME to another folder.`,
    )
  }
  const pids = new PidFile(folder)
  return {
    home: folder,
    isKept: home !== undefined,
    pids,
    lock: result.lock,
    log,
    fail,
    closers: [],
    daemon: undefined,
  }
}

async function clearGround(ground: Ground): Promise<void> {
  ground.fail = () => {}
  removeWorld(ground.home)
  await ground.daemon?.kill('SIGTERM')
  await Promise.all(ground.closers.map((close) => close()))
  ground.pids.clear()
  ground.lock.release()
  if (!ground.isKept) fs.rmSync(ground.home, { recursive: true, force: true })
}

async function build<N extends Network>(
  ground: Ground,
  options: StackOptions<N>,
  failed: Promise<string>,
): Promise<Stack<N>> {
  const ended = await ground.pids.endLeftovers(['postgres'])
  if (ended.length > 0) ground.log(`ended what an earlier run had left: ${ended.map(({ kind }) => kind).join(', ')}`)
  removeWorld(ground.home) // of a run that was killed: it is written when this one is ready
  const networks: readonly N[] = options.networks ?? (NETWORKS as readonly Network[] as readonly N[])

  const [database, chains, port, opsPort] = await together([
    startDatabase(ground, options.databaseUrl),
    startChains(ground, networks, options.blockMs ?? DEFAULT_BLOCK_MS),
    claimPort(ground, 'PORT', options.port),
    claimPort(ground, 'OPS_PORT', options.opsPort),
  ])
  const at = { api: `http://127.0.0.1:${port}`, ops: `http://127.0.0.1:${opsPort}`, databaseUrl: database.url }
  const [seeds] = await together([
    options.seeds === false ? Promise.resolve(new Map<Network, Seed>()) : seed(chains),
    startDaemon(ground, { ...at, port, opsPort, env: options.daemonEnv ?? {} }),
  ])
  const world: World<N> = {
    ...at,
    networks: Object.fromEntries(networks.map((network) => [network, describeNetwork(chains, network)])) as Record<
      N,
      WorldNetwork
    >,
    accounts: { evm: worldAccounts(), solana: [] },
    seeds: Object.fromEntries(seeds) as Partial<Record<N, Seed>>,
  }
  await Promise.all([...seeds].map(([network, one]) => waitForSeed(at, network, one)))
  if (ground.isKept) writeWorld(ground.home, world)

  let stopped: Promise<void> | undefined
  return {
    ...world,
    world,
    home: ground.home,
    daemon: ground.daemon as DaemonProcess,
    anvils: Object.fromEntries(chains.map((chain) => [chain.label, chain])),
    postgres: database.handle,
    failed,
    stop() {
      stopped ??= clearGround(ground)
      return stopped
    },
  }
}

/** Waits for all, also when one fails: what still starts then has to be known before it can be ended. */
async function together<T extends readonly unknown[]>(tasks: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  const results = await Promise.allSettled(tasks)
  const rejected = results.find((result) => result.status === 'rejected')
  if (rejected) throw rejected.reason
  return Promise.all(tasks) as Promise<T>
}

async function claimPort(ground: Ground, variable: string, wanted: number | undefined): Promise<number> {
  const isGiven = wanted !== undefined && wanted !== 0
  if (isGiven && !(await isPortFree(wanted))) throw new Error(`Port ${wanted} is taken: set ${variable} to a free one.`)
  const port = isGiven ? wanted : await freePort()
  ground.closers.push(async () => releasePort(port))
  return port
}

async function startDatabase(
  ground: Ground,
  given: string | undefined,
): Promise<{ url: string; handle: PostgresHandle | undefined }> {
  const handle = given === undefined ? await startEmbedded(ground) : undefined
  const url = given ?? (await createDatabase(handle?.url ?? '', DATABASE_NAME))
  const applied = await migrate(url)
  if (applied.length > 0) ground.log(`migrated the database: ${applied.join(', ')}`)
  return { url, handle }
}

async function startEmbedded(ground: Ground): Promise<PostgresHandle & { url: string }> {
  const dataDir = path.join(ground.home, 'postgres')
  const start = async (port: number): Promise<Postgres> => {
    const server = await startPostgres({ dataDir, port, logFile: path.join(ground.home, 'logs', 'postgres.log') })
    ground.closers.push(() => server.stop())
    ground.pids.add(server.pid, 'postgres', 'postgres')
    return server
  }
  let server = await start(await lastPort(path.join(ground.home, 'postgres.port')))
  ground.log(`PostgreSQL ${server.reused ? 'was still running' : 'runs'} on port ${server.port}`)
  return {
    get pid() {
      return server.pid
    },
    port: server.port,
    url: server.url,
    stop: () => server.stop(),
    kill: () => endProcess(server.pid, 'SIGKILL', 1_000),
    async restart() {
      await server.stop()
      server = await start(server.port)
    },
  }
}

/** The port of the last run where it is free, so that an open database client goes on working. */
async function lastPort(file: string): Promise<number> {
  const last = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0
  const port = last > 0 && (await isPortFree(last)) ? last : await freePort()
  writeAtomically(file, String(port))
  return port
}

async function startChains(ground: Ground, networks: readonly Network[], blockMs: number): Promise<LocalChain[]> {
  const file = path.join(ground.home, 'chains.json')
  const previous = previousChains(file)
  const definitions = LOCAL_CHAINS.filter(({ network }) => networks.includes(network))
  const chains = await together(
    definitions.map((definition) =>
      startLocalChain({
        definition,
        home: ground.home,
        blockMs,
        keepState: ground.isKept,
        previous: previous.get(definition.label),
        onSpawn(anvil, marker) {
          ground.closers.push(() => anvil.stop())
          ground.pids.add(anvil.pid, `anvil ${definition.label}`, marker)
        },
        onEnd: () => ground.fail(`anvil of chain ${definition.label} has ended.`),
      }),
    ),
  )
  for (const { label, rpcUrl, chainId } of chains) ground.log(`chain ${label} runs on ${rpcUrl} (chain id ${chainId})`)
  writeAtomically(file, `${JSON.stringify({ chains: chains.map(({ config }) => config) }, null, 2)}\n`)
  return chains
}

interface DaemonAt {
  ops: string
  databaseUrl: string
  port: number
  opsPort: number
  env: DaemonEnvironment
}

async function startDaemon(ground: Ground, at: DaemonAt): Promise<void> {
  ground.daemon = await startDaemonProcess({
    opsUrl: at.ops,
    logFile: path.join(ground.home, 'logs', 'daemon.log'),
    env: {
      LOG_FORMAT: 'json',
      ...at.env,
      HOST: at.env.HOST ?? '127.0.0.1',
      PORT: String(at.port),
      OPS_PORT: String(at.opsPort),
      DATABASE_URL: at.databaseUrl,
      CLUSTERD_HOME: ground.home,
      CLUSTERD_CHAINS: path.join(ground.home, 'chains.json'),
    },
    onSpawn: (pid, marker) => ground.pids.add(pid, 'daemon', marker),
    onEnd: () => ground.fail(`the daemon has ended (see ${path.join(ground.home, 'logs', 'daemon.log')}).`),
  })
  await ground.daemon.waitUntilReady().catch((error: Error) => {
    throw error instanceof ChainHaltedError ? new Error(behindJournal(ground, error.message)) : error
  })
  ground.log('the daemon is ready')
}

/** A kill can take a local chain's newest second with it; if a registration was in it, the journal knows more than the chain. */
function behindJournal(ground: Ground, problem: string): string {
  const database =
    ground.closers.length > 0 && fs.existsSync(path.join(ground.home, 'postgres')) ? '' : ' and the database'
  return `A local chain is behind the journal (${problem}): delete ${ground.home}${database} to begin a new world.`
}

async function seed(chains: readonly LocalChain[]): Promise<Map<Network, Seed>> {
  const hubs = chains.filter(({ role }) => role === 'hub')
  return new Map(await together(hubs.map(async (hub) => [hub.network, await seedChain(hub)] as const)))
}

async function waitForSeed(at: { api: string }, network: Network, { tx }: Seed): Promise<void> {
  const testnet = network === 'testnet'
  await until.status(at, tx.finalized, 'finalized', { testnet })
  await until.status(at, tx.lost, 'lost_bid', { testnet })
}

function describeNetwork(chains: readonly LocalChain[], network: Network): WorldNetwork {
  const hub = chains.find((chain) => chain.network === network && chain.role === 'hub') as LocalChain
  const { contract, endpoint } = hub.config
  return {
    hub: { network: hub.label, chainId: hub.chainId, rpcUrl: hub.rpcUrl, contracts: { hub: contract, endpoint } },
    spokes: [],
  }
}
