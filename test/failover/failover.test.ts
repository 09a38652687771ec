import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replayJournal } from '../../src/db/journal/replay.js'
import { readLeaders } from '../../src/db/leaders/leaders.js'
import { createPool } from '../../src/db/pg/pool.js'
import { type Stack, startStack, until } from '../../src/testing/index.js'
import { ask } from '../support/askOnce.js'
import {
  missingForPatroni,
  type Node,
  type PatroniCluster,
  startPatroni,
} from '../support/patroni.js'
import { wholeFeed } from '../support/visitors.js'
import { type Load, startLoad } from './load.js'

/** Long enough for a machine shared with other tests. docs/run/operations.md has the times of a quiet machine. */
const BACK_MS = 30_000
const DEADLINE = { timeout: 60_000, interval: 200 }
const SIGNERS = 3
/** Timings of Patroni that differ from the example's, as `{"ttl":20}`, and how often each outage is repeated. */
const DCS = JSON.parse(process.env.FAILOVER_DCS ?? '{}') as Record<string, number>
const TRIES = Number(process.env.FAILOVERS ?? 1)

if (missingForPatroni) console.warn(`fail-over is not tried: there is no ${missingForPatroni}`)

describe.skipIf(missingForPatroni)('a database that Patroni fails over, under load', () => {
  let cluster: PatroniCluster
  let stack: Stack<'mainnet'>
  let load: Load

  beforeAll(async () => {
    cluster = await startPatroni(DCS)
    stack = await startStack({
      networks: ['mainnet'],
      chains: ['1'],
      seeds: false,
      blockMs: 500,
      databaseUrl: cluster.primaryUrl,
    })
    load = await startLoad(stack, SIGNERS)
  }, 180_000)
  afterAll(async () => {
    try {
      await load?.end()
    } finally {
      await stack?.stop()
      await cluster?.stop()
    }
  })

  const outages: [
    string,
    (primary: Node) => Promise<void> | void,
    (primary: Node) => Promise<void> | void,
  ][] = [
    [
      'kill -9 of Patroni and PostgreSQL',
      (primary) => primary.kill(),
      (primary) => primary.start(),
    ],
    [
      'SIGSTOP of Patroni and PostgreSQL',
      (primary) => primary.freeze(),
      (primary) => primary.thaw(),
    ],
    [
      'cut off from etcd and the standbys',
      (primary) => primary.isolate(),
      (primary) => primary.heal(),
    ],
  ]
  const tries = Array.from({ length: TRIES }, () => outages).flat()

  it.each(tries)('serves again after an outage of the primary: %s', async (what, act, mend) => {
    await cluster.healthy()
    await expect.poll(() => load.firstChange(), DEADLINE).toBeGreaterThan(0)
    load.lookupGapMs()
    const primary = await cluster.leader()
    await act(primary)
    const changedMs = await load.firstChange()
    const gapMs = load.lookupGapMs()
    await mend(primary)
    console.log(
      `${what}: a change is acknowledged after ${Math.round(changedMs)} ms, no look-up for ${Math.round(gapMs)} ms`,
    )
    await expect
      .poll(async () => (await cluster.leader())?.name ?? primary.name, DEADLINE)
      .not.toBe(primary.name)
    expect(changedMs).toBeLessThan(BACK_MS)
    expect(gapMs).toBeLessThan(BACK_MS)
  })

  it('has lost nothing that was acknowledged, and has shown nothing more', async () => {
    await cluster.healthy()
    await load.quiet()
    console.log(
      `${load.acknowledged.length} changes were acknowledged, ${load.registered.length} registrations sent, refused: ${JSON.stringify([...load.refused])}`,
    )
    expect(load.unexpected).toEqual([])
    for (const [signer, token] of load.tokens.entries()) {
      const headers = { authorization: `Bearer ${token}` }
      const { address } = stack.accounts.evm[signer]!
      const { clusterId } = await ask<{ clusterId: string }>(
        stack.api,
        `/v1/clusters/address/${address}`,
        { headers },
      )
      const { wallets } = await ask<{ wallets: { address: string }[] }>(
        stack.api,
        `/v1/clusters/id/${clusterId}`,
        {
          headers,
        },
      )
      const there = new Set(wallets.map((wallet) => wallet.address.toLowerCase()))
      const own = load.acknowledged.filter((one) => one.signer === signer)
      expect(own.length, address).toBeGreaterThan(0)
      const lost = own.filter((one) => !there.has(one.address.toLowerCase()))
      expect(lost, address).toEqual([])
    }
    for (const tx of load.registered) await until.status(stack, tx, 'finalized')
    const feed = await wholeFeed(stack.api)
    expect(feed.length).toBeGreaterThanOrEqual(load.registered.length)
    await expect.poll(() => load.consumed.length, DEADLINE).toBe(feed.length)
    expect(load.consumed).toEqual(feed)
  })

  it('has one leader, and the journal gives the same state', async () => {
    const pool = createPool({ url: cluster.primaryUrl, max: 3, applicationName: 'test' })
    try {
      const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
      expect(rebuilt).toBe(live)
      expect(entries).toBeGreaterThanOrEqual(load.acknowledged.length)
      const leaders = await readLeaders(pool)
      expect(leaders.map(({ network, role }) => `${network} ${role}`)).toContain('mainnet index')
    } finally {
      await pool.end()
    }
  })
})
