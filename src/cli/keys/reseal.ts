import type pg from 'pg'
import {
  decryptKeyShare,
  encryptKeyShare,
  type ShareEncryptionKeys,
  shareEncryptionKeyId,
} from '../../api/clusters/keyShares.js'
import { ConfigError, readEnvironment } from '../../config/index.js'
import {
  listSharesUnderOtherKeys,
  replaceEncryptedKeyShare,
  type ShareWithRowKey,
} from '../../db/auth/shares.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { withDatabasePool } from '../database.js'
import { printFields } from '../output.js'

/** Number of key shares that one query reads. */
const PAGE_SIZE = 500

/**
 * `clusterd keys reseal`: encrypts the key shares of generated wallets again, with the first key of SHARE_KEY. Daemons
 * may run meanwhile. Exits with 1 where the key of a share is missing in SHARE_KEY; the share is then left unchanged.
 */
export async function resealKeyShares({ json }: { json?: boolean }): Promise<void> {
  const [first, ...earlier] = readEnvironment().shareKeys
  if (!first)
    throw new ConfigError('SHARE_KEY is not set: it names the new key, then the earlier ones.')
  const keys: ShareEncryptionKeys = [first, ...earlier]
  await withDatabasePool(async (pool) => {
    const counts = { resealed: 0, unreadable: 0 }
    for (const network of NETWORKS) await resealKeySharesOfNetwork(pool, network, keys, counts)
    printFields({ key: shareEncryptionKeyId(first).toString('hex'), ...counts }, json)
    if (counts.unreadable === 0) return
    process.exitCode = 1
    console.error(
      'SHARE_KEY has not the key of these shares: add the key behind a comma, and run this again.',
    )
  })
}

async function resealKeySharesOfNetwork(
  pool: pg.Pool,
  network: Network,
  keys: ShareEncryptionKeys,
  counts: { resealed: number; unreadable: number },
): Promise<void> {
  const keyId = shareEncryptionKeyId(keys[0])
  let after: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await listSharesUnderOtherKeys(pool, network, { keyId, after, limit: PAGE_SIZE })
    for (const row of rows) {
      const share = decryptKeyShareOrNull(keys, row)
      if (share)
        await replaceEncryptedKeyShare(
          pool,
          row,
          encryptKeyShare(keys, network, row.address, share),
        )
      counts[share ? 'resealed' : 'unreadable'] += 1
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.address
  }
}

/** Decrypts a key share; null if none of the keys decrypts it. */
function decryptKeyShareOrNull(keys: ShareEncryptionKeys, row: ShareWithRowKey): Buffer | null {
  try {
    return decryptKeyShare(keys, row.network, row.address, row)
  } catch {
    return null
  }
}
