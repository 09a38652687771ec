import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { choosePostgresUser, postgresCommand } from '../../src/testing/processes/postgres.js'
import {
  isProcessAlive,
  spawnChild,
  type WatchedChild,
  waitForCondition,
} from '../../src/testing/processes/processes.js'
import { queryOn } from './database.js'
import { startTcpProxy, type TcpProxy } from './tcpProxy.js'

/** Three nodes of Patroni on one machine, with etcd and HAProxy, from the files of examples/deploy/patroni. */

const EXAMPLES = join(import.meta.dirname, '../../examples/deploy/patroni')
const START_LIMIT_MS = 60_000
const HEALTHY_LIMIT_MS = 60_000
const POLL_MS = 100
const NODES = [1, 2, 3]
const PASSWORD = 'local'

/** Folder of the newest PostgreSQL that Debian or PGDG has installed; the whole of it is needed. */
const BIN_DIR = (existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [])
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .filter((dir) => existsSync(join(dir, 'pg_rewind')) && existsSync(join(dir, 'postgres')))
  .at(-1)
const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
const HAPROXY = ['haproxy', '/usr/sbin/haproxy'].find((command) => has(command, '-v'))

/** What is missing on this machine for a cluster of Patroni. Null where nothing is. */
export const missingForPatroni: string | null =
  [
    ...(has('patroni', '--version') ? [] : ['patroni']),
    ...(has('etcd', '--version') ? [] : ['etcd']),
    ...(HAPROXY ? [] : ['haproxy']),
    ...(BIN_DIR ? [] : ['postgresql']),
  ].join(', ') || null

/** A node: Patroni and the PostgreSQL that it runs. */
export interface Node {
  readonly name: string
  /** Of PostgreSQL, without anything between. */
  readonly port: number
  /** Process ids of Patroni, of PostgreSQL's first process, and of the processes that PostgreSQL has started. */
  pids(): number[]
  start(): Promise<void>
  /** As a power cut would. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Keeps its etcd, its standbys and the other nodes from hearing of it; clients reach it still. */
  isolate(): void
  heal(): void
}

/** A member as Patroni's REST API shows it. */
interface Member {
  name: string
  role: 'leader' | 'sync_standby' | 'replica'
  state: string
  timeline?: number
}

export interface PatroniCluster {
  /** The database `clusterd` through HAProxy, of a role of its own: the primary, and each node as a standby. */
  readonly primaryUrl: string
  readonly replicaUrls: readonly string[]
  readonly nodes: readonly Node[]
  members(): Promise<Member[]>
  leader(): Promise<Node>
  /** Waits for a leader with so many synchronous standbys. */
  healthy(standbys?: number): Promise<void>
  logs(): string
  stop(): Promise<void>
}

/** @param dcs timings of Patroni instead of the example's, as `ttl: 20` */
export async function startPatroni(
  dcs: Readonly<Record<string, number>> = {},
): Promise<PatroniCluster> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-patroni-'))
  const ended: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const end of ended.splice(0).reverse()) await end()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const etcdPort = await startEtcd(home, ended)
    const nodes = await Promise.all(NODES.map((number) => createNode(home, number, etcdPort, dcs)))
    for (const node of nodes) ended.push(node.stop)
    for (const node of nodes) await node.start()
    const [primaryPort, ...replicaPorts] = await startHaproxy(home, nodes, ended)
    const members = () => membersOf(nodes)
    const cluster: PatroniCluster = {
      primaryUrl: urlOf(primaryPort!, 'clusterd', 'clusterd'),
      replicaUrls: replicaPorts.map((port) => urlOf(port, 'clusterd', 'clusterd')),
      nodes,
      members,
      stop,
      logs: () =>
        NODES.map((number) => readFileSync(join(home, `node${number}.log`), 'utf8')).join('\n'),
      async leader() {
        const leader = (await members()).find(({ role }) => role === 'leader')
        return nodes.find(({ name }) => name === leader?.name)!
      },
      healthy: (standbys = 2) => waitUntilHealthy(members, standbys),
    }
    await cluster.healthy()
    await createOwner(urlOf(primaryPort!, 'postgres', 'postgres'))
    return cluster
  } catch (error) {
    await stop()
    throw error
  }
}

const urlOf = (port: number, user: string, database: string) =>
  `postgresql://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`

async function createOwner(url: string): Promise<void> {
  await queryOn(url, `CREATE ROLE clusterd LOGIN PASSWORD '${PASSWORD}'`)
  await queryOn(url, 'CREATE DATABASE clusterd OWNER clusterd')
}

/** Starts etcd: one is enough, since none of the outages is its own. @returns its port for clients */
async function startEtcd(home: string, ended: (() => Promise<unknown>)[]): Promise<number> {
  const port = await chooseFreePort()
  const peerPort = await chooseFreePort()
  const url = `http://127.0.0.1:${port}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const child = await spawnChild({
    command: 'etcd',
    args: [
      ...[
        '--data-dir',
        join(home, 'etcd'),
        '--unsafe-no-fsync',
        '--log-level',
        'warn',
        '--enable-v2=true',
      ],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `default=${peerUrl}`],
    ],
    logFile: join(home, 'etcd.log'),
  })
  ended.push(() => child.end('SIGKILL', 0))
  const answers = () =>
    fetch(`${url}/health`).then(
      (response) => response.ok,
      () => child.hasExited(),
    )
  if (!(await waitForCondition(answers, START_LIMIT_MS, POLL_MS)) || child.hasExited())
    throw new Error(`starting etcd: ${child.logTail()}`)
  return port
}

/** Puts ports of this machine in the place of the hosts. @returns that of the primary, and of each node as a standby */
async function startHaproxy(
  home: string,
  nodes: readonly LocalNode[],
  ended: (() => Promise<unknown>)[],
): Promise<number[]> {
  const ports = await Promise.all(['primary', ...NODES].map(() => chooseFreePort()))
  let text = example('haproxy.cfg')
  ports.forEach((port, i) => {
    text = replaced(text, `127.0.0.1:500${i}`, `127.0.0.1:${port}`, `bind 127.0.0.1:500${i}`)
  })
  nodes.forEach(({ port, restPort }, i) => {
    const server = `10.0.0.1${i + 1}:5432 check port`
    text = replaced(text, `${server} 8008`, `127.0.0.1:${port} check port ${restPort}`)
  })
  const file = join(home, 'haproxy.cfg')
  writeFileSync(file, text)
  const child = await spawnChild({
    command: HAPROXY!,
    args: ['-db', '-f', file],
    logFile: join(home, 'haproxy.log'),
  })
  ended.push(() => child.end('SIGKILL', 0))
  return ports
}

const example = (name: string) => readFileSync(join(EXAMPLES, name), 'utf8')

/** @throws where the example does not have the text to replace */
function replaced(text: string, what: string, by: string, proof = what): string {
  if (!text.includes(proof)) throw new Error(`the example does not have "${proof}"`)
  return text.replaceAll(what, by)
}

/** The example, for this machine: no socket, no disk, other timings. The rest comes from the environment. */
function configFor(dcs: Readonly<Record<string, number>>): string {
  const socket = 'unix_socket_directories: /var/run/postgresql'
  let text = replaced(
    example('patroni.yml'),
    socket,
    `unix_socket_directories: ''\n    fsync: 'off'`,
  )
  for (const [name, value] of Object.entries(dcs)) {
    const line = new RegExp(`(?<=^ +${name}: )\\d+$`, 'm')
    if (!line.test(text)) throw new Error(`the example does not have "${name}"`)
    text = text.replace(line, String(value))
  }
  return text
}

interface LocalNode extends Node {
  readonly restPort: number
  stop(): Promise<void>
}

async function createNode(
  home: string,
  number: number,
  etcdPort: number,
  dcs: Readonly<Record<string, number>>,
): Promise<LocalNode> {
  const name = `node${number}`
  const port = await chooseFreePort()
  const restPort = await chooseFreePort()
  // others reach the node, and it reaches etcd, through these
  const [etcd, postgres, rest] = await Promise.all(
    [etcdPort, port, restPort].map((to) => startTcpProxy({ port: to })),
  )
  const paths = [etcd!, postgres!, rest!]
  const file = join(home, `${name}.yml`)
  writeFileSync(file, configFor(dcs))
  const dataDir = join(home, name)
  mkdirSync(dataDir, { mode: 0o700 })
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    PATRONI_NAME: name,
    PATRONI_LOG_LEVEL: 'INFO',
    PATRONI_ETCD_HOSTS: `127.0.0.1:${etcd!.port}`,
    PATRONI_ETCD_USE_PROXIES: 'true',
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${rest!.port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${postgres!.port}`,
    PATRONI_POSTGRESQL_DATA_DIR: dataDir,
    PATRONI_POSTGRESQL_BIN_DIR: BIN_DIR,
    PATRONI_POSTGRESQL_PGPASS: join(home, `${name}.pgpass`),
    PATRONI_SUPERUSER_PASSWORD: PASSWORD,
    PATRONI_REPLICATION_PASSWORD: PASSWORD,
    PATRONI_REWIND_PASSWORD: PASSWORD,
  }
  const [command, args] = postgresCommand(choosePostgresUser(), 'patroni', [file])
  let child: WatchedChild | undefined
  const pids = () => [...(child && !child.hasExited() ? [child.pid] : []), ...serverPids(dataDir)]
  const signal = (what: NodeJS.Signals) => {
    for (const pid of pids()) sendTo(pid, what)
  }
  const each = (act: (path: TcpProxy) => void) => {
    for (const path of paths) act(path)
  }
  const kill = async () => {
    const all = pids()
    signal('SIGKILL')
    await child?.exited
    await waitForCondition(() => !all.some(isProcessAlive), START_LIMIT_MS)
  }
  return {
    name,
    port,
    restPort,
    pids,
    kill,
    async start() {
      child = await spawnChild({
        command,
        args,
        env,
        logFile: `${dataDir}.log`,
        exitSignal: 'SIGTERM',
      })
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    isolate: () => each((path) => path.hold()),
    heal: () => each((path) => path.restore()),
    async stop() {
      await kill()
      for (const path of paths) await path.stop()
    },
  }
}

function sendTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Processes of a data directory's server, the first of all first, so that it starts no others. */
function serverPids(dataDir: string): number[] {
  const pidFile = join(dataDir, 'postmaster.pid')
  if (!existsSync(pidFile)) return []
  const first = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(first)], { encoding: 'utf8' })
  const others = stdout.trim().split(/\s+/).filter(Boolean).map(Number)
  return existsSync(`/proc/${first}`) ? [first, ...others] : []
}

async function membersOf(nodes: readonly LocalNode[]): Promise<Member[]> {
  for (const { restPort } of nodes) {
    try {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
        signal: AbortSignal.timeout(1_000),
      })
      // one that is cut off from etcd knows nothing of the others
      const { members = [] } = (await response.json()) as { members?: Member[] }
      if (response.ok && members.length > 0) return members
    } catch {}
  }
  return []
}

async function waitUntilHealthy(members: () => Promise<Member[]>, standbys: number): Promise<void> {
  let seen: Member[] = []
  const isHealthy = async () => {
    seen = await members()
    const isUp = ({ state }: Member) => state === 'running' || state === 'streaming'
    const count = (role: Member['role']) =>
      seen.filter((one) => one.role === role && isUp(one)).length
    return count('leader') === 1 && count('sync_standby') >= standbys
  }
  if (!(await waitForCondition(isHealthy, HEALTHY_LIMIT_MS, POLL_MS)))
    throw new Error(`the cluster is not healthy: ${JSON.stringify(seen)}`)
}
