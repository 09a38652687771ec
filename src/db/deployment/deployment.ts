import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { plain, prismaOf, stored } from '../pg/prisma.js'

/**
 * Keys of this installation, 32 bytes each, made with its database: `pageKey` seals page tokens of the feed; `tokenKey`
 * derives authentication keys and `quoteKey` signs quotes where the configuration names none.
 */
export async function readDeployment(pool: pg.Pool) {
  return plain(await prismaOf(pool).deployment.findUniqueOrThrow({ where: { id: 1 } }))
}

/** Minimum bid in force on a network's hub, in wei. */
export async function readMinimumWei(pool: pg.Pool, network: Network): Promise<bigint> {
  const where = stored({ network })
  return plain(await prismaOf(pool).journalHead.findUniqueOrThrow({ where, select: { minimumWei: true } })).minimumWei
}
