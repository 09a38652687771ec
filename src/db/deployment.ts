import type pg from 'pg'
import type { Network } from '../registry/primitives/network.js'
import { plain, prismaOf, stored } from './pg/prisma.js'

/** Keys of this installation, 32 bytes each, made with its database. */
async function readDeployment(pool: pg.Pool) {
  return plain(await prismaOf(pool).deployment.findUniqueOrThrow({ where: { id: 1 } }))
}

/** The key that seals page tokens of the feed. */
export async function readPageKey(pool: pg.Pool): Promise<Buffer> {
  return (await readDeployment(pool)).pageKey
}

/** The key that derives authentication keys where the configuration names none. */
export async function readTokenKey(pool: pg.Pool): Promise<Buffer> {
  return (await readDeployment(pool)).tokenKey
}

/** The key that signs quotes where the configuration names none. */
export async function readQuoteKey(pool: pg.Pool): Promise<Buffer> {
  return (await readDeployment(pool)).quoteKey
}

/** Minimum bid in force on a network's hub, in wei. */
export async function readMinimumWei(pool: pg.Pool, network: Network): Promise<bigint> {
  const where = stored({ network })
  return plain(await prismaOf(pool).journalHead.findUniqueOrThrow({ where, select: { minimumWei: true } })).minimumWei
}
