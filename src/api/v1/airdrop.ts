import { airdropClaims } from '../airdrops/airdrop.js'
import { NO_TRANSACTION } from '../airdrops/offer.js'
import { ok } from '../http/answer.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'
import { addressText, nameText } from './schemas.js'

const amount = z.string().openapi({ description: 'Base units of the token', example: '1000000000000000000' })
const word = z.string().openapi({ description: '0x and 64 hex digits' })
const contract = z.string().openapi({ description: 'Address of a contract' })

const ClaimSchema = z
  .object({
    address: addressText,
    amount,
    index: z.int().openapi({ description: 'Of its leaf: `[uint256 index, bytes32 account, uint256 amount]`' }),
    merkleRoot: word,
    proof: z.array(word),
    claimed: z.boolean().openapi({ description: 'Its claim is confirmed on its chain' }),
    pending: z.literal(true).optional().openapi({ description: 'Its claim was seen and is not confirmed yet' }),
    tx: word.optional().openapi({ description: 'The transaction that claimed it, where one was seen' }),
    receiver: addressText.optional().openapi({ description: 'Who `transaction` pays' }),
    transaction: z
      .object({ to: contract, data: z.string(), value: z.string() })
      .optional()
      .openapi({ description: 'What any wallet may send to claim it' }),
    reason: z.enum(NO_TRANSACTION).optional().openapi({ description: 'Why there is no transaction' }),
  })
  .openapi('AirdropClaim')

const claim = route({
  method: 'get',
  path: '/v1/airdrop/claim/:community',
  tag: 'Bundles',
  summary: 'What an airdrop gives the wallets of the caller’s bundle, with the data to claim it',
  description:
    'Looks at every wallet that is verified in the bundle in which the caller is verified, private ones too. An EVM account is paid itself, whoever sends the transaction. What a Solana account gets is paid to the caller’s EVM wallet (of a Solana caller, to the bundle’s oldest), by a permission that is good for an hour at most.',
  auth: 'required',
  params: z.object({ community: nameText }),
  query: z.object({
    link: z.enum(['true']).optional().openapi({
      description:
        '`true`, exactly, also gives transactions that show on chain that a private wallet belongs with another one',
    }),
  }),
  responses: {
    200: {
      description: 'Total "0" and no claims where nobody of the bundle gets anything',
      schema: z
        .object({
          community: nameText,
          total: amount,
          totalUnclaimed: amount,
          addresses: z.array(addressText).openapi({ description: 'The wallets that were looked at' }),
          claims: z.array(ClaimSchema),
          network: z.string().openapi({ description: 'Network label of the chain to claim on', example: '8453' }),
          distributor: contract.nullable(),
          token: contract.nullable(),
          endsAt: z.string().nullable().openapi({ description: 'ISO 8601; no claim is taken from then on' }),
        })
        .openapi('AirdropClaims'),
    },
  },
  errors: ['invalid_name', 'not_found'],
  async handle({ params, query, session }, context) {
    const link = query.get('link') === 'true'
    return ok(await airdropClaims(context, { session, link }, params.community!))
  },
})

export const airdropRoutes = [claim]
