import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { sealKeystore } from '../../src/config/index.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { type Postgres, type Stack, startPostgres, startStack } from '../../src/testing/index.js'
import { freePort } from '../../src/testing/processes/ports.js'
import { databaseUrl } from '../../src/testing/processes/postgres.js'
import { spawnChild, waitFor } from '../../src/testing/processes/processes.js'
import { LOCAL_KEYS } from '../../src/testing/stackParts.js'
import { operatorAccount } from '../../src/testing/world.js'
import { runCli } from '../../test/support/cli.js'
import { type ClusterdProcess, startClusterd } from '../../test/support/clusterdProcess.js'
import { startReplica } from '../../test/support/replica.js'
import type { Bench } from '../bench/bench.js'
import { initStatements, interpolate, placed, read, readCompose, type Service, settingsOf } from './files.js'

/** As init.sql names it. */
const DATABASE = 'clusterd'
const PASSWORD = 'topology'
const NOBODY = 65_534
const START_LIMIT_MS = 20_000
const STOP_GRACE_MS = 5_000

/** Everything that compose.yaml names, as processes on this machine. */
export interface Installation {
  stack: Stack<'mainnet'>
  primary: Postgres
  replica: Postgres
  /** URL of the installation's database on the primary, of its superuser. */
  database: string
  /** By their services: api-1, worker-1, … */
  processes: Record<string, ClusterdProcess>
  /** HAProxy before the API, and its metrics. */
  api: string
  haproxyMetrics: string
}

/** Starts all of it, in compose's order. */
export async function install({ home, onEnd }: Bench, log: (line: string) => void): Promise<Installation> {
  const services = readCompose()
  const { primary, replica } = await startServers(home, services, onEnd)
  // its daemon has a database of its own, and ends once the chain is made
  const stack = await startStack({ chains: ['1'], seeds: false, blockMs: 500, databaseUrl: primary.url })
  onEnd(() => stack.stop())
  await stack.daemon.kill('SIGTERM')
  log('PostgreSQL, its replica and a chain run')
  const ours = Object.keys(services).filter((name) => /^(api|worker)-/.test(name))
  const ports = new Map<string, number>([
    ...[['postgres:5432', primary.port] as const, ['replica:5432', replica.port] as const],
    ['pgbouncer:6432', await freePort()],
  ])
  await startPooler(home, ports, onEnd)
  const environmentOf = environments(home, stack, ports)
  const said = await runCli(services.migrate!.command, environmentOf(services.migrate!))
  log(`migrate: ${said.trim().split('\n').length} applied`)
  const started = await Promise.all(
    ours.map(async (name) => {
      const service = services[name]!
      const one = await startClusterd(environmentOf(service), { args: service.command.slice(1) })
      onEnd(() => one.end())
      await one.ready()
      return [name, one] as const
    }),
  )
  log(`${ours.length} processes of clusterd are ready`)
  const processes = Object.fromEntries(started)
  const balancer = await startBalancer(home, processes, onEnd)
  return { stack, primary, replica, processes, database: databaseUrl(primary.url, DATABASE), ...balancer }
}

async function startServers(home: string, services: Record<string, Service>, onEnd: Bench['onEnd']) {
  chmodSync(home, 0o755)
  const hbaFile = join(home, 'pg_hba.conf')
  // the replica's copy is made over loopback too
  writeFileSync(hbaFile, `${read('pg_hba.conf')}host replication all 127.0.0.1/32 trust\n`)
  const settings = { ...settingsOf(services.postgres!), hba_file: hbaFile }
  const primary = await startPostgres({ dataDir: join(home, 'primary'), settings })
  onEnd(() => primary.stop())
  const [server, database] = initStatements(PASSWORD)
  await run(primary.url, server)
  await run(databaseUrl(primary.url, DATABASE), database)
  const replica = await startReplica(primary, join(home, 'replica'))
  onEnd(() => replica.stop())
  return { primary, replica }
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** The environment of a service: compose's, with keys of the local world, as `clusterd init` writes them. */
function environments(home: string, stack: Stack<'mainnet'>, places: ReadonlyMap<string, number>) {
  const chains = join(home, 'chains.json')
  copyFileSync(join(stack.home, 'chains.json'), chains)
  const relayer = operatorAccount('relayer')
  const [keystore, passwordFile] = [join(home, 'relayer-keystore.json'), join(home, 'relayer-password')]
  writeFileSync(keystore, sealKeystore(fromHex(relayer.privateKey), PASSWORD, relayer.address))
  writeFileSync(passwordFile, PASSWORD)
  const file = { ...LOCAL_KEYS, POSTGRES_PASSWORD: PASSWORD }
  const keys = { RELAYER_KEYSTORE: keystore, RELAYER_PASSWORD_FILE: passwordFile }
  const own = { CLUSTERD_CHAINS: chains, CLUSTERD_HOME: home, HOST: '127.0.0.1', OPS_HOST: '127.0.0.1' }
  return ({ environment }: Service): Record<string, string> => {
    const set = Object.entries(environment).map(([name, value]) => [
      name,
      placed(interpolate(value, { ...file, ...keys }), places),
    ])
    return { ...Object.fromEntries(set), ...own, LOG_FORMAT: 'json' }
  }
}

/** Starts a Debian program in the foreground, as somebody who is not root. */
async function startProgram(home: string, command: string, args: string[], isUp: (log: string) => boolean) {
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const logFile = join(home, `${command.split('/').at(-1)}.log`)
  const child = await spawnChild({ command, args, logFile, cwd: '/', ...ids })
  const isOver = () => child.hasExited() || isUp(child.logTail())
  if (!(await waitFor(isOver, START_LIMIT_MS)) || child.hasExited())
    throw new Error(`starting ${command}: ${child.logTail()}`)
  return child
}

async function startPooler(home: string, places: ReadonlyMap<string, number>, onEnd: Bench['onEnd']): Promise<void> {
  const [file, users] = [join(home, 'pgbouncer.ini'), join(home, 'userlist.txt')]
  const text = placed(read('pgbouncer.ini'), places)
    .replace('listen_addr = *', 'listen_addr = 127.0.0.1')
    .replace('listen_port = 6432', `listen_port = ${places.get('pgbouncer:6432')}`)
    .replace('/tmp/userlist.txt', users)
  writeFileSync(file, text)
  writeFileSync(users, ['clusterd', 'clusterd_api'].map((role) => `"${role}" "${PASSWORD}"\n`).join(''))
  const child = await startProgram(home, '/usr/sbin/pgbouncer', [file], (log) => log.includes('process up'))
  onEnd(() => child.end('SIGINT', STOP_GRACE_MS))
}

async function startBalancer(home: string, processes: Record<string, ClusterdProcess>, onEnd: Bench['onEnd']) {
  const [port, metricsPort] = [await freePort(), await freePort()]
  let text = read('haproxy.cfg')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('bind :8404', `bind 127.0.0.1:${metricsPort}`)
  for (const [name, { api, ops }] of Object.entries(processes)) {
    const check = `check port ${new URL(ops).port}`
    text = text.replace(`${name}:3000`, `${new URL(api).host} ${check}`)
  }
  const file = join(home, 'haproxy.cfg')
  writeFileSync(file, text)
  const child = await startProgram(home, '/usr/sbin/haproxy', ['-db', '-f', file], () => true)
  onEnd(() => child.end('SIGINT', STOP_GRACE_MS))
  const [api, haproxyMetrics] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}/metrics`]
  const answers = () =>
    fetch(`${api}/v1/events`)
      .then(({ ok }) => ok)
      .catch(() => false)
  if (!(await waitFor(answers, START_LIMIT_MS))) throw new Error(`HAProxy finds no API: ${child.logTail()}`)
  return { api, haproxyMetrics }
}
