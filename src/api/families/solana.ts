import type { SolanaQuote } from '../../chains/solana/port.js'
import { SOLANA } from '../../registry/families.js'
import { EXAMPLE_SOLANA_WALLET } from '../examples.js'
import { z } from '../http/schema.js'
import { QUOTE_PER_NAME_PRICE } from '../limits/costs.js'
import type { FamilyInterface } from './family.js'

const gasTokenSchema = z.object({ symbol: z.literal('SOL'), decimals: z.literal('lamports') })
const TRANSACTION_SIZE_BOUND = 'rule: what a transaction of Solana holds'
const TRANSACTION_COUNT_BOUND = { 'transactionData[]': 'asked: 25' }

export const solanaFamilyInterface: FamilyInterface = {
  family: SOLANA,
  example: ['solana', EXAMPLE_SOLANA_WALLET],
  testnet: 'solana',
  sender: ({ solanaAddress }) => solanaAddress(),
  maxNames: 25,
  summary: 'Transactions for registering names on Solana',
  interfaceNotes:
    '`gasToken.decimals` is the text `lamports`. `expiresAt`, `names[].amountWei` and `referral`.',
  description:
    'One transaction per name. The sender signs and sends each of them before `expiresAt`.',
  price: QUOTE_PER_NAME_PRICE,
  errors: [],
  v1: {
    schemaName: 'SolanaQuote',
    schemas: {
      gasToken: gasTokenSchema,
      transactionData: z.array(z.string()).openapi({
        description: 'One unsigned transaction per name, in order: serialized, base64',
      }),
      bridgeFee: z.string().openapi({ description: 'Price of the relay to the hub, lamports' }),
      expiresAt: z.string().openapi({ description: 'ISO 8601; a later payment fails on chain' }),
    },
    listBounds: TRANSACTION_COUNT_BOUND,
    ownFields: (quote: SolanaQuote) => ({
      transactionData: quote.transactions.map(({ base64 }) => base64),
      expiresAt: quote.expiresAt.toISOString(),
    }),
  },
  v01: {
    schemaName: 'SolanaQuoteV01',
    schemas: {
      gasToken: gasTokenSchema,
      expiresAt: z.string(),
      transactionData: z
        .array(
          z.object({
            recentBlockhash: z.string(),
            feePayer: z.string(),
            nonceInfo: z.null(),
            instructions: z.array(
              z.object({
                keys: z.array(
                  z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() }),
                ),
                programId: z.string(),
                data: z.array(z.int()),
              }),
            ),
            signers: z.array(z.string()).max(0),
          }),
        )
        .openapi({ description: 'One unsigned legacy transaction per name, in its order' }),
    },
    listBounds: {
      ...TRANSACTION_COUNT_BOUND,
      'transactionData[].instructions[]': TRANSACTION_SIZE_BOUND,
      'transactionData[].instructions[].keys[]': TRANSACTION_SIZE_BOUND,
      'transactionData[].instructions[].data[]': TRANSACTION_SIZE_BOUND,
      'transactionData[].signers[]': TRANSACTION_SIZE_BOUND,
    },
    ownFields: (quote: SolanaQuote) => ({
      transactionData: quote.transactions.map((one) => one.json()),
      expiresAt: quote.expiresAt.toISOString(),
    }),
  },
  transaction: z.object({
    data: z.string().openapi({ description: 'Unsigned and serialized, base64' }),
  }),
  approvals: {},
}
