import { findReferredBids, type ReferredBids } from '../../db/registry/ranking.js'
import { addressToWord } from '../../registry/primitives/address.js'
import { requireAddressOfPayerType, requireClusterId } from '../http/address.js'
import { type Answer, okAnswer } from '../http/answer.js'
import { declareRoute } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { addressSchema, clusterIdSchema } from './schemas.js'

const sharedReferralRouteFields = {
  costliestSample: {},
  description:
    'Winning bids of all chains whose logs name the referral. Summed again once a minute. Nothing is paid out for them.',
  responses: okResponses(
    'Their number, and the sum of their amounts',
    namedObjectSchema('Referrals', {
      count: z.int().min(0),
      totalWeiAmount: z.string().openapi({ description: 'Wei', example: '10000000000000000' }),
    }),
  ),
}

const referralsAnswer = ({ bids, amountWei }: ReferredBids): Answer =>
  okAnswer({ count: bids, totalWeiAmount: String(amountWei) })

const referralsOfClusterRoute = declareRoute.get('/v1/names/referrals/cluster/:id', {
  ...sharedReferralRouteFields,
  summary: 'Winning bids that a cluster referred',
  params: z.object({ id: clusterIdSchema }),
  handle: async ({ params }, { pool, network }) =>
    referralsAnswer(await findReferredBids(pool, network, requireClusterId(params.id!))),
})

const referralsOfAddressRoute = declareRoute.get('/v1/names/referrals/address/:address', {
  ...sharedReferralRouteFields,
  summary: 'Winning bids that an address referred',
  params: z.object({ address: addressSchema }),
  errors: ['unsupported_address'],
  async handle({ params }, { pool, network }) {
    const { bytes } = requireAddressOfPayerType(params.address!, 'address')
    return referralsAnswer(await findReferredBids(pool, network, addressToWord(bytes)))
  },
})

export const referralRoutes = [referralsOfClusterRoute, referralsOfAddressRoute]
