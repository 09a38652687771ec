import { toHex } from '../../registry/bytes.js'
import { ok } from '../answer.js'
import { addWallets, createCluster } from '../answers/changes.js'
import { route, routeWithBody } from '../route.js'
import { MAX_CHANGES, z } from '../schema.js'
import { clusterIdText } from './schemas.js'
import { ADD_ERRORS, addedWallet } from './wallets.js'

const tag = 'Bundles'

/** A bundle is a cluster. */
const create = route({
  method: 'post',
  path: '/v1/bundle',
  tag,
  summary: 'Create the bundle of this wallet',
  description: 'The same as `POST /v1/clusters`.',
  auth: 'required',
  responses: { 200: { description: 'The bundle', schema: z.object({ id: clusterIdText }) } },
  errors: ['catching_up'],
  async handle({ network, session }, context) {
    return ok({ id: toHex(await createCluster(context, { network, session })) })
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
  async handle({ body, network, session }, context) {
    const id = await addWallets(context, { network, session }, body)
    return ok({ success: true, id: toHex(id) })
  },
})

export const bundleRoutes = [create, add]
