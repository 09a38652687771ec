import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.js'

/** Cold reads only: two connections are plenty. */
const MAX_CONNECTIONS = 2
const CONNECT_TIMEOUT_MS = 5_000

/**
 * The Prisma client, for typed reads off the hot path. It has a small pool of its own, because the adapter brings its own
 * build of the driver. An outage shows as failing queries; `$disconnect` closes it.
 * @param onError told of idle connections that broke
 */
export function createPrisma(url: string, onError: (error: Error) => void = () => {}): PrismaClient {
  const pool = {
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'clusterd prisma',
  }
  return new PrismaClient({ adapter: new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError }) })
}

export type { PrismaClient }
