/**
 * `npm run topology`: what examples/deploy/topology/compose.yaml names, as processes on this machine, from the same
 * files: primary and replica, pgbouncer, two processes that index and relay, three of the API behind HAProxy. Visitors
 * go through HAProxy while a process of the API is stopped, one is killed, and so is the leading indexer. Exit code 1
 * where one of them notices.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../src/testing/index.js'
import { startBuiltPrograms } from '../test/setup/built.js'
import { freshWallet, registerOn } from '../test/support/world.js'
import { type Bench, describeMachine, latencyOf, printTable, runBench, thousands } from './bench/bench.js'
import { type Answered, buyerOf, lookUps, memberOf } from './siege/honest.js'
import { type Installation, install } from './topology/installation.js'
import { type Follower, finalized, flood, follow, waits, wholeFeed } from './topology/visitors.js'

startBuiltPrograms('topology')

const [QUIET_MS, PAUSE_MS] = [32_000, 4_000]
const SAMPLE_MS = 500
/** pgbouncer.ini: max_db_connections. */
const POOLED = 40

const missing = ['/usr/sbin/haproxy', '/usr/sbin/pgbouncer'].filter((file) => !existsSync(file))
if (missing.length > 0) {
  console.log(`npm run topology needs ${missing.join(' and ')} (apt install haproxy pgbouncer)`)
  process.exit(2)
}

const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)
const started = performance.now()

/** Connections at the primary by what opened them, at most. */
async function watchConnections(database: string, signal: AbortSignal): Promise<Map<string, number>> {
  const most = new Map<string, number>()
  const client = new pg.Client({ connectionString: database, application_name: 'topology' })
  await client.connect()
  while (!signal.aborted) {
    const { rows } = await client.query<{ name: string; count: number }>(
      `SELECT usename || ', ' || application_name AS name, count(*)::int FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> 'topology' GROUP BY 1`,
    )
    const pooled = rows.filter(({ name }) => /clusterd (read|write) /.test(name))
    const all = [
      ...rows,
      { name: 'through pgbouncer', count: pooled.reduce((sum, { count }) => sum + count, 0) },
      { name: 'all', count: rows.reduce((sum, { count }) => sum + count, 0) },
    ]
    for (const { name, count } of all) most.set(name, Math.max(most.get(name) ?? 0, count))
    await sleep(SAMPLE_MS)
  }
  await client.end()
  return most
}

/** Stops, kills and starts processes again. @returns what did not go as promised */
async function disturb({ processes }: Installation): Promise<string[]> {
  const restart = async (name: string, signal: NodeJS.Signals) => {
    const one = processes[name]!
    const code = await one.end(signal)
    say(`${name} ended by ${signal}${signal === 'SIGTERM' ? ` with code ${code}` : ''}`)
    await sleep(PAUSE_MS)
    await one.start()
    await one.ready()
    say(`${name} is back`)
    await sleep(PAUSE_MS)
    return signal === 'SIGTERM' && code !== 0 ? [`${name} ended with code ${code}`] : []
  }
  const leads = async (name: string) =>
    (await processes[name]!.metric('clusterd_leader')).some((line) => / 1$/.test(line))
  const leader = (await leads('worker-1')) ? 'worker-1' : 'worker-2'
  const standby = leader === 'worker-1' ? 'worker-2' : 'worker-1'
  const broken = [...(await restart('api-1', 'SIGTERM')), ...(await restart(leader, 'SIGKILL'))]
  if (!(await leads(standby))) broken.push(`${standby} did not take the lead`)
  return [...broken, ...(await restart('api-2', 'SIGKILL')), ...(await restart(standby, 'SIGTERM'))]
}

function row(name: string, { ms, failed }: Answered): string[] {
  const { p50, p99 } = latencyOf(ms)
  const times = [p50, p99, Math.max(...ms)].map((time) => time.toFixed(time < 100 ? 1 : 0))
  return [name, thousands(ms.length), ...times, String(failed.length)]
}

const broken: string[] = []
const expect = (isKept: boolean, sentence: string): void => void (isKept || broken.push(sentence))

/** What HAProxy counted of its servers. */
async function balance({ haproxyMetrics }: Installation): Promise<void> {
  const text = await (await fetch(haproxyMetrics)).text()
  const sum = (metric: string, label = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`haproxy_server_${metric}{`) && line.includes(label))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
  const shares = [1, 2, 3].map((n) => sum('http_responses_total', `server="api-${n}"`))
  const again = [sum('retry_warnings_total'), sum('redispatch_warnings_total')]
  console.log(
    `HAProxy sent ${shares.map(thousands).join(', ')} to api-1 … api-3; ${again[0]} retried, ${again[1]} sent elsewhere`,
  )
  for (const [i, share] of shares.entries()) expect(share > 0, `api-${i + 1} was sent nothing`)
}

async function judgeFeed({ api }: Installation, follower: Follower): Promise<void> {
  const all = await wholeFeed(api)
  await follower.upTo(all.length)
  console.log(`feed: ${follower.got.length} events by ${follower.streams()} streams, ${all.length} in its pages`)
  expect(JSON.stringify(follower.got) === JSON.stringify(all), 'streams and pages of the feed differ')
  expect(follower.failed.length === 0, `feed: ${follower.failed[0]}`)
}

async function main(bench: Bench): Promise<void> {
  const at = await install(bench, say)
  say(`all is up after ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  console.log(await describeMachine(at.database))
  await until.ready({ ops: at.processes['api-1']!.ops })
  const { hub } = at.stack.networks.mainnet
  const [change, buy] = [await memberOf(at.api, '127.0.2.2'), await buyerOf(at.api, '127.0.2.3', hub)]
  const end = new AbortController()
  const follower = follow(at.api)
  bench.onEnd(() => follower.upTo(0))
  const seed = { name: 'known', owner: `0x${'11'.repeat(20)}` }
  const buyer = await freshWallet('mainnet', at.stack)
  await finalized(at.api, await registerOn('1', buyer, [{ name: seed.name }], { ...at.stack, api: at.api }))
  const work = Promise.all([
    lookUps(at.api, '127.0.2.1', seed, end.signal),
    change(end.signal),
    waits(at.api, end.signal),
    buy(end.signal),
    watchConnections(at.database, end.signal),
  ])
  await sleep(QUIET_MS)
  broken.push(...(await disturb(at)))
  end.abort()
  const [looked, changed, waited, bought, connections] = await work
  await Promise.all(bought.hashes.map((tx) => finalized(at.api, tx)))
  const { refused, beside } = await flood(at.api, '127.0.2.8', '127.0.2.9')

  printTable([
    ['through HAProxy', 'answers', 'p50 ms', 'p99 ms', 'longest ms', 'failed'],
    ...[row('look-ups', looked), row('signed changes', changed), row('waits for a status', waited)],
    ['registrations, all finalized', String(bought.hashes.length), '', '', '', String(bought.failed.length)],
  ])
  printTable([
    ['connections at the primary', 'at most'],
    ...[...connections].toSorted(([a], [b]) => a.localeCompare(b)).map(([name, count]) => [name, String(count)]),
  ])
  await balance(at)
  await judgeFeed(at, follower)
  console.log(`one address asked too much: ${refused} refused; its neighbour behind HAProxy got ${beside}`)
  // of a killed process's changes nobody knows whether they were made: those alone are not sent again
  const inFlight = changed.failed.filter((text) => /: 502 |: socket hang up$/.test(text))
  for (const { failed } of [looked, waited, bought]) expect(failed.length === 0, `failed: ${failed[0]}`)
  expect(changed.failed.length === inFlight.length && inFlight.length <= 1, `failed: ${changed.failed[0]}`)
  expect(Math.max(...waited.ms) > 29_000, 'no wait lasted as long as it may')
  expect(connections.get('through pgbouncer')! <= POOLED, 'pgbouncer opened more connections than it may')
  expect(refused > 0 && beside === 404, 'an address was not told from its neighbour')
  for (const sentence of broken) console.log(`BROKEN: ${sentence}`)
  if (broken.length > 0) process.exitCode = 1
}

await runBench(main)
