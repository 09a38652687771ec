import { ChainUnavailableError, type Hex } from '../../chains/chain.js'
import type { PrimaryNameTransactionsBuilder } from '../../ens/primary.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { withTimeout } from '../../ops/waiting.js'
import { parseWalletOrNull } from '../../registry/primitives/address.js'
import { parseFullName } from '../../registry/primitives/name.js'
import { contractCallJson, EvmTransactionSchema } from '../families/evm.js'
import { okAnswer } from '../http/answer.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { CHAIN_CALL_PRICE } from '../limits/costs.js'
import { INVALID_NAME_MESSAGE } from '../names/names.js'
import { addressSchema, nameSchema } from './schemas.js'

const createPrimaryNameRoute = (primaryNames: PrimaryNameTransactionsBuilder | null) =>
  declareRoute.get('/v1/names/:name/primary/:address', {
    costliestSample: {},
    listBounds: { 'chains[]': 'set up: its reverse registrars' },
    summary: 'The transactions that make a name the primary name of an address in ENS',
    description:
      'One element per chain whose reverse registrar the operator configured (ENSIP-19). The address sends the transaction on that chain; afterwards ENS names the address. The name is `foo`, or `foo%2Fbar` for a wallet of it.',
    params: z.object({ name: nameSchema, address: addressSchema }),
    price: CHAIN_CALL_PRICE,
    responses: okResponses('The name in ENS, and a transaction per chain', {
      ensName: z.string().nullable().openapi({
        description: 'null where ENS does not normalize the name',
        example: 'seedling.local.eth',
      }),
      chains: z.array(
        z.object({
          chainId: z.int().describe('EIP-155 id'),
          transaction: EvmTransactionSchema.extend({ chainId: z.int() }).nullable(),
          reason: z
            .enum(['not_in_ens', 'other_address'])
            .nullable()
            .describe(
              'Set without a transaction, since clients of ENS do not show the name. `not_in_ens`: ENS has no such name. `other_address`: the name resolves to another address, or to none',
            ),
          current: z.string().nullable().openapi({
            description:
              'The name that the address gave itself on this chain. null for none, and where it is not known: the chain is away or not served here, or its registrar does not list names',
            example: null,
          }),
        }),
      ),
    }),
    errors: ['invalid_name', 'not_found'],
    async handle({ params }, context) {
      const { network, lookups } = context
      const name = parseFullName(params.name!)
      if (!name) throw new ApiError('invalid_name', INVALID_NAME_MESSAGE)
      const wallet = parseWalletOrNull(params.address!)
      const primaryName = await primaryNames?.(
        { name, address: wallet?.text ?? '', network },
        lookups[network],
      )
      if (!primaryName) throw new ApiError('not_found', 'No ENS name is served here.')
      const chains = primaryName.chains.map(
        async ({ chainId, registrar, transaction, reason }) => ({
          chainId,
          transaction: transaction && { chainId, ...contractCallJson(transaction) },
          reason,
          current:
            wallet?.type === 'evm'
              ? await readCurrentName(context, chainId, { registrar, account: wallet.text as Hex })
              : null,
        }),
      )
      return okAnswer({ ensName: primaryName.ensName, chains: await Promise.all(chains) })
    },
  })

/**
 * Time limit for reading an address's present name from a chain. Afterwards the response has the transactions, but no
 * present name.
 */
const CURRENT_NAME_TIMEOUT_MS = 3_000

/** The primary name that an account has now; null where it has no primary name, or the name cannot be read. */
async function readCurrentName(
  context: Context,
  chainId: number,
  { registrar, account }: Record<'registrar' | 'account', Hex>,
): Promise<string | null> {
  const port = evmChainsOfNetwork(context).find((chain) => chain.chainId === chainId)
  if (!port) return null
  const lookup = fallbackOnExpectedError(
    port.primaryName(registrar, account),
    (error) => error instanceof ChainUnavailableError,
    null,
  )
  return withTimeout(CURRENT_NAME_TIMEOUT_MS, lookup, null)
}

/** Routes of primary names in ENS. @param primaryNames null where no ENS name is served */
export const primaryNameRoutes = (primaryNames: PrimaryNameTransactionsBuilder | null) => [
  createPrimaryNameRoute(primaryNames),
]
