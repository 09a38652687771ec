import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { plain, prismaOf, stored } from '../pg/prisma.js'

/** The installation's key that seals page tokens of the feed, 32 bytes, made with its database. */
export async function readPageKey(pool: pg.Pool): Promise<Buffer> {
  const select = { pageKey: true }
  return plain(await prismaOf(pool).deployment.findUniqueOrThrow({ where: { id: 1 }, select })).pageKey
}

/** Minimum bid in force on a network's hub, in wei. */
export async function readMinimumWei(pool: pg.Pool, network: Network): Promise<bigint> {
  const where = stored({ network })
  return plain(await prismaOf(pool).journalHead.findUniqueOrThrow({ where, select: { minimumWei: true } })).minimumWei
}
