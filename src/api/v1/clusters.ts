import {
  type ClusterForViewer,
  findClusterById,
  findClusterByName,
  findClusterIdOfWallet,
  findInvitations,
} from '../../db/registry/clusters.js'
import { actorText } from '../../registry/journal/eventForms.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { requireClusterId } from '../http/address.js'
import { type Answer, jsonAnswer, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { enumParameter } from '../http/query.js'
import { declareRoute, type Session } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { timestampToSecond } from '../http/timestamps.js'
import { chargeForListItems } from '../limits/costs.js'
import { requireName } from '../names/names.js'
import { namesOwnedBy, OWNED_NAMES_PAGE_SIZE } from '../names/owners.js'
import { addressSchema, clusterIdSchema, nameSchema, walletNameSchema } from './schemas.js'

/** Caller of a look-up. Wallets verified in the cluster also see its private wallets. */
type Viewer = Pick<Session, 'wallet'> | null

/**
 * Maximum number of listed clusters that name an address without its proof. Anybody may add any address to a cluster.
 */
const MAX_INVITATIONS = 20

async function invitationsOf({ pool, network }: Context, input: string) {
  const address = parseWalletOrNull(input)
  if (!address) return { invitations: [] }
  const rows = await findInvitations(pool, network, address.bytes, MAX_INVITATIONS + 1)
  const invitations = rows
    .slice(0, MAX_INVITATIONS)
    .map(({ clusterId, ...names }) => ({ clusterId: toHex(clusterId), ...names }))
  return { invitations, ...(rows.length > MAX_INVITATIONS && { moreInvitations: true }) }
}

/**
 * JSON with the first names of the caller's own address, which may be private. Null for another address: the routes of
 * names list the names of public wallets.
 */
async function namesOfCaller(context: Context, address: string, viewer: Viewer) {
  if (!viewer || !parseWalletOrNull(address)?.bytes.equals(viewer.wallet)) return null
  const first = { after: undefined, limit: OWNED_NAMES_PAGE_SIZE }
  const { records, next } = await namesOwnedBy(context, address, first, viewer.wallet)
  return { names: records.map(({ name }) => name), ...(next !== null && { moreNames: true }) }
}

/**
 * Id of the cluster in which an address is verified, else null. A private verification is shown only to the address
 * itself.
 */
async function clusterIdOfAddress(
  context: Context,
  input: string,
  viewer: Viewer,
): Promise<string | null> {
  const address = parseWalletOrNull(input)
  const id =
    address &&
    (await findClusterIdOfWallet(context.pool, context.network, address.bytes, viewer?.wallet))
  return id && toHex(id)
}

/** Response with a cluster. @throws ApiError not_found */
function clusterAnswer({ network }: Context, cluster: ClusterForViewer | null): Answer {
  if (!cluster) throw new ApiError('not_found', 'There is no such cluster.')
  const answer = okAnswer({
    id: toHex(cluster.id),
    createdBy: actorText(cluster.createdBy),
    createdAt: timestampToSecond(cluster.createdMs),
    wallets: cluster.wallets.map((wallet) => ({
      address: decodeWallet(wallet.address).text,
      name: wallet.name,
      isVerified: wallet.isVerified,
      isPrivate: wallet.isPrivate,
      isBackedUp: wallet.isBackedUp,
      ...(wallet.evidence && { evidence: wallet.evidence }),
      updatedAt: timestampToSecond(wallet.updatedMs),
      updatedBy: actorText(wallet.updatedBy),
      createdAt: timestampToSecond(wallet.createdMs),
    })),
    isTestnet: network === 'testnet',
  })
  return chargeForListItems(answer, cluster.wallets.length)
}

const timestampSchema = z.string().openapi({ example: '2026-11-20 08:00:00+00' })

const ClusterSchema = namedObjectSchema('Cluster', {
  id: clusterIdSchema,
  createdBy: addressSchema,
  createdAt: timestampSchema,
  wallets: z.array(
    z
      .object({
        address: addressSchema,
        name: z.string(),
        isVerified: z.boolean(),
        isPrivate: z.boolean(),
        isBackedUp: z.boolean(),
        evidence: z
          .enum(['signed', 'registered', 'unsigned'])
          .optional()
          .describe(
            'What shows that the wallet belongs here: its public signature, a name that it registered on the hub (that the name is this cluster’s is the word of the service), or only the word of the service. docs/use/verify.md shows how to check it by the logs. A mirror leaves it out',
          ),
        updatedAt: timestampSchema,
        updatedBy: addressSchema,
        createdAt: timestampSchema,
      })
      .openapi('Wallet'),
  ),
  isTestnet: z.boolean(),
})

const clusterResponses = okResponses(
  'The cluster with its public wallets. For a caller verified in it, with all of its wallets',
  ClusterSchema,
)

const clusterByIdRoute = declareRoute.get('/v1/clusters/id/:id', {
  privateDataFor: 'members',
  costliestSample: { what: '1,000 wallets, by a member', as: 'owner' },
  listBounds: { 'wallets[]': 'rule: 1,000 wallets a cluster' },
  summary: 'A cluster by its id',
  auth: 'optional',
  params: z.object({ id: clusterIdSchema }),
  responses: clusterResponses,
  errors: ['not_found'],
  async handle({ params, session }, context) {
    const { pool, network } = context
    const id = requireClusterId(params.id!)
    return clusterAnswer(context, await findClusterById(pool, network, id, session?.wallet))
  },
})

const clusterByNameRoute = declareRoute.get('/v1/clusters/name/:name', {
  privateDataFor: 'members',
  costliestSample: { what: '1,000 wallets, by a member', as: 'owner' },
  listBounds: { 'wallets[]': 'rule: 1,000 wallets a cluster' },
  summary: 'The cluster that holds a name',
  interfaceNotes:
    'A private wallet that registers a name on chain is public from then on, with its wallet name.',
  auth: 'optional',
  params: z.object({ name: nameSchema }),
  responses: clusterResponses,
  errors: ['invalid_name', 'not_found'],
  async handle({ params, session }, context) {
    const { pool, network } = context
    const name = requireName(params.name!)
    return clusterAnswer(context, await findClusterByName(pool, network, name, session?.wallet))
  },
})

const clusterIdOfAddressRoute = declareRoute.get('/v1/clusters/address/:address', {
  refusedSample: null,
  privateDataFor: 'caller',
  costliestSample: {
    what: 'by a member, with invitations and names',
    as: 'owner',
    query: { invitations: 'true', names: 'true' },
  },
  listBounds: {
    'invitations[]': `rule: at most ${MAX_INVITATIONS}`,
    'names[]': `page: the first ${OWNED_NAMES_PAGE_SIZE}`,
  },
  summary: 'The id of the cluster in which an address is verified',
  description: 'A privately verified wallet needs its own key to get its cluster.',
  auth: 'optional',
  params: z.object({ address: addressSchema }),
  query: z.object({
    orNull: z.enum(['true']).optional().openapi({
      description:
        'Answers 200 in place of 404 where the address is verified in no cluster: a browser logs each 404',
      example: undefined,
    }),
    invitations: z.enum(['true']).optional().openapi({
      description: 'Lists clusters that name the address in public without its proof',
      example: undefined,
    }),
    names: z.enum(['true']).optional().openapi({
      description:
        'Lists the names of the caller’s own address, also where it is private; absent for any other address',
      example: undefined,
    }),
  }),
  responses: {
    200: {
      description: 'Its id; null only with `orNull=true`',
      schema: z.object({
        clusterId: clusterIdSchema.nullable(),
        invitations: z
          .array(
            z.object({
              clusterId: clusterIdSchema,
              clusterName: nameSchema.nullable(),
              walletName: walletNameSchema,
            }),
          )
          .optional()
          .describe(`The newest ${MAX_INVITATIONS}`),
        moreInvitations: z
          .literal(true)
          .optional()
          .describe('Whether there are older ones; absent for none'),
        names: z
          .array(z.string())
          .optional()
          .describe(
            `The first ${OWNED_NAMES_PAGE_SIZE}, oldest first, those below communities last`,
          ),
        moreNames: z.literal(true).optional().describe('Whether there are more; absent for none'),
      }),
    },
    404: {
      description: 'The address is verified in no cluster',
      schema: z.object({ clusterId: z.null() }),
    },
  },
  async handle({ params, query, session }, context) {
    const isNullFine = enumParameter(query, 'orNull', ['true']) !== undefined
    const asksInvitations = enumParameter(query, 'invitations', ['true']) !== undefined
    const asksNames = enumParameter(query, 'names', ['true']) !== undefined
    const clusterId = await clusterIdOfAddress(context, params.address!, session)
    const status = clusterId || isNullFine ? 200 : 404
    const listed = asksInvitations ? await invitationsOf(context, params.address!) : null
    const listedNames = asksNames ? await namesOfCaller(context, params.address!, session) : null
    return chargeForListItems(
      jsonAnswer(status, { clusterId, ...listed, ...listedNames }),
      (listedNames?.names.length ?? 0) + (listed?.invitations.length ?? 0),
    )
  },
})

export const clusterRoutes = [clusterByIdRoute, clusterByNameRoute, clusterIdOfAddressRoute]
