import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  findWalletBundles,
  MAX_WALLETS_PER_LOOKUP,
  type WalletBundleSnapshot,
} from '../../db/registry/lookups.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import {
  storedAddressPatternOf,
  WALLET_KIND_NAMES,
  type WalletKindName,
} from '../../registry/auth/kinds.js'
import { eventId } from '../../registry/journal/events.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Context } from '../http/context.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import type { RequestQuery } from '../http/query.js'
import { declareRoute } from '../http/route.js'
import { addressesOfLargestLookup, makeSampleList } from '../http/sampleRequests.js'
import { MAX_BULK_WALLET_ADDRESSES, namedObjectSchema, z } from '../http/schema.js'
import { addressSchema, walletNameSchema, walletTypeSchema } from './schemas.js'

/**
 * Maximum number of addresses per statement. The lines of a statement come from one database snapshot. The lines of up
 * to two statements wait in memory.
 */
const ADDRESSES_PER_STATEMENT = 1_000
/** Time limit for sending a response, ms. Addresses stay in memory while the client reads slowly. */
const SENDING_TIMEOUT_MS = 120_000
const WALLET_KINDS_PATTERN = new RegExp(
  `^(${WALLET_KIND_NAMES.join('|')})(,(${WALLET_KIND_NAMES.join('|')}))*$`,
)
const JSON_LINES_TYPE = 'application/x-ndjson'

const HolderSchema = namedObjectSchema('Holder', {
  input: z.string().describe('The address as it was sent'),
  clusterName: z.string().nullable(),
  wallets: z
    .array(z.object({ address: addressSchema, type: walletTypeSchema, name: walletNameSchema }))
    .nullable()
    .describe(
      `At most ${MAX_WALLETS_PER_LOOKUP}; null where the address is not publicly verified in a cluster`,
    ),
  asOf: z
    .string()
    .openapi({ description: 'Id of the newest event that the line reflects', example: 'm-1-42' }),
})

const joinRoute = declareRoute.post('/v1/wallets', {
  costliestSample: {
    what: '100,000 addresses of Cosmos',
    body: (scene) => makeSampleList(100, () => addressesOfLargestLookup(scene)).flat(),
  },
  listBounds: {
    'wallets[]': 'rule: the first 20 of a bundle; a line for each of 100,000 addresses',
  },
  isBulk: true,
  summary: 'The wallets of many addresses',
  description:
    'Returns a line of JSON for each address, in order, with its cluster’s verified public wallets: `main` first, then the oldest. The body is an array, or has one address per line. Each thousand lines are one snapshot. If an error occurs later, it is the last line. Fewer lines without an error mean that the response was cut off.',
  query: z.object({
    types: z
      .string()
      .regex(WALLET_KINDS_PATTERN)
      .optional()
      .openapi({
        description: 'Kinds of the wallets, joined by commas; default: all',
        example: WALLET_KIND_NAMES.slice(0, 2).join(','),
      }),
  }),
  body: z.array(addressSchema).max(MAX_BULK_WALLET_ADDRESSES),
  responses: { 200: { description: 'Lines', schema: HolderSchema, type: JSON_LINES_TYPE } },
  errors: ['too_many'],
  async handle({ body, query }, context) {
    const lines = Readable.from(linesOf(context, body, requestedAddressPattern(query)), {
      highWaterMark: 1,
    })
    await once(lines, 'readable')
    // `pipeline` rejects when the client disconnects or takes too long
    const stream = (res: ServerResponse) =>
      void pipeline(lines, res, { signal: AbortSignal.timeout(SENDING_TIMEOUT_MS) }).catch(() => {})
    return { status: 200, stream, content: { type: JSON_LINES_TYPE, text: '' } }
  },
})

/**
 * Pattern of stored addresses of the requested kinds of wallets; null for all kinds. @throws ApiError invalid_request
 */
function requestedAddressPattern(query: RequestQuery): string | null {
  const text = query.get('types')
  if (text === undefined) return null
  if (WALLET_KINDS_PATTERN.test(text))
    return [...new Set(text.split(',') as WalletKindName[])].map(storedAddressPatternOf).join('|')
  throw new ApiError(
    'invalid_request',
    `The types are some of ${WALLET_KIND_NAMES.join(', ')}, joined by commas.`,
  )
}

/**
 * Response lines for addresses, a thousand at a time. An error after the first thousand becomes the last line. No
 * database connection is held while lines wait for the client.
 */
async function* linesOf(context: Context, inputs: readonly string[], pattern: string | null) {
  const { pool, network, turn } = context
  for (let at = 0; at < inputs.length; at += ADDRESSES_PER_STATEMENT) {
    const batch = inputs.slice(at, at + ADDRESSES_PER_STATEMENT)
    try {
      // a text that is no address becomes an empty address, which no cluster has
      const addresses = await mapWithoutBlocking(
        turn,
        batch,
        (input) => parseWalletOrNull(input)?.bytes ?? Buffer.alloc(0),
      )
      const bundles = await findWalletBundles(pool, network, addresses, pattern)
      const bundleJsons = new Map<string, ReturnType<typeof bundleJson>>()
      const cachedBundleJson = (bundle: WalletBundleSnapshot) => {
        const key = `${bundle.clusterName} ${bundle.wallets}`
        if (!bundleJsons.has(key)) bundleJsons.set(key, bundleJson(network, bundle))
        return bundleJsons.get(key)
      }
      const lines = await mapWithoutBlocking(turn, bundles, (bundle, i) =>
        JSON.stringify({ input: batch[i], ...cachedBundleJson(bundle) }),
      )
      yield `${lines.join('\n')}\n`
    } catch (error) {
      if (at === 0) throw error
      yield `${errorAnswer(toApiError(error)).content.text}\n`
      return
    }
  }
}

function bundleJson(
  network: Network,
  { generation, newest, clusterName, wallets }: WalletBundleSnapshot,
) {
  const asOf = eventId(network, generation, newest)
  return { clusterName, wallets: wallets?.split(' ').filter(Boolean).map(walletJson) ?? null, asOf }
}

/** @param nameAndAddress the wallet's name and the hex of its stored address, `name:hex` */
function walletJson(nameAndAddress: string) {
  const [name, stored] = nameAndAddress.split(':')
  const { text, type } = decodeWallet(Buffer.from(stored!, 'hex'))
  return { address: text, type, name }
}

export const bulkWalletLookupRoutes = [joinRoute]
