import type pg from 'pg'
import type { PrismaClient } from '../generated/client.js'

/** Longer than any time limit of a pool, which Prisma's own would cut short. */
const NO_LIMIT_MS = 600_000

const clients = new WeakMap<pg.Pool, Promise<PrismaClient>>()

/**
 * The typed client for cold reads and writes, over the connections of a pool: time limits and outages are the pool's,
 * and its end ends both. It is loaded at its first use, since it takes 40 MiB and a quarter of a second of a processor:
 * hot paths, and a daemon's start, ask the pool itself.
 */
export function prismaOf(pool: pg.Pool): Promise<PrismaClient> {
  let client = clients.get(pool)
  if (!client) {
    client = openClient(pool)
    clients.set(pool, client)
  }
  return client
}

async function openClient(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaPg }, generated] = await Promise.all([import('@prisma/adapter-pg'), import('../generated/client.js')])
  // the adapter's copy of the driver's types is another version of ours
  const adapter = new PrismaPg(pool as unknown as ConstructorParameters<typeof PrismaPg>[0])
  return new generated.PrismaClient({ adapter, transactionOptions: { maxWait: NO_LIMIT_MS, timeout: NO_LIMIT_MS } })
}
