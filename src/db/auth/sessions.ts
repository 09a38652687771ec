import type pg from 'pg'
import type { Session } from '../generated/client.js'
import { type Plain, prismaOf, stored } from '../pg/prisma.js'
import { type Queryable, readRows } from '../pg/rows.js'

/** A session: `wallet` in stored form, `signingMs` the date in the signed message, `signature` as first sent. */
export type StoredSession = Pick<Plain<Session>, 'wallet' | 'signingMs' | 'signature'>

/** A session with the 32-byte hash of its key. */
export type NewSession = Omit<Plain<Session>, 'revokedMs'>

/** Expired sessions deleted per new one, so that the table stays as small as the number of live sessions. */
const SWEEP_ROWS = 4

/**
 * Opens the session of a wallet and signing date; a live one gets the new key.
 * @returns false when the session was revoked or has expired: a session is never opened again
 */
export async function openSession(pool: pg.Pool, session: NewSession): Promise<boolean> {
  const { keyHash, createdMs, ...rest } = stored(session)
  const { session: table } = prismaOf(pool)
  const created = await table.createMany({ data: { keyHash, createdMs, ...rest }, skipDuplicates: true })
  const { wallet, signingMs } = rest
  const live = { wallet, signingMs, revokedMs: null, expiresMs: { gt: createdMs } }
  const opened = created.count === 1 ? created : await table.updateMany({ where: live, data: { keyHash } })
  await deleteExpired(pool, createdMs)
  return opened.count === 1
}

async function deleteExpired(pool: pg.Pool, nowMs: number): Promise<void> {
  const { session: table } = prismaOf(pool)
  const where = { expiresMs: { lte: nowMs } }
  const rows = await table.findMany({
    where,
    orderBy: { expiresMs: 'asc' },
    take: SWEEP_ROWS,
    select: { keyHash: true },
  })
  if (rows.length > 0) await table.deleteMany({ where: { keyHash: { in: rows.map(({ keyHash }) => keyHash) } } })
}

const FIND = {
  name: 'session_find',
  text: `SELECT wallet, signing_ms, signature FROM sessions
    WHERE key_hash = $1 AND revoked_ms IS NULL AND expires_ms > $2`,
}

/**
 * The live session whose key has this hash, null when there is none. Every authenticated request runs this, so it is a
 * prepared statement: 52 µs of CPU time, against 271 µs through Prisma.
 */
export async function findSession(db: Queryable, keyHash: Buffer, nowMs: number): Promise<StoredSession | null> {
  return (await readRows<StoredSession>(db, FIND, [keyHash, nowMs]))[0] ?? null
}

/** Revokes the session whose key has this hash. The row stays until the session would have expired. */
export async function revokeSession(pool: pg.Pool, keyHash: Buffer, nowMs: number): Promise<void> {
  const where = { ...stored({ keyHash }), revokedMs: null }
  await prismaOf(pool).session.updateMany({ where, data: { revokedMs: nowMs } })
}
