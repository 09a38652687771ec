import { REGISTRATION_PROBLEMS } from '../../registry/community/registration.js'
import { missingKeyError } from '../auth/session.js'
import { availabilityOfCommunityName } from '../communities/availability.js'
import { requireNameBelowCommunity } from '../communities/communities.js'
import {
  registerCommunityName,
  walletMeetsCommunityRequirements,
} from '../communities/registration.js'
import { COMMUNITY_WITHOUT_PRICE, EXAMPLE_OWNER } from '../examples.js'
import { requireSigner } from '../http/address.js'
import { type Answer, jsonAnswer, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import { declareRoute, type RouteRequest } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { CHAIN_CALL_PRICE, SEVERAL_STATEMENTS_PRICE } from '../limits/costs.js'
import { requireName } from '../names/names.js'
import {
  REGISTRATION_ERRORS,
  TransactionInfoSchema,
  transactionInfoJson,
} from '../v1/communities.js'
import { addressSchema, nameSchema, walletNameSchema } from '../v1/schemas.js'
import { sharedTxStatusRouteFields, txStatusAnswer } from './register.js'

/**
 * Wraps a handler: refuses the mainnet, and puts the error code first in responses with registration problems, as v0.1
 * does: `{ error, status, message }`.
 */
const onlyOnTestnet =
  <HandledRequest extends Pick<RouteRequest, 'isTestnet'>>(
    handle: RouteHandler<HandledRequest>,
  ): RouteHandler<HandledRequest> =>
  async (request, context) => {
    try {
      if (!request.isTestnet) throw new ApiError('testnet_only', TESTNET_ONLY_MESSAGE)
      return await handle(request, context)
    } catch (error) {
      if (!(error instanceof ApiError) || !hasCodeFirst(error.code)) throw error
      const { status, headers } = errorAnswer(error)
      return jsonAnswer(status, { error: error.code, status, message: error.message }, headers)
    }
  }

type RouteHandler<HandledRequest> = (request: HandledRequest, context: Context) => Promise<Answer>

const TESTNET_ONLY_MESSAGE = 'Communities are served on the testnet alone here: add testnet=true.'

const hasCodeFirst = (code: string) =>
  code === 'testnet_only' || REGISTRATION_PROBLEMS.some((one) => one === code)

/** Sample of a refused request, for the mainnet, which every route in this file refuses. */
const MAINNET_SAMPLE = { what: 'the mainnet', error: 'testnet_only' } as const

const availabilityRoute = declareRoute.get(
  '/v0.1/community/check/availability/:clusterName/:walletName',
  {
    refusedSample: MAINNET_SAMPLE,
    costliestSample: {},
    example: {
      query: { testnet: 'true' },
      params: { clusterName: COMMUNITY_WITHOUT_PRICE, walletName: 'alice' },
    },
    successor: '/v1/names/community/:clusterName/check/:walletName',
    summary: 'Whether a name below a community can be registered',
    interfaceNotes: '`invalid_name` for what is no name.',
    params: z.object({ clusterName: nameSchema, walletName: walletNameSchema }),
    price: SEVERAL_STATEMENTS_PRICE,
    responses: okResponses('Its availability', { name: z.string(), isAvailable: z.boolean() }),
    errors: ['testnet_only', 'not_found', 'invalid_name', 'catching_up'],
    handle: onlyOnTestnet<RouteRequest>(async ({ params }, context) => {
      const member = requireNameBelowCommunity(params.clusterName!, params.walletName!)
      const { name, isAvailable } = await availabilityOfCommunityName(context, member)
      return okAnswer({ name, isAvailable })
    }),
  },
)

const requirementsRoute = declareRoute.get('/v0.1/community/check/requirements/:clusterName', {
  refusedSample: MAINNET_SAMPLE,
  costliestSample: {
    what: 'rules of 1,000 addresses',
    query: { walletAddress: `0x${'99'.repeat(20)}` },
  },
  example: {
    query: { testnet: 'true', walletAddress: EXAMPLE_OWNER },
    params: { clusterName: COMMUNITY_WITHOUT_PRICE },
  },
  successor: '/v1/communities/:clusterName',
  summary: 'Whether a wallet meets the requirements of a community',
  interfaceNotes: '`invalid_name` and `unsupported_address` for what is no name or address.',
  params: z.object({ clusterName: nameSchema }),
  query: z.object({ walletAddress: addressSchema }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('Whether it meets all of them now', {
    clusterName: z.string(),
    walletAddress: z.string(),
    isRequirementsMet: z.boolean(),
  }),
  errors: [
    'testnet_only',
    'not_found',
    'no_walletAddress_found',
    'invalid_name',
    'unsupported_address',
  ],
  handle: onlyOnTestnet<RouteRequest>(async ({ params, query }, context) => {
    const clusterName = requireName(params.clusterName!)
    const walletAddress = query.get('walletAddress')
    if (walletAddress === undefined) {
      const message = 'The parameter walletAddress is missing.'
      throw new ApiError('no_walletAddress_found', message)
    }
    const wallet = requireSigner(walletAddress, 'walletAddress')
    const isRequirementsMet = await walletMeetsCommunityRequirements(context, clusterName, wallet)
    return okAnswer({ clusterName, walletAddress: wallet.text, isRequirementsMet })
  }),
})

/**
 * Documented default of `chainId`. This value selects none of a community's chains, because communities are on the
 * testnet.
 */
const DEFAULT_CHAIN_ID = '1'

const registerRoute = declareRoute.post('/v0.1/community/register', {
  refusedSample: {
    what: 'the mainnet',
    body: () => ({ clusterName: 'x', walletName: 'x' }),
    error: 'testnet_only',
  },
  privateDataFor: null,
  costliestSample: {
    what: 'rules of 1,000 addresses',
    as: 'other',
    body: ({ community, freshName }) => ({ clusterName: community, walletName: freshName() }),
  },
  example: {
    query: { testnet: 'true' },
    body: { clusterName: COMMUNITY_WITHOUT_PRICE, walletName: 'bob' },
  },
  successor: '/v1/names/community/:clusterName/register',
  summary: 'Register a name below a community',
  interfaceNotes:
    '`transactionInfo.approval` and `approvalReset` at the price of a token: transactions that are sent before the payment. `chainId` `1`, the default, counts as absent; a chain of the testnet does not select the testnet. `not_verified` also where a key that is no owner’s names another wallet than its own. `invalid_name`, `invalid_request` and `unauthorized` beside the listed errors.',
  description:
    'Needs a key. `testnet_only` comes before a missing key. `not_verified`: the key is not an owner’s, and sign-ups are restricted to owners or `walletAddress` is another wallet.',
  auth: 'optional',
  body: z.object({
    clusterName: nameSchema,
    walletName: walletNameSchema,
    chainId: z
      .union([z.string(), z.int()])
      .optional()
      .describe(
        'Chain to pay on. If absent, or `1` (the documented default), the first price that the wallet can pay. It does not select the testnet',
      ),
    walletAddress: addressSchema
      .optional()
      .describe('Wallet that gets the name, if sign-ups are restricted to owners'),
  }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('It is registered, or to be paid', {
    clusterName: z.string(),
    walletName: z.string(),
    transactionInfo: TransactionInfoSchema.optional(),
  }),
  errors: [
    ...([
      'testnet_only',
      'no_walletAddress_found',
      'unauthorized',
      'invalid_name',
      'unsupported_address',
    ] as const),
    ...REGISTRATION_ERRORS,
  ],
  handle: onlyOnTestnet(async ({ body, session }, context) => {
    const chainId = body.chainId === undefined ? DEFAULT_CHAIN_ID : String(body.chainId)
    const network = chainId === DEFAULT_CHAIN_ID ? null : chainId
    if (!session) throw missingKeyError()
    const { community, name } = requireNameBelowCommunity(body.clusterName, body.walletName)
    const wallet =
      body.walletAddress === undefined ? null : requireSigner(body.walletAddress, 'walletAddress')
    const request = {
      community,
      name,
      wallet,
      unnamed: 'none',
      preference: { network, token: null },
    } as const
    const made = await registerCommunityName({ ...context, network: 'testnet' }, session, request)
    const info = made.kind === 'to_pay' ? transactionInfoJson(made.info) : undefined
    return okAnswer({ clusterName: community, walletName: name, transactionInfo: info })
  }),
})

const statusRoute = declareRoute.get('/v0.1/community/tx/:tx', {
  refusedSample: MAINNET_SAMPLE,
  costliestSample: {},
  example: { query: { testnet: 'true' } },
  ...sharedTxStatusRouteFields,
  summary: 'The status of a payment for a name below a community',
  errors: ['testnet_only'],
  handle: onlyOnTestnet(txStatusAnswer),
})

export const communityRoutes = [availabilityRoute, requirementsRoute, registerRoute, statusRoute]
