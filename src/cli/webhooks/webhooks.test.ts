import type pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { sealPage } from '../../api/feed/cursor.js'
import { readPageKey } from '../../db/deployment/deployment.js'
import { addWebhook, listWebhooks } from '../../db/outbox/webhooks.js'
import type { Network } from '../../registry/primitives/network.js'
import { replay } from './webhooks.js'

const database = useDatabase()
let pool: pg.Pool

beforeAll(() => {
  pool = database.pool
  vi.stubEnv('DATABASE_URL', database.url)
  vi.spyOn(console, 'log').mockImplementation(() => {})
})
afterAll(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

it('a token that is none of its feed is refused, and changes nothing: no delivery would get past it', async () => {
  const webhook = { network: 'mainnet', url: 'https://example.com/', key: Buffer.alloc(32), from: null } as const
  const id = String(await addWebhook(pool, { ...webhook, cursor: null, createdMs: 0 }))
  const key = await readPageKey(pool)
  const token = (network: Network, order: 'oldest' | 'newest') =>
    sealPage(key, { network, order, generation: 1, first: 1, skip: 0, floor: 1, from: null, sinceMs: null })
  const before = await listWebhooks(pool)
  for (const cursor of ['m-1-42', token('testnet', 'oldest'), token('mainnet', 'newest')])
    await expect(replay(id, { cursor }), cursor).rejects.toThrow('--cursor is no token')
  expect(await listWebhooks(pool)).toEqual(before)
  await replay(id, { cursor: token('mainnet', 'oldest') })
  await replay(id, { cursor: 'start' })
})
