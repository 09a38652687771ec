import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { ProcessSnapshot, ServedChain } from '../../src/daemon/snapshot.js'
import { installationStatus } from '../../src/daemon/status.js'
import { writeChainStates } from '../../src/db/chains/states.js'
import { takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import { createPool } from '../../src/db/pg/pool.js'
import { assertClocksAgree } from '../../src/db/pg/unavailable.js'
import { initialChainState } from '../../src/indexer/evm/types.js'
import { FailedRequestCounter } from '../../src/ops/failedRequests.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { LoopStageTimer } from '../../src/ops/stages.js'
import { useDatabase } from '../support/database.js'
import { snapshotWith } from '../support/snapshot.js'

const database = useDatabase()

/** The hub of mainnet, which another process may index. */
const hub: ServedChain = { network: 'mainnet', label: '1', role: 'hub', state: null, nodes: [] }

const statusOf = (changes: Partial<ProcessSnapshot>, pool = database.pool) =>
  installationStatus(snapshotWith({ chains: [hub], ...changes }), pool)

const alarmsOf = async (changes: Partial<ProcessSnapshot>, pool = database.pool) =>
  (await statusOf(changes, pool)).alarms.map(({ alarm, text }) => [alarm, text])

/** Loops of which the lead failed. */
function failed(error: Error) {
  const loops = new WorkerLoops()
  loops.register({ name: 'the lead (index)', network: 'mainnet' }).failed(error)
  return loops.states()
}

function clockError(): Error {
  try {
    assertClocksAgree(Date.now() - 30_006)
  } catch (error) {
    return error as Error
  }
  throw new Error('the clocks agree')
}

describe('each fault has its own alarm, and no alarm of what follows from it', () => {
  const pools: ReturnType<typeof createPool>[] = []
  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())))
  /** A pool whose server is gone. */
  const deadPool = () => {
    const url = 'postgresql://user:secret@127.0.0.1:1/clusterd'
    const pool = createPool({ url, max: 1, applicationName: 'test' })
    pools.push(pool)
    return pool
  }
  const REFUSED = 'the database at 127.0.0.1:1: it can not be reached (ECONNREFUSED)'

  it('a pooler that is dead', async () => {
    const pool = deadPool()
    const error = await pool.query('SELECT 1').catch((thrown: Error) => thrown)
    expect(await alarmsOf({ loops: failed(error as Error) }, pool)).toEqual([
      ['ClusterdDatabaseAway', REFUSED],
    ])
  })

  it('a database that is away, before any loop has met it', async () => {
    expect(await alarmsOf({}, deadPool())).toEqual([
      ['ClusterdDatabaseAway', `the database does not answer: ${REFUSED}`],
    ])
  })

  it('a clock that is off', async () => {
    const loops = failed(clockError())
    expect(await alarmsOf({ loops })).toEqual([
      [
        'ClusterdClockOff',
        expect.stringMatching(
          /^the clocks of this host and of the database differ by 3\d{4} ms: set them right$/,
        ),
      ],
    ])
  })

  it('RPC URLs that are all away', async () => {
    const lead = await takeLeadershipIfFree(database.pool, 'mainnet', 'index')
    // nothing renews it here
    await database.pool.query('UPDATE leaders SET until_ms = until_ms + 60000')
    // a state counts where it is younger than the lead, by ages that two statements read
    await sleep(500)
    const state = {
      ...initialChainState({ network: 'mainnet', label: '1', chain: 0, nextBlock: 10 }),
    }
    const head = { latest: 9, confirmed: 9, tailBlock: 9, headMs: Date.now() - 600_000 }
    const failing = { lastError: 'chain "1": no RPC URL answers', lastStepMs: Date.now() }
    await writeChainStates(database.pool, 'mainnet', [Object.assign(state, head, failing)])
    expect(await alarmsOf({})).toEqual([
      ['ClusterdChainFailing', 'mainnet chain "1": chain "1": no RPC URL answers'],
    ])
    await lead!.release()
  })
})

it('a chain has the time of its indexer by stage, as the process that leads wrote it', async () => {
  const clock = { ms: 0 }
  const stages = new LoopStageTimer(() => clock.ms)
  await stages.during('node', async () => {
    clock.ms = 4_000
  })
  clock.ms = 5_000
  const named = { network: 'mainnet', label: '1', chain: 0, nextBlock: 10 } as const
  await writeChainStates(database.pool, 'mainnet', [initialChainState(named, stages)])
  const { chains } = await statusOf({})
  const stagesMs = { node: 4_000, decode: 0, fold: 0, database: 0, idle: 1_000 }
  expect(chains).toEqual([expect.objectContaining({ label: '1', stagesMs })])
})

it('requests that fail, and alarms that were logged, are in the answer', async () => {
  const requests = new FailedRequestCounter()
  const denied = Object.assign(new Error('permission denied for table sessions'), {
    severity: 'ERROR',
    code: '42501',
  })
  for (let i = 0; i < 3; i++)
    requests.count({ method: 'POST', route: '/v1/auth/token' }, new Error('x', { cause: denied }))
  requests.count({ method: 'POST', route: '/v1/auth/token' }, denied)
  const text = 'the database of mainnet went back in time'
  const host = 'rpc.example'
  const node = { host, requests: 1, errors: 0, latencyMs: 1, restMs: 0, isWrong: true, head: null }
  const alarms = await alarmsOf({
    failedRoutes: requests.routes(),
    raised: [{ alarm: 'ClusterdWentBack', text }],
    chains: [{ ...hub, nodes: [{ use: 'index', nodes: [node] }] }],
  })
  expect(alarms).toEqual(
    expect.arrayContaining([
      [
        'ClusterdErrors',
        '4 of 4 requests POST /v1/auth/token failed in the last minute, the newest by: the database role does not have a right: table sessions',
      ],
      ['ClusterdWentBack', text],
      ['ClusterdRpcWrongChain', expect.stringContaining(host)],
    ]),
  )
})

it('a network that nobody indexes is one alarm, whatever the number of its chains', async () => {
  const spoke: ServedChain = { ...hub, label: '10', role: 'spoke' }
  const { alarms, chains } = await statusOf({ chains: [hub, spoke] })
  expect(alarms.map(({ text }) => text)).toEqual(['nobody indexes mainnet'])
  expect(chains.map(({ problem }) => problem)).toEqual([expect.any(String), 'not indexed yet'])
})

it('an alarm that the seeds of a local world raise is marked', async () => {
  const seeded = { alarm: 'ClusterdJobsParked', text: 'mainnet: parked jobs' } as const
  const other = { alarm: 'ClusterdJobsParked', text: 'testnet: parked jobs' } as const
  const { alarms } = await statusOf({
    config: { chains: [], roles: [], seededAlarms: [seeded.text] },
    raised: [seeded, other],
  })
  const marks = alarms.map(({ text, isSeeded }) => [text, isSeeded])
  expect(marks).toEqual(
    expect.arrayContaining([
      [seeded.text, true],
      [other.text, false],
    ]),
  )
})
