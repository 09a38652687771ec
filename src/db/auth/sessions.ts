import type { Queryable } from '../pg/rows.js'

/** A wallet that proved itself. */
export interface StoredSession {
  /** Its stored form (see registry/address.ts). */
  wallet: Buffer
  /** The signing date of the message it signed, milliseconds. */
  signingMs: number
  /** As it was sent when the session began. */
  signature: string
}

export interface NewSession extends StoredSession {
  /** What the session's key is found by, 32 bytes. */
  keyHash: Buffer
  createdMs: number
  expiresMs: number
}

/** Each new session sweeps up to this many that have expired, so that the table stays as small as what lives. */
const SWEEP_ROWS = 4

const OPEN = {
  name: 'session_open',
  text: `WITH swept AS (
      DELETE FROM sessions WHERE key_hash IN
        (SELECT key_hash FROM sessions WHERE expires_ms <= $5 ORDER BY expires_ms LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO sessions (key_hash, wallet, signing_ms, signature, created_ms, expires_ms)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (wallet, signing_ms) DO UPDATE SET key_hash = excluded.key_hash
    WHERE sessions.revoked_ms IS NULL AND sessions.expires_ms > excluded.created_ms
    RETURNING true`,
}

/**
 * Begins the session of a wallet and signing date; one that lives already is the same one.
 * @returns false when it was revoked or has expired: it doesn't begin again
 */
export async function openSession(db: Queryable, session: NewSession): Promise<boolean> {
  const { keyHash, wallet, signingMs, signature, createdMs, expiresMs } = session
  const { rows } = await db.query({ ...OPEN, values: [keyHash, wallet, signingMs, signature, createdMs, expiresMs] })
  return rows.length > 0
}

const FIND = {
  name: 'session_find',
  text: `SELECT wallet, signing_ms, signature FROM sessions
    WHERE key_hash = $1 AND revoked_ms IS NULL AND expires_ms > $2`,
}

/** The living session whose key has this hash, null when there is none. */
export async function findSession(db: Queryable, keyHash: Buffer, nowMs: number): Promise<StoredSession | null> {
  const { rows } = await db.query<{ wallet: Buffer; signing_ms: number; signature: string }>({
    ...FIND,
    values: [keyHash, nowMs],
  })
  const row = rows[0]
  return row ? { wallet: row.wallet, signingMs: row.signing_ms, signature: row.signature } : null
}

const REVOKE = {
  name: 'session_revoke',
  text: 'UPDATE sessions SET revoked_ms = $2 WHERE key_hash = $1 AND revoked_ms IS NULL',
}

/** Ends the session whose key has this hash, for good: its row stays until it would have expired. */
export async function revokeSession(db: Queryable, keyHash: Buffer, nowMs: number): Promise<void> {
  await db.query({ ...REVOKE, values: [keyHash, nowMs] })
}
