/**
 * `npm run walks`: prints the files of src through which three requests pass, in a real daemon on a local chain: a Bid
 * log from its block to the committed rows, the look-up of an address, and a signed change.
 *
 * A file belongs to a walk if one of its functions is called by most of the requests, as V8 counts calls. Coverage does
 * not say which function calls which, so files are counted and hops are not. Loops that run anyway are subtracted: each
 * request is followed by an idle pause of the same length.
 */
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createTestClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { readConfig } from '../src/config/index.js'
import { startDaemon } from '../src/daemon/index.js'
import { createLogger } from '../src/ops/logger/logger.js'
import { startPostgres } from '../src/testing/processes/postgres.js'
import { LOCAL_SECRET_KEYS } from '../src/testing/stackParts.js'
import { signIn } from '../test/support/signIn.js'
import { ask } from './bench/ask.js'
import { type Bench, runBench } from './bench/bench.js'
import { type BenchChain, fillChain, walletOf } from './bench/chain.js'

const REGISTRATIONS = 200
/** Requests before the counted ones, so that modules are loaded and caches are filled. */
const WARM_UP = 3
/** Counted rounds of each walk, and requests of a round: what happens only now and then is less than once a request. */
const ROUNDS = 4
const REQUESTS = 5
/** Shared ground of all walks: the driver, loops and clocks, values. A file of it is no step of a walk. */
const GROUND = ['db/pg/', 'ops/', 'registry/primitives/', 'registry/forms/']
/** Pause between two blocks, so that the daemon reads them one by one, ms. */
const BLOCK_PAUSE_MS = 300
/** Pause after a request, in which the work ends that it caused and did not wait for, ms. */
const PAUSE_MS = 20
/** Time after which a daemon that has started rests, ms. */
const REST_MS = 2_000
const POLL_MS = 50
/** Limits that are counted but never reached. */
const LIMITS = {
  LIMIT_ADDRESS: '1000000/1000000',
  LIMIT_CHANGES_MINUTE: '1000000',
  LIMIT_CHANGES_DAY: '1000000',
}

/** `--functions` also names the functions of each file. */
const { values } = parseArgs({ options: { functions: { type: 'boolean', default: false } } })

const SRC = new URL('../src/', import.meta.url).href
/** Code of the driver of this script, which runs in the same process. */
const NOT_TRACED = ['testing/', 'client/']

/** Calls of each function, by `<file> <function>`. */
type Calls = Map<string, number>

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Takes the calls since the last time. The answer of a session on its own thread is synchronous. */
function takeCalls(): Calls {
  const calls: Calls = new Map()
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error
    for (const { url, functions } of result) {
      if (!url.startsWith(SRC)) continue
      const file = url.slice(SRC.length).split('?')[0]!
      if (NOT_TRACED.some((folder) => file.startsWith(folder))) continue
      for (const { functionName, ranges } of functions) {
        const [{ count, startOffset }] = ranges as [(typeof ranges)[0]]
        // a range from 0 on is the module itself, which runs when it is loaded
        if (count === 0 || startOffset === 0) continue
        const key = `${file} ${functionName || `(at ${startOffset})`}`
        calls.set(key, (calls.get(key) ?? 0) + count)
      }
    }
  })
  return calls
}

/**
 * Traces a request several times.
 * @returns functions by file that most rounds call at least once a request, beyond the calls of an idle pause
 */
async function trace(request: (number: number) => Promise<void>): Promise<Map<string, string[]>> {
  const rounds = new Map<string, number>()
  let number = 0
  for (; number < WARM_UP; number++) await request(number)
  for (let round = 0; round < ROUNDS; round++) {
    takeCalls()
    const startMs = performance.now()
    for (let i = 0; i < REQUESTS; i++) await request(number++)
    const busy = takeCalls()
    const tookMs = performance.now() - startMs
    await sleep(PAUSE_MS)
    takeCalls()
    await sleep(tookMs)
    const idle = takeCalls()
    for (const [key, calls] of busy)
      if (calls - (idle.get(key) ?? 0) >= REQUESTS) rounds.set(key, (rounds.get(key) ?? 0) + 1)
  }
  const files = new Map<string, string[]>()
  for (const [key, count] of rounds) {
    if (count <= ROUNDS / 2) continue
    const [file, ...name] = key.split(' ')
    files.set(file!, [...(files.get(file!) ?? []), name.join(' ')])
  }
  return files
}

function print(walk: string, files: ReadonlyMap<string, readonly string[]>): void {
  const steps = [...files.keys()].filter((file) => !GROUND.some((room) => file.startsWith(room)))
  console.log(`\n${walk}: ${steps.length} files, and ${files.size - steps.length} of the ground`)
  for (const [file, functions] of [...files].sort(([a], [b]) => a.localeCompare(b)))
    console.log(values.functions ? `  ${file}: ${functions.join(', ')}` : `  ${file}`)
}

/** Starts a daemon with one role in this process. */
async function startRole(home: string, databaseUrl: string, role: 'index' | 'api') {
  const config = readConfig({
    ...LOCAL_SECRET_KEYS,
    ...LIMITS,
    ROLES: role,
    CLUSTERD_HOME: home,
    CLUSTERD_CHAINS: join(home, 'chains.json'),
    DATABASE_URL: databaseUrl,
    PORT: '0',
    OPS_PORT: '0',
    DRAIN_SECONDS: '0',
  })
  return startDaemon(config, createLogger({ level: 'error' }))
}

/** Functions that wait for the next commit with a journal entry, resolved in the turn in which its answer arrives. */
const waiting = new Set<() => void>()
const nextJournalCommit = () => new Promise<void>((resolve) => waiting.add(resolve))

/** Watches the driver for transactions that write the journal. */
function watchCommits(): void {
  const writers = new WeakSet<object>()
  const query = pg.Client.prototype.query as (...values: unknown[]) => unknown
  const watched = function (this: object, ...values: unknown[]): unknown {
    const [statement] = values
    const text = typeof statement === 'string' ? statement : (statement as { text?: string })?.text
    if (text?.startsWith('INSERT INTO journal_mainnet')) writers.add(this)
    const answer = query.apply(this, values)
    if (text === 'COMMIT' && writers.delete(this))
      void Promise.resolve(answer).then(() => {
        for (const resolve of waiting) resolve()
        waiting.clear()
      })
    return answer
  }
  pg.Client.prototype.query = watched as typeof pg.Client.prototype.query
}

async function waitForRows(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const text = `SELECT FROM journal_heads WHERE caught_up AND public_seq >= ${REGISTRATIONS}`
  while ((await client.query(text)).rowCount === 0) await sleep(POLL_MS)
  await client.end()
}

async function walkBids(chain: BenchChain): Promise<void> {
  const client = createTestClient({ chain: foundry, transport: http(chain.rpcUrl), mode: 'anvil' })
  const files = await trace(async () => {
    const committed = nextJournalCommit()
    await chain.mineBids(1)
    for (const _ of [1, 2]) {
      await sleep(BLOCK_PAUSE_MS)
      await client.mine({ blocks: 1 })
    }
    await committed
  })
  print('a Bid log, from its block to the committed rows', files)
}

async function walkRequests(api: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const lookUp = (n: number) => ask(agent, `${api}/v1/names/address/${walletOf(n)}`)
  print('the look-up of an address', await trace(async (n) => void (await lookUp(n))))

  const token = await signIn({ api }, generatePrivateKey())
  const change = (n: number) => {
    const address = privateKeyToAddress(generatePrivateKey())
    const body = JSON.stringify([{ address, name: `wallet-${n}` }])
    return ask(agent, `${api}/v1/clusters/wallets`, { body, token })
  }
  print('a signed change', await trace(async (n) => void (await change(n))))
  agent.destroy()
}

async function main({ home, onEnd }: Bench): Promise<void> {
  watchCommits()
  const chain = await fillChain(home, REGISTRATIONS)
  onEnd(() => chain.anvil.stop())
  const postgres = await startPostgres({ dataDir: `${home}/pg` })
  onEnd(() => postgres.stop())
  writeFileSync(join(home, 'chains.json'), JSON.stringify(chain.chainsFile))

  const indexing = await startRole(home, postgres.url, 'index')
  await waitForRows(postgres.url)
  await sleep(REST_MS)
  await walkBids(chain)
  await indexing.stop()

  const serving = await startRole(home, postgres.url, 'api')
  await sleep(REST_MS)
  await walkRequests(`http://127.0.0.1:${serving.apiPort}`)
  await serving.stop()
}

await runBench(main)
// the sockets of the stopped daemons try to reconnect
process.exit()
