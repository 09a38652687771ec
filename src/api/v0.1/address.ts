import { type FullName, parseFullName, parseName } from '../../registry/primitives/name.js'
import { ok } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_LOOKUPS, z } from '../http/schema.js'
import { type AddressRecord, addressesOfNames } from '../names/lookups.js'
import { nameText } from '../v1/schemas.js'
import { WalletSchema } from './schemas.js'

const tag = 'v0.1 look-ups'
const deprecated = { successor: '/v1/names' }
const description =
  'A cluster name alone resolves to the wallet named `main`, else to the oldest verified one; the answer names that wallet.'
const found = { description: 'The wallet, null where the name resolves to none', schema: WalletSchema.nullable() }

const view = (name: string, { type, address, isVerified }: AddressRecord) => ({ type, address, name, isVerified })

/** Answer of a single look-up, with the full name of the wallet it found. */
async function single(context: Context, name: FullName | null) {
  const record = name && (await addressesOfNames(context, [name]))[0]
  return ok(record ? view(`${record.clusterName}/${record.walletName}`, record) : null)
}

const byCluster = route({
  method: 'get',
  path: '/v0.1/address/:name',
  deprecated,
  tag,
  summary: 'The address of a cluster name',
  description,
  params: z.object({ name: nameText }),
  responses: { 200: found },
  handle: ({ params }, context) => single(context, parseFullName(params.name!)),
})

const byWallet = route({
  method: 'get',
  path: '/v0.1/address/:name/:addressName',
  deprecated,
  tag,
  summary: 'The address of a wallet of a cluster',
  params: z.object({ name: nameText, addressName: nameText }),
  responses: { 200: found },
  handle({ params }, context) {
    const [cluster, wallet] = [parseName(params.name!), parseName(params.addressName!)]
    return single(context, cluster !== null && wallet !== null ? { cluster, wallet } : null)
  },
})

const byNames = routeWithBody({
  method: 'post',
  path: '/v0.1/address/names',
  deprecated,
  tag,
  summary: 'The addresses of many names',
  description: 'In the order of the input, each name as it was asked; names that resolve to nothing are left out.',
  body: z.array(z.string().openapi({ description: '`foo/` or `foo/main`' })).max(MAX_LOOKUPS),
  responses: { 200: { description: 'The wallets', schema: z.array(WalletSchema) } },
  errors: ['too_many'],
  async handle({ body }, context) {
    const asked = body.flatMap((input) => {
      const name = parseFullName(input)
      return name ? [{ input, name }] : []
    })
    const records = await addressesOfNames(
      context,
      asked.map(({ name }) => name),
    )
    return ok(asked.flatMap(({ input }, i) => (records[i] ? [view(input, records[i])] : [])))
  },
})

export const addressRoutes = [byCluster, byWallet, byNames]
