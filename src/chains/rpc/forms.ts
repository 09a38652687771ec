import { z } from 'zod'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import { transientError } from './errors.js'

const text = z.string()
const number = z.number()
const hex = z.string().regex(/^0x[0-9a-fA-F]*$/)
const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/)
const base58 = (bytes: number) => z.string().refine((key) => decodeBase58(key, bytes) !== null)

/** A list whose check ends at the first wrong element: zod's own collects an issue for each of millions. */
const list = (element: z.ZodType) =>
  z.custom((value) => Array.isArray(value) && value.every((one) => element.safeParse(one).success))

const logOf = (bytes: z.ZodString) =>
  z.object({
    address: bytes,
    topics: list(bytes),
    data: bytes,
    blockNumber: bytes,
    blockHash: bytes,
    transactionHash: bytes,
    logIndex: bytes,
  })
const transaction = z.object({
  hash: hex,
  from: hex,
  nonce: quantity,
  input: hex,
  to: hex.nullish(),
})
const block = z
  .object({ hash: hex, transactions: list(z.union([hex, transaction])).nullish() })
  .nullable()
const account = z.object({ data: list(text), owner: text })
const instruction = z.object({ programIdIndex: number, data: text })
const context = z.object({ slot: number })
const withValue = <Value extends z.ZodType>(value: Value) => z.object({ value })

/** Forms of nodes' answers by RPC method, as far as the code relies on them (execution API; Agave's RPC). */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  eth_blockNumber: quantity,
  eth_call: hex,
  eth_chainId: quantity,
  eth_estimateGas: quantity,
  eth_feeHistory: z.object({
    baseFeePerGas: list(quantity),
    reward: list(list(quantity)).nullish(),
  }),
  eth_gasPrice: quantity,
  eth_getBalance: quantity,
  eth_maxPriorityFeePerGas: quantity,
  eth_getBlockByHash: block,
  eth_getBlockByNumber: block,
  eth_getCode: hex,
  // only type checks, since there may be millions of logs: `getBlockLogs` and `readLogsOfRange` check their hex digits
  eth_getLogs: list(logOf(text)),
  eth_getTransactionByHash: transaction.nullable(),
  eth_getTransactionCount: quantity,
  eth_getTransactionReceipt: z
    .object({
      transactionHash: hex,
      blockHash: hex,
      blockNumber: hex,
      gasUsed: quantity.nullish(),
      effectiveGasPrice: quantity.nullish(),
      logs: list(logOf(hex)),
    })
    .nullable(),
  getAccountInfo: z.object({ context, value: account.nullable() }),
  getBalance: withValue(z.int().nonnegative()),
  getBlockHeight: number,
  getBlockTime: number.nullable(),
  getEpochInfo: z.object({ absoluteSlot: number, blockHeight: number }),
  getFirstAvailableBlock: number,
  getGenesisHash: text,
  getLatestBlockhash: withValue(z.object({ blockhash: base58(32), lastValidBlockHeight: number })),
  getMinimumBalanceForRentExemption: number,
  getMultipleAccounts: z.object({ context, value: list(account.nullable()) }),
  getRecentPrioritizationFees: list(z.object({ prioritizationFee: number })),
  getSignaturesForAddress: list(z.object({ signature: base58(64), slot: number })),
  getSignatureStatuses: withValue(list(context.nullable())),
  getSlot: number,
  getTokenAccountsByOwner: withValue(
    list(z.object({ pubkey: text, account: account.pick({ data: true }) })),
  ),
  getTokenSupply: withValue(z.object({ decimals: number })),
  getTransaction: z
    .object({
      slot: number,
      transaction: z.object({
        signatures: list(text),
        message: z.object({ accountKeys: list(text) }),
      }),
      meta: z
        .object({
          innerInstructions: list(z.object({ instructions: list(instruction) })).nullish(),
          loadedAddresses: z.object({ writable: list(text), readonly: list(text) }).nullish(),
        })
        .nullable(),
    })
    .nullable(),
  simulateTransaction: withValue(z.object({})),
}

/**
 * Checks the form of a node's answer, if `FORMS` has the method. A later TypeError is therefore a fault of our own code.
 * @returns the answer
 * @throws RpcError transient for an answer of another form than the method's
 */
export function requireRpcAnswerForm<T>(method: string, answer: unknown): T {
  if (FORMS[method]?.safeParse(answer).success === false)
    throw transientError(`${method}: the answer has another form`)
  return answer as T
}
