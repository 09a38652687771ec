/**
 * `npm run bench:airdrop`: loads an airdrop by the command line, then reads the claims of bundles from the daemon,
 * beside a bare indexed query of the same accounts in the same run. docs/benchmarks.md says what is measured.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import bs58 from 'bs58'
import pg from 'pg'
import { generatePrivateKey } from 'viem/accounts'
import { setDistributor } from '../src/db/airdrop/airdrops.js'
import { findOpenAirdrop } from '../src/db/airdrop/answers.js'
import { proofSteps } from '../src/db/airdrop/pages.js'
import { createPool } from '../src/db/pg/pool.js'
import { parseAddress } from '../src/registry/primitives/address.js'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { spawnChild } from '../src/testing/processes/processes.js'
import { ask, timed } from './bench/ask.js'
import { type Bench, type Latency, latencyOf, peakMemoryKib, printTable, runBench, thousands } from './bench/bench.js'
import { type Bundle, makeBundle } from './bench/bundle.js'
import { fillChain } from './bench/chain.js'
import { byRun, recordFigure } from './bench/figure.js'
import { nodeArgs, prepareBench, startDaemonProcess, waitUntilCaughtUp, waitUntilIndexed } from './bench/programs.js'

const COMMUNITY = 'bench'
/** Registrations on the chain: the daemon needs one to follow, the measurement doesn't. */
const REGISTRATIONS = 100
const WARM_UP = 50
const MEMORY_POLL_MS = 20
const USAGE = `usage: npm run bench:airdrop -- [options]
  --leaves <n>    of the airdrop (default 1000000)
  --wallets <n>   of a bundle (default 100)
  --bundles <n>   that ask in turn (default 3)
  --rounds <n>    look-ups, and bare queries between them (default 1000)
  --profile <dir> a CPU profile of the daemon
  --cli <file>    another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    leaves: { type: 'string', default: '1000000' },
    wallets: { type: 'string', default: '100' },
    bundles: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '1000' },
    profile: { type: 'string' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [leaves, wallets, bundleCount, rounds] = [values.leaves, values.wallets, values.bundles, values.rounds].map(
  Number,
) as [...[number, number, number, number]]
const isGood = [leaves, wallets, bundleCount, rounds].every((n) => Number.isSafeInteger(n) && n > 0)
if (values.help || !isGood || leaves < wallets * bundleCount) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const chain = await fillChain(home, REGISTRATIONS)
  onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, 'airdrop')
  const env = { AIRDROP_OPERATOR_PRIVATE_KEY: generatePrivateKey() }
  const profiling = values.profile ? { profileDir: resolve(values.profile) } : {}
  const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl, env, ...profiling })
  onEnd(() => daemon.stop())
  await waitUntilIndexed(daemon, chain, databaseUrl)
  await waitUntilCaughtUp(databaseUrl)

  const bundles: Bundle[] = []
  for (let i = 0; i < bundleCount; i++) bundles.push(await makeBundle(daemon.api, wallets))
  const file = join(home, 'airdrop.csv')
  await writeFile(
    file,
    bundles.flatMap(({ addresses }) => addresses),
  )
  await load(cli, file, home, databaseUrl)
  await deployNowhere(databaseUrl)
  await lookUp(daemon.api, databaseUrl, bundles)
}

/** A file of random accounts, every other one of Solana, with those of the bundles spread among them. */
async function writeFile(file: string, among: readonly string[]): Promise<void> {
  const stream = createWriteStream(file)
  stream.write('address,amount\n')
  const every = Math.floor(leaves / among.length)
  for (let i = 0; i < leaves; i++) {
    const ours = i % every === 0 ? among[i / every] : undefined
    const other = i % 2 === 0 ? `0x${randomBytes(20).toString('hex')}` : bs58.encode(randomBytes(32))
    const row = `${ours ?? other},${randomInt(1, 2 ** 47)}000000000\n`
    if (!stream.write(row)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}

async function load(cli: string, file: string, home: string, databaseUrl: string): Promise<void> {
  const startedMs = performance.now()
  const args = [...nodeArgs(cli), 'airdrop', 'load', file, '--community', COMMUNITY, '--chain', '1']
  const env = { ...process.env, CLUSTERD_HOME: home, DATABASE_URL: databaseUrl }
  const child = await spawnChild({ command: process.execPath, args, logFile: join(home, 'load.log'), env })
  let peakKib = 0
  const poll = setInterval(() => {
    if (!child.hasExited()) peakKib = Math.max(peakKib, memoryOf(child.pid))
  }, MEMORY_POLL_MS)
  const { code } = await child.exited
  clearInterval(poll)
  if (code !== 0) throw new Error(`loading: ${child.logTail().trim()}`)
  const seconds = (performance.now() - startedMs) / 1_000
  console.log(
    `loaded ${thousands(leaves)} accounts in ${seconds.toFixed(1)} s: ${thousands(leaves / seconds)} per second, peak ${thousands(peakKib / 1_024)} MiB`,
  )
}

/** Peak memory of a process in KiB, 0 where the process is just ending. */
function memoryOf(pid: number): number {
  try {
    return peakMemoryKib(pid)
  } catch {
    return 0
  }
}

/** Sets a distributor, so that answers hold transactions; nothing asks whether the chain has the contract. */
async function deployNowhere(databaseUrl: string): Promise<void> {
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'bench' })
  const endsAtS = Math.floor(Date.now() / 1_000) + 86_400
  const [distributor, token] = [Buffer.alloc(20, 0xd1), Buffer.alloc(20, 0x70)]
  await setDistributor(pool, 'mainnet', COMMUNITY, { label: '1', distributor, token, endsAtS, fromBlock: 1 })
  await pool.end()
}

/** Lower bound of a look-up: the same accounts by their index alone. */
const BARE = {
  name: 'bare',
  text: 'SELECT account, index, amount FROM airdrop_allocations WHERE network = 0 AND airdrop = $1 AND account = ANY($2)',
}

/** Lower bound of a look-up with proofs: the pages that hold them, whole. */
const BARE_PAGES = {
  name: 'bare_pages',
  text: 'SELECT page, nodes FROM airdrop_pages WHERE network = 0 AND airdrop = $1 AND page = ANY($2)',
}

async function pagesOf(client: pg.Client, airdrop: number, accounts: readonly Buffer[]): Promise<number[]> {
  const { rows } = await client.query<{ position: number }>(
    'SELECT position FROM airdrop_allocations WHERE network = 0 AND airdrop = $1 AND account = ANY($2)',
    [airdrop, accounts],
  )
  return [...new Set(rows.flatMap(({ position }) => proofSteps(position).map(({ page }) => page)))]
}

async function lookUp(api: string, databaseUrl: string, bundles: readonly Bundle[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const airdrop = (await findOpenAirdrop(client, 'mainnet', COMMUNITY))!
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const accounts = bundles.map(({ addresses }) => addresses.map(storedOf))
  const pages: number[][] = []
  for (const of of accounts) pages.push(await pagesOf(client, airdrop.airdrop, of))
  const times = { bare: [] as number[], pages: [] as number[], look: [] as number[] }
  let bytes = 0
  for (let round = -WARM_UP; round < rounds; round++) {
    const which = (round + WARM_UP) % bundles.length
    const { token } = bundles[which]!
    const bareMs = await timed(async () => {
      const { rows } = await client.query({ ...BARE, values: [airdrop.airdrop, accounts[which]] })
      if (rows.length !== wallets) throw new Error(`asking bare: ${rows.length} rows`)
    })
    const pagesMs = await timed(async () => {
      await client.query({ ...BARE_PAGES, values: [airdrop.airdrop, pages[which]] })
    })
    let answer = ''
    const lookMs = await timed(async () => {
      answer = await ask(agent, `${api}/v1/airdrop/claim/${COMMUNITY}`, { token })
    })
    // wrong answers may be quick ones
    if (round <= 0) check(answer)
    bytes = Math.max(bytes, answer.length)
    if (round < 0) continue
    times.bare.push(bareMs)
    times.pages.push(pagesMs)
    times.look.push(lookMs)
  }
  agent.destroy()
  await client.end()
  const [bare, look] = [latencyOf(times.bare), latencyOf(times.look)]
  console.log(
    `bundles of ${wallets} wallets among ${thousands(leaves)} leaves, ${thousands(rounds)} rounds, one after another; an answer has ${thousands(bytes / 1_024)} KiB`,
  )
  printTable([
    ['', 'p50 ms', 'p99 ms'],
    ['bare indexed query', ...shown(bare)],
    ['bare query of the pages', ...shown(latencyOf(times.pages))],
    ['GET /v1/airdrop/claim/:community', ...shown(look)],
  ])
  recordFigure({
    title: 'GET /v1/airdrop/claim/:community, p50',
    floor: 'bare indexed query',
    ratios: byRun(look.fifths, bare.fifths),
  })
  console.log(`ratio at p50 ${(look.p50 / bare.p50).toFixed(2)}, at p99 ${(look.p99 / bare.p99).toFixed(2)}`)
}

function check(text: string): void {
  const { claims } = JSON.parse(text) as { claims: { proof: string[]; transaction?: object }[] }
  const isWhole = claims.length === wallets && claims.every(({ transaction }) => transaction !== undefined)
  if (!isWhole) throw new Error(`looking up: not every claim has a transaction: ${text.slice(0, 400)}`)
}

function storedOf(text: string): Buffer {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(`${text}: ${address}`)
  return address.bytes
}

const shown = ({ p50, p99 }: Latency): string[] => [p50.toFixed(2), p99.toFixed(2)]

await runBench(main)
