import { ok } from '../http/answer.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_LOOKUPS, z } from '../http/schema.js'
import { type NameRecord, nameOfAddress, namesOfAddresses } from '../names/lookups.js'
import { addressText } from '../v1/schemas.js'

const tag = 'v0.1 look-ups'
const fullName = z.string().openapi({ example: 'foobar/main' })

/** Full name of an address (`foobar/main`); null where its cluster has no name. */
const fullNameOf = ({ hit }: NameRecord): string | null =>
  hit?.clusterName ? `${hit.clusterName}/${hit.walletName}` : null

const byAddress = route({
  method: 'get',
  path: '/v0.1/name/:address',
  deprecated: { successor: '/v1/names/address/:address' },
  tag,
  summary: 'The name of an address',
  params: z.object({ address: addressText }),
  responses: { 200: { description: 'Its name, null where it has none', schema: fullName.nullable() } },
  async handle({ params }, context) {
    return ok(fullNameOf(await nameOfAddress(context, params.address!)))
  },
})

const byAddresses = routeWithBody({
  method: 'post',
  path: '/v0.1/name/addresses',
  deprecated: { successor: '/v1/names/address' },
  tag,
  summary: 'The names of many addresses',
  description: 'One element per input, in its order.',
  body: z.array(addressText).max(MAX_LOOKUPS),
  responses: {
    200: {
      description: 'The addresses with their names',
      schema: z.array(z.object({ address: addressText, name: fullName.nullable() })),
    },
  },
  errors: ['too_many'],
  async handle({ body }, context) {
    const records = await namesOfAddresses(context, body)
    return ok(records.map((record) => ({ address: record.address, name: fullNameOf(record) })))
  },
})

export const nameRoutes = [byAddress, byAddresses]
