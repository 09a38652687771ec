import {
  addApiKey,
  generateApiKey,
  listApiKeys,
  MAX_API_KEYS,
  removeApiKey,
  renameApiKey,
  type StoredApiKey,
} from '../../db/auth/apiKeys.js'
import { lockLiveSession } from '../../db/auth/sessions.js'
import { inPipelinedTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import { ratePerDay } from '../../ops/tokenBucket.js'
import { apiKeyId } from '../../registry/auth/apiKey.js'
import { invalidKeyError } from '../auth/session.js'
import { makeInChangeQueue } from '../clusters/changes.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute, type RouteRequest, type Session } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { spendSharedUnits } from '../limits/shared.js'

const MAX_KEY_NAME_CHARS = 64
const PRINTABLE_PATTERN = /^[^\p{C}]+$/u

const keyNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(MAX_KEY_NAME_CHARS)
  .regex(PRINTABLE_PATTERN)
  .openapi({
    description: `What the wallet calls it, 1 to ${MAX_KEY_NAME_CHARS} characters`,
    example: 'my site',
    // JSON Schema has no flags of regular expressions. Without `pattern` the generator would append the flags to the
    // pattern
    pattern: PRINTABLE_PATTERN.source,
  })

const ApiKeySchema = namedObjectSchema('ApiKey', {
  id: z.string().openapi({
    description: 'Identifies the key, and cannot be used as one',
    example: '9f86d081884c7d65',
  }),
  name: keyNameSchema,
  createdAt: z.string().describe('ISO 8601'),
})

const apiKeyJson = ({ keyHash, name, createdMs }: StoredApiKey) => ({
  id: apiKeyId(keyHash),
  name,
  createdAt: isoTimestamp(createdMs),
})

/**
 * Writes on behalf of a session, in the queue of signed changes. The session can't be revoked before the write ends.
 * Nothing is written once the caller has disconnected, or after its deadline: a key that nobody has seen would take a
 * place of its wallet.
 * @throws ApiError unauthorized where it was revoked while the request waited; unavailable; QueueFullError
 */
const writeForSession = <T>(
  context: Context,
  { keyHash, wallet }: Session,
  write: (db: Queryable) => Promise<T>,
): Promise<T> =>
  makeInChangeQueue(context, wallet, () =>
    inPipelinedTransaction(context.pool, {
      patience: context.patience,
      reads: (db) => [lockLiveSession(db, keyHash)],
      work: async (client, [isLive]) => {
        if (!isLive) throw invalidKeyError()
        return write(client)
      },
    }),
  )

const newApiKeyRoute = declareRoute.post('/v1/keys', {
  refusedSample: { what: 'an empty name', body: () => ({ name: '' }), error: 'invalid_request' },
  privateDataFor: 'caller',
  costliestSample: { as: 'other', body: () => ({ name: 'mine' }) },
  summary: 'Make an API key',
  description: `It is shown this once. Sent as \`X-API-KEY\` it raises the limit of requests, and opens nothing. A wallet has at most ${MAX_API_KEYS}.`,
  auth: 'required',
  body: z.object({ name: keyNameSchema }),
  responses: okResponses('The key', ApiKeySchema.extend({ key: z.string() }).openapi('NewApiKey')),
  errors: ['key_limit'],
  async handle({ body, session }, context) {
    const { pool, limits, caller } = context
    const ofAddress = limits && { bucket: caller!.address, rate: ratePerDay(limits.keysPerDay) }
    await spendSharedUnits(pool, 'keys-a-day', ofAddress ? [ofAddress] : [], 1)
    const { key, stored } = generateApiKey({ wallet: session.wallet, name: body.name })
    if (await writeForSession(context, session, (db) => addApiKey(db, stored)))
      return okAnswer({ ...apiKeyJson(stored), key }, NO_STORE)
    throw new ApiError(
      'key_limit',
      `A wallet has at most ${MAX_API_KEYS} API keys: revoke one first.`,
    )
  },
})

const apiKeyListRoute = declareRoute.get('/v1/keys', {
  privateDataFor: 'caller',
  costliestSample: { as: 'other' },
  listBounds: { '[]': 'rule: 10 keys a wallet' },
  summary: 'The API keys of this wallet',
  auth: 'required',
  responses: okResponses('Its keys, oldest first, each without its text', z.array(ApiKeySchema)),
  handle: async ({ session }, context) =>
    okAnswer((await listApiKeys(context.pool, session.wallet)).map(apiKeyJson), NO_STORE),
})

const keyParamsSchema = ApiKeySchema.pick({ id: true })

const renameApiKeyRoute = declareRoute.patch('/v1/keys/:id', {
  refusedSample: { what: 'an unknown id', body: () => ({ name: 'yours' }), error: 'not_found' },
  privateDataFor: 'caller',
  example: { status: 404 },
  costliestSample: { as: 'other', body: () => ({ name: 'yours' }) },
  summary: 'Rename an API key',
  auth: 'required',
  params: keyParamsSchema,
  body: z.object({ name: keyNameSchema }),
  responses: okResponses('The key', ApiKeySchema),
  errors: ['not_found'],
  async handle({ params, body, session }, context) {
    const key = await requireApiKey(context, session, params)
    await writeForSession(context, session, (db) => renameApiKey(db, key.keyHash, body.name))
    return okAnswer(apiKeyJson({ ...key, name: body.name }), NO_STORE)
  },
})

const revokeApiKeyRoute = declareRoute.delete('/v1/keys/:id', {
  refusedSample: { what: 'an unknown id', error: 'not_found' },
  privateDataFor: null,
  example: { status: 404 },
  costliestSample: { as: 'other' },
  summary: 'Revoke an API key',
  description: 'All processes refuse the key within 30 seconds.',
  auth: 'required',
  params: keyParamsSchema,
  responses: okResponses('It is revoked', { success: z.literal(true) }),
  errors: ['not_found'],
  async handle({ params, session }, context) {
    const { keyHash } = await requireApiKey(context, session, params)
    await writeForSession(context, session, (db) => removeApiKey(db, keyHash))
    return okAnswer({ success: true })
  },
})

/** The caller's API key with the id in the path. @throws ApiError not_found */
async function requireApiKey(
  { pool }: Context,
  { wallet }: Session,
  { id }: RouteRequest['params'],
) {
  const key = (await listApiKeys(pool, wallet)).find(({ keyHash }) => apiKeyId(keyHash) === id)
  if (!key) throw new ApiError('not_found', 'This wallet has no API key of that id.')
  return key
}

export const apiKeyRoutes = [newApiKeyRoute, apiKeyListRoute, renameApiKeyRoute, revokeApiKeyRoute]
