import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { prismaOf } from '../../src/db/pg/prisma.js'
import { useDatabase } from './database.js'

/** More than Prisma waits for a connection by itself, 2 s, and less than the pool does. */
const BUSY_MS = 2_500

const database = useDatabase()

it('a transaction of Prisma waits for its connection as long as the pool lets it', async () => {
  const pool = createPool({ url: database.url, max: 1, applicationName: 'test' })
  const prisma = await prismaOf(pool)
  await prisma.chain.count()
  const busy = await pool.connect()
  void sleep(BUSY_MS).then(() => busy.release())
  expect(await prisma.$transaction((tx) => tx.chain.count())).toBe(0)
  await pool.end()
})
