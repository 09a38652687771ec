import { findClusterIdByName } from '../../db/registry/clusters.js'
import { findPublicWallets, type PublicWallet } from '../../db/registry/publicWallets.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import { type FullName, parseClusterName, parseFullName } from '../../registry/primitives/name.js'
import { parseName } from '../../registry/primitives/nameRule.js'
import { updateWallets } from '../clusters/changes.js'
import { EXAMPLE_WALLET } from '../examples.js'
import { type Answer, jsonAnswer, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute } from '../http/route.js'
import {
  MAX_BULK_LOOKUP_ELEMENTS,
  MAX_CHANGES_OF_REQUEST,
  namedObjectSchema,
  okResponses,
  z,
} from '../http/schema.js'
import { chargeForListItems } from '../limits/costs.js'
import { nameUrls, requireName } from '../names/names.js'
import {
  type AddressOfName,
  addressesOfNames,
  type NameOfAddress,
  nameOfAddress,
  namesOfAddresses,
  resolveNameTexts,
  sharedNamesOfAddressesFields,
} from '../v1/lookups.js'
import { addressSchema, nameSchema, walletNameSchema, walletTypeSchema } from '../v1/schemas.js'
import { ADD_WALLET_ERRORS } from '../v1/wallets.js'

/** Maximum number of wallets per response. It is higher than the 1,000 wallets of the largest cluster. */
const MAX_WALLETS_PER_RESPONSE = 10_000

async function metadataOfName(context: Context, siteUrl: string, input: string) {
  return (await metadataOfNames(context, siteUrl, [input]))[0] ?? null
}

/**
 * Metadata of the cluster of each name; null for a name that nobody holds, and for a text that is no name. @throws
 * ApiError too_many for more than `MAX_WALLETS_PER_RESPONSE` wallets of all names together
 */
async function metadataOfNames(context: Context, siteUrl: string, inputs: readonly string[]) {
  const names = inputs.map(parseClusterName)
  const distinctNames = [...new Set(names)].filter((name): name is string => name !== null)
  const walletLists = await findPublicWallets(
    context.pool,
    context.network,
    distinctNames,
    MAX_WALLETS_PER_RESPONSE,
  )
  const byName = new Map(distinctNames.map((name, i) => [name, walletLists?.[i] ?? null]))
  const walletsOf = (name: string | null) => (name === null ? null : (byName.get(name) ?? null))
  const count = names.reduce((sum, name) => sum + (walletsOf(name)?.length ?? 0), 0)
  if (!walletLists || count > MAX_WALLETS_PER_RESPONSE)
    throw new ApiError(
      'too_many',
      `These clusters have more than ${MAX_WALLETS_PER_RESPONSE} wallets: ask for fewer at once.`,
    )
  const shown: (Awaited<ReturnType<typeof metadataJson>> | null)[] = []
  for (const name of names)
    shown.push(name === null ? null : await metadataJson(context, siteUrl, name, walletsOf(name)))
  return shown
}

/**
 * Metadata of the cluster in which the address is verified, under the cluster's default name; null for no such cluster.
 */
async function metadataOfAddress(context: Context, siteUrl: string, input: string) {
  const address = parseWalletOrNull(input)
  const hit = address && (await context.lookups[context.network].nameOf(address.bytes))
  if (!hit?.isVerified || hit.isOfCommunity || hit.clusterName === null) return null
  return metadataOfName(context, siteUrl, hit.clusterName)
}

async function metadataJson(
  { turn }: Context,
  siteUrl: string,
  name: string,
  wallets: readonly PublicWallet[] | null,
) {
  if (!wallets) return null
  return {
    name: `${name}/`,
    ...nameUrls(siteUrl, name),
    hasCustomImage: false,
    wallets: await mapWithoutBlocking(turn, wallets, (wallet) => {
      const { type, text } = decodeWallet(wallet.address)
      return { type, address: text, name: `${name}/${wallet.name}`, isVerified: wallet.isVerified }
    }),
  }
}

const WalletSchema = namedObjectSchema('WalletV01', {
  type: walletTypeSchema,
  address: addressSchema,
  name: z.string().openapi({ example: 'foobar/main' }),
  isVerified: z.boolean(),
})

const NAME_RESOLUTION_TEXT =
  'A cluster name alone resolves to the wallet named `main`, else to the oldest verified one; the answer names that wallet.'
const walletResponses = okResponses(
  'The wallet, null where the name resolves to none',
  WalletSchema.nullable(),
)

const walletJson = (name: string, { type, address, isVerified }: AddressOfName) => ({
  type,
  address,
  name,
  isVerified,
})

async function walletAnswer(context: Context, name: FullName | null) {
  const record = name && (await addressesOfNames(context, [name]))[0]
  return okAnswer(record ? walletJson(`${record.clusterName}/${record.walletName}`, record) : null)
}

const addressOfClusterRoute = declareRoute.get('/v0.1/address/:name', {
  refusedSample: null,
  costliestSample: {},
  cacheSource: 'journal',
  successor: '/v1/names',
  summary: 'The address of a cluster name',
  description: NAME_RESOLUTION_TEXT,
  params: z.object({ name: nameSchema }),
  responses: walletResponses,
  handle: ({ params }, context) => walletAnswer(context, parseFullName(params.name!)),
})

const addressOfWalletRoute = declareRoute.get('/v0.1/address/:name/:addressName', {
  refusedSample: null,
  costliestSample: {},
  cacheSource: 'journal',
  successor: '/v1/names',
  summary: 'The address of a wallet of a cluster',
  params: z.object({ name: nameSchema, addressName: nameSchema }),
  responses: walletResponses,
  handle({ params }, context) {
    const cluster = parseClusterName(params.name!)
    const wallet = parseName(params.addressName!)
    return walletAnswer(context, cluster !== null && wallet !== null ? { cluster, wallet } : null)
  },
})

const addressesOfNamesRoute = declareRoute.post('/v0.1/address/names', {
  costliestSample: {
    what: '1,000 names of one cluster of 1,000 wallets',
    body: ({ held }) => held.slice(0, 1_000),
  },
  listBounds: { '[]': 'asked: 1,000' },
  cacheSource: 'journal',
  successor: '/v1/names',
  summary: 'The addresses of many names',
  description:
    'In the order of the input, each name as in the request. Names that resolve to nothing are left out.',
  body: z
    .array(z.string().openapi({ description: '`foo/` or `foo/main`', example: 'seedling/main' }))
    .max(MAX_BULK_LOOKUP_ELEMENTS),
  responses: okResponses('The wallets', z.array(WalletSchema)),
  errors: ['too_many'],
  handle: async ({ body }, context) =>
    okAnswer(
      (await resolveNameTexts(context, body)).map(({ input, record }) => walletJson(input, record)),
    ),
})

const fullNameSchema = z.string().openapi({ example: 'foobar/main' })

/** Full name of an address (`foobar/main`). Null for an address without a cluster, and if its cluster has no name. */
const fullNameOf = ({ hit }: NameOfAddress): string | null =>
  hit?.clusterName ? `${hit.clusterName}/${hit.walletName}` : null

const nameOfAddressRoute = declareRoute.get('/v0.1/name/:address', {
  refusedSample: null,
  costliestSample: {},
  cacheSource: 'journal',
  successor: '/v1/names/address/:address',
  summary: 'The name of an address',
  interfaceNotes: '`type` may be a type of another chain, such as `bitcoin-p2wpkh`.',
  params: z.object({ address: addressSchema }),
  responses: okResponses('Its name, null where it has none', fullNameSchema.nullable()),
  handle: async ({ params }, context) =>
    okAnswer(fullNameOf(await nameOfAddress(context, params.address!))),
})

const namesOfAddressesRoute = declareRoute.post('/v0.1/name/addresses', {
  ...sharedNamesOfAddressesFields,
  successor: '/v1/names/address',
  description: 'One element per input, in its order.',
  responses: okResponses(
    'The addresses with their names',
    z.array(z.object({ address: addressSchema, name: fullNameSchema.nullable() })),
  ),
  async handle({ body }, context) {
    const records = await namesOfAddresses(context, body)
    return okAnswer(
      records.map((record) => ({ address: record.address, name: fullNameOf(record) })),
    )
  },
})

const MetadataSchema = namedObjectSchema('ClusterV01', {
  name: z.string().openapi({ example: 'foobar/' }),
  profileUrl: z.url(),
  imageUrl: z.url(),
  hasCustomImage: z.boolean(),
  wallets: z.array(WalletSchema),
})

type ClusterMetadata = NonNullable<Awaited<ReturnType<typeof metadataOfName>>>
const clustersAnswer = (clusters: ClusterMetadata | ClusterMetadata[] | null): Answer =>
  chargeForListItems(
    okAnswer(clusters),
    [clusters ?? []].flat().reduce((sum, { wallets }) => sum + wallets.length, 0),
  )

const clusterResponses = okResponses(
  'The cluster, null where there is none',
  MetadataSchema.nullable(),
)

const createClusterOfNameRoute = (siteUrl: string) =>
  declareRoute.get('/v0.1/cluster/:name', {
    refusedSample: null,
    costliestSample: {},
    listBounds: { 'wallets[]': 'rule: 1,000 wallets a cluster' },
    responses: clusterResponses,
    successor: '/v1/clusters/name/:name',
    summary: 'The cluster that holds a name',
    params: z.object({ name: nameSchema }),
    handle: async ({ params }, context) =>
      clustersAnswer(await metadataOfName(context, siteUrl, params.name!)),
  })

const createClusterOfAddressRoute = (siteUrl: string) =>
  declareRoute.get('/v0.1/cluster/address/:address', {
    refusedSample: null,
    costliestSample: {},
    listBounds: { 'wallets[]': 'rule: 1,000 wallets a cluster' },
    responses: clusterResponses,
    successor: '/v1/clusters/address/:address',
    summary: 'The cluster in which an address is verified, under its default name',
    params: z.object({ address: addressSchema }),
    handle: async ({ params }, context) =>
      clustersAnswer(await metadataOfAddress(context, siteUrl, params.address!)),
  })

const createClustersOfNamesRoute = (siteUrl: string) =>
  declareRoute.post('/v0.1/cluster/names', {
    costliestSample: {
      what: '10 names of clusters of 1,000 wallets',
      body: ({ held }) => held.slice(0, 10),
    },
    listBounds: {
      '[]': 'asked: 1,000 names, and 10,000 wallets of all together, else 400 too_many',
      '[].wallets[]': 'asked: 1,000 names, and 10,000 wallets of all together, else 400 too_many',
    },
    successor: '/v1/clusters/name/:name',
    summary: 'The clusters that hold names',
    description: 'In the order of the input; names that nobody holds are left out.',
    body: z.array(nameSchema).max(MAX_BULK_LOOKUP_ELEMENTS),
    responses: okResponses('The clusters', z.array(MetadataSchema)),
    errors: ['too_many'],
    handle: async ({ body }, context) =>
      clustersAnswer(
        (await metadataOfNames(context, siteUrl, body)).filter((cluster) => cluster !== null),
      ),
  })

const namedWalletsSchema = z
  .array(z.object({ address: addressSchema, name: walletNameSchema }))
  .max(MAX_CHANGES_OF_REQUEST)
  .default([])

const updateWalletsRoute = declareRoute.post('/v0.1/cluster/:name/update/wallets', {
  refusedSample: {
    what: 'an object instead of a list',
    body: () => ({ add: {} }),
    error: 'invalid_request',
  },
  privateDataFor: null,
  costliestSample: {
    what: 'in a full cluster',
    as: 'owner',
    body: ({ evmAddress, freshName }) => ({ add: [{ address: evmAddress(), name: freshName() }] }),
  },
  example: { status: 403, body: { add: [{ address: EXAMPLE_WALLET, name: 'cold' }] } },
  successor: '/v1/clusters/wallets',
  summary: 'Change the wallets of the cluster of this wallet',
  description: 'Removes, renames and adds (in public) in this order, all or nothing.',
  auth: 'required',
  params: z.object({ name: nameSchema }),
  body: z.object({
    add: namedWalletsSchema,
    update: namedWalletsSchema,
    remove: z.array(addressSchema).max(MAX_CHANGES_OF_REQUEST).default([]),
  }),
  responses: { 201: { description: 'It is done', schema: z.object({ success: z.literal(true) }) } },
  errors: [
    ...ADD_WALLET_ERRORS,
    'forbidden',
    'not_found',
    'not_in_cluster',
    'last_verified_wallet',
  ],
  async handle({ params, body, session }, context) {
    const id = await findClusterIdByName(context.pool, context.network, requireName(params.name!))
    if (!id) throw new ApiError('not_found', 'There is no such cluster.')
    await updateWallets(context, session, body, id)
    return jsonAnswer(201, { success: true })
  },
})

/** Routes of v0.1's look-ups. @param siteUrl base of the URLs of pages and pictures */
export const lookupRoutes = (siteUrl: string) => [
  addressOfClusterRoute,
  addressOfWalletRoute,
  addressesOfNamesRoute,
  nameOfAddressRoute,
  namesOfAddressesRoute,
  createClusterOfNameRoute(siteUrl),
  createClusterOfAddressRoute(siteUrl),
  createClustersOfNamesRoute(siteUrl),
  updateWalletsRoute,
]
