import { parseFullName } from '../../registry/primitives/name.js'
import { ok } from '../http/answer.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_LOOKUPS, z } from '../http/schema.js'
import { addressesOfNames, type NameRecord, nameOfAddress, namesOfAddresses } from '../names/lookups.js'
import { requireNames } from '../names/names.js'
import { namesOwnedBy } from '../names/owners.js'
import { addressText, clusterIdText, nameText, walletType } from './schemas.js'

const tag = 'Look-ups'

const NameRecordSchema = z
  .object({
    address: addressText,
    type: walletType.nullable().openapi({ description: 'null where the form of the address is unknown' }),
    clusterName: z
      .string()
      .nullable()
      .openapi({ description: 'null when the address is in no cluster that has a name' }),
    walletName: z.string().nullable(),
    isVerified: z.boolean().optional().openapi({ description: 'absent when the address is in no cluster' }),
  })
  .openapi('NameRecord')

const view = ({ address, type, hit }: NameRecord) =>
  hit
    ? { address, type, clusterName: hit.clusterName, walletName: hit.walletName, isVerified: hit.isVerified }
    : { address, type, clusterName: null, walletName: null }

const nameOfAddressRoute = route({
  method: 'get',
  path: '/v1/names/address/:address',
  tag,
  summary: 'The name of an address',
  params: z.object({ address: addressText }),
  responses: {
    200: { description: 'Its cluster and wallet name', schema: NameRecordSchema },
    404: { description: 'No cluster has this address in public', schema: NameRecordSchema },
  },
  async handle({ params }, context) {
    const record = await nameOfAddress(context, params.address!)
    return { status: record.hit ? 200 : 404, body: view(record) }
  },
})

const namesOfAddressesRoute = routeWithBody({
  method: 'post',
  path: '/v1/names/address',
  tag,
  summary: 'The names of many addresses',
  description: 'One element per input, in its order; an unknown address has clusterName null.',
  body: z.array(addressText).max(MAX_LOOKUPS),
  responses: { 200: { description: 'Name records', schema: z.array(NameRecordSchema) } },
  errors: ['too_many'],
  async handle({ body }, context) {
    return ok((await namesOfAddresses(context, body)).map(view))
  },
})

const AddressRecordSchema = z
  .object({
    name: z.string().openapi({ description: 'The name as it was asked' }),
    address: addressText,
    type: walletType,
    clusterName: z.string(),
    walletName: z.string(),
    isVerified: z.boolean(),
  })
  .openapi('AddressRecord')

const addressesOfNamesRoute = routeWithBody({
  method: 'post',
  path: '/v1/names',
  tag,
  summary: 'The addresses of many names',
  description:
    '`foo` and `foo/` resolve to the wallet named `main`, else to the oldest verified one; `foo/bar` to that wallet, or to whom the community `foo` gave that name. Names that resolve to nothing are left out.',
  body: z
    .array(z.object({ name: z.string().openapi({ description: '`foo`, `foo/` or `foo/main`' }) }))
    .max(MAX_LOOKUPS),
  responses: { 200: { description: 'Address records', schema: z.array(AddressRecordSchema) } },
  errors: ['invalid_name', 'too_many'],
  async handle({ body }, context) {
    const asked = body.map(({ name }) => name)
    const names = requireNames(asked, parseFullName, (i) => `[${i}].name`)
    const records = await addressesOfNames(context, names)
    return ok(records.flatMap((record, i) => (record ? [{ name: asked[i], ...record }] : [])))
  },
})

const OwnerRecordSchema = z
  .object({
    name: nameText,
    owner: addressText,
    totalWeiAmount: z.string(),
    createdAt: z.string().openapi({ example: '2026-11-20 08:00:00.000+00' }),
    updatedAt: z.string(),
    updatedBy: addressText,
    isTestnet: z.boolean(),
    clusterId: clusterIdText
      .nullable()
      .openapi({ description: 'Of `community/name`: the owner’s cluster where that is public, else null' }),
    expiresAt: z.string().nullable(),
  })
  .openapi('OwnerRecord')

const ownedNamesRoute = route({
  method: 'get',
  path: '/v1/names/owner/address/:address',
  tag,
  summary: 'The names that an address owns',
  description: 'Its own names, then those below communities as `community/name`.',
  params: z.object({ address: addressText }),
  responses: { 200: { description: 'Oldest first; empty for an unknown address', schema: z.array(OwnerRecordSchema) } },
  async handle({ params }, context) {
    return ok(await namesOwnedBy(context, params.address!))
  },
})

export const lookupRoutes = [nameOfAddressRoute, namesOfAddressesRoute, addressesOfNamesRoute, ownedNamesRoute]
