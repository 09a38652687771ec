import {
  type AddressLookupResult,
  findNamesByPrefix,
  findNamesOfAddresses,
  findWalletsByNames,
} from '../../db/registry/lookups.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import { decodeWallet, parseWallet, type Wallet } from '../../registry/primitives/address.js'
import { type FullName, parseClusterName, parseFullName } from '../../registry/primitives/name.js'
import { NAME_MAX_BYTES, NAME_RULES_TEXT } from '../../registry/primitives/nameRule.js'
import { okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { pageLimitOf } from '../http/query.js'
import { declareRoute } from '../http/route.js'
import { addressesOfLargestLookup } from '../http/sampleRequests.js'
import { MAX_BULK_LOOKUP_ELEMENTS, namedObjectSchema, okResponses, z } from '../http/schema.js'
import { chargeForListItems } from '../limits/costs.js'
import { namesOwnedBy, OWNED_NAMES_PAGE_SIZE } from '../names/owners.js'
import {
  addressSchema,
  clusterIdSchema,
  nameSchema,
  pageQuerySchema,
  txIdSchema,
  walletTypeSchema,
} from './schemas.js'

export type NameOfAddress = ReturnType<typeof recordOfAddress | typeof recordOfInvalidAddress>

/** Name of an address. A text that is not an address, or an address with a wrong checksum, has no name. */
export async function nameOfAddress(context: Context, input: string): Promise<NameOfAddress> {
  const address = parseWallet(input)
  if (typeof address === 'string') return recordOfInvalidAddress(input, address)
  return recordOfAddress(address, await context.lookups[context.network].nameOf(address.bytes))
}

/** As `nameOfAddress`, for each text in order. */
export async function namesOfAddresses(
  context: Context,
  inputs: readonly string[],
): Promise<NameOfAddress[]> {
  const { pool, network, turn } = context
  const parsed = await mapWithoutBlocking(turn, inputs, parseWallet)
  const readable = parsed.filter((address): address is Wallet => typeof address !== 'string')
  const addresses = readable.map(({ bytes }) => bytes)
  const hits = await findNamesOfAddresses(pool, network, addresses)
  let next = 0
  return parsed.map((address, i) =>
    typeof address === 'string'
      ? recordOfInvalidAddress(inputs[i]!, address)
      : recordOfAddress(address, hits[next++] ?? null),
  )
}

/** Record of a valid address. `hit` is null where the address has no name. */
const recordOfAddress = ({ text, type }: Wallet, hit: AddressLookupResult | null) => ({
  address: text,
  type,
  hit,
})

/** Record of a text that is not a valid address. A wrong checksum occurs only in EVM addresses. */
const recordOfInvalidAddress = (
  input: string,
  problem: 'bad_checksum' | 'unsupported_address',
) => ({
  address: input,
  type: problem === 'bad_checksum' ? ('evm' as const) : null,
  hit: null,
})

/** Wallet that a name resolves to. */
export type AddressOfName = NonNullable<Awaited<ReturnType<typeof addressesOfNames>>[number]>

/** Addresses of names, in order. A text that is not a name, or resolves to nothing, is left out. */
export async function resolveNameTexts(context: Context, inputs: readonly string[]) {
  const parsedInputs = inputs.flatMap((input) => {
    const name = parseFullName(input)
    return name ? [{ input, name }] : []
  })
  const records = await addressesOfNames(
    context,
    parsedInputs.map(({ name }) => name),
  )
  return parsedInputs.flatMap(({ input }, i) => (records[i] ? [{ input, record: records[i] }] : []))
}

/** Addresses of names, in order; null for a name that resolves to no public wallet. */
export async function addressesOfNames(context: Context, names: readonly FullName[]) {
  const { pool, network, lookups } = context
  const hits =
    names.length === 1
      ? [await lookups[network].walletOf(names[0]!)]
      : await findWalletsByNames(pool, network, names)
  return mapWithoutBlocking(context.turn, hits, (hit, i) => {
    if (!hit) return null
    const { text, type } = decodeWallet(hit.address)
    return {
      address: text,
      type,
      clusterName: names[i]!.cluster,
      walletName: hit.walletName,
      isVerified: hit.isVerified,
    }
  })
}

const NameRecordSchema = namedObjectSchema('NameRecord', {
  address: addressSchema,
  type: walletTypeSchema.nullable().describe('null where the form of the address is unknown'),
  clusterName: z
    .string()
    .nullable()
    .describe('null when the address is in no cluster that has a name'),
  walletName: z.string().nullable(),
  isVerified: z.boolean().optional().describe('absent when the address is in no cluster'),
})

/** JSON of a name look-up. Undefined fields are missing in the JSON. */
const nameRecordJson = ({ address, type, hit }: NameOfAddress) => ({
  address,
  type,
  clusterName: hit?.clusterName ?? null,
  walletName: hit?.walletName ?? null,
  isVerified: hit?.isVerified,
})

const nameOfAddressRoute = declareRoute.get('/v1/names/address/:address', {
  refusedSample: null,
  costliestSample: {},
  cacheSource: 'journal',
  summary: 'The name of an address',
  interfaceNotes:
    'An address without a cluster is 404 with the record: `clusterName` and `walletName` are null, `isVerified` is absent. An address whose only name lies below a community has that community as `clusterName`, though it is in no cluster.',
  params: z.object({ address: addressSchema }),
  responses: {
    200: { description: 'Its cluster and wallet name', schema: NameRecordSchema },
    404: { description: 'No cluster has this address in public', schema: NameRecordSchema },
  },
  async handle({ params }, context) {
    const record = await nameOfAddress(context, params.address!)
    return { ...okAnswer(nameRecordJson(record)), status: record.hit ? 200 : 404 }
  },
})

/** Fields that the routes for the names of many addresses of v1 and v0.1 have in common. */
export const sharedNamesOfAddressesFields = {
  costliestSample: { what: '1,000 addresses of Cosmos', body: addressesOfLargestLookup },
  listBounds: { '[]': 'asked: 1,000' },
  cacheSource: 'journal' as const,
  summary: 'The names of many addresses',
  interfaceNotes: 'Addresses come back in lower case, in the order of the input.',
  body: z.array(addressSchema).max(MAX_BULK_LOOKUP_ELEMENTS),
  errors: ['too_many'] as const,
}

const namesOfAddressesRoute = declareRoute.post('/v1/names/address', {
  ...sharedNamesOfAddressesFields,
  description: 'One element per input, in its order; an unknown address has clusterName null.',
  responses: okResponses('Name records', z.array(NameRecordSchema)),
  handle: async ({ body }, context) =>
    okAnswer((await namesOfAddresses(context, body)).map(nameRecordJson)),
})

const AddressRecordSchema = namedObjectSchema('AddressRecord', {
  name: z.string().describe('The name as in the request'),
  address: addressSchema,
  type: walletTypeSchema,
  clusterName: z.string(),
  walletName: z.string(),
  isVerified: z.boolean(),
})

const addressesOfNamesRoute = declareRoute.post('/v1/names', {
  refusedSample: { what: 'an object without a name', body: () => [{}], error: 'invalid_request' },
  costliestSample: {
    what: '1,000 names of one cluster of 1,000 wallets',
    body: ({ held }) => held.slice(0, 1_000).map((name) => ({ name })),
  },
  listBounds: { '[]': 'asked: 1,000' },
  cacheSource: 'journal',
  summary: 'The addresses of many names',
  description:
    '`foo` and `foo/` resolve to the wallet named `main`, else to the oldest verified one; `foo/bar` to that wallet, or to whom the community `foo` gave that name. What is no name or resolves to nothing is left out.',
  body: z
    .array(
      z.object({
        name: z
          .string()
          .openapi({ description: '`foo`, `foo/` or `foo/main`', example: 'seedling/main' }),
      }),
    )
    .max(MAX_BULK_LOOKUP_ELEMENTS),
  responses: okResponses('Address records', z.array(AddressRecordSchema)),
  errors: ['too_many'],
  async handle({ body }, context) {
    const inputs = body.map(({ name }) => name)
    const resolved = await resolveNameTexts(context, inputs)
    return okAnswer(resolved.map(({ input, record }) => ({ name: input, ...record })))
  },
})

const OwnerRecordSchema = namedObjectSchema('OwnerRecord', {
  name: nameSchema,
  owner: addressSchema,
  totalWeiAmount: z.string(),
  createdAt: z.string().openapi({ example: '2026-11-20 08:00:00.000+00' }),
  updatedAt: z.string(),
  updatedBy: addressSchema,
  isTestnet: z.boolean(),
  clusterId: clusterIdSchema
    .nullable()
    .describe('Of `community/name`: the owner’s cluster where that is public, else null'),
  walletName: z
    .string()
    .describe('Name of the owner’s wallet in its cluster; of `community/name` that name'),
  expiresAt: z.string().nullable(),
  tx: txIdSchema
    .nullable()
    .describe('Transaction of the winning bid on the hub; null for `community/name`'),
})

const ownedNamesRoute = declareRoute.get('/v1/names/owner/address/:address', {
  costliestSample: { what: '1,000 names', query: { limit: '1000' } },
  listBounds: { '[]': 'page: limit, at most 1,000; after, and the header link' },
  summary: 'The names that an address owns',
  interfaceNotes:
    '`walletName`: the name of the owner’s wallet. `tx`: the transaction of the winning bid, null in a mirror. A wallet in a cluster without a name owns none, so its answer is empty. The header `Link` names the next page.',
  description:
    'Its own names, then those below communities as `community/name`. Where more follow, the header `Link` names the next page (RFC 8288).',
  params: z.object({ address: addressSchema }),
  query: pageQuerySchema(nameSchema, OWNED_NAMES_PAGE_SIZE),
  responses: {
    200: {
      description: 'Oldest first; empty for an unknown address',
      schema: z.array(OwnerRecordSchema),
      headers: ['Link'],
    },
  },
  errors: ['invalid_page'],
  async handle({ params, query, isTestnet }, context) {
    const limit = pageLimitOf(query, { default: OWNED_NAMES_PAGE_SIZE, max: OWNED_NAMES_PAGE_SIZE })
    const page = { after: query.get('after'), limit }
    const { records, next } = await namesOwnedBy(context, params.address!, page)
    if (next === null) return chargeForListItems(okAnswer(records), records.length)
    const rest = new URLSearchParams({
      after: next,
      limit: String(limit),
      ...(isTestnet && { testnet: 'true' }),
    })
    const path = `/v1/names/owner/address/${encodeURIComponent(params.address!)}`
    return chargeForListItems(
      okAnswer(records, { link: `<${path}?${rest}>; rel="next"` }),
      records.length,
    )
  },
})

/** Maximum number of names in a search result. */
const MAX_FOUND_NAMES = 10

const searchRoute = declareRoute.get('/v1/names/search', {
  refusedSample: {
    what: 'a prefix of one character',
    query: { prefix: 'a' },
    error: 'invalid_request',
  },
  costliestSample: { what: 'a prefix of 10 names', query: { prefix: 'na' } },
  listBounds: { '[]': 'rule: at most 10' },
  cacheSource: 'journal',
  summary: 'The names that begin with a text',
  description: `For suggestions while somebody types: at most ${MAX_FOUND_NAMES} registered names, in the order of ASCII. A name that is the prefix itself comes first.`,
  query: z.object({
    prefix: z
      .string()
      .min(2)
      .max(NAME_MAX_BYTES)
      .openapi({
        description: `2 to ${NAME_MAX_BYTES} characters of names; upper case counts as lower case`,
        example: 'seed',
      }),
  }),
  responses: okResponses('The first of them', z.array(z.object({ name: nameSchema }))),
  async handle({ query }, { pool, network }) {
    const prefix = parseClusterName(query.get('prefix') ?? '')
    if (prefix === null || prefix.length < 2)
      throw new ApiError(
        'invalid_request',
        `The parameter prefix is not the first 2 or more characters of a name (${NAME_RULES_TEXT}).`,
      )
    const names = await findNamesByPrefix(pool, network, prefix, MAX_FOUND_NAMES)
    return okAnswer(names.map((name) => ({ name })))
  },
})

export const lookupRoutes = [
  searchRoute,
  nameOfAddressRoute,
  namesOfAddressesRoute,
  addressesOfNamesRoute,
  ownedNamesRoute,
]
