import { toHex } from '../../registry/primitives/bytes.js'
import { addWalletsChange, appendChangesOrThrow } from '../clusters/changes.js'
import { requireNameBelowCommunity } from '../communities/communities.js'
import { assignCommunityName } from '../communities/registration.js'
import { COMMUNITY_WITHOUT_PRICE, EXAMPLE_SOLANA_WALLET } from '../examples.js'
import { okAnswer } from '../http/answer.js'
import { declareRoute } from '../http/route.js'
import { addMaxWalletsBody } from '../http/sampleRequests.js'
import { MAX_CHANGES_OF_REQUEST, okResponses, z } from '../http/schema.js'
import { clusterIdSchema, nameSchema, walletNameSchema } from './schemas.js'
import { ADD_WALLET_ERRORS, addedWalletSchema, createClusterCreationRoute } from './wallets.js'

/** Alias of `POST /v1/clusters`, because wallet apps call a cluster a bundle. */
const bundleCreationRoute = createClusterCreationRoute('/v1/bundle', {
  summary: 'Create the bundle of this wallet',
  description: 'The same as `POST /v1/clusters`.',
  responses: okResponses('The bundle', { id: clusterIdSchema }),
})

const addWalletsRoute = declareRoute.post('/v1/bundle/wallets', {
  refusedSample: {
    what: 'another type than the address has',
    body: ({ evmAddress }) => [{ address: evmAddress(), name: 'x', type: 'solana' }],
    error: 'unsupported_address',
  },
  privateDataFor: 'caller',
  costliestSample: { what: '100 wallets', as: 'other', body: addMaxWalletsBody },
  example: { body: [{ address: EXAMPLE_SOLANA_WALLET, name: 'sol', type: 'solana' }] },
  summary: 'Add wallets to the bundle of this wallet',
  description: 'As `POST /v1/clusters/wallets`.',
  auth: 'required',
  body: z
    .array(
      addedWalletSchema.extend({
        type: z.string().optional().describe('If present, the address has to have this type'),
      }),
    )
    .max(MAX_CHANGES_OF_REQUEST),
  responses: okResponses('They are added', { success: z.literal(true), id: clusterIdSchema }),
  errors: ADD_WALLET_ERRORS,
  async handle({ body, session }, context) {
    const id = await appendChangesOrThrow(context, session, {
      changes: [addWalletsChange(session.wallet, body)],
    })
    return okAnswer({ success: true, id: toHex(id) })
  },
})

const assignNameRoute = declareRoute.post('/v1/bundles/assign', {
  refusedSample: {
    what: 'a text that is no name',
    body: ({ community }) => ({ community, name: 'a b' }),
    error: 'invalid_name',
  },
  privateDataFor: null,
  costliestSample: {
    as: 'owner',
    body: ({ community, freshName }) => ({ community, name: freshName() }),
  },
  example: { status: 403, body: { community: COMMUNITY_WITHOUT_PRICE, name: 'alice' } },
  aliases: ['/bundles/assign'],
  summary: 'Register a name below a community for the bundle of this wallet, after a claim',
  description:
    'One name per bundle and community, without a price. A wallet of the bundle needs a confirmed claim from the community’s airdrop.',
  auth: 'required',
  body: z.object({
    community: nameSchema,
    name: walletNameSchema,
    bundleId: clusterIdSchema
      .optional()
      .describe('If present, it has to be the bundle of this wallet'),
  }),
  responses: okResponses('It is registered', { success: z.literal(true), name: z.string() }),
  errors: [
    'invalid_name',
    'not_found',
    'not_in_cluster',
    'forbidden',
    'requirements_not_met',
    'already_assigned',
    'not_available',
    'catching_up',
  ],
  async handle({ body, session }, context) {
    const member = requireNameBelowCommunity(body.community, body.name)
    await assignCommunityName(context, session, { ...member, bundleId: body.bundleId })
    return okAnswer({ success: true, name: `${member.community}/${member.name}` })
  },
})

export const walletBundleRoutes = [bundleCreationRoute, addWalletsRoute, assignNameRoute]
