import { EVIDENCE_MAX_AGE_MS, type Evidence } from '../../registry/auth/evidence.js'
import type { Membership } from '../../registry/auth/message.js'
import type { Session } from '../generated/client.js'
import { type DecodedRow, prepared, type Queryable, readRows } from '../pg/rows.js'
import { isUniqueViolation } from '../pg/unavailable.js'

/**
 * A stored session. `wallet` is a stored address. `signingMs` and `nonce` are from the signed message. `nonce` is empty
 * if the message has none. `signature` is the signature as first sent. It is empty if it is too long to be stored, or
 * signs another form than the plain message.
 */
export type StoredSession = Pick<
  DecodedRow<Session>,
  'wallet' | 'signingMs' | 'nonce' | 'signature'
> & {
  /**
   * The cluster membership that the sign-in's message states. Null for a message without membership, for a message
   * older than `EVIDENCE_MAX_AGE_MS`, and once the membership was stored as evidence.
   */
  evidence: SignedMembership | null
}
export type SignedMembership = Membership & Pick<Evidence, 'message' | 'signature' | 'block'>

/** A session with the 32-byte hash of its key, and its lifetime, ms. */
export type NewSession = StoredSession & { keyHash: Buffer; lifetimeMs: number }

/**
 * SQL: time at which the transaction began, Unix ms. Sessions begin and end by the database's clock, so that a process
 * with a wrong clock can't end everybody's sessions.
 */
const SESSION_NOW_MS_SQL = '(extract(epoch FROM now()) * 1000)::int8'

/** Expired sessions deleted for each new one, so the table stays about as small as the number of live sessions. */
const SWEEP_ROWS = 4
/** Maximum number of sessions of a wallet. Revoked sessions count too. */
export const MAX_SESSIONS_PER_WALLET = 32

/**
 * Opens a session in one statement, because signing in is a hot path. A wallet keeps the sessions of its
 * `MAX_SESSIONS_PER_WALLET` newest signing dates. An older signing date opens no session, so a session that was revoked
 * and deleted stays closed. A signature that is old enough to be published as evidence opens no session either. The
 * database's clock decides its age, since this process's clock may be late.
 */
const OPEN_SESSION = prepared(`WITH opened AS (
      INSERT INTO sessions AS s (key_hash, wallet, signing_ms, signature, created_ms, expires_ms, nonce, evidence)
      SELECT $1, $2, $3, $4, ${SESSION_NOW_MS_SQL}, ${SESSION_NOW_MS_SQL} + $5::int8, $6, $7::jsonb
      WHERE $3::int8 >= ${SESSION_NOW_MS_SQL} - ${EVIDENCE_MAX_AGE_MS} AND (
        SELECT count(*) FROM (SELECT FROM sessions WHERE wallet = $2 AND signing_ms > $3 LIMIT ${MAX_SESSIONS_PER_WALLET}) newer
      ) < ${MAX_SESSIONS_PER_WALLET}
      ON CONFLICT (wallet, signing_ms) DO UPDATE SET key_hash = excluded.key_hash, nonce = excluded.nonce,
        evidence = coalesce(s.evidence, excluded.evidence)
        WHERE s.revoked_ms IS NULL AND s.expires_ms > ${SESSION_NOW_MS_SQL}
      RETURNING wallet
    ), dropped AS (
      DELETE FROM sessions WHERE wallet = (SELECT wallet FROM opened) AND signing_ms <= (
        SELECT signing_ms FROM sessions WHERE wallet = $2 AND signing_ms <> $3
        ORDER BY signing_ms DESC OFFSET ${MAX_SESSIONS_PER_WALLET - 1} LIMIT 1
      ) AND signing_ms <> $3
    ), swept AS (
      DELETE FROM sessions WHERE key_hash = ANY (ARRAY(
        SELECT key_hash FROM sessions WHERE expires_ms <= ${SESSION_NOW_MS_SQL} AND EXISTS (SELECT FROM opened)
        ORDER BY expires_ms LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED
      ))
    )
    SELECT wallet FROM opened`)

/**
 * Opens the session of a wallet and signing date, in one round trip. If the session is already live, it gets the new
 * key.
 * @returns false when the session was revoked or has expired, when the signature is too old by the database's clock, or
 * when the wallet has `MAX_SESSIONS_PER_WALLET` sessions of later dates
 */
export async function openSession(db: Queryable, session: NewSession): Promise<boolean> {
  const { keyHash, wallet, signingMs, nonce, signature, lifetimeMs, evidence } = session
  const values = [keyHash, wallet, signingMs, signature, lifetimeMs, nonce, evidence]
  const open = () => readRows(db, OPEN_SESSION, values)
  const opened = await open().catch((error: unknown) => {
    // The same sign-in was sent twice at the same time. ON CONFLICT covers only one of the two unique keys. The second
    // attempt finds the row.
    if (isUniqueViolation(error)) return open()
    throw error
  })
  return opened.length === 1
}

const FIND_SESSION = prepared(`SELECT wallet, signing_ms, nonce, signature,
    CASE WHEN signing_ms >= ${SESSION_NOW_MS_SQL} - ${EVIDENCE_MAX_AGE_MS} THEN evidence END AS evidence FROM sessions
    WHERE key_hash = $1 AND revoked_ms IS NULL AND expires_ms > ${SESSION_NOW_MS_SQL}`)

/** The live session of a key's hash. A prepared statement, since every authenticated request runs it. */
export async function findSession(db: Queryable, keyHash: Buffer): Promise<StoredSession | null> {
  return (await readRows<StoredSession>(db, FIND_SESSION, [keyHash]))[0] ?? null
}

const LOCK_SESSION = prepared(`${FIND_SESSION.text} FOR SHARE`)

/**
 * Whether a session is live, for a transaction that writes on its behalf: the session can't be revoked before the
 * transaction ends.
 */
export async function lockLiveSession(db: Queryable, keyHash: Buffer): Promise<boolean> {
  return (await readRows(db, LOCK_SESSION, [keyHash])).length > 0
}

const createRevokeStatement = (of: 'wallet' | 'key_hash') =>
  prepared(
    `UPDATE sessions SET revoked_ms = ${SESSION_NOW_MS_SQL} WHERE ${of} = $1 AND revoked_ms IS NULL`,
  )

// Writes JSON null, not NULL: when the same sign-in is sent again, the coalesce in OPEN_SESSION then keeps the evidence
// deleted.
const DELETE_EVIDENCE = prepared(`UPDATE sessions SET evidence = 'null' WHERE key_hash = $1`)

/**
 * Deletes the evidence of a session. A signature becomes evidence only once, even if its wallet leaves the cluster and
 * returns.
 */
export async function deleteSessionEvidence(db: Queryable, keyHash: Buffer): Promise<void> {
  await readRows(db, DELETE_EVIDENCE, [keyHash])
}

/** Revokes the sessions of a wallet (stored address). The rows stay until the sessions would have expired. */
export async function revokeSessions(db: Queryable, wallet: Buffer): Promise<void> {
  await readRows(db, createRevokeStatement('wallet'), [wallet])
}

export async function revokeSession(db: Queryable, keyHash: Buffer): Promise<void> {
  await readRows(db, createRevokeStatement('key_hash'), [keyHash])
}
