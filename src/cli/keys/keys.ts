import { isoTimestamp } from '../../api/http/timestamps.js'
import {
  addApiKey,
  generateApiKey,
  listApiKeys,
  removeApiKey,
  type StoredApiKey,
} from '../../db/auth/apiKeys.js'
import { apiKeyId } from '../../registry/auth/apiKey.js'
import { decodeWallet } from '../../registry/primitives/address.js'
import { withDatabasePool } from '../database.js'
import { printJson, printList } from '../output.js'

/** The default burst is as many requests as the key's rate allows in this time. */
const DEFAULT_BURST_SECONDS = 6

const describeKey = (key: StoredApiKey) => ({
  id: apiKeyId(key.keyHash),
  name: key.name,
  wallet: key.wallet && decodeWallet(key.wallet).text,
  perSecond: key.perSecond,
  burst: key.burst,
  createdAt: isoTimestamp(key.createdMs),
})

/** `clusterd keys list`: prints the API keys. */
export async function listApiKeysCommand({ json }: { json?: boolean }): Promise<void> {
  printList(await withDatabasePool(listApiKeys), {
    json,
    none: 'There is no API key.',
    describe: describeKey,
  })
}

/** `clusterd keys make`: creates an API key. @throws Error with one sentence for a burst without a rate */
export async function makeApiKeyCommand(
  name: string,
  options: { perSecond?: number; burst?: number; json?: boolean },
): Promise<void> {
  const { perSecond = null } = options
  if (perSecond === null && options.burst !== undefined)
    throw new Error('--burst needs --per-second.')
  const burst = options.burst ?? (perSecond && perSecond * DEFAULT_BURST_SECONDS)
  const { key, stored } = generateApiKey({ wallet: null, name, perSecond, burst })
  await withDatabasePool((pool) => addApiKey(pool, stored))
  if (options.json) return printJson({ key, ...describeKey(stored) })
  console.log(`${key}\nIt is shown this once; its id is ${apiKeyId(stored.keyHash)}.`)
}

/** `clusterd keys revoke`: revokes an API key. @throws Error with one sentence where there is no such key */
export async function revokeApiKeyCommand(id: string): Promise<void> {
  await withDatabasePool(async (pool) => {
    const key = (await listApiKeys(pool)).find(({ keyHash }) => apiKeyId(keyHash) === id)
    if (!key)
      throw new Error(`There is no API key of the id ${id}: \`clusterd keys list\` shows them.`)
    await removeApiKey(pool, key.keyHash)
  })
  console.log('Revoked: within 30 seconds it counts as unknown everywhere.')
}
