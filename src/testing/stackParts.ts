import fs from 'node:fs'
import path from 'node:path'
import { writeFileAtomically } from '../config/files.js'
import { migrate } from '../db/pg/migrate.js'
import type { Network } from '../registry/primitives/network.js'
import { WorldError } from './chains/actions.js'
import { attachChain } from './chains/attachedChain.js'
import { type LocalChain, startLocalChain } from './chains/localChain.js'
import type { ChainLabel, LocalChainDefinition } from './chains/localChains.js'
import {
  chainsFilePath,
  connectHubsAndSpokes,
  readPreviousLocalChains,
} from './contracts/localContracts.js'
import {
  type DaemonEnvironment,
  isHaltedChainProblem,
  startDaemonProcess,
} from './processes/daemonProcess.js'
import { readFileOrUndefined } from './processes/files.js'
import { chooseFreePort, isPortFree, reusePortIfFree } from './processes/ports.js'
import { createDatabase, type Postgres, startPostgres } from './processes/postgres.js'
import type { Sandbox } from './processes/sandbox.js'
import { operatorAccount } from './world.js'

const DATABASE_NAME = 'clusterd'
/** Environment variables with the keys of every local world. All of these keys are public. */
export const LOCAL_SECRET_KEYS = {
  SHARE_KEY: `0x${'5a'.repeat(32)}`,
  TOKEN_KEY: `0x${'5b'.repeat(32)}`,
  QUOTE_KEY: `0x${'5c'.repeat(32)}`,
  LOG_KEY: `0x${'5d'.repeat(32)}`,
  ENS_PRIVATE_KEY: operatorAccount('ensGateway').privateKey,
}

export interface PostgresHandle extends Pick<Postgres, 'pid' | 'port' | 'stop' | 'kill'> {
  /** Restarts PostgreSQL on the same port. */
  restart(): Promise<void>
}

/**
 * Waits until every task has ended, even if one fails, because a part that is still starting can't be stopped.
 * @returns the results, in the order of the tasks
 * @throws the error of the first task in the list that failed
 */
export async function allSettledOrThrow<T extends readonly unknown[]>(
  tasks: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const results = await Promise.allSettled(tasks)
  const rejected = results.find((result) => result.status === 'rejected')
  if (rejected) throw rejected.reason
  return Promise.all(tasks) as Promise<T>
}

/**
 * The wanted port of the API or of the operator's routes, or a free port if it is undefined or 0.
 * @param variable environment variable to name in the error
 * @throws Error when the wanted port is taken
 */
export async function requireFreePort(
  variable: string,
  wanted: number | undefined,
): Promise<number> {
  if (wanted === undefined || wanted === 0) return chooseFreePort()
  if (!(await isPortFree(wanted)))
    throw new Error(`Port ${wanted} is taken: set ${variable} to a free one.`)
  return wanted
}

/**
 * Starts an embedded PostgreSQL server, unless a database is given, and migrates the database.
 * @param given URL of the database to use
 */
export async function startDatabase(
  sandbox: Sandbox,
  given: string | undefined,
): Promise<{ url: string; handle: PostgresHandle | undefined }> {
  const handle = given === undefined ? await startEmbeddedPostgres(sandbox) : undefined
  const url = given ?? (await createDatabase(handle?.url ?? '', DATABASE_NAME))
  const applied = await migrate(url)
  if (applied.length > 0) sandbox.log(`applied ${applied.length} migrations to the database`)
  return { url, handle }
}

async function startEmbeddedPostgres(sandbox: Sandbox): Promise<PostgresHandle & { url: string }> {
  const dataDir = path.join(sandbox.home, 'postgres')
  const start = async (port: number): Promise<Postgres> => {
    const server = await startPostgres({
      dataDir,
      port,
      logFile: path.join(sandbox.home, 'logs', 'postgres.log'),
    })
    sandbox.closers.push(() => server.stop())
    return server
  }
  sandbox.log('starting PostgreSQL')
  const portFile = path.join(sandbox.home, 'postgres.port')
  let server = await start(await reusePortIfFree(Number(readFileOrUndefined(portFile) ?? 0)))
  writeFileAtomically(portFile, String(server.port))
  sandbox.log(`PostgreSQL runs on port ${server.port}`)
  return {
    get pid() {
      return server.pid
    },
    port: server.port,
    url: server.url,
    stop: () => server.stop(),
    kill: () => server.kill(),
    async restart() {
      await server.stop()
      server = await start(server.port)
    },
  }
}

/** RPC URLs, by network label, of chains that others started and that the local world uses. */
export type AttachedRpcUrls = Readonly<Partial<Record<ChainLabel, string>>>

/** Starts the chains that are not attached, deploys the contracts on all chains, and connects hubs and spokes. */
export async function startChains(
  sandbox: Sandbox,
  definitions: readonly LocalChainDefinition[],
  blockMs: number,
  attached: AttachedRpcUrls = {},
): Promise<LocalChain[]> {
  const stray = Object.keys(attached).find(
    (label) => !definitions.some((one) => one.label === label),
  )
  if (stray !== undefined)
    throw new WorldError(
      `"${stray}" is attached, and no chain of this world: name it in \`chains\` too.`,
    )
  const previous = readPreviousLocalChains(sandbox.home)
  const hubEidOf = (network: Network) =>
    definitions.find((one) => one.network === network && one.role === 'hub')?.eid ?? 0
  const chains = await allSettledOrThrow(
    definitions.map((definition) => {
      const { label, network } = definition
      const rpcUrl = attached[label]
      const hubEid = hubEidOf(network)
      return rpcUrl === undefined
        ? startLocalChain(sandbox, { definition, hubEid, blockMs, previous: previous.get(label) })
        : attachChain(definition, hubEid, rpcUrl)
    }),
  )
  await connectHubsAndSpokes(chains)
  for (const { label, rpcUrl, chainId } of chains)
    sandbox.log(`chain ${label} runs on ${rpcUrl} (chain id ${chainId})`)
  return chains
}

interface LocalDaemonSettings {
  ops: string
  databaseUrl: string
  port: number
  opsPort: number
  env: DaemonEnvironment
}

/** Complete environment variables of a local world's daemon, with all keys. */
export const daemonEnvironment = (
  home: string,
  at: Omit<LocalDaemonSettings, 'ops'>,
): DaemonEnvironment => ({
  LOG_FORMAT: 'json',
  DRAIN_SECONDS: '0',
  LIMITS: 'off',
  RELAYER_PRIVATE_KEY: operatorAccount('relayer').privateKey,
  AIRDROP_OPERATOR_PRIVATE_KEY: operatorAccount('airdropOperator').privateKey,
  ...LOCAL_SECRET_KEYS,
  ...at.env,
  HOST: at.env.HOST ?? '127.0.0.1',
  PORT: String(at.port),
  OPS_PORT: String(at.opsPort),
  DATABASE_URL: at.databaseUrl,
  CLUSTERD_HOME: home,
  CLUSTERD_CHAINS: chainsFilePath(home),
})

/** Starts the daemon and waits until it is ready. @throws Error where it does not become ready */
export async function startDaemon(sandbox: Sandbox, at: LocalDaemonSettings): Promise<void> {
  const { home } = sandbox
  const logFile = path.join(home, 'logs', 'daemon.log')
  sandbox.daemon = await startDaemonProcess({
    opsUrl: at.ops,
    logFile,
    env: daemonEnvironment(home, at),
    onEnd: () => sandbox.fail(`the daemon has ended (see ${logFile}).`),
  })
  await sandbox.daemon.waitUntilReady().catch((error: Error) => {
    if (!isHaltedChainProblem(error.message)) throw error
    // the journal may have a registration that a killed chain lost with its newest blocks
    const database = fs.existsSync(path.join(home, 'postgres')) ? '' : ' and the database'
    throw new Error(
      `A local chain is behind the journal (${error.message}): delete ${home}${database} to begin a new world.`,
    )
  })
  sandbox.log('the daemon is ready')
}
