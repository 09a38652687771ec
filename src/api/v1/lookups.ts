import { findClusterIdByName } from '../../db/registry/clusters.js'
import { findNamesByPrefix } from '../../db/registry/lookups.js'
import { parseClusterName, parseFullName } from '../../registry/primitives/name.js'
import { NAME_MAX_BYTES, NAME_RULES_TEXT } from '../../registry/primitives/nameRule.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { nameImage } from '../../web/nameImage.js'
import { indexPage } from '../../web/page.js'
import { answerOfType, okAnswer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import { pageLimitOf } from '../http/query.js'
import { route } from '../http/route.js'
import { addressesOfLargestLookup } from '../http/sampleRequests.js'
import { MAX_BULK_LOOKUP_ELEMENTS, namedObjectSchema, okResponses, z } from '../http/schema.js'
import { chargeForListItems, SEVERAL_STATEMENTS_PRICE } from '../limits/costs.js'
import {
  type NameOfAddress,
  nameOfAddress,
  namesOfAddresses,
  resolveNameTexts,
} from '../names/lookups.js'
import { INVALID_NAME_MESSAGE, requireName } from '../names/names.js'
import { namesOwnedBy, OWNED_NAMES_PAGE_SIZE } from '../names/owners.js'
import { addressSchema, clusterIdSchema, nameSchema, walletTypeSchema } from './schemas.js'

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

/** A name look-up as the response shows it. Undefined fields are missing in the JSON. */
const view = ({ address, type, hit }: NameOfAddress) => ({
  address,
  type,
  clusterName: hit?.clusterName ?? null,
  walletName: hit?.walletName ?? null,
  isVerified: hit?.isVerified,
})

const nameOfAddressRoute = route.get('/v1/names/address/:address', {
  bad: null,
  costliest: {},
  cacheSource: 'journal',
  summary: 'The name of an address',
  beyond:
    'An address without a cluster is 404 with the record: `clusterName` and `walletName` are null, `isVerified` is absent. An address whose only name lies below a community has that community as `clusterName`, though it is in no cluster.',
  params: z.object({ address: addressSchema }),
  responses: {
    200: { description: 'Its cluster and wallet name', schema: NameRecordSchema },
    404: { description: 'No cluster has this address in public', schema: NameRecordSchema },
  },
  async handle({ params }, context) {
    const record = await nameOfAddress(context, params.address!)
    return { ...okAnswer(view(record)), status: record.hit ? 200 : 404 }
  },
})

const namesOfAddressesRoute = route.post('/v1/names/address', {
  bad: { what: 'a number', body: () => [1], error: 'invalid_request' },
  costliest: { what: '1,000 addresses of Cosmos', body: addressesOfLargestLookup },
  bounds: { '[]': 'asked: 1,000' },
  cacheSource: 'journal',
  summary: 'The names of many addresses',
  beyond: 'Addresses come back in lower case, in the order of the input.',
  description: 'One element per input, in its order; an unknown address has clusterName null.',
  body: z.array(addressSchema).max(MAX_BULK_LOOKUP_ELEMENTS),
  responses: okResponses('Name records', z.array(NameRecordSchema)),
  errors: ['too_many'],
  handle: async ({ body }, context) => okAnswer((await namesOfAddresses(context, body)).map(view)),
})

const AddressRecordSchema = namedObjectSchema('AddressRecord', {
  name: z.string().describe('The name as in the request'),
  address: addressSchema,
  type: walletTypeSchema,
  clusterName: z.string(),
  walletName: z.string(),
  isVerified: z.boolean(),
})

const addressesOfNamesRoute = route.post('/v1/names', {
  bad: { what: 'an object without a name', body: () => [{}], error: 'invalid_request' },
  costliest: {
    what: '1,000 names of one cluster of 1,000 wallets',
    body: ({ held }) => held.slice(0, 1_000).map((name) => ({ name })),
  },
  bounds: { '[]': 'asked: 1,000' },
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
    const found = await resolveNameTexts(context, inputs)
    return okAnswer(found.map(({ input, record }) => ({ name: input, ...record })))
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
})

const ownedNamesRoute = route.get('/v1/names/owner/address/:address', {
  bad: { what: 'a page of no names', query: { limit: '0' }, error: 'invalid_request' },
  costliest: { what: '1,000 names', query: { limit: '1000' } },
  bounds: { '[]': 'page: limit, at most 1,000; after, and the header link' },
  summary: 'The names that an address owns',
  beyond:
    '`walletName`: the name of the owner’s wallet. A wallet in a cluster without a name owns none, so its answer is empty. The header `Link` names the next page.',
  description:
    'Its own names, then those below communities as `community/name`. Where more follow, the header `Link` names the next page (RFC 8288).',
  params: z.object({ address: addressSchema }),
  query: z.object({
    after: nameSchema.optional().openapi({
      description: 'Name of an earlier record, after which the page begins',
      example: undefined,
    }),
    limit: z
      .int()
      .min(1)
      .max(OWNED_NAMES_PAGE_SIZE)
      .default(OWNED_NAMES_PAGE_SIZE)
      .describe(`Clamped to ${OWNED_NAMES_PAGE_SIZE}`),
  }),
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
    const { records, next } = await namesOwnedBy(context, params.address!, {
      after: query.get('after'),
      limit,
    })
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
const FOUND_AT_MOST = 10

const search = route.get('/v1/names/search', {
  bad: { what: 'a prefix of one character', query: { prefix: 'a' }, error: 'invalid_request' },
  costliest: { what: 'a prefix of 10 names', query: { prefix: 'na' } },
  bounds: { '[]': 'rule: at most 10' },
  cacheSource: 'journal',
  summary: 'The names that begin with a text',
  description: `For suggestions while somebody types: at most ${FOUND_AT_MOST} registered names, in the order of ASCII. A name that is the prefix itself comes first.`,
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
    const names = await findNamesByPrefix(pool, network, prefix, FOUND_AT_MOST)
    return okAnswer(names.map((name) => ({ name })))
  },
})

export const lookupRoutes = [
  search,
  nameOfAddressRoute,
  namesOfAddressesRoute,
  addressesOfNamesRoute,
  ownedNamesRoute,
]

const TYPE = 'image/svg+xml'
/** Cache headers of a picture, which depends only on its name. */
const CACHED = { 'cache-control': 'public, max-age=86400' } as const

const image = route.get('/image/:name.svg', {
  bad: { what: 'a text that is no name', params: () => ({ name: 'a b' }), error: 'invalid_name' },
  costliest: {},
  summary: 'The picture of a name',
  description: 'Drawn from the name alone, whether anybody holds it or not.',
  params: z.object({ name: nameSchema }),
  responses: { 200: { description: 'The picture', schema: z.string(), type: TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    return answerOfType(TYPE, nameImage(requireName(params.name!)), CACHED)
  },
})

const profileImage = route.get('/profile-image/*name', {
  bad: { what: 'a text that is no name', params: () => ({ name: 'a.b' }), error: 'invalid_name' },
  costliest: {},
  summary: 'The picture of a name, under the path that block explorers ask',
  description: 'As `/image/:name.svg`, also of `community/name`, whose slash is not encoded.',
  params: z.object({ name: nameSchema }),
  responses: { 200: { description: 'The picture', schema: z.string(), type: TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    const name = parseFullName(params.name!)
    if (!name) throw new ApiError('invalid_name', INVALID_NAME_MESSAGE)
    const { cluster, wallet } = name
    const text = wallet === null ? cluster : `${cluster}/${wallet}`
    return answerOfType(TYPE, nameImage(text), CACHED)
  },
})

/** Serves a held name's page to clients other than browsers. Browsers get the page of any name (`pageAnswer`). */
export const profileRoute = route.get('/:name', {
  bad: {
    what: 'a name that nobody holds',
    params: ({ freshName }) => ({ name: freshName() }),
    error: 'not_found',
  },
  costliest: {},
  summary: 'The page of a name that is held',
  description:
    'What `profileUrl` of v0.1 names; it shows the cluster that holds the name, on either network.',
  params: z.object({ name: nameSchema }),
  price: SEVERAL_STATEMENTS_PRICE,
  responses: { 200: { description: 'The page', schema: z.string(), type: 'text/html' } },
  errors: ['not_found'],
  async handle({ params }, context) {
    const name = parseClusterName(params.name!)
    const isHeldOn = async (network: Network) =>
      name !== null && (await findClusterIdByName(context.pool, network, name)) !== null
    const held = await Promise.all(NETWORKS.map(isHeldOn))
    if (!held.includes(true))
      throw new ApiError(
        'not_found',
        'There is no such route, and nobody holds such a name; /openapi.json lists them.',
      )
    const { type, text, cacheControl, policy } = indexPage
    return {
      status: 200,
      content: { type, text, policy },
      headers: { 'cache-control': cacheControl },
    }
  },
})

/** Pictures and pages of names. The page's path matches any one-part path, so it comes last. */
export const nameImageAndPageRoutes = [image, profileImage, profileRoute]
