import { findClaimableAirdrops } from '../../db/airdrop/answers.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { airdropClaims } from '../airdrops/airdrop.js'
import { NO_TRANSACTION_REASONS } from '../airdrops/offer.js'
import { addWalletsChange, appendChange } from '../clusters/changes.js'
import { requireNameBelowCommunity } from '../communities/communities.js'
import { assignCommunityName } from '../communities/registration.js'
import { COMMUNITY_WITHOUT_PRICE, EXAMPLE_SOLANA_WALLET } from '../examples.js'
import { EvmTransactionSchema } from '../families/evm.js'
import { okAnswer } from '../http/answer.js'
import { route } from '../http/route.js'
import { addMaxWalletsBody } from '../http/sampleRequests.js'
import { MAX_CHANGES_OF_REQUEST, namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { chargeForListItems } from '../limits/costs.js'
import { addressSchema, clusterIdSchema, nameSchema, walletNameSchema } from './schemas.js'
import { ADD_WALLET_ERRORS, addedWalletSchema, clusterCreationRoute } from './wallets.js'

/** Wallet apps call a cluster a bundle. */
const create = clusterCreationRoute('/v1/bundle', {
  summary: 'Create the bundle of this wallet',
  description: 'The same as `POST /v1/clusters`.',
  responses: okResponses('The bundle', { id: clusterIdSchema }),
})

const add = route.post('/v1/bundle/wallets', {
  bad: {
    what: 'another type than the address has',
    body: ({ evmAddress }) => [{ address: evmAddress(), name: 'x', type: 'solana' }],
    error: 'unsupported_address',
  },
  privateTo: 'caller',
  costliest: { what: '100 wallets', as: 'other', body: addMaxWalletsBody },
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
    const id = await appendChange(context, { changes: [addWalletsChange(session.wallet, body)] })
    return okAnswer({ success: true, id: toHex(id) })
  },
})

const assign = route.post('/v1/bundles/assign', {
  bad: {
    what: 'a text that is no name',
    body: ({ community }) => ({ community, name: 'a b' }),
    error: 'invalid_name',
  },
  privateTo: null,
  costliest: {
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
    const asked = requireNameBelowCommunity(body.community, body.name)
    await assignCommunityName(context, session, { ...asked, bundleId: body.bundleId })
    return okAnswer({ success: true, name: `${asked.community}/${asked.name}` })
  },
})

const amount = z
  .string()
  .openapi({ description: 'Base units of the token', example: '1000000000000000000' })
const word = z.string().openapi({ format: 'hex', description: '0x and 64 hex digits' })
const contract = z.string().openapi({ format: 'hex', description: 'Address of a contract' })

const claimedOn = z
  .string()
  .openapi({ description: 'Network label of the chain to claim on', example: '8453' })
const endsAt = z.string().describe('ISO 8601; claims are refused from then on')

const ClaimSchema = namedObjectSchema('AirdropClaim', {
  address: addressSchema,
  amount,
  index: z.int().describe('Index in the leaf `[uint256 index, bytes32 account, uint256 amount]`'),
  merkleRoot: word,
  proof: z.array(word),
  claimed: z.boolean().describe('Its claim is confirmed on its chain'),
  pending: z.literal(true).optional().describe('Its claim was seen and is not confirmed yet'),
  tx: word.optional().describe('The transaction that claimed it, where one was seen'),
  receiver: addressSchema.optional().describe('Address that `transaction` pays'),
  sender: addressSchema
    .optional()
    .describe('Address that has to send `transaction`; absent where any address may'),
  transaction: EvmTransactionSchema.optional().describe('Transaction that claims it'),
  reason: z.enum(NO_TRANSACTION_REASONS).optional().describe('Why there is no transaction'),
})

const claim = route.get('/v1/airdrop/claim/:community', {
  bad: {
    what: 'a text that is no name',
    params: () => ({ community: 'a b' }),
    error: 'invalid_name',
  },
  privateTo: 'members',
  costliest: { what: 'of 1,000 wallets', as: 'owner' },
  example: { status: 404, params: { community: COMMUNITY_WITHOUT_PRICE } },
  bounds: {
    'addresses[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
    'claims[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
    'claims[].proof[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
  },
  summary: 'The claims of the caller’s bundle from an airdrop, with transactions',
  description:
    'Includes every wallet that is verified in the caller’s bundle, also private ones. An EVM account is paid directly, whoever sends the transaction. A Solana account’s share goes to the caller’s EVM wallet, else to the bundle’s oldest, by a permission that is valid for an hour.',
  auth: 'required',
  params: z.object({ community: nameSchema }),
  query: z.object({
    link: z
      .enum(['true'])
      .optional()
      .describe(
        'Exactly `true` also returns transactions that reveal on chain that a private wallet belongs to the same owner as another wallet',
      ),
  }),
  responses: okResponses(
    'Total "0" and no claims where the bundle has no allocation',
    namedObjectSchema('AirdropClaims', {
      community: nameSchema,
      total: amount,
      totalUnclaimed: amount,
      addresses: z.array(addressSchema).describe('The verified wallets of the bundle'),
      claims: z.array(ClaimSchema),
      network: claimedOn,
      distributor: contract.nullable(),
      token: contract.nullable(),
      endsAt: endsAt.nullable(),
    }),
  ),
  errors: ['invalid_name', 'not_found'],
  async handle({ params, query, session }, context) {
    const link = query.get('link') === 'true'
    const found = await airdropClaims(context, { session, link }, params.community!)
    return chargeForListItems(okAnswer(found), found.addresses.length + found.claims.length)
  },
})

/** Maximum number of listed airdrops. */
const AIRDROPS_AT_MOST = 100

const airdrops = route.get('/v1/airdrops', {
  bad: null,
  costliest: {},
  bounds: { '[]': 'rule: the newest 100 of those that the operator has loaded' },
  summary: 'The airdrops that can be claimed',
  description: 'The newest first. `GET /v1/airdrop/claim/{community}` returns a bundle’s claims.',
  responses: okResponses(
    'Airdrops with a deployed distributor that have not ended',
    z.array(
      z.object({
        community: nameSchema,
        network: claimedOn,
        total: amount,
        token: contract,
        distributor: contract,
        endsAt,
      }),
    ),
  ),
  async handle(_request, { pool, network, now }) {
    const nowS = Math.floor(now() / 1_000)
    const found = await findClaimableAirdrops(pool, network, { nowS, limit: AIRDROPS_AT_MOST })
    return okAnswer(
      found.map(({ community, label, total, token, distributor, endsAtS }) => ({
        community,
        network: label,
        total: String(total),
        token: toHex(token),
        distributor: toHex(distributor),
        endsAt: isoTimestamp(endsAtS * 1_000),
      })),
    )
  },
})

export const walletBundleRoutes = [create, add, assign, airdrops, claim]
