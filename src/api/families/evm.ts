import type { EvmQuote, UnsignedTransaction } from '../../chains/chain.js'
import { EVM } from '../../registry/families.js'
import { EXAMPLE_OWNER } from '../examples.js'
import { MAX_CHANGES_OF_REQUEST, z } from '../http/schema.js'
import { CHAIN_CALL_PRICE } from '../limits/costs.js'
import type { FamilyInterface } from './family.js'

/** 0x and hex digits. The generated client has a type for this format. */
const hexSchema = z.string().openapi({ format: 'hex' })
/** Wei in decimal digits. The client returns a bigint for this format. */
const weiSchema = z.string().openapi({ format: 'wei' })
export const EvmTransactionSchema = z.object({ to: hexSchema, data: hexSchema, value: weiSchema })

/** JSON of a contract call, with its value in decimal digits. */
export const contractCallJson = ({
  to,
  data,
  value,
}: Omit<Extract<UnsignedTransaction, { to: unknown }>, 'type'>) => ({
  to,
  data,
  value: String(value),
})

const gasTokenSchema = z.object({ symbol: z.string(), decimals: z.int() })
const evmQuoteFields = ({ transactionData }: EvmQuote) => ({
  transactionData: contractCallJson(transactionData),
})

export const evmFamilyInterface: FamilyInterface = {
  family: EVM,
  example: ['1', EXAMPLE_OWNER],
  testnet: '11155111',
  sender: ({ evmAddress }) => evmAddress(),
  maxNames: MAX_CHANGES_OF_REQUEST,
  summary: 'Transaction data for registering names from an EVM chain',
  interfaceNotes:
    '`names[].amountWei` and `referral`. An amount below the minimum of 0.01 ETH is 400 `invalid_amount`.',
  price: CHAIN_CALL_PRICE,
  errors: ['watch_only', 'bridge_failure'],
  v1: {
    schemaName: 'EvmQuote',
    schemas: {
      gasToken: gasTokenSchema,
      transactionData: EvmTransactionSchema,
      bridgeFee: z
        .string()
        .openapi({ description: 'Smallest unit of the gas token; "0" on the hub' }),
    },
    ownFields: evmQuoteFields,
  },
  v01: {
    schemaName: 'QuoteV01',
    schemas: { gasToken: gasTokenSchema, transactionData: EvmTransactionSchema },
    ownFields: evmQuoteFields,
  },
  transaction: EvmTransactionSchema,
  approvals: {
    approval: EvmTransactionSchema.optional().openapi({
      description:
        'Transaction to send before the payment, if the payment is in a token that is not approved yet',
    }),
    approvalReset: EvmTransactionSchema.optional().openapi({
      description:
        'Transaction to send before the approval: it removes a smaller approval, which some tokens require',
    }),
  },
}
