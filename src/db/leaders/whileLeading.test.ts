import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { startTcpProxy, type TcpProxy } from '../../../test/support/tcpProxy.js'
import { WorkerLoops } from '../../ops/loops.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { createListener } from '../pg/notify.js'
import { query } from '../pg/rows.js'
import { createLeasePool, STANDBY_POLL_MS, whileLeading } from './lead.js'
import { LEADER_ROLE, readLeaders } from './leaders.js'

/** Promised limit of a take-over, from the leader's last sign of life, plus a margin for a shared machine. */
const TAKE_OVER_MS = 5_000 + 3_000
const PROCESSES = 4
const FAULTS = 12
/** Seeds of the runs' random faults: `LEAD_SEEDS=1,2,3` runs more. */
const SEEDS = (process.env.LEAD_SEEDS ?? '1').split(',').map(Number)
const LEADS = NETWORKS.flatMap((network) =>
  (['index', 'relay'] as const).map((role) => ({ network, role })),
)

/** A fenced write, like all writes of leaders: it records its epoch if the leader's row still has it. */
const WRITE = `INSERT INTO written (network, role, process, epoch)
  SELECT network, role, $4, epoch FROM leaders WHERE network = $1 AND role = $2 AND epoch = $3 FOR UPDATE`

const server = useDatabase(8)
const log = pino({ level: 'silent' })
let pool: pg.Pool
const processes: Process[] = []

beforeAll(async () => {
  pool = server.pool
  await pool.query(
    'CREATE TABLE written (id serial, network int2, role int2, process int, epoch int)',
  )
})
afterEach(() => Promise.all(processes.splice(0).map((process) => process.stop())))

interface Process {
  proxy: TcpProxy
  /** Leads of this process, as network and role. */
  leads: ReadonlySet<string>
  stop(): Promise<void>
}

let started = 0

/** A process that competes for leads: its own path to the server, its listener, and work that writes all the time. */
async function startProcess(): Promise<Process> {
  const number = ++started
  const proxy = await startTcpProxy(server)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const stopping = new AbortController()
  const { signal } = stopping
  const leads = new Set<string>()
  const loops = new WorkerLoops()
  const onError = () => {}
  const listener = createListener({ url: url.href, signal, loops, onError })
  const leases = createLeasePool(url.href)
  const leading = LEADS.map(({ network, role }) =>
    whileLeading(
      { leases, listener, network, role, signal, loops, log, onError },
      async (epoch, stopped) => {
        const lead = `${network} ${role}`
        leads.add(lead)
        while (!stopped.aborted) {
          await query(pool, network, WRITE, [LEADER_ROLE[role], epoch, number])
          await sleep(20)
        }
        leads.delete(lead)
      },
    ),
  )
  const stop = async () => {
    stopping.abort()
    await Promise.all([...leading, listener.done])
    await leases.end()
    await proxy.stop()
  }
  const process = { proxy, leads, stop }
  processes.push(process)
  return process
}

const ALL = LEADS.map(({ network, role }) => `${network} ${role}`).sort()
const heldNow = async () =>
  (await readLeaders(pool)).map(({ network, role }) => `${network} ${role}`).sort()
const expectAllHeld = () =>
  expect.poll(heldNow, { timeout: TAKE_OVER_MS, interval: 20 }).toEqual(ALL)

/** Counts the server's connections of a process. */
async function connections(name: string): Promise<number> {
  const text = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $1'
  return (await pool.query<{ count: number }>(text, [name])).rows[0]!.count
}

function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

it.each(SEEDS)(
  'no lead is held twice, and each is held while a process lives: seed %s',
  async (seed) => {
    const random = randomOf(seed)
    await pool.query('TRUNCATE written')
    for (let i = 0; i < PROCESSES; i++) await startProcess()
    await expectAllHeld()
    const one = () => processes[random(processes.length)]!
    const cutSession = async (like: string) => {
      const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE $1 ORDER BY random() LIMIT 1`
      await pool.query(text, [like])
    }
    const faults = [
      () => cutSession('clusterd lease %'),
      () => cutSession('clusterd listener'),
      async () => one().proxy.forget(),
      async () => {
        const { proxy } = one()
        proxy.hold()
        await sleep(random(3_000))
        proxy.restore()
      },
      async () => {
        const { proxy } = one()
        proxy.cut()
        await sleep(random(1_000))
        proxy.restore()
      },
      async () => {
        await processes.splice(random(processes.length), 1)[0]!.stop()
        await startProcess()
      },
    ]
    for (let i = 0; i < FAULTS; i++) {
      await faults[random(faults.length)]!()
      await sleep(random(2 * STANDBY_POLL_MS))
      if (random(3) === 0) await expectAllHeld()
    }
    await expectAllHeld()
    // only one process could write at a time: epochs never decrease, and each belongs to one process
    const order = `SELECT count(*)::int AS count FROM (
    SELECT epoch < lag(epoch) OVER w OR (epoch = lag(epoch) OVER w AND process <> lag(process) OVER w) AS is_wrong
    FROM written WINDOW w AS (PARTITION BY network, role ORDER BY id)) AS writes WHERE is_wrong`
    expect((await pool.query(order)).rows).toEqual([{ count: 0 }])
    const shown = processes.flatMap(({ leads }) => [...leads])
    expect(shown.length).toBe(new Set(shown).size)
    await expect
      .poll(() => connections('clusterd listener'), { timeout: TAKE_OVER_MS })
      .toBe(PROCESSES)
  },
)

it('a lead that is given up is taken before the next poll', async () => {
  const first = await startProcess()
  await expectAllHeld()
  await startProcess()
  await expect.poll(() => connections('clusterd listener')).toBe(2)
  const gone: number[] = []
  for (let i = 0; i < 5; i++) {
    const leader = processes.find(({ leads }) => leads.size > 0)!
    const other = processes.find((process) => process !== leader)!
    processes.splice(processes.indexOf(leader), 1)
    await sleep(STANDBY_POLL_MS)
    const startedMs = performance.now()
    const stopped = leader.stop()
    while (other.leads.size < LEADS.length) await sleep(5)
    gone.push(performance.now() - startedMs)
    await stopped
    await startProcess()
    await sleep(2 * STANDBY_POLL_MS)
  }
  expect(first.leads.size).toBe(0)
  const median = gone.sort((a, b) => a - b)[2]!
  console.log(`given up, a lead is taken after ${Math.round(median)} ms`)
  expect(median).toBeLessThan(STANDBY_POLL_MS)
})
