import { decodeBase58 } from '../../registry/primitives/base58.js'
import { transientError } from './errors.js'

/** Check of a part of an answer. It returns true if the part has the expected form. */
type Form = (value: unknown) => boolean

const text: Form = (value) => typeof value === 'string'
const number: Form = (value) => typeof value === 'number'
const hex: Form = (value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
const quantity: Form = (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)
const base58 =
  (bytes: number): Form =>
  (value) =>
    typeof value === 'string' && decodeBase58(value, bytes) !== null
const anything: Form = () => true
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value)
const optional =
  (form: Form): Form =>
  (value) =>
    value === undefined || value === null || form(value)
const list =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form)
const object = (fields: Readonly<Record<string, Form>>): Form => {
  const forms = Object.entries(fields)
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    forms.every(([name, form]) => form((value as Record<string, unknown>)[name]))
}

const logOf = (bytes: Form): Form =>
  object({
    address: bytes,
    topics: list(bytes),
    data: bytes,
    blockNumber: bytes,
    blockHash: bytes,
    transactionHash: bytes,
    logIndex: bytes,
  })
const transaction = object({ hash: hex, from: hex, nonce: quantity, input: hex, to: optional(hex) })
const block = orNull(
  object({
    hash: hex,
    transactions: optional(list((one) => hex(one) || transaction(one))),
  }),
)
const account = object({ data: list(text), owner: text })
const value = (form: Form): Form => object({ value: form })
const accountKeys = object({ accountKeys: list(text) })
const inner = object({ instructions: list(object({ programIdIndex: number, data: text })) })
const loaded = object({ writable: list(text), readonly: list(text) })

/** Forms of nodes' answers by RPC method, as far as the code relies on them (execution API; Agave's RPC). */
const FORMS: Readonly<Record<string, Form>> = {
  eth_blockNumber: quantity,
  eth_call: hex,
  eth_chainId: quantity,
  eth_estimateGas: quantity,
  eth_feeHistory: object({ baseFeePerGas: list(quantity), reward: optional(list(list(quantity))) }),
  eth_gasPrice: quantity,
  eth_getBalance: quantity,
  eth_maxPriorityFeePerGas: quantity,
  eth_getBlockByHash: block,
  eth_getBlockByNumber: block,
  eth_getCode: hex,
  // only type checks, since there may be millions of logs: `getBlockLogs` and `readLogsOfRange` check their hex digits
  eth_getLogs: list(logOf(text)),
  eth_getTransactionByHash: orNull(transaction),
  eth_getTransactionCount: quantity,
  eth_getTransactionReceipt: orNull(
    object({
      transactionHash: hex,
      blockHash: hex,
      blockNumber: hex,
      gasUsed: optional(quantity),
      effectiveGasPrice: optional(quantity),
      logs: list(logOf(hex)),
    }),
  ),
  getAccountInfo: object({ context: object({ slot: number }), value: orNull(account) }),
  getBalance: value(number),
  getBlockHeight: number,
  getBlockTime: orNull(number),
  getEpochInfo: object({ absoluteSlot: number, blockHeight: number }),
  getFirstAvailableBlock: number,
  getGenesisHash: text,
  getLatestBlockhash: value(object({ blockhash: base58(32), lastValidBlockHeight: number })),
  getMinimumBalanceForRentExemption: number,
  getMultipleAccounts: object({
    context: object({ slot: number }),
    value: list(orNull(account)),
  }),
  getRecentPrioritizationFees: list(object({ prioritizationFee: number })),
  getSignaturesForAddress: list(object({ signature: base58(64), slot: number, err: anything })),
  getSignatureStatuses: value(list(orNull(object({ slot: number })))),
  getSlot: number,
  getTokenAccountsByOwner: value(
    list(object({ pubkey: text, account: object({ data: list(text) }) })),
  ),
  getTokenSupply: value(object({ decimals: number })),
  getTransaction: orNull(
    object({
      slot: number,
      transaction: object({ signatures: list(text), message: accountKeys }),
      meta: orNull(
        object({ innerInstructions: optional(list(inner)), loadedAddresses: optional(loaded) }),
      ),
    }),
  ),
  simulateTransaction: value(object({ err: anything })),
}

/**
 * Checks the form of a node's answer. Every answer passes this check, so a later TypeError is a fault of our own code.
 * @returns the answer
 * @throws RpcError transient for an answer of another form than the method's
 */
export function requireRpcAnswerForm<T>(method: string, answer: unknown): T {
  if (FORMS[method] && !FORMS[method](answer))
    throw transientError(`${method}: the answer has another form`)
  return answer as T
}
