import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { memberOf } from './members.js'
import { randomAddress, useApi } from './support.js'

const DEADLINE_MS = 5_000
/** More changes than run at once, so that some wait in the queue. */
const CHANGES = 8

/** Statuses that the metrics counted. */
const counted: string[] = []
const requests = { observe: ({ status }: { status: string }) => void counted.push(status) }
const world = useApi({ requestDeadlineMs: DEADLINE_MS, metrics: { requests }, trustProxy: 1 })

/** Runs work while another connection holds the lock of the journal's head. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const holder = await world.pool.connect()
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM journal_heads WHERE network = 0 FOR UPDATE')
    return await work()
  } finally {
    await holder.query('ROLLBACK')
    holder.release()
  }
}

describe('changes that do not start before their deadline', () => {
  it('get 503 and are never made, whether they were running or waiting', async () => {
    const alice = await memberOf(world)
    const id = await alice.create()
    const added = Array.from({ length: CHANGES }, (_, i) => ({
      address: randomAddress(),
      name: `w${i}`,
    }))
    const replies = await whileHeld(() =>
      Promise.all(added.map((wallet) => alice.call('POST', '/v1/clusters/wallets', [wallet]))),
    )
    expect(replies.map(({ status, body }) => [status, body.error])).toEqual(
      added.map(() => [503, 'unavailable']),
    )
    // this change is made after all others that could still be made
    expect(
      (
        await alice.call('POST', '/v1/clusters/wallets', [
          { address: randomAddress(), name: 'later' },
        ])
      ).status,
    ).toBe(200)
    const { body } = await alice.call('GET', `/v1/clusters/id/${id}`)
    expect(body.wallets.map(({ name }: { name: string }) => name).sort()).toEqual(['later', 'main'])
  })

  it('are dropped when their callers disconnect, and are not counted as our failure', async () => {
    const alice = await memberOf(world)
    const id = await alice.create()
    counted.length = 0
    const wallets = [{ address: randomAddress(), name: 'gone' }]
    await whileHeld(async () => {
      const asked = Array.from({ length: CHANGES }, () =>
        fetch(`${world.url}/v1/clusters/wallets`, {
          method: 'POST',
          headers: alice.headers,
          body: JSON.stringify(wallets),
          signal: AbortSignal.timeout(500),
        }).catch(() => null),
      )
      expect(await Promise.all(asked)).toEqual(asked.map(() => null))
      await sleep(200)
    })
    expect(
      (
        await alice.call('POST', '/v1/clusters/wallets', [
          { address: randomAddress(), name: 'later' },
        ])
      ).status,
    ).toBe(200)
    const { body } = await alice.call('GET', `/v1/clusters/id/${id}`)
    expect(body.wallets.map(({ name }: { name: string }) => name).sort()).toEqual(['later', 'main'])
    expect(counted).toEqual(['200', '200'])
  })
})

describe('an address that floods', () => {
  it('waits behind others, on both networks', async () => {
    const mallory = await memberOf(world)
    mallory.headers['x-forwarded-for'] = '192.0.2.66'
    const alice = await memberOf(world)
    const ended: string[] = []
    const changes = await whileHeld(async () => {
      const flood = Array.from({ length: 60 }, () =>
        mallory.call('POST', '/v1/clusters').then(() => ended.push('flood')),
      )
      expect((await alice.call('POST', '/v1/clusters?testnet=true')).status).toBe(200)
      const own = alice.create().then((id) => {
        ended.push('own')
        return id
      })
      // wait until it is in the queue too
      await sleep(200)
      return { flood: Promise.all(flood), own }
    })
    expect(await changes.own).toMatch(/^0x/)
    await changes.flood
    expect(ended.indexOf('own')).toBeLessThan(30)
  })
})

describe('changes of a key that is revoked while they wait', () => {
  it.each(['/v1/auth/token', '/v1/auth/token?everywhere=true'])(
    'are refused and make no event, by DELETE %s',
    async (path) => {
      const alice = await memberOf(world)
      const id = await alice.create()
      const eventsOf = async () =>
        (await world.get(`/v1/events?limit=1000&from=${alice.address}`)).body.items.length
      const before = await eventsOf()
      const changes = await whileHeld(async () => {
        const asked = Array.from({ length: CHANGES }, (_, i) =>
          alice.call('POST', '/v1/clusters/wallets', [
            { address: randomAddress(), name: `w${i}`, isPrivate: i % 2 === 0 },
          ]),
        )
        const isWaiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
        await expect
          .poll(async () => (await world.pool.query(isWaiting)).rows[0].n)
          .toBeGreaterThan(0)
        expect((await alice.call('DELETE', path)).status).toBe(200)
        return { asked: Promise.all(asked) }
      })
      const replies = await changes.asked
      expect(replies.map(({ status, body }) => [status, body.error])).toEqual(
        replies.map(() => [401, 'unauthorized']),
      )
      expect(await eventsOf()).toBe(before)
      const { body } = await world.get(`/v1/clusters/id/${id}`)
      expect(body.wallets.map(({ name }: { name: string }) => name)).toEqual(['main'])
    },
  )
})
