import { pino } from 'pino'
import { Registry } from 'prom-client'
import { pad, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseChainsFile } from '../../src/config/index.js'
import { registerSnapshotMetrics } from '../../src/daemon/metrics.js'
import { renderOpsPage } from '../../src/daemon/opsPage.js'
import { createListener } from '../../src/db/pg/notify.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { createEvmRelayerChain } from '../../src/relayer/evmRelayer.js'
import { type RelayRun, runRelayer } from '../../src/relayer/run.js'
import { openChains, RELAYER_KEY, startBridgeWorld, targetOf } from '../support/bridgeWorld.js'
import { snapshotWith } from '../support/snapshot.js'
import { useWorld } from '../support/useWorld.js'
import { outboxCommand, setPeer } from './deliveries.js'

const world = useWorld(() => startBridgeWorld())
let run: RelayRun
const stopping = new AbortController()
const logged: { level: number; msg: string; reason?: string }[] = []
const registry = new Registry()
registerSnapshotMetrics(registry, () => snapshotWith({ outboxes: [run.state() ?? []].flat() }))

beforeAll(async () => {
  const chains = await openChains(world.pool, world.file)
  const { at, path } = targetOf(chains, '1')
  // the long poll interval leaves only notifications to wake the relayer in time
  const slow = { ...at.config, pollMs: 60_000 }
  const { signal } = stopping
  const loops = new WorkerLoops()
  const onError = () => {}
  run = runRelayer({
    missingKeys: [],
    loops,
    leases: world.pool,
    listener: createListener({ url: world.postgres.url, signal, loops, onError }),
    chains: [
      createEvmRelayerChain(
        { at: { ...at, config: slow }, path },
        {
          account: privateKeyToAccount(RELAYER_KEY),
          settings: parseChainsFile(world.file, 'test').deliveries.mainnet,
        },
      ),
    ],
    delivers: true,
    pool: world.pool,
    network: 'mainnet',
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    signal,
  })
})
afterAll(async () => {
  stopping.abort()
  await run.done
})

/** Mines and indexes until something holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 20_000
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error('it never came to hold')
    await world.hub.test.mine({ blocks: 1 })
    await world.index()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const clusterd = (...args: string[]) => outboxCommand(world)(...args)

describe('a running relayer', () => {
  it('is woken by what is indexed, and delivers', async () => {
    const guid = await world.send(0, ['woken'])
    await until(
      async () => (await world.jobs()).filter(({ state }) => state === 'confirmed').length === 2,
    )
    expect(await world.executions(guid)).toBe(1)
    const said = logged.filter(({ msg }) => msg === 'verified' || msg === 'delivered')
    expect(said).toHaveLength(2)
    expect(JSON.stringify(logged)).not.toContain(RELAYER_KEY.slice(2))
  })

  it('connects again when its listener’s connection is cut', async () => {
    await world.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'clusterd listener'`,
    )
    const guid = await world.send(0, ['cut'])
    await until(async () => (await world.executions(guid)) === 1)
  })

  it('shows itself in the metrics', async () => {
    await setPeer(world, zeroHash)
    await world.send(0, ['waiting'])
    await until(async () => (await world.jobs()).some(({ reason }) => reason === 'no_peer'))
    let text = ''
    const value = (line: string) =>
      Number(
        text
          .split('\n')
          .find((l) => l.startsWith(`${line} `))
          ?.split(' ')[1],
      )
    await until(async () => {
      text = await registry.metrics()
      return value('clusterd_outbox_jobs{network="mainnet",kind="execute",state="queued"}') === 1
    })
    expect(
      value('clusterd_outbox_oldest_seconds{network="mainnet",kind="execute",state="queued"}'),
    ).toBeGreaterThan(0)
    expect(value('clusterd_outbox_jobs{network="mainnet",kind="execute",state="parked"}')).toBe(0)
    expect(value('clusterd_stuck_packets{network="mainnet",chain="1"}')).toBe(0)
    expect(text).not.toContain('clusterd_alarm{alarm="Clusterd')
    expect(value('clusterd_relayer_balance_wei{network="mainnet",chain="1"}')).toBeGreaterThan(1e21)
    expect(value('clusterd_relayer_runway_seconds{network="mainnet",chain="1"}')).toBeGreaterThan(
      86_400,
    )
  })

  it('is given a hand by the command line', async () => {
    const { stdout } = await clusterd('list', '--json')
    const listed = JSON.parse(stdout) as { id: string; kind: string; reason: string | null }[]
    const { id } = listed.find(({ reason }) => reason === 'no_peer')!
    const table = (await clusterd('list')).stdout.split('\n')
    expect(table[0]).toMatch(
      /^ID +NETWORK +KIND +STATE +NONCE +FAILURES +AGE +NEXT +REASON +SUBJECT$/,
    )
    expect(
      table.some((line) =>
        new RegExp(`^${id} +mainnet +execute +queued .* no_peer +0x`).test(line),
      ),
    ).toBe(true)
    expect((await clusterd('park', id)).stdout).toMatch(/^state +parked$/m)
    expect(JSON.parse((await clusterd('show', id, '--json')).stdout)).toMatchObject({
      id,
      chain: '1',
      state: 'parked',
    })
    await shownParked(id)
    await setPeer(world, pad(world.contracts.spoke))
    expect((await clusterd('resume', id)).stdout).toMatch(/^state +queued$/m)
    expect((await clusterd('retry', id)).code).toBe(0)
    await until(async () => (await world.jobs()).every(({ state }) => state === 'confirmed'))
    const text = (await clusterd('show', id)).stdout
    expect(text).toMatch(/^state +confirmed$/m)
    expect(text).not.toContain('1970')
  })

  /** Whether the operator's page shows a parked job. */
  async function shownParked(id: string): Promise<void> {
    const page = () => renderOpsPage(snapshotWith(), world.pool)
    const state = async () =>
      new RegExp(
        `<td data-name="job">${id}<td data-name="state">(?:<span class="bad">)?(queued|parked)`,
      ).exec((await page()).text)?.[1]
    expect(await state()).toBe('parked')
  }

  it.each([
    [['show', '999'], 'clusterd: There is no job 999: `clusterd outbox list --all` shows them.\n'],
    [['retry', 'x'], 'clusterd: There is no job x: `clusterd outbox list --all` shows them.\n'],
    [['park', '1'], 'clusterd: Job 1 is confirmed: there is nothing to park.\n'],
    [['list', '--limit', '0'], 'clusterd: --limit is a whole number from 1 to 10000.\n'],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    expect(await clusterd(...args)).toMatchObject({ stderr: sentence, code: 1 })
  })
})
