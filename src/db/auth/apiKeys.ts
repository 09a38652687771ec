import { randomBytes } from 'node:crypto'
import { API_KEY_BYTES, apiKeyHash, apiKeyText } from '../../registry/auth/apiKey.js'
import type { ApiKey } from '../generated/client.js'
import { type DecodedRow, prepared, type Queryable, readRows } from '../pg/rows.js'

/** Maximum number of API keys of a wallet. */
export const MAX_API_KEYS = 10

/**
 * An API key. `perSecond` and `burst` are null where the configured limit applies. `wallet` is null for an operator's
 * key.
 */
export type StoredApiKey = Omit<DecodedRow<ApiKey>, 'slot'>

const API_KEY_COLUMNS = 'key_hash, wallet, name, per_second, burst, created_ms'

const FIND_API_KEY_RATE = prepared('SELECT per_second, burst FROM api_keys WHERE key_hash = $1')

/** Whether a key with this hash exists, and its own rate limit. `rate` is null where the configured limit applies. */
export async function findApiKeyRate(db: Queryable, keyHash: Buffer) {
  const rows = await readRows<Pick<ApiKey, 'perSecond' | 'burst'>>(db, FIND_API_KEY_RATE, [keyHash])
  const { perSecond, burst } = rows[0] ?? { perSecond: null, burst: null }
  return {
    isKnown: rows.length > 0,
    rate: perSecond === null || burst === null ? null : { perSecond, burst },
  }
}

/** API keys, oldest first. Without `wallet`: the keys of everybody. */
export const listApiKeys = (db: Queryable, wallet?: Buffer): Promise<StoredApiKey[]> =>
  readRows(
    db,
    `SELECT ${API_KEY_COLUMNS} FROM api_keys ${wallet ? 'WHERE wallet = $1' : ''} ORDER BY created_ms, key_hash`,
    wallet ? [wallet] : [],
  )

/**
 * Stores a key in a free slot of its wallet. For an operator's key, which has no wallet, every slot is free. Returns no
 * row where no slot is free, or another key took the slot meanwhile: `addApiKey` tries again.
 */
const INSERT_API_KEY = `INSERT INTO api_keys (${API_KEY_COLUMNS}, slot)
  SELECT $1, $2, $3, $4, $5, $6, s FROM generate_series(0, ${MAX_API_KEYS - 1}) s
  WHERE NOT EXISTS (SELECT FROM api_keys WHERE wallet = $2 AND slot = s) LIMIT 1
  ON CONFLICT (wallet, slot) DO NOTHING RETURNING slot`

/** Generates an API key. @returns the key's text, which is never stored, and the row to store */
export function generateApiKey(of: Pick<StoredApiKey, 'wallet' | 'name'> & Partial<StoredApiKey>): {
  key: string
  stored: StoredApiKey
} {
  const key = apiKeyText(randomBytes(API_KEY_BYTES))
  const keyHash = apiKeyHash(key)!
  return {
    key,
    stored: { keyHash, perSecond: null, burst: null, createdMs: Date.now(), ...of },
  }
}

/** Stores an API key. @returns false where the key's wallet has `MAX_API_KEYS` keys already */
export async function addApiKey(db: Queryable, key: StoredApiKey): Promise<boolean> {
  const values = [key.keyHash, key.wallet, key.name, key.perSecond, key.burst, key.createdMs]
  for (let i = 0; i < MAX_API_KEYS; i++)
    if ((await readRows(db, INSERT_API_KEY, values)).length > 0) return true
  return false
}

export async function renameApiKey(db: Queryable, keyHash: Buffer, name: string): Promise<void> {
  await readRows(db, 'UPDATE api_keys SET name = $2 WHERE key_hash = $1', [keyHash, name])
}

export async function removeApiKey(db: Queryable, keyHash: Buffer): Promise<void> {
  await readRows(db, 'DELETE FROM api_keys WHERE key_hash = $1', [keyHash])
}
