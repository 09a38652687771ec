import type { PaymentReleaseSigner } from '../../chains/chain.js'
import {
  findCommunities,
  findCommunityMembers,
  findCommunityRules,
} from '../../db/registry/communityNames.js'
import { REGISTRATION_PROBLEMS } from '../../registry/community/registration.js'
import {
  communityPriceSchema,
  communityRulesInputCodec,
  communityRulesFieldsSchema,
  NATIVE_COIN,
} from '../../registry/community/rules.js'
import { familyOfLabel, isChainLabelOfNetwork } from '../../registry/families.js'
import { decodeWallet } from '../../registry/primitives/address.js'
import { parseName } from '../../registry/primitives/nameRule.js'
import { availabilityOfCommunityName } from '../communities/availability.js'
import {
  communityByName,
  configureCommunity,
  requireNameBelowCommunity,
} from '../communities/communities.js'
import { cacheReleaseSignatures, communityPayouts } from '../communities/payouts.js'
import { type PaymentToMake, registerCommunityName } from '../communities/registration.js'
import { COMMUNITY_WITH_PRICE, COMMUNITY_WITHOUT_PRICE, EXAMPLE_OWNER } from '../examples.js'
import { EvmTransactionSchema } from '../families/evm.js'
import { FAMILY_INTERFACES, transactionJson } from '../families/index.js'
import { requireAddressOfPayerType, requireSigner } from '../http/address.js'
import { okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError, type ErrorCode } from '../http/errors.js'
import { pageLimitOf, type RequestQuery } from '../http/query.js'
import { declareRoute } from '../http/route.js'
import { longestCommunityRules } from '../http/sampleRequests.js'
import { okResponses, z } from '../http/schema.js'
import { CHAIN_CALL_PRICE, chargeForListItems, SEVERAL_STATEMENTS_PRICE } from '../limits/costs.js'
import { requireName } from '../names/names.js'
import { addressSchema, nameSchema, pageQuerySchema, walletNameSchema } from './schemas.js'

const CommunitySchema = communityRulesFieldsSchema.extend({ name: z.string() }).openapi('Community')

const RULES_BOUND_REASON = 'rule: 20, 20, and 1,000 of all requirements together'
const RULES_LIST_BOUNDS = {
  'prices[]': RULES_BOUND_REASON,
  'requirements[]': RULES_BOUND_REASON,
  'requirements[].addresses[]': RULES_BOUND_REASON,
}

const communityRoute = declareRoute.get('/v1/communities/:name', {
  costliestSample: {
    what: 'rules of 1,000 addresses',
    params: ({ community }) => ({ name: community }),
  },
  example: { params: { name: COMMUNITY_WITH_PRICE } },
  listBounds: RULES_LIST_BOUNDS,
  summary: 'The rules of a community',
  params: z.object({ name: nameSchema }),
  responses: okResponses('Its rules', CommunitySchema),
  errors: ['invalid_name', 'not_found'],
  handle: async ({ params }, context) => okAnswer(await communityByName(context, params.name!)),
})

const communityRulesRoute = declareRoute.put('/v1/communities/:name', {
  refusedSample: {
    what: 'prices that are no list',
    body: () => ({ prices: {} }),
    error: 'invalid_request',
  },
  privateDataFor: null,
  costliestSample: { what: 'rules of 1,000 addresses', as: 'owner', body: longestCommunityRules },
  example: {
    status: 403,
    params: { name: COMMUNITY_WITHOUT_PRICE },
    body: {
      prices: [
        { network: '1', token: 'native', amount: '1000000000000000', recipient: EXAMPLE_OWNER },
      ],
    },
  },
  listBounds: RULES_LIST_BOUNDS,
  summary: 'Make a name of the cluster of this wallet a community, or change its rules',
  description:
    'The request replaces all rules, and omitted fields are empty. The rules and their history are public. Prices and `ownersOnly` exclude each other. A price stays valid for payments until 30 minutes after its change.',
  auth: 'required',
  params: z.object({ name: nameSchema }),
  // the clone has `openapi`, and the registry's schema does not: it was created before `extendZodWithOpenApi` ran
  body: communityRulesInputCodec.clone().openapi('CommunityRules'),
  responses: okResponses('The rules as they stand now', CommunitySchema),
  errors: ['invalid_name', 'not_found', 'forbidden', 'catching_up'],
  handle: async ({ params, body, session }, context) =>
    okAnswer(await configureCommunity(context, session, { name: params.name!, rules: body })),
})

/** Maximum number of names per response. */
const MAX_NAMES_PER_PAGE = 100

const namePageQuerySchema = pageQuerySchema(walletNameSchema, MAX_NAMES_PER_PAGE)

/** @throws ApiError invalid_request */
function requestedPage(query: RequestQuery): { after: string; limit: number } {
  const limit = pageLimitOf(query, { default: MAX_NAMES_PER_PAGE, max: MAX_NAMES_PER_PAGE })
  const given = query.get('after')
  const after = given === undefined ? '' : parseName(given)
  if (after === null)
    throw new ApiError('invalid_request', '`after` is the name of an earlier record.')
  return { after, limit }
}

const communityListRoute = declareRoute.get('/v1/communities', {
  costliestSample: { what: '100 names' },
  example: {},
  listBounds: { '[]': 'page: limit, at most 100; after' },
  summary: 'The names that are communities',
  description:
    'In the order of ASCII. For the next page pass the last name as `after`. With `name` only that community.',
  query: namePageQuerySchema.extend({
    name: nameSchema.optional().openapi({
      description: 'Only this name, to ask whether it is a community',
      example: undefined,
    }),
  }),
  responses: okResponses('Empty where there is none', z.array(z.object({ name: nameSchema }))),
  errors: ['invalid_name'],
  async handle({ query }, { pool, network }) {
    const page = requestedPage(query)
    const given = query.get('name')
    const names =
      given === undefined
        ? await findCommunities(pool, network, page)
        : await communitiesNamed(requireName(given), { pool, network })
    return chargeForListItems(okAnswer(names.map((name) => ({ name }))), names.length)
  },
})

/** A list with the name if it is a community, else an empty list. */
async function communitiesNamed(
  name: string,
  { pool, network }: Pick<Context, 'pool' | 'network'>,
): Promise<string[]> {
  return (await findCommunityRules(pool, network, name)) ? [name] : []
}

const membersRoute = declareRoute.get('/v1/communities/:name/members', {
  costliestSample: { what: '100 names' },
  example: { params: { name: COMMUNITY_WITHOUT_PRICE } },
  listBounds: { '[]': 'page: limit, at most 100; after' },
  cacheSource: 'journal',
  summary: 'The names below a community',
  description: 'In the order of ASCII. For the next page pass the last name as `after`.',
  params: z.object({ name: nameSchema }),
  query: namePageQuerySchema,
  responses: okResponses(
    'Empty where there is none',
    z.array(z.object({ name: walletNameSchema, owner: addressSchema })),
  ),
  errors: ['invalid_name'],
  async handle({ params, query }, { pool, network }) {
    const community = requireName(params.name!)
    const { after, limit } = requestedPage(query)
    const members = await findCommunityMembers(pool, network, community, after, limit)
    const names = members.map(({ name, address }) => ({ name, owner: decodeWallet(address).text }))
    return chargeForListItems(okAnswer(names), names.length)
  },
})

const memberParamsSchema = z.object({ communityName: nameSchema, name: walletNameSchema })

const checkRoute = declareRoute.get('/v1/names/community/:communityName/check/:name', {
  refusedSample: {
    what: 'a text that is no name',
    params: () => ({ name: 'a b' }),
    error: 'invalid_name',
  },
  costliestSample: { what: 'rules of 1,000 addresses' },
  example: { params: { communityName: COMMUNITY_WITHOUT_PRICE, name: 'alice' } },
  summary: 'Whether a name below a community can be registered',
  description: 'A name with a pending payment is not available, with `reason: "pending"`.',
  params: memberParamsSchema,
  price: SEVERAL_STATEMENTS_PRICE,
  responses: okResponses('Its availability', {
    name: z.string().openapi({ example: 'club/alice' }),
    isAvailable: z.boolean(),
    reason: z.enum(['pending']).optional(),
  }),
  errors: ['invalid_name', 'not_found', 'catching_up'],
  handle: async ({ params }, context) =>
    okAnswer(
      await availabilityOfCommunityName(
        context,
        requireNameBelowCommunity(params.communityName!, params.name!),
      ),
    ),
})

/** Errors of a registration below a community that v1 and v0.1 have in common. */
export const REGISTRATION_ERRORS: readonly ErrorCode[] = [
  ...REGISTRATION_PROBLEMS.filter((problem) => problem !== 'no_walletAddress_found'),
  'catching_up',
]

/** Schema of the payment that the new owner of a name has to sign. */
export const TransactionInfoSchema = z
  .union(
    FAMILY_INTERFACES.map(({ family, transaction, approvals }) =>
      z.object({ type: z.literal(family.key), transaction, ...approvals }),
    ),
  )
  .openapi('TransactionInfo')

export function transactionInfoJson({ transaction }: PaymentToMake) {
  const { type, ...signed } = transactionJson(transaction)
  const approval = callJson(transaction.approval)
  const approvalReset = callJson(transaction.approvalReset)
  return { type, transaction: signed, approval, approvalReset }
}

/** JSON of a call without coins; undefined, which JSON leaves out, where there is no call. */
const callJson = (call: PaymentToMake['transaction']['approval']) =>
  call && { to: call.to, data: call.data, value: '0' }

const createPayoutsRoute = (signer: PaymentReleaseSigner | null) =>
  declareRoute.get('/v1/communities/:name/payouts', {
    costliestSample: {
      as: 'owner',
      params: ({ community }) => ({ name: community }),
    },
    example: { params: { name: COMMUNITY_WITH_PRICE } },
    listBounds: { 'payouts[]': 'page: the oldest 500; those that are released make room' },
    summary: 'Payments to a community that were not withdrawn yet',
    description:
      'Payments on EVM chains that bought names and are held for their recipients: the oldest 50 for each network, recipient and token. The recipient can send the transaction. Otherwise the relayer releases the payments before their payers could reclaim them.',
    params: z.object({ name: nameSchema }),
    price: SEVERAL_STATEMENTS_PRICE,
    responses: okResponses('What is held', {
      payouts: z.array(
        z.object({
          network: z.string().openapi({ example: '8453' }),
          recipient: addressSchema,
          token: z.string().describe('`native`, or the address of the token'),
          amount: z.string().describe('Base units'),
          payments: z.number(),
          transaction: EvmTransactionSchema.optional().describe(
            'To be sent by the recipient; left out where this process has no key of the relayer',
          ),
        }),
      ),
    }),
    errors: ['invalid_name', 'not_found'],
    async handle({ params }, context) {
      const { payouts, read } = await communityPayouts(context, params.name!, signer)
      const signed = payouts.filter((payout) => 'transaction' in payout)
      return chargeForListItems(okAnswer({ payouts }), read + payouts.length, signed.length)
    },
  })

/**
 * True if a registration is on the testnet: by `testnet=true`, or by the label of the EVM chain on which it is paid.
 * Other families have one label for both networks.
 */
const isOnTestnet = (isTestnet: boolean, label: string | null): boolean =>
  isTestnet ||
  (label !== null && familyOfLabel(label).label === null && isChainLabelOfNetwork('testnet', label))

/**
 * Requested token to pay with: `native`, or a token's address; null where the request names none.
 * @throws ApiError unsupported_address
 */
function requestedToken(input: string | undefined): string | null {
  if (input === undefined || input === NATIVE_COIN) return input ?? null
  return requireAddressOfPayerType(input, 'token').text
}

const registerRoute = declareRoute.post('/v1/names/community/:communityName/register', {
  refusedSample: {
    what: 'a text that is no name',
    body: () => ({ name: 'a b' }),
    error: 'invalid_name',
  },
  privateDataFor: null,
  costliestSample: {
    what: 'rules of 1,000 addresses',
    as: 'other',
    body: ({ freshName }) => ({ name: freshName() }),
  },
  example: { params: { communityName: COMMUNITY_WITHOUT_PRICE }, body: { name: 'bob' } },
  summary: 'Register a name below a community',
  interfaceNotes:
    '`transactionInfo.approval` and `approvalReset` at the price of a token: transactions that are sent before the payment. `not_verified` also where a key that is no owner’s names another wallet than its own.',
  description:
    'A free name is registered at once. For a name with a price, sign `transactionInfo`. The registration is decided again when the payment is confirmed, and a payment that buys nothing is refunded.',
  auth: 'required',
  params: z.object({ communityName: nameSchema }),
  body: z.object({
    name: walletNameSchema,
    walletAddress: addressSchema
      .optional()
      .describe(
        'Wallet that gets the name; default: this wallet. Only owners of the community may register for another wallet',
      ),
    network: z.string().optional().openapi({
      description: 'Where to pay; default: the first price that the wallet can pay',
      example: '8453',
    }),
    token: z.string().optional().describe('Currency to pay in: `native`, or a token of the prices'),
  }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('It is registered, or to be paid', {
    clusterName: z.string().openapi({ example: 'club/alice' }),
    owner: addressSchema,
    price: communityPriceSchema.optional(),
    transactionInfo: TransactionInfoSchema.optional(),
  }),
  errors: ['invalid_name', 'unsupported_address', ...REGISTRATION_ERRORS],
  async handle({ params, body, isTestnet, session }, context) {
    const { community, name } = requireNameBelowCommunity(params.communityName!, body.name)
    const preference = { network: body.network ?? null, token: requestedToken(body.token) }
    const network = isOnTestnet(isTestnet, preference.network) ? 'testnet' : 'mainnet'
    const wallet =
      body.walletAddress === undefined ? null : requireSigner(body.walletAddress, 'walletAddress')
    const request = { community, name, wallet, unnamed: 'own', preference } as const
    const made = await registerCommunityName({ ...context, network }, session, request)
    const answer = { clusterName: `${community}/${name}`, owner: made.owner.text }
    if (made.kind === 'registered') return okAnswer(answer)
    const { price } = made.info
    return okAnswer({
      ...answer,
      price: z.encode(communityPriceSchema, price),
      transactionInfo: transactionInfoJson(made.info),
    })
  },
})

/** Routes of communities. @param signer signs releases of payments; null where only the relayer releases payments */
export const communityRoutes = (signer: PaymentReleaseSigner | null) => [
  communityListRoute,
  communityRoute,
  communityRulesRoute,
  membersRoute,
  createPayoutsRoute(signer && cacheReleaseSignatures(signer)),
  checkRoute,
  registerRoute,
]
