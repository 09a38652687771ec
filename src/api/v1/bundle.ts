import { toHex } from '../../registry/primitives/bytes.js'
import { addWallets, createCluster } from '../clusters/changes.js'
import { requireCommunityName } from '../communities/communities.js'
import { assignCommunityName } from '../communities/registration.js'
import { ok } from '../http/answer.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_CHANGES, z } from '../http/schema.js'
import { clusterIdText, nameText, walletNameText } from './schemas.js'
import { ADD_ERRORS, addedWallet } from './wallets.js'

const tag = 'Bundles'

/** Bundle is the wallet applications' word for a cluster. */
const create = route({
  method: 'post',
  path: '/v1/bundle',
  tag,
  summary: 'Create the bundle of this wallet',
  description: 'The same as `POST /v1/clusters`.',
  auth: 'required',
  responses: { 200: { description: 'The bundle', schema: z.object({ id: clusterIdText }) } },
  errors: ['catching_up'],
  async handle({ session }, context) {
    return ok({ id: toHex(await createCluster(context, session)) })
  },
})

const add = routeWithBody({
  method: 'post',
  path: '/v1/bundle/wallets',
  tag,
  summary: 'Add wallets to the bundle of this wallet',
  description: 'As `POST /v1/clusters/wallets`.',
  auth: 'required',
  body: z
    .array(
      addedWallet.extend({
        type: z.string().optional().openapi({ description: 'Where it is given, the address has to be of this type' }),
      }),
    )
    .max(MAX_CHANGES),
  responses: {
    200: { description: 'They are added', schema: z.object({ success: z.literal(true), id: clusterIdText }) },
  },
  errors: ADD_ERRORS,
  async handle({ body, session }, context) {
    const id = await addWallets(context, session, body)
    return ok({ success: true, id: toHex(id) })
  },
})

const assign = routeWithBody({
  method: 'post',
  path: '/v1/bundles/assign',
  aliases: ['/bundles/assign'],
  tag,
  summary: 'Register a name below a community for the bundle of this wallet, after a claim',
  description:
    'Without price, one name per bundle and community: one of the bundle’s wallets has to have claimed the community’s airdrop, confirmed.',
  auth: 'required',
  body: z.object({
    community: nameText,
    name: walletNameText,
    bundleId: clusterIdText
      .optional()
      .openapi({ description: 'Where it is given, it has to be the bundle of this wallet' }),
  }),
  responses: {
    200: { description: 'It is registered', schema: z.object({ success: z.literal(true), name: z.string() }) },
  },
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
    const asked = requireCommunityName(body.community, body.name)
    await assignCommunityName(context, session, { ...asked, bundleId: body.bundleId })
    return ok({ success: true, name: `${asked.community}/${asked.name}` })
  },
})

export const bundleRoutes = [create, add, assign]
