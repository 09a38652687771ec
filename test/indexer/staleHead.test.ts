import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'

const OLD_S = 3_600
const DEADLINE = { timeout: 20_000, interval: 100 }

const world = useWorld(() => startHubWorld({ ageS: OLD_S }))
let daemon: TestDaemon
beforeAll(async () => {
  // a node whose newest block is an hour old
  await world.test.mine({ blocks: 5 })
  // it was caught up before its node stalled
  await world.pool.query('UPDATE journal_heads SET caught_up = true WHERE network = 0')
  daemon = await startTestDaemon(world.postgres.url, {
    chains: [{ ...world.section, pollMs: 100 }],
  })
}, 60_000)
afterAll(() => daemon?.stop())

const post = (path: string, body: unknown) =>
  fetch(`${daemon.api}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const quote = () =>
  post('/v1/names/register/evm', {
    network: '1',
    sender: world.wallet(1).address,
    names: [{ name: 'ann' }],
  })

describe('a hub whose head is stalled', () => {
  it('is a problem and a metric, and the daemon stays ready', async () => {
    const stands = 'mainnet chain "1": its head stands still'
    await expect
      .poll(async () => (await daemon.status()).problems.join(), DEADLINE)
      .toContain(stands)
    expect((await fetch(`${daemon.ops}/status`)).status).toBe(503)
    expect((await fetch(`${daemon.ops}/ready`)).status).toBe(200)
    const [line] = await daemon.metric('clusterd_chain_head_age_seconds')
    expect(Number(line!.split(' ')[1])).toBeGreaterThanOrEqual(OLD_S)
    expect(await daemon.metric('clusterd_alarm')).toContain(
      'clusterd_alarm{alarm="ClusterdHeadStandsStill",network="mainnet",chain="1",subject=""} 1',
    )
  })

  it('refuses quotes, and answers look-ups with its lag', async () => {
    const isRefused = async () => (await post('/v1/names/register/check', ['ann'])).status
    await expect.poll(isRefused, DEADLINE).toBe(503)
    for (const response of [
      await post('/v1/names/register/check', ['ann']),
      await quote(),
      await fetch(`${daemon.api}/v0.1/register/check/ann`),
    ]) {
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ error: 'catching_up' })
      expect(response.headers.get('retry-after')).not.toBeNull()
    }
    const known = await fetch(`${daemon.api}/v1/clusters/name/ann`)
    expect([200, 404]).toContain(known.status)
    const looked = await post('/v1/names', [{ name: 'ann' }])
    expect(looked.status).toBe(200)
    expect(Number(looked.headers.get('x-clusterd-stale'))).toBeGreaterThanOrEqual(OLD_S)
    // also with a cached quote
    for (let i = 0; i < 3; i++)
      expect(
        (await post('/v1/names', [{ name: 'ann' }])).headers.get('x-clusterd-stale'),
      ).not.toBeNull()
    const bad = await post('/v1/names/register/check', [7])
    expect(bad.status).toBe(400)
  })

  it('recovers automatically with the next block', async () => {
    await world.test.increaseTime({ seconds: OLD_S })
    await world.test.mine({ blocks: 1 })
    await expect.poll(async () => (await daemon.status()).problems, DEADLINE).toEqual([])
    await expect.poll(async () => (await quote()).status, DEADLINE).toBe(200)
    const looked = await post('/v1/names', [{ name: 'ann' }])
    expect(looked.headers.get('x-clusterd-stale')).toBeNull()
  })
})
