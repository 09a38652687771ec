import { execFile, spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { STOP_TIMEOUT_MS } from '../../src/daemon/daemon.js'
import { createDatabase } from '../../src/testing/index.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { useServer } from '../support/database.js'
import { useFolder } from '../support/folder.js'

/** Starts and stops at odd moments, and mistakes of an operator; the chains are away. */

const DEADLINE = { timeout: 30_000, interval: 50 }
/** The advisory lock of src/db/pg/migrate.ts. */
const MIGRATION_LOCK = 0x6d696772
const home = useFolder()
const server = useServer()
const processes: ClusterdProcess[] = []

const envOf = (DATABASE_URL: string) => ({
  DATABASE_URL,
  CLUSTERD_CHAINS: 'examples/chains.json',
  CLUSTERD_HOME: home,
  ROLES: 'api',
  TOKEN_KEY: `0x${'5b'.repeat(32)}`,
  DRAIN_SECONDS: '0',
  LOG_FORMAT: 'json',
})

afterAll(() => Promise.all(processes.map((one) => one.end('SIGKILL'))))

async function start(url: string, env: NodeJS.ProcessEnv = {}): Promise<ClusterdProcess> {
  const started = await startClusterd({ ...envOf(url), ...env })
  processes.push(started)
  return started
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** Runs a command to its end. @returns its exit code and what it says to stderr */
async function failure(
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: unknown; stderr: string }> {
  const { command, args: cli } = await programCommand('cli')
  const options = { env: { ...process.env, ...env }, cwd: home, timeout: 30_000 }
  return promisify(execFile)(command, [...cli, ...args], options).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: unknown; stderr: string }) => error,
  )
}

/** A proxy that says nothing any more to connections of a name once they are open. */
async function silentFor(port: number, name = 'clusterd migrate') {
  const closing = new AbortController()
  const silent = new Set<net.Socket>()
  setMaxListeners(0, closing.signal)
  const proxy = net.createServer((client) => {
    const upstream = net.connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.on('close', () => upstream.destroy())
    closing.signal.addEventListener('abort', () => client.destroy())
    client.on('data', (bytes) => {
      if (bytes.includes(name)) silent.add(client)
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!silent.has(client) || bytes.includes('server_version')) client.write(bytes)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const close = () => {
    closing.abort()
    proxy.close()
  }
  return { port: (proxy.address() as AddressInfo).port, isSilent: () => silent.size > 0, close }
}

// each mostly waits, and together they take as long as the longest
describe.concurrent('who waits for a database', () => {
  it('is ended by a stop while it waits for another process’s migrations', async () => {
    const url = await createDatabase(server.url, 'locked')
    const other = await connect(url)
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    const waiting = await start(url)
    const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'clusterd migrate' AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await other.query(waits)).rowCount, DEADLINE).toBe(1)
    const beganMs = performance.now()
    expect(await waiting.end()).toBe(0)
    expect(performance.now() - beganMs).toBeLessThan(STOP_TIMEOUT_MS + 4_000)
    await other.end()
  })

  it('is ended by a stop after its server fell silent', async () => {
    const url = new URL(await createDatabase(server.url, 'silent'))
    const proxy = await silentFor(Number(url.port))
    url.port = String(proxy.port)
    const waiting = await start(url.href)
    await expect.poll(proxy.isSilent, DEADLINE).toBe(true)
    // the comparison of the schema comes after the look for a pooler
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(await waiting.end()).toBe(0)
    proxy.close()
  })

  it('says so at a start whose server falls silent', { timeout: 60_000 }, async () => {
    const url = new URL(await createDatabase(server.url, 'silent-start'))
    const proxy = await silentFor(Number(url.port))
    url.port = String(proxy.port)
    const waiting = await start(url.href)
    await expect
      .poll(() => waiting.log(), DEADLINE)
      .toContain('the database does not answer: the start waits')
    proxy.close()
  })

  it('ends as a doctor, and names the database', { timeout: 60_000 }, async () => {
    const url = new URL(await createDatabase(server.url, 'doctor'))
    const proxy = await silentFor(Number(url.port), '')
    url.port = String(proxy.port)
    const { command, args } = await programCommand('cli')
    const env = { ...process.env, ...envOf(url.href) }
    const asked = promisify(execFile)(command, [...args, 'doctor', '--json'], {
      env,
      timeout: 50_000,
    })
    const { code, stdout } = await asked.then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => error,
    )
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        about: 'database',
        advice: expect.stringContaining('does not answer (in time)'),
      }),
    )
    proxy.close()
  })
})

it('SIGHUP, as of a terminal that is closed, is a stop in order', async () => {
  const one = await start(await createDatabase(server.url, 'hangup'))
  await one.ready()
  expect(await one.end('SIGHUP')).toBe(0)
  expect(one.log()).toContain('clusterd has stopped')
})

it.each([
  ['no.such.host.invalid', /no\.such\.host\.invalid is no address of this machine/],
  ['203.0.113.9', /203\.0\.113\.9 is no address of this machine/],
])(
  'an invalid HOST (%s) ends the start, and is not mistaken for the database',
  async (HOST, sentence) => {
    const url = await createDatabase(server.url, 'host')
    const env = {
      ...envOf(url),
      HOST,
      CLUSTERD_CHAINS: join(process.cwd(), 'examples/chains.json'),
    }
    const { code, stderr } = await failure(['start'], { ...env, PORT: '0', OPS_PORT: '0' })
    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)])
  },
)

it.skipIf(process.platform !== 'linux')(
  'a full disk under the log neither ends the daemon nor keeps it',
  async () => {
    const { command, args } = await programCommand('cli')
    const port = await chooseFreePort()
    const full = openSync('/dev/full', 'w')
    const env = {
      ...process.env,
      ...envOf(await createDatabase(server.url, 'full')),
      PORT: '0',
      OPS_PORT: String(port),
    }
    const child = spawn(command, [...args, 'start'], { env, stdio: ['ignore', full, 'ignore'] })
    closeSync(full)
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ) // prettier-ignore
    try {
      await expect.poll(isReady, DEADLINE).toBe(true)
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  },
)

it('the operator’s pages say what is wrong while the database is away', async () => {
  const url = new URL(await createDatabase(server.url, 'page'))
  const proxy = await silentFor(Number(url.port), 'none of that name')
  url.port = String(proxy.port)
  const one = await start(url.href)
  await one.ready()
  const page = (path: string) =>
    fetch(`${one.ops}${path}`).then(async (answer) => [answer.status, await answer.text()])
  expect(await page('/')).toEqual([200, expect.stringContaining('<h2>Outbox')])
  proxy.close()
  expect(await page('/')).toEqual([200, expect.stringContaining('The database does not answer')])
})

describe('a command', () => {
  it.each([
    [['outbox', 'list']],
    [['keys', 'list']],
    [['airdrop', 'list']],
    [['journal', 'replay']],
  ])('says what a database that was never migrated needs: %j', async (args) => {
    const { code, stderr } = await failure(args, {
      DATABASE_URL: await createDatabase(server.url, 'empty'),
    })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^clusterd: .*`clusterd migrate`.*\n$/),
    ])
  })

  it.each([[['outbox', 'list']], [['keys', 'list']], [['migrate']]])(
    'says in one line that there is no such database: %j',
    async (args) => {
      const { stderr } = await failure(args, {
        DATABASE_URL: server.url.replace(/[^/]*$/, 'nowhere'),
      })
      expect(stderr).toMatch(/^clusterd: .*"nowhere".*DATABASE_URL.*\n$/)
    },
  )

  it('says of a host with two addresses that nobody answers', async () => {
    const preload = join(home, 'lookup.mjs')
    writeFileSync(
      preload,
      `import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
const both = [{ address: '::1', family: 6 }, { address: '127.0.0.1', family: 4 }]
dns.lookup = (host, options, callback) => process.nextTick(callback, null, options.all ? both : '127.0.0.1', 4)
syncBuiltinESMExports()`,
    )
    const env = {
      DATABASE_URL: 'postgresql://nobody@localhost:1/x',
      NODE_OPTIONS: `--import ${preload}`,
    }
    const { stderr } = await failure(['keys', 'list'], env)
    expect(stderr).toMatch(/^clusterd: .*localhost:1 does not answer.*\n$/)
  })
})
