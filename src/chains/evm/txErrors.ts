import {
  type ClientErrorFields,
  errorWithCauses,
  RpcError,
  revertDataOfError,
} from '../rpc/errors.js'
import { UNKNOWN_REFUSAL_REASON } from '../rpc/errorTable.js'

/** Class of a node's error for a transaction. */
export type TxErrorClass =
  /** The node already has exactly this transaction. Treated as sent. */
  | 'known'
  /** The nonce was used by a mined transaction, of this job or of another job. */
  | 'used'
  /** The fees are too low. */
  | 'fee'
  /** The call reverts now and may succeed later (a paused hub). */
  | 'revert'
  /** No node will ever accept this transaction. */
  | 'permanent'
  /** Any other error: worth another attempt. */
  | 'transient'

/**
 * A failure as it is stored and shown. It never holds a node's own message, which may contain the RPC URL with its key.
 */
export interface TxFailure {
  class: TxErrorClass
  /** Reason in snake_case, mostly from `TX_ERROR_TABLE`. */
  reason: string
}

/**
 * Class and reason for each wording of a node's error. The nodes are geth (and its forks: bor, bsc, coreth, op-geth,
 * nitro), erigon, nethermind, besu, reth, anvil, and large providers' proxies. The first matching row counts.
 */
export const TX_ERROR_TABLE: readonly (readonly [TxErrorClass, string, RegExp])[] = [
  // geth "already known", erigon "existing tx with same hash", nethermind "AlreadyKnown", besu "Known transaction",
  // anvil "transaction already imported", parity's forks "with the same hash was already imported"
  [
    'known',
    'already_known',
    /already[ _]?known|known transaction|already imported|tx with same hash|already in (the )?mempool/i,
  ],
  // nethermind "OldNonce"
  [
    'used',
    'nonce_too_low',
    /nonce (is )?too low|old ?nonce|nonce has already been used|nonce already (used|mined)/i,
  ],
  // nethermind "NonceGap", besu "Nonce too distant", "Transaction nonce too far in the future"
  [
    'transient',
    'nonce_too_high',
    /nonce (is )?too high|nonce ?gap|gapped-nonce|nonce too (distant|far)|too far in the future|lower nonce exists/i,
  ],
  // a refused replacement: geth and its forks, erigon "could not replace existing tx", nethermind
  // "ReplacementNotAllowed", parity's forks "another transaction with same nonce in the queue"
  [
    'fee',
    'replacement_underpriced',
    /replacement (transaction|tx|fee|gas)?.*(underpriced|too low|not ?allowed)|replacement ?not ?allowed|could not replace|another transaction with same nonce|future transaction tries to replace/i,
  ],
  [
    'fee',
    'underpriced',
    /underpriced|fee ?too ?low|less than block base fee|(below|lower than) (the )?(current |block )?base ?fee|below configured minimum|gas price (supplied )?(is )?(too low|below)|tip (cap )?.{0,30}(below|minimum needed)|base fee exceeds|max fee per gas too low|gasfeecap.*less than|(fee|price|tip|cap)\b.{0,60}(below|lower than|less than) .{0,20}(minimum|floor)/i,
  ],
  [
    'transient',
    'insufficient_funds',
    /insufficient ?funds|overdraft|exceeds account balance|insufficient balance|does not have enough funds|gas required exceeds allowance/i,
  ],
  [
    'transient',
    'pool_full',
    /(tx|transaction )?pool (is full|limit)|too many (pending )?transactions|account limit exceeded|in-flight transaction limit|queue is full/i,
  ],
  ['revert', 'out_of_gas', /out of gas|gas too low to|gas required exceeds/i],
  [
    'revert',
    'reverted',
    /revert|invalid opcode|bad instruction|stack underflow|always failing transaction/i,
  ],
  [
    'permanent',
    'gas_limit',
    /intrinsic gas|exceeds block gas limit|gas limit (is )?(too high|exceeded)|gas limit too high|gaslimitexceeded|exceeds the gas limit|transaction gas limit/i,
  ],
  ['permanent', 'fee_cap_of_node', /exceeds the configured cap|fee cap exceeded/i],
  ['permanent', 'wrong_chain', /chain ?id|replay-protected|wrong network/i],
  [
    'permanent',
    'malformed_transaction',
    /invalid sender|invalid signature|sender (is )?not an eoa|sender ?is ?contract|oversized data|max ?tx ?size|\brlp\b|transaction type not supported|priority fee per gas higher|tip (above|higher than)|negative value|uint64 overflow|int256overflow|initcode|nonce has max value|could not decode/i,
  ],
]

/** JSON-RPC code of a revert. It classifies errors whose message does not mention a revert. */
const REVERT_CODE = 3
const METHOD_NAME = /\beth_\w+/g
const UNREACHABLE: TxFailure = { class: 'transient', reason: 'unreachable' }
/** Failure for an error whose message matches no row of the table. */
const UNKNOWN_WORDS: TxFailure = { class: 'transient', reason: UNKNOWN_REFUSAL_REASON }

/** The nodes' messages in an error and its causes. */
function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error
  const chain: readonly ClientErrorFields[] = errorWithCauses(error)
  // viem appends URL and request on further lines of its messages: they do not come from the node
  const texts = chain.map(
    ({ details, message }) => `${details ?? ''}\n${String(message ?? '').split('\n')[0]}`,
  )
  // the failed method's name is removed too: the name "eth_chainId" must not match as an error about the chain id
  return texts.join('\n').replace(METHOD_NAME, '')
}

/** Classifies a node's error for a transaction. An unknown wording is transient, so it never ends a job. */
export function classifyTxError(error: unknown): TxFailure {
  const chain: readonly ClientErrorFields[] = errorWithCauses(error)
  // a node that serves another chain is no fault of the transaction
  if (chain.some(({ name }) => name === 'WrongChainError')) return UNREACHABLE
  if (chain.some((one) => one instanceof RpcError && one.fault === 'rate_limited'))
    return { class: 'transient', reason: 'rate_limited' }
  const text = wordsOf(error)
  const line = TX_ERROR_TABLE.find(([, , wording]) => wording.test(text))
  if (line) return { class: line[0], reason: line[1] }
  if (chain.some((one) => one.code === REVERT_CODE || revertDataOfError(one) !== null))
    return { class: 'revert', reason: 'reverted' }
  const hasAnswered = chain.some(
    (one) => one instanceof RpcError && one.reason === UNKNOWN_REFUSAL_REASON,
  )
  return hasAnswered ? UNKNOWN_WORDS : UNREACHABLE
}
