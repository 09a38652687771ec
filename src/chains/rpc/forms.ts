import { z } from 'zod'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import { transientError } from './errors.js'

const textSchema = z.string()
const integerSchema = z.int().nonnegative()
/** Maximum number of compute units that a Solana transaction may request. */
export const MAX_COMPUTE_UNITS = 1_400_000
const hexSchema = z.string().regex(/^0x[0-9a-fA-F]*$/)
const quantitySchema = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/)
const base58Schema = (bytes: number) =>
  z.string().refine((key) => decodeBase58(key, bytes) !== null)

/**
 * Schema of a list. Its check ends at the first wrong element, where `z.array` would collect an issue for each of
 * possibly millions.
 */
const listSchema = (element: z.ZodType) =>
  z.custom((value) => Array.isArray(value) && value.every((one) => element.safeParse(one).success))

const logSchema = (bytes: z.ZodString) =>
  z.object({
    address: bytes,
    topics: listSchema(bytes),
    data: bytes,
    blockNumber: bytes,
    blockHash: bytes,
    transactionHash: bytes,
    logIndex: bytes,
  })
const transactionSchema = z.object({
  hash: hexSchema,
  from: hexSchema,
  nonce: quantitySchema,
  input: hexSchema,
  to: hexSchema.nullish(),
})
const blockSchema = z
  .object({
    hash: hexSchema,
    transactions: listSchema(z.union([hexSchema, transactionSchema])).nullish(),
  })
  .nullable()
const accountSchema = z.object({ data: listSchema(textSchema), owner: textSchema })
const instructionSchema = z.object({ programIdIndex: integerSchema, data: textSchema })
const contextSchema = z.object({ slot: integerSchema })
const objectWithValueSchema = <Value extends z.ZodType>(value: Value) => z.object({ value })

/** Schemas of nodes' answers, with the fields that the code relies on (execution API; Agave's RPC). */
const ANSWER_SCHEMA_BY_METHOD: Readonly<Record<string, z.ZodType>> = {
  eth_blockNumber: quantitySchema,
  eth_call: hexSchema,
  eth_chainId: quantitySchema,
  eth_estimateGas: quantitySchema,
  eth_feeHistory: z.object({
    baseFeePerGas: listSchema(quantitySchema),
    reward: listSchema(listSchema(quantitySchema)).nullish(),
  }),
  eth_gasPrice: quantitySchema,
  eth_getBalance: quantitySchema,
  eth_maxPriorityFeePerGas: quantitySchema,
  eth_getBlockByHash: blockSchema,
  eth_getBlockByNumber: blockSchema,
  eth_getCode: hexSchema,
  // only type checks, since there may be millions of logs: `getBlockLogs` and `readLogsOfRange` check their hex digits
  eth_getLogs: listSchema(logSchema(textSchema)),
  eth_getTransactionByHash: transactionSchema.nullable(),
  eth_getTransactionCount: quantitySchema,
  eth_getTransactionReceipt: z
    .object({
      transactionHash: hexSchema,
      blockHash: hexSchema,
      blockNumber: hexSchema,
      gasUsed: quantitySchema.nullish(),
      effectiveGasPrice: quantitySchema.nullish(),
      logs: listSchema(logSchema(hexSchema)),
    })
    .nullable(),
  getAccountInfo: z.object({ context: contextSchema, value: accountSchema.nullable() }),
  getBalance: objectWithValueSchema(integerSchema),
  getBlockHeight: integerSchema,
  getBlockTime: integerSchema.nullable(),
  getEpochInfo: z.object({ absoluteSlot: integerSchema, blockHeight: integerSchema }),
  getFirstAvailableBlock: integerSchema,
  getGenesisHash: textSchema,
  getLatestBlockhash: objectWithValueSchema(
    z.object({ blockhash: base58Schema(32), lastValidBlockHeight: integerSchema }),
  ),
  getMinimumBalanceForRentExemption: integerSchema,
  getMultipleAccounts: z.object({
    context: contextSchema,
    value: listSchema(accountSchema.nullable()),
  }),
  getRecentPrioritizationFees: listSchema(z.object({ prioritizationFee: integerSchema })),
  getSignaturesForAddress: listSchema(
    z.object({ signature: base58Schema(64), slot: integerSchema }),
  ),
  getSignatureStatuses: objectWithValueSchema(listSchema(contextSchema.nullable())),
  getSlot: integerSchema,
  getTokenAccountsByOwner: objectWithValueSchema(
    listSchema(z.object({ pubkey: textSchema, account: accountSchema.pick({ data: true }) })),
  ),
  getTokenSupply: objectWithValueSchema(z.object({ decimals: integerSchema })),
  getTransaction: z
    .object({
      slot: integerSchema,
      transaction: z.object({
        signatures: listSchema(textSchema),
        message: z.object({ accountKeys: listSchema(textSchema) }),
      }),
      meta: z
        .object({
          innerInstructions: listSchema(
            z.object({ instructions: listSchema(instructionSchema) }),
          ).nullish(),
          loadedAddresses: z
            .object({ writable: listSchema(textSchema), readonly: listSchema(textSchema) })
            .nullish(),
        })
        .nullable(),
    })
    .nullable(),
  simulateTransaction: objectWithValueSchema(
    z.object({ unitsConsumed: integerSchema.max(MAX_COMPUTE_UNITS).nullish() }),
  ),
}

/**
 * Checks the form of a node's answer, if there is a schema for the method. A later TypeError is therefore a fault of our
 * own code.
 * @returns the answer
 * @throws RpcError transient for an answer of another form than the method's
 */
export function requireRpcAnswerForm<T>(method: string, answer: unknown): T {
  if (ANSWER_SCHEMA_BY_METHOD[method]?.safeParse(answer).success === false)
    throw transientError(`${method}: the answer has another form`)
  return answer as T
}
