import { findClusterById } from '../../db/registry/clusters.js'
import {
  DIRECTORY_PAGE_ITEMS,
  findNamesBeginning,
  findNewestNames,
  MAX_DIRECTORY_ITEMS,
  MAX_DIRECTORY_OFFSET,
} from '../../db/registry/directory.js'
import { findRankedClusters } from '../../db/registry/ranking.js'
import { ZERO_ADDRESS } from '../../registry/journal/eventForms.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { parseFullName, withoutTrailingSlash } from '../../registry/primitives/name.js'
import { requireClusterId } from '../http/address.js'
import { ApiError } from '../http/errors.js'
import type { Route } from '../http/route.js'
import { z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { declareProcedure } from '../http/trpc.js'
import { NAME_SEARCH_PRICE, SEVERAL_STATEMENTS_PRICE } from '../limits/costs.js'
import {
  addressText,
  chainIdsOfAddresses,
  describeNames,
  walletChainIdsOfClusters,
} from '../names/directory.js'
import { namesOwnedBy, OWNED_NAMES_PAGE_SIZE } from '../names/owners.js'

// This file declares the tRPC procedures that Blockscout's frontend calls (docs/use/blockscout.md).

const addressOrEmptySchema = z.string().describe('Empty where none is public')
const timeSchema = z.string().openapi({ example: '2026-11-20T08:00:00.000Z' })
const weiSchema = z.string().openapi({ example: '10000000000000000' })
const isTestnetSchema = z.boolean()
const chainIdsSchema = z.array(z.string()).openapi({
  description:
    'Chains of the public wallets: the hub’s EIP-155 id for EVM, else the name of the chain',
  example: ['1', 'solana'],
})
const NameSchema = z.object({
  name: z.string().openapi({ description: '`foo` or `community/name`', example: 'seedling' }),
  owner: addressOrEmptySchema,
  clusterId: z.string().describe('Empty where the owner is in no public cluster'),
  totalWeiAmount: weiSchema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
  updatedBy: addressOrEmptySchema,
  expiresAt: z.null(),
  isTestnet: isTestnetSchema,
})

const offsetSchema = z
  .int()
  .min(0)
  .max(MAX_DIRECTORY_OFFSET)
  .nullish()
  .transform((value) => value ?? 0)
const limitSchema = z
  .int()
  .min(1)
  .max(DIRECTORY_PAGE_ITEMS)
  .nullish()
  .transform((value) => value ?? DIRECTORY_PAGE_ITEMS)
const PAGE_BOUND_REASON = `page: limit, at most ${DIRECTORY_PAGE_ITEMS}; offset, at most ${MAX_DIRECTORY_OFFSET}`
const WALLETS_BOUND_REASON = 'rule: 1,000 wallets a cluster'

/** Parses a name as Blockscout shows it: with a slash at its end. */
const parseShownName = (text: string) => parseFullName(withoutTrailingSlash(text))

const searchProcedure = declareProcedure('names.search', {
  summary: 'Names of clusters, newest first or by their beginning',
  description: `Without a text all names of clusters, newest first. With one those that begin with it, by name; \`community/na\` finds names below that community. \`total\` is at most ${MAX_DIRECTORY_ITEMS} with a text.`,
  cacheSource: 'journal',
  price: NAME_SEARCH_PRICE,
  costliestSample: { what: '50 names', query: { input: '{"offset":900}' } },
  listBounds: {
    'result.data.items[]': PAGE_BOUND_REASON,
    'result.data.items[].chainIds[]': WALLETS_BOUND_REASON,
  },
  input: z.object({
    offset: offsetSchema,
    limit: limitSchema,
    orderBy: z
      .enum(['createdAt-desc', 'name-asc'])
      .nullish()
      .describe('Has no effect: the order follows from the text'),
    query: z.string().nullish(),
  }),
  example: { offset: 0, limit: 50, orderBy: 'createdAt-desc', query: '' },
  data: z.object({
    total: z.int(),
    items: z.array(NameSchema.extend({ chainIds: chainIdsSchema })),
  }),
  async run({ offset, limit, query }, context) {
    const { pool, network } = context
    const text = query?.trim() ?? ''
    const name = parseShownName(text)
    if (text !== '' && !name) return { total: 0, items: [] }
    const { total, names } = await (name
      ? findNamesBeginning(pool, network, name, offset, limit)
      : findNewestNames(pool, network, offset, limit))
    const community = name?.wallet ? name.cluster : null
    return { total, items: await describeNames(context, community, names) }
  },
})

const leaderboardProcedure = declareProcedure('names.leaderboard', {
  summary: 'Clusters by the sum of their winning bids',
  description:
    'Then by the number of their names, then by age. Ranked again in the background, once a minute where something changed.',
  price: SEVERAL_STATEMENTS_PRICE,
  costliestSample: { what: '50 clusters', query: { input: '{}' } },
  listBounds: {
    'result.data[]': PAGE_BOUND_REASON,
    'result.data[].chainIds[]': WALLETS_BOUND_REASON,
  },
  input: z.object({
    offset: offsetSchema,
    limit: limitSchema,
    orderBy: z.enum(['rank-asc']).nullish(),
  }),
  example: { offset: 0, limit: 50, orderBy: 'rank-asc' },
  data: z.array(
    z.object({
      rank: z.int(),
      name: z.string().describe('Its oldest name'),
      clusterId: z.string(),
      nameCount: z.string(),
      totalWeiAmount: weiSchema,
      totalReferralAmount: weiSchema.describe('Of winning bids whose referral is the cluster'),
      chainIds: chainIdsSchema,
      isTestnet: isTestnetSchema,
    }),
  ),
  async run({ offset, limit }, context) {
    const { pool, network } = context
    const ranked = await findRankedClusters(pool, network, offset, limit)
    const clusters = ranked.map(({ cluster }) => cluster)
    const chains = await walletChainIdsOfClusters(context, clusters)
    return ranked.map(({ cluster, clusterId, ...one }) => ({
      rank: one.rank,
      name: one.name,
      clusterId: toHex(clusterId),
      nameCount: String(one.names),
      totalWeiAmount: String(one.amountWei),
      totalReferralAmount: String(one.referredWei),
      chainIds: chains.get(cluster) ?? [],
      isTestnet: network === 'testnet',
    }))
  },
})

const nameProcedure = declareProcedure('names.get', {
  summary: 'A name of a cluster, or below a community',
  description: 'Null where nobody holds it.',
  cacheSource: 'journal',
  costliestSample: { query: ({ name }) => ({ input: JSON.stringify({ name }) }) },
  listBounds: { 'result.data.chainIds[]': WALLETS_BOUND_REASON },
  input: z.object({ name: z.string() }),
  example: { name: 'seedling' },
  data: NameSchema.extend({ backingWei: weiSchema, chainIds: chainIdsSchema }).nullable(),
  async run({ name }, context) {
    const fullName = parseShownName(name.trim())
    if (!fullName) return null
    const { cluster, wallet } = fullName
    const [record] = await (wallet === null
      ? describeNames(context, null, [cluster])
      : describeNames(context, cluster, [wallet]))
    return record ? { ...record, backingWei: record.totalWeiAmount } : null
  },
})

/** Converts a time of v1's look-ups to ISO 8601. */
const isoOfTimestamp = (timestamp: string): string =>
  timestamp.replace(' ', 'T').replace('+00', 'Z')

const namesOfOwnerProcedure = declareProcedure('names.getNamesByOwnerAddress', {
  summary: 'The names of an address',
  description: `The first ${OWNED_NAMES_PAGE_SIZE}, oldest first, those below communities last. \`GET /v1/names/owner/address/:address\` has pages.`,
  cacheSource: 'journal',
  costliestSample: {
    what: '1,000 names',
    query: ({ owner }) => ({ input: JSON.stringify({ address: owner }) }),
  },
  listBounds: { 'result.data[]': `page: the first ${OWNED_NAMES_PAGE_SIZE}` },
  input: z.object({ address: z.string() }),
  example: { address: '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5' },
  data: z.array(NameSchema),
  async run({ address }, context) {
    const page = { after: undefined, limit: OWNED_NAMES_PAGE_SIZE }
    const { records } = await namesOwnedBy(context, address, page)
    return records.map(({ walletName: _, tx: __, ...record }) => ({
      ...record,
      createdAt: isoOfTimestamp(record.createdAt),
      updatedAt: isoOfTimestamp(record.updatedAt),
      updatedBy: record.updatedBy === ZERO_ADDRESS ? '' : record.updatedBy,
      clusterId: record.clusterId ?? '',
    }))
  },
})

const clusterByIdProcedure = declareProcedure('clusters.getClusterById', {
  summary: 'A cluster with its public wallets',
  description: 'As `GET /v1/clusters/id/:id` without a key.',
  cacheSource: 'journal',
  costliestSample: {
    what: '1,000 wallets',
    query: ({ clusterId }) => ({ input: JSON.stringify({ id: clusterId }) }),
  },
  listBounds: {
    'result.data.wallets[]': WALLETS_BOUND_REASON,
    'result.data.wallets[].chainIds[]': 'rule: one',
  },
  input: z.object({ id: z.string() }),
  example: { id: '0x38cd811679ffbef5bd03bc9fd3e822f56107600568e6b106604fcf8503b40ca8' },
  data: z.object({
    id: z.string(),
    createdBy: addressOrEmptySchema,
    createdAt: timeSchema,
    wallets: z.array(
      z.object({ address: addressOrEmptySchema, name: z.string(), chainIds: chainIdsSchema }),
    ),
    isTestnet: isTestnetSchema,
  }),
  async run({ id }, context) {
    const { pool, network } = context
    const cluster = await findClusterById(pool, network, requireClusterId(id))
    if (!cluster) throw new ApiError('not_found', 'There is no such cluster.')
    return {
      id: toHex(cluster.id),
      createdBy: addressText(cluster.createdBy),
      createdAt: isoTimestamp(cluster.createdMs),
      wallets: cluster.wallets.map(({ address, name }) => ({
        address: addressText(address),
        name,
        chainIds: chainIdsOfAddresses(context, [address]),
      })),
      isTestnet: network === 'testnet',
    }
  },
})

export const trpcRoutes: readonly Route[] = [
  searchProcedure,
  leaderboardProcedure,
  nameProcedure,
  namesOfOwnerProcedure,
  clusterByIdProcedure,
]
