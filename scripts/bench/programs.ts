import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import pg from 'pg'
import { NOTIFY_CHANNEL } from '../../src/db/pg/notify.js'
import { DAEMON_NODEJS_FLAGS } from '../../src/testing/processes/daemonProcess.js'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import {
  spawnChild,
  type WatchedChild,
  waitForCondition,
} from '../../src/testing/processes/processes.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { buildPrograms } from '../build-programs.js'
import { type Bench, cpuMs, describeMachine } from './bench.js'
import type { BenchChain } from './chain.js'
import { recordFigure } from './figure.js'
import type { LiveLoopJob } from './liveLoop.js'
import type { LoopJob, LoopResult } from './loop.js'

/** The measured programs, each in a separate process. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START_DEADLINE_MS = 30_000
const REST_DEADLINE_MS = 300_000
const STOP_GRACE_MS = 12_000
const POLL_MS = 10
/** Interval at which a daemon without notifications is polled, ms. */
const SILENCE_MS = 200
/** Rate limits that are counted but that no benchmark reaches. */
const LIMITS = {
  LIMIT_ADDRESS: '1000000/1000000',
  LIMIT_KEY: '1000000/1000000',
  LIMIT_KEYS_DAY: '1000000',
  LIMIT_CHANGES_MINUTE: '1000000',
  LIMIT_CHANGES_DAY: '1000000',
  LIMIT_CLUSTERS_DAY: '1000000',
}

/** Builds the daemon into a temporary folder, so that no other build interferes. @returns path of its `cli.js` */
export async function buildDaemon(onEnd: Bench['onEnd']): Promise<string> {
  const outDir = join(ROOT, `dist-bench-${process.pid}`)
  onEnd(async () => rmSync(outDir, { recursive: true, force: true }))
  await buildPrograms(outDir)
  return join(outDir, 'cli.js')
}

/** Builds the measured daemon, unless a build is given, and starts a PostgreSQL. Records the machine. */
export async function prepareBench(
  { home, onEnd }: Bench,
  named?: string,
): Promise<{ cli: string; postgres: Postgres }> {
  const cli = named ? resolve(named) : await buildDaemon(onEnd)
  const postgres = await startPostgres({ dataDir: `${home}/pg` })
  onEnd(() => postgres.stop())
  const machine = await describeMachine(postgres.url)
  console.log(machine)
  recordFigure({ machine })
  return { cli, postgres }
}

/** Node's arguments that run a file of the project, TypeScript included. */
const nodeArgs = (file: string): string[] =>
  file.endsWith('.ts') ? ['--import', 'tsx', file] : [file]

export interface DaemonOptions {
  /** The daemon's command line, a .js or .ts file. */
  cli: string
  home: string
  chain: BenchChain
  databaseUrl: string
  /** Folder for a CPU profile, written when the daemon stops. */
  profileDir?: string
  /** Environment variables in addition to the variables of every run. */
  env?: Readonly<Record<string, string>>
  /** True to run only the API: nothing is indexed. */
  isApiOnly?: boolean
}

export interface DaemonProcess {
  child: WatchedChild
  /** Start of the process, Unix time in ms. */
  spawnedMs: number
  /** Time at which the daemon became the indexing leader, or was up if it indexes nothing, Unix time in ms. */
  leadingMs: number
  api: string
  stop(): Promise<void>
}

/** Starts `clusterd start` on a chain and a database. Waits until it leads the indexing, or is up if it only serves. */
export async function startDaemonProcess(options: DaemonOptions): Promise<DaemonProcess> {
  const { cli, home, chain, databaseUrl, profileDir, isApiOnly = false } = options
  const chainsFile = join(home, 'chains.json')
  writeFileSync(chainsFile, JSON.stringify(chain.chainsFile))
  const profiling = profileDir ? ['--cpu-prof', '--cpu-prof-dir', profileDir] : []
  const spawnedMs = Date.now()
  const child = await spawnChild({
    command: process.execPath,
    args: [
      ...DAEMON_NODEJS_FLAGS,
      ...profiling,
      ...nodeArgs(cli),
      'start',
      ...(isApiOnly ? ['--roles', 'api'] : []),
    ],
    logFile: join(home, `daemon-${Date.now()}.log`),
    cwd: ROOT,
    env: {
      ...process.env,
      ...LOCAL_SECRET_KEYS,
      CLUSTERD_HOME: home,
      CLUSTERD_CHAINS: chainsFile,
      DATABASE_URL: databaseUrl,
      PORT: '0',
      OPS_PORT: '0',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'info',
      ...LIMITS,
      CLUSTERD_CHILD: 'true',
      ...options.env,
    },
  })
  const find = (msg: string) => readLog(child.logFile).find((line) => line.msg === msg)
  const lead = isApiOnly ? 'clusterd is up' : 'leading the indexing'
  const isUp = () => find(lead) !== undefined && find('clusterd is up') !== undefined
  await waitForCondition(() => child.hasExited() || isUp(), START_DEADLINE_MS, POLL_MS)
  const leading = find(lead)
  const up = find('clusterd is up')
  if (child.hasExited() || !leading || !up)
    throw new Error(`starting the daemon: ${child.logTail().trim()}`)
  return {
    child,
    spawnedMs,
    leadingMs: leading.time,
    api: up.api ?? '',
    stop: () => child.end('SIGTERM', STOP_GRACE_MS),
  }
}

interface LogLine {
  msg: string
  time: number
  api?: string
}

function readLog(file: string): LogLine[] {
  if (!existsSync(file)) return []
  const complete = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return complete.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine)
}

/** Time and processor time that a program needed to index the chain. */
export interface Indexed {
  ms: number
  /** Processor time of the program, without PostgreSQL's. */
  cpuMs: number
}

/** Waits until the daemon's checkpoint is after the chain's last bid. */
export async function waitUntilIndexed(
  daemon: DaemonProcess,
  chain: BenchChain,
  databaseUrl: string,
): Promise<Indexed> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`LISTEN ${NOTIFY_CHANNEL}`)
  try {
    for (;;) {
      // wait for the daemon's notification of a commit: polling costs more processor time, and notices the commit later
      const woken = once(client, 'notification', { signal: AbortSignal.timeout(SILENCE_MS) }).catch(
        () => {},
      )
      const { rows } = await client.query<{ next_block: string }>('SELECT next_block FROM chains')
      if (Number(rows[0]?.next_block ?? 0) > chain.lastBlock) {
        return {
          ms: Date.now() - daemon.spawnedMs,
          cpuMs: cpuMs([daemon.child.pid]),
        }
      }
      if (daemon.child.hasExited())
        throw new Error(`indexing: the daemon ended: ${daemon.child.logTail().trim()}`)
      await woken
    }
  } finally {
    await client.end()
  }
}

/** Waits until the daemon has written the signed log of its feed, its last work after a catch-up. */
export async function waitUntilRested(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const text =
      'SELECT FROM journal_heads h JOIN logs l ON l.network = h.network AND l.generation = h.feed_generation WHERE size > 1 AND size = public_seq + 1'
    const isAtRest = async () => (await client.query(text)).rowCount! > 0
    if (!(await waitForCondition(isAtRest, REST_DEADLINE_MS, SILENCE_MS)))
      throw new Error('the daemon writes no log')
  } finally {
    await client.end()
  }
}

/** Number of registrations in the daemon's tables: won names, each with its cluster and verified wallet. */
export async function countRegistrations(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ count: string }>(
    `SELECT count(*) FROM names n JOIN clusters c ON c.network = n.network AND c.serial = n.cluster
     JOIN wallets w ON w.network = n.network AND w.cluster = n.cluster AND w.verified WHERE n.outcome = 1`,
  )
  await client.end()
  return Number(rows[0]!.count)
}

/** Compiles a bare program of this folder, so that it starts as quickly as the daemon. @returns its file */
export function buildBare(onEnd: Bench['onEnd'], program = 'loop'): string {
  const outDir = join(ROOT, `dist-bench-loop-${process.pid}`)
  mkdirSync(outDir)
  onEnd(async () => rmSync(outDir, { recursive: true, force: true }))
  for (const name of [program, 'bench']) {
    const source = readFileSync(new URL(`./${name}.ts`, import.meta.url), 'utf8')
    writeFileSync(
      join(outDir, `${name}.js`),
      transformSync(source, { loader: 'ts', target: 'es2022' }).code,
    )
  }
  return join(outDir, `${program}.js`)
}

/** Runs the bare loop (scripts/bench/loop.ts) until its last row is stored. */
export async function runLoop(
  file: string,
  job: LoopJob,
  home: string,
): Promise<Indexed & LoopResult> {
  const logFile = join(home, `loop-${Date.now()}.log`)
  const spawnedMs = Date.now()
  const child = await spawnChild({
    command: process.execPath,
    args: [file, JSON.stringify(job)],
    logFile,
    cwd: ROOT,
  })
  const { code } = await child.exited
  if (code !== 0) throw new Error(`running the loop: ${child.logTail().trim()}`)
  const result = JSON.parse(child.logTail()) as LoopResult
  return { ...result, ms: result.doneMs - spawnedMs }
}

/** A bare program that answers over HTTP. */
interface BareServer {
  url: string
  child: WatchedChild
}

/** Runs a bare server (scripts/bench/server.ts) until it listens. */
export const startBareServer = (kind: 'express' | 'http', home: string): Promise<BareServer> =>
  startServer(new URL('./server.ts', import.meta.url), kind, join(home, `server-${kind}.log`))

/** Runs the bare follower (scripts/bench/liveLoop.ts) until it listens. */
export const startLiveLoop = (job: LiveLoopJob, home: string): Promise<BareServer> =>
  startServer(
    new URL('./liveLoop.ts', import.meta.url),
    JSON.stringify(job),
    join(home, 'live-loop.log'),
  )

async function startServer(source: URL, argument: string, logFile: string): Promise<BareServer> {
  const args = [...nodeArgs(fileURLToPath(source)), argument]
  const child = await spawnChild({ command: process.execPath, args, logFile, cwd: ROOT })
  const address = /^http:\S+$/m
  await waitForCondition(
    () => child.hasExited() || address.test(child.logTail()),
    START_DEADLINE_MS,
    POLL_MS,
  )
  const url = address.exec(child.logTail())?.[0]
  if (!url) throw new Error(`starting ${source.pathname}: ${child.logTail().trim()}`)
  return { url, child }
}
