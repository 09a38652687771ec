import { fromHex } from '../../registry/primitives/bytes.js'
import { updateWallets } from '../clusters/changes.js'
import { clusterByName } from '../clusters/clusters.js'
import { ok } from '../http/answer.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_CHANGES, MAX_LOOKUPS, z } from '../http/schema.js'
import { metadataOfAddress, metadataOfName, metadataOfNames } from '../names/metadata.js'
import { addressText, nameText, walletNameText } from '../v1/schemas.js'
import { ADD_ERRORS } from '../v1/wallets.js'
import { WalletSchema } from './schemas.js'

const tag = 'v0.1 look-ups'

const MetadataSchema = z
  .object({
    name: z.string().openapi({ example: 'foobar/' }),
    profileUrl: z.url(),
    imageUrl: z.url(),
    hasCustomImage: z.boolean(),
    wallets: z.array(WalletSchema),
  })
  .openapi('ClusterV01')

const single = {
  method: 'get',
  tag,
  responses: { 200: { description: 'The cluster, null where there is none', schema: MetadataSchema.nullable() } },
} as const

const byName = route({
  ...single,
  path: '/v0.1/cluster/:name',
  deprecated: { successor: '/v1/clusters/name/:name' },
  summary: 'The cluster that holds a name',
  params: z.object({ name: nameText }),
  async handle({ params }, context) {
    return ok(await metadataOfName(context, params.name!))
  },
})

const byAddress = route({
  ...single,
  path: '/v0.1/cluster/address/:address',
  deprecated: { successor: '/v1/clusters/address/:address' },
  summary: 'The cluster in which an address is verified, under its default name',
  params: z.object({ address: addressText }),
  async handle({ params }, context) {
    return ok(await metadataOfAddress(context, params.address!))
  },
})

const byNames = routeWithBody({
  method: 'post',
  path: '/v0.1/cluster/names',
  deprecated: { successor: '/v1/clusters/name' },
  tag,
  summary: 'The clusters that hold names',
  description: 'In the order of the input; names that nobody holds are left out.',
  body: z.array(nameText).max(MAX_LOOKUPS),
  responses: { 200: { description: 'The clusters', schema: z.array(MetadataSchema) } },
  errors: ['too_many'],
  async handle({ body }, context) {
    return ok((await metadataOfNames(context, body)).filter((cluster) => cluster !== null))
  },
})

const namedWallets = z
  .array(z.object({ address: addressText, name: walletNameText }))
  .max(MAX_CHANGES)
  .default([])

const update = routeWithBody({
  method: 'post',
  path: '/v0.1/cluster/:name/update/wallets',
  deprecated: { successor: '/v1/clusters/wallets' },
  tag,
  summary: 'Change the wallets of the cluster of this wallet',
  description: 'Removes, renames and adds (in public) in this order, all or nothing.',
  auth: 'required',
  params: z.object({ name: nameText }),
  body: z.object({
    add: namedWallets,
    update: namedWallets,
    remove: z.array(addressText).max(MAX_CHANGES).default([]),
  }),
  responses: { 201: { description: 'It is done', schema: z.object({ success: z.literal(true) }) } },
  errors: [...ADD_ERRORS, 'forbidden', 'not_found', 'not_in_cluster', 'last_verified_wallet'],
  async handle({ params, body, session }, context) {
    const { id } = await clusterByName(context, params.name!, session)
    await updateWallets(context, session, body, fromHex(id))
    return { status: 201, body: { success: true } }
  },
})

export const clusterRoutes = [byName, byAddress, byNames, update]
