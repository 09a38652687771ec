/**
 * `npm run bench:peers`: one chain of `Bid` logs through clusterd, a bare loop, Ponder and Envio, each with its own
 * PostgreSQL. Ponder and Envio are installed from npm into a temporary folder. docs/measure/benchmarks.md says what is
 * measured.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { stringToHex } from 'viem'
import { createDatabase, type Postgres, startPostgres } from '../src/testing/processes/postgres.js'
import type { WatchedChild } from '../src/testing/processes/processes.js'
import {
  type Bench,
  describeMachine,
  type Latency,
  latencyOf,
  printTable,
  runBench,
  thousands,
  treeCpuMs,
  treePeakKib,
} from './bench/bench.js'
import { type BenchChain, CHAIN_ID, fillChain, nameOf, walletOf } from './bench/chain.js'
import { writeTable } from './bench/page.js'
import { installEnvio } from './bench/peers/envio.js'
import type { Peer, PeerJob } from './bench/peers/peer.js'
import { installPonder } from './bench/peers/ponder.js'
import {
  buildBare,
  buildDaemon,
  runLoop,
  startDaemonProcess,
  startLiveLoop,
} from './bench/programs.js'

const BLOCK_MS = 200
const PER_BLOCK = 5
/** Pause after a catch-up, so that a program's remaining work for it does not count as latency of the head. */
const SETTLE_MS = 10_000
/** Number of first blocks at the head that are not counted. */
const WARM_UP = 5
/** Empty blocks on top of the last log, after which Ponder treats it as final and reads it in ranges. */
const FINAL_BLOCKS = 40
/** Interval of polls for the last row of the catch-up. */
const CATCH_UP_POLL_MS = 50
/** Interval of polls for the last row of a new block. */
const LIVE_POLL_MS = 2
const GIVE_UP_MS = 10 * 60_000
const USAGE = `usage: npm run bench:peers -- [options]
  --registrations <n>  in the chain (default 50000)
  --blocks <n>         that are followed at the head (default 50)
  --only <names>       of clusterd, loop, ponder and envio, with commas between (default all)
  --hold               write the table to docs/measure/performance.md`

const { values } = parseArgs({
  options: {
    registrations: { type: 'string', default: '50000' },
    blocks: { type: 'string', default: '50' },
    only: { type: 'string', default: 'clusterd,loop,ponder,envio' },
    hold: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const registrations = Number(values.registrations)
const blocks = Number(values.blocks)
if (values.help || ![registrations, blocks].every((n) => Number.isSafeInteger(n) && n > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

/** Cost of a catch-up. Processor times are sums over whole process trees. */
interface CatchUp {
  ms: number
  cpuMs: number
  serverCpuMs: number
  peakKib: number
}

/** PostgreSQL of one measured program, and the chain that the program reads. */
interface Site {
  home: string
  chain: BenchChain
  postgres: Postgres
  databaseUrl: string
}

interface Contender {
  title: string
  stores: string
  checks: string
  /** How the program learns of a new block. */
  follows: string
  measure(site: Site): Promise<{ catchUp: CatchUp; live: Latency }>
}

const wordOf = (n: number) => stringToHex(nameOf(n), { size: 32 })

/** True once a query has a row. False also while its table does not exist. */
async function hasRow(client: pg.Client, query: string, key: string): Promise<boolean> {
  try {
    return (await client.query(query, [key])).rowCount === 1
  } catch (error) {
    const { code } = error as pg.DatabaseError
    // undefined_table, invalid_schema_name
    if (code === '42P01' || code === '3F000') return false
    throw error
  }
}

/** Connects to a database. A lost connection is not reported as an event, but by the next query. */
async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Where a program stores a registration: SQL that has a row once the registration of key $1 is stored. */
interface Stored {
  query: string
  keyOf(n: number): string
}

/** Waits until a program has stored the last registration. */
async function catchUpOf(
  { postgres, databaseUrl }: Site,
  program: WatchedChild,
  stored: Stored,
  startedMs: number,
): Promise<CatchUp> {
  const client = await connect(databaseUrl)
  try {
    while (!(await hasRow(client, stored.query, stored.keyOf(registrations - 1)))) {
      if (program.hasExited()) throw new Error(`it ended: ${program.logTail().trim().slice(-300)}`)
      if (Date.now() - startedMs > GIVE_UP_MS) throw new Error('it did not catch up in 10 minutes')
      await sleep(CATCH_UP_POLL_MS)
    }
    return {
      ms: Date.now() - startedMs,
      cpuMs: treeCpuMs(program.pid),
      serverCpuMs: treeCpuMs(postgres.pid),
      peakKib: treePeakKib(program.pid),
    }
  } finally {
    await client.end()
  }
}

/** Mines blocks, and polls the program's table for the last registration of each block. @returns the delays */
async function liveOf({ chain, databaseUrl }: Site, { query, keyOf }: Stored): Promise<Latency> {
  const client = await connect(databaseUrl)
  const delays: number[] = []
  await sleep(SETTLE_MS)
  for (let block = -WARM_UP; block < blocks; block++) {
    const startedMs = performance.now()
    const last = await chain.mineBids(PER_BLOCK)
    const minedMs = performance.now()
    while (!(await hasRow(client, query, keyOf(last)))) {
      if (performance.now() - minedMs > GIVE_UP_MS) throw new Error('it does not follow the head')
      await sleep(LIVE_POLL_MS)
    }
    if (block >= 0) delays.push(performance.now() - minedMs)
    await sleep(Math.max(0, BLOCK_MS - (performance.now() - startedMs)))
  }
  await client.end()
  return latencyOf(delays)
}

const clusterd = (cli: string): Contender => ({
  title: 'clusterd',
  stores: 'journal entry, name, cluster, wallet, events',
  checks: "each log by the contract's running hash",
  follows: 'WebSocket',
  async measure(site) {
    const stored = { query: 'SELECT FROM names WHERE name = $1', keyOf: nameOf }
    const daemon = await startDaemonProcess({ cli, ...site })
    try {
      const catchUp = await catchUpOf(site, daemon.child, stored, daemon.spawnedMs)
      return { catchUp, live: await liveOf(site, stored) }
    } finally {
      await daemon.stop()
    }
  },
})

/** The bare loop. It ends with its last row, so a bare follower (liveLoop.ts) is then started at the head. */
const bareLoop = (program: string): Contender => ({
  title: 'a loop of viem',
  stores: 'one row',
  checks: 'nothing',
  follows: 'WebSocket',
  async measure(site) {
    const { chain, databaseUrl, home, postgres } = site
    const { rpcUrl, hub, startBlock, lastBlock, anvil } = chain
    const job = { rpcUrl, hub, startBlock, lastBlock, databaseUrl }
    const { ms, cpuMs, peakKib } = await runLoop(program, job, home)
    const catchUp = { ms, cpuMs, serverCpuMs: treeCpuMs(postgres.pid), peakKib }
    const follower = await startLiveLoop({ rpcUrl, wsUrl: anvil.wsUrl, hub, databaseUrl }, home)
    try {
      const stored = { query: 'SELECT FROM live WHERE wallet = $1', keyOf: walletOf }
      return { catchUp, live: await liveOf(site, stored) }
    } finally {
      await follower.child.end('SIGTERM', 1_000)
    }
  },
})

const peerOf = (peer: Peer): Contender => ({
  ...peer,
  async measure(site) {
    const { chain, databaseUrl, home } = site
    const { rpcUrl, hub, startBlock, anvil } = chain
    const logFile = join(home, `peer-${Date.now()}.log`)
    const { wsUrl } = anvil
    const job: PeerJob = { rpcUrl, wsUrl, chainId: CHAIN_ID, hub, startBlock, databaseUrl, logFile }
    await peer.prepare?.(job)
    const startedMs = Date.now()
    const child = await peer.start(job)
    const stored = { query: peer.query, keyOf: (n: number) => peer.keyOf(wordOf(n)) }
    try {
      const catchUp = await catchUpOf(site, child, stored, startedMs)
      return { catchUp, live: await liveOf(site, stored) }
    } finally {
      await child.end('SIGTERM', 5_000)
    }
  },
})

const HEAD = [
  '',
  'rows/s',
  'processor, s',
  'its PostgreSQL, s',
  'MiB',
  'live p50, ms',
  'p99, ms',
  'follows the head by',
  'stores',
  'checks',
]

const rowOf = (
  { title, follows, stores, checks }: Contender,
  { catchUp, live }: { catchUp: CatchUp; live: Latency },
): string[] => [
  title,
  thousands((registrations * 1_000) / catchUp.ms),
  (catchUp.cpuMs / 1_000).toFixed(1),
  (catchUp.serverCpuMs / 1_000).toFixed(1),
  (catchUp.peakKib / 1_024).toFixed(0),
  live.p50.toFixed(1),
  live.p99.toFixed(1),
  follows,
  stores,
  checks,
]

/** Table row of a program that can't run on this machine. */
const absentRow = (title: string, error: unknown): string[] => [
  title,
  ...Array.from({ length: HEAD.length - 3 }, () => '-'),
  `can't run here: ${(error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 160)}`,
  '-',
]

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const scratch = (name: string) => {
    const folder = join(home, name)
    mkdirSync(folder)
    return folder
  }
  const makers: Record<string, () => Promise<Contender>> = {
    clusterd: async () => clusterd(await buildDaemon(onEnd)),
    loop: async () => bareLoop(buildBare(onEnd)),
    ponder: async () => peerOf(await installPonder(scratch('ponder'))),
    envio: async () => peerOf(await installEnvio(scratch('envio'))),
  }
  let machine = ''
  const rows: string[][] = []
  for (const name of values.only.split(',')) {
    try {
      const make = makers[name]
      if (!make)
        throw new Error(`--only: "${name}" is not one of ${Object.keys(makers).join(', ')}`)
      const contender = await make()
      const chainHome = scratch(`${name}-run`)
      // a separate chain with equal logs for each: the blocks that one program follows at the head are not in another's
      // catch-up
      const chain = await fillChain(chainHome, registrations, 0, { blocks: 0 })
      onEnd(() => chain.anvil.stop())
      for (let empty = 0; empty < FINAL_BLOCKS; empty++) await chain.mineBids(0)
      const postgres = await startPostgres({ dataDir: join(chainHome, 'pg') })
      onEnd(() => postgres.stop())
      machine ||= await describeMachine(postgres.url)
      const databaseUrl = await createDatabase(postgres.url, 'peer')
      const found = await contender.measure({ home: chainHome, chain, postgres, databaseUrl })
      rows.push(rowOf(contender, found))
      await postgres.stop()
      await chain.anvil.stop()
    } catch (error) {
      rows.push(absentRow(name, error))
    }
    console.log(rows.at(-1)!.join('  '))
  }
  console.log(`\n${machine}, ${thousands(registrations)} logs`)
  printTable([HEAD, ...rows])
  if (values.hold)
    writeTable('peers', `${thousands(registrations)} logs. ${machine}`, [HEAD, ...rows])
}

await runBench(main)
