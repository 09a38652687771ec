import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { openSession } from '../../src/db/auth/sessions.js'
import { createPool } from '../../src/db/pg/pool.js'
import { useDatabase } from '../support/database.js'

const SENT_AT_ONCE = 16

const database = useDatabase()

it('the same sign-in, sent many times at once, opens one session', async () => {
  const pool = createPool({ url: database.url, max: SENT_AT_ONCE, applicationName: 'test' })
  try {
    // the race is short: about ten of a hundred sign-ins hit it
    for (let i = 0; i < 100; i++) {
      const signed = { wallet: randomBytes(21), signingMs: Date.now(), nonce: '', signature: '0x' }
      const session = { ...signed, keyHash: randomBytes(32), lifetimeMs: 60_000, evidence: null }
      const opened = await Promise.allSettled(
        Array.from({ length: SENT_AT_ONCE }, () => openSession(pool, session)),
      )
      expect(opened).toEqual(Array(SENT_AT_ONCE).fill({ status: 'fulfilled', value: true }))
    }
    expect((await pool.query('SELECT FROM sessions')).rowCount).toBe(100)
  } finally {
    await pool.end()
  }
})
