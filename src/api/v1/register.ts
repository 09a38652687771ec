import type { ChainPort } from '../../chains/chain.js'
import { INVALID_REASONS, PAYMENT_REFUSALS } from '../../registry/invalidReasons.js'
import { parseTxId } from '../../registry/primitives/txId.js'
import { MAX_STATUS_NAMES, type RegistrationStatus } from '../../registry/status.js'
import { EXAMPLE_NAME } from '../examples.js'
import { requireAddressOfPayerType } from '../http/address.js'
import { type Answer, NO_STORE, okAnswer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import { enumParameter, wholeNumberParameter } from '../http/query.js'
import { declareRoute, MAX_LONG_POLL_MS } from '../http/route.js'
import { makeSampleList, type SampleData } from '../http/sampleRequests.js'
import { MAX_BULK_LOOKUP_ELEMENTS, namedObjectSchema, okResponses, z } from '../http/schema.js'
import { CHAIN_CALL_COST, CHAIN_CALL_PRICE, STATUS_NAMES_PER_UNIT } from '../limits/costs.js'
import { availabilityJson, availabilityOfTexts, UNAVAILABLE_REASONS } from '../names/names.js'
import { isFromChains, type TxStatus } from '../status/decide.js'
import { awaitTxStatus, isStatusInJournal, type LongPolls } from '../status/status.js'
import { quoteRoutes } from './quotes.js'
import { addressSchema, nameSchema, txIdSchema } from './schemas.js'

/** Fields that the checks of v1 and v0.1 have in common. */
export const sharedCheckRouteFields = {
  costliestSample: {
    what: '1,000 names',
    body: ({ freshName }: SampleData) => makeSampleList(1_000, freshName),
  },
  example: { body: [EXAMPLE_NAME, 'sprout'] },
  listBounds: { '[]': 'asked: 1,000' },
  cacheSource: 'facts' as const,
  summary: 'Whether names can be registered',
  body: z.array(nameSchema).max(MAX_BULK_LOOKUP_ELEMENTS),
  errors: ['too_many', 'catching_up'] as const,
}

const checkRoute = declareRoute.post('/v1/names/register/check', {
  ...sharedCheckRouteFields,
  interfaceNotes: '`reason` where a name is not available: `pending` or `invalid_name`.',
  description:
    'One element per input, in its order. A name with an unconfirmed bid is not available, with `reason: "pending"`. A malformed name has `reason: "invalid_name"`.',
  responses: okResponses(
    'Availability of each name',
    z.array(
      namedObjectSchema('Availability', {
        name: z.string().describe('The name as in the request'),
        isAvailable: z.boolean(),
        reason: z.enum(UNAVAILABLE_REASONS).optional(),
      }),
    ),
  ),
  async handle({ body }, context) {
    const availability = await availabilityOfTexts(context, body)
    return okAnswer(body.map((name, i) => availabilityJson(name, availability[i]!)))
  },
})

const NetworkSchema = namedObjectSchema('Network', {
  network: z
    .string()
    .openapi({ description: 'Label of the chain, as used in registrations', example: '8453' }),
  name: z.string().openapi({ description: 'Name of the chain', example: 'Base' }),
  chainId: z.int().nullable().openapi({ description: 'EIP-155 id; null on a chain without one' }),
  role: z.enum(['hub', 'spoke']),
  isTestnet: z.boolean(),
  gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
  canRegister: z.boolean().describe('False for a chain that is only watched'),
  contract: z
    .string()
    .describe('Address of the hub or spoke contract, or of the program that takes payments'),
  rpcUrls: z.array(z.string()).openapi({
    description: 'Public RPC URLs, for wallets that do not know the chain',
    example: ['https://mainnet.base.org'],
  }),
  explorer: z.string().nullable().openapi({
    description: 'Base URL of a block explorer with the paths `/tx/{hash}` and `/block/{number}`',
    example: 'https://basescan.org',
  }),
})

const networksRoute = declareRoute.get('/v1/networks', {
  refusedSample: null,
  costliestSample: {},
  listBounds: { '[]': 'set up: its chains', '[].rpcUrls[]': 'set up: one public node' },
  summary: 'The chains that names can be registered from',
  description: 'Of both networks. A wallet has to be on the chain with this id before it pays.',
  responses: okResponses('Hubs first', z.array(NetworkSchema)),
  handle: async (_request, { chains }) =>
    okAnswer([...chains].sort((a, b) => a.role.localeCompare(b.role)).map(networkJson)),
})

const networkJson = ({ label, network, isWatchOnly, ...port }: ChainPort) => ({
  network: label,
  name: port.name,
  isTestnet: network === 'testnet',
  chainId: port.chainId,
  role: port.role,
  gasToken: port.gasToken,
  canRegister: !isWatchOnly,
  contract: port.contract,
  rpcUrls: [...port.publicRpcUrls],
  explorer: port.explorer,
})

const tokenUnitRoute = declareRoute.get('/v1/tokens/:network/:token', {
  refusedSample: {
    what: 'a token that is no address',
    params: () => ({ network: '1', token: 'x' }),
    error: 'unsupported_address',
  },
  costliestSample: {},
  summary: 'Symbol and decimals of a token',
  description:
    'As the token’s contract says: anybody may give a token any symbol. Two nodes have to agree. An address that is no token has decimals 0.',
  params: z.object({
    network: z.string().openapi({ description: 'Label of the chain', example: '1' }),
    token: addressSchema,
  }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('Its unit', {
    symbol: z.string().nullable().describe('null where it has none of 1 to 16 characters of ASCII'),
    decimals: z.int(),
  }),
  errors: ['not_found', 'unsupported_address'],
  async handle({ params }, { chains, network }) {
    const token = requireAddressOfPayerType(params.token!, 'token')
    const chain = chains.find((one) => one.label === params.network && one.network === network)
    if (!chain?.tokenUnit || chain.family.addressType !== token.type)
      throw new ApiError('not_found', 'No chain of this network has such a label and such tokens.')
    return okAnswer(await chain.tokenUnit(token.text))
  },
})

/** Every status of the interface (src/registry/status.ts). */
export const TX_STATUSES = [
  'not_found',
  'pending',
  'bridging',
  'invalid',
  'lost_bid',
  'finalized',
] as const satisfies readonly RegistrationStatus[]

const INVALID_REASONS_TEXT = [...Object.keys(INVALID_REASONS), ...Object.keys(PAYMENT_REFUSALS)]
  .map((reason) => `\`${reason}\``)
  .join(', ')

const StatusSchema = namedObjectSchema('TransactionStatus', {
  tx: z.string(),
  status: z.enum(TX_STATUSES),
  network: z.string().optional().openapi({
    description: 'Label of the chain that the transaction was sent on',
    example: '8453',
  }),
  sender: addressSchema
    .optional()
    .describe('The bidder, once it has won a name. Until then the wallet may be private'),
  paid: z
    .object({ token: z.string(), amount: z.string() })
    .optional()
    .describe(
      'The paid amount: bids on the hub in wei, payments in the smallest unit of the coin (`native`) or of the token. Absent for a message to the hub',
    ),
  step: z.enum(['leading', 'behind', 'delivery_failed']).optional(),
  reason: z
    .string()
    .optional()
    .describe(
      `Of \`invalid\`: ${INVALID_REASONS_TEXT}. \`name_taken\` for a lost bid: \`names\` has the winning bid, and \`credit\` or \`refund\` the money that is owed. \`GET /v1/refunds/{address}\` has the transaction that withdraws it`,
    ),
  confirmations: z.object({ have: z.int(), need: z.int() }).optional(),
  names: z
    .array(
      z.object({
        name: z.string(),
        outcome: z.enum(['won', 'lost', 'refused', 'leading', 'behind', 'pending', 'bridging']),
        winner: z
          .object({ amountWei: z.string(), tx: z.string() })
          .optional()
          .describe('The winning bid: wei of ETH, and its transaction on the hub'),
      }),
    )
    .optional()
    .describe(
      `The names of the transaction in log order, ${MAX_STATUS_NAMES} at most. The status belongs to the first one`,
    ),
  more: z.int().optional().describe('How many further names the transaction has; absent for none'),
  hubTx: z.string().optional(),
  block: z.int().optional().describe('Block of the transaction’s own chain, or its slot'),
  hubBlock: z.int().optional().describe('Block of `hubTx` on the hub'),
  refund: z
    .enum(['held', 'refused', 'reclaim', 'reclaimed', 'released'])
    .optional()
    .describe(
      'Refund of a payment that bought nothing. `held`: the refund is pending. `refused`: the money is the payer’s again, on EVM chains as a credit (`GET /v1/refunds/{address}`). `reclaim`: the payment is worth less than its refusal costs, so the payer has to reclaim it. `reclaimed`: the payer has done so. `released`: the recipient has the money',
    ),
  reclaimAfter: z
    .string()
    .optional()
    .describe(
      'Time from which on the payer may reclaim a payment that bought nothing and is still held',
    ),
  payout: z
    .enum(['held', 'refused', 'released', 'reclaimed'])
    .optional()
    .describe(
      'Payment of a name below a community, bought on an EVM chain. `held`: until the recipient takes it or the relayer releases it (`GET /v1/communities/{name}/payouts`). `refused` or `reclaimed`: the money is the payer’s again, and the name is for sale',
    ),
  credit: z
    .object({ eid: z.int(), amountWei: z.string(), owner: addressSchema })
    .optional()
    .describe(
      'Wei that the hub owes for bids that won nothing, and the LayerZero endpoint id of the chain they came from (0: the hub). The owner withdraws it with `withdrawRefund` on the hub, or with a message from that chain',
    ),
  replacedBy: z.string().optional(),
  updatedAt: z.string().optional(),
  trouble: z
    .object({
      text: z.string().describe('Sentences for the payer'),
      since: z.string().describe('Since when the delivery or the refund has been due'),
    })
    .optional()
    .describe(
      'Why a due delivery to the hub or a due refund waits, where the service has trouble with it',
    ),
})

/**
 * Units of a status request to give back. A status from our tables costs one unit, and a status from chains the price
 * of a chain call for each read. The names after the first one are charged in addition, also names that are only
 * counted.
 * @param chainReads number of times the status came from chains
 */
export function unusedStatusUnits(
  txStatus: TxStatus,
  chainReads = Number(isFromChains(txStatus)),
): number {
  const { names = [], more = 0 } = txStatus
  const further = Math.max(0, names.length + more - 1)
  return (
    CHAIN_CALL_COST - Math.max(1, CHAIN_CALL_COST * chainReads) - further / STATUS_NAMES_PER_UNIT
  )
}

/** Value of the Retry-After header, seconds, for the statuses that may change. */
const RETRY_AFTER_S_OF_STATUS: Partial<Record<RegistrationStatus, number>> = {
  not_found: 5,
  pending: 2,
  bridging: 5,
}

/** Headers of a status response. Caches do not store the response. A status that may change has a Retry-After. */
function statusHeaders({ status }: TxStatus): Answer['headers'] {
  const seconds = RETRY_AFTER_S_OF_STATUS[status]
  return seconds === undefined ? NO_STORE : { ...NO_STORE, 'retry-after': String(seconds) }
}

const createStatusRoute = (longPolls: LongPolls) =>
  declareRoute.get('/v1/names/register/tx/:tx', {
    costliestSample: {},
    listBounds: { 'names[]': `rule: the first ${MAX_STATUS_NAMES}` },
    summary: 'The status of a registration transaction',
    interfaceNotes:
      '`network`, `sender`, `paid`, `names`, `more`, `step`, `reason`, `confirmations`, `hubTx`, `block`, `hubBlock`, `refund`, `reclaimAfter`, `payout`, `credit`, `replacedBy`, `updatedAt` and `trouble`, where they apply. A malformed transaction id is 400 `invalid_request`.',
    description:
      'finalized, lost_bid and invalid never change. 200 for every well-formed hash or signature. With `wait` the answer comes when the status differs from `since`, or after that time.',
    params: z.object({ tx: txIdSchema }),
    query: z.object({
      wait: z
        .int()
        .min(0)
        .optional()
        .describe(
          `Seconds to wait for another status, such as 25; clamped to ${MAX_LONG_POLL_MS / 1_000}`,
        ),
      since: z
        .enum(TX_STATUSES)
        .optional()
        .describe('The status that the caller knows; default: the status at the start of the wait'),
    }),
    cacheSource: 'journal',
    price: CHAIN_CALL_PRICE,
    responses: okResponses('Its status', StatusSchema),
    async handle({ params, query }, context) {
      const tx = params.tx!
      const ms = Math.min((wholeNumberParameter(query, 'wait') ?? 0) * 1_000, MAX_LONG_POLL_MS)
      const since = enumParameter(query, 'since', TX_STATUSES)
      const id = parseTxId(tx)
      if (!id)
        throw new ApiError(
          'invalid_request',
          'This is neither a transaction hash (0x and 64 hex digits) nor a signature of Solana (base58).',
        )
      const { txStatus, chainReads } = await awaitTxStatus(longPolls, context, id, { ms, since })
      const { isOfStranger: _, ...shown } = txStatus
      return {
        ...okAnswer({ tx, ...shown }, statusHeaders(txStatus)),
        unspent: unusedStatusUnits(txStatus, chainReads),
        isTransient: !isStatusInJournal(tx, txStatus),
      }
    },
  })

export const registrationRoutes = (longPolls: LongPolls) => [
  checkRoute,
  ...quoteRoutes,
  networksRoute,
  tokenUnitRoute,
  createStatusRoute(longPolls),
]
