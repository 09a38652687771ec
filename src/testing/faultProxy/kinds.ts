import { pickElement, seededRandomNumber } from './random.js'

/** Faults of a whole request, which is the body of an HTTP request or a client's message on a WebSocket. */
const REQUEST_FAULT_KINDS = [
  'delay',
  'drop',
  'hang',
  'rate_limit',
  'server_error',
  'truncate',
  'wrong_id',
] as const

/** Faults that change the answer to one call, with the methods to which they apply. */
const METHODS_BY_ANSWER_FAULT = {
  /** A lagging node: its head, and state read at the head, are some blocks old. */
  stale_head: [
    'eth_blockNumber',
    'eth_getBlockByNumber',
    'eth_getTransactionCount',
    'eth_getBalance',
    'eth_call',
  ],
  /** A node that announces a block before it indexes the logs: all logs of one block are missing. */
  missing_logs: ['eth_getLogs'],
  null_block: ['eth_getBlockByNumber', 'eth_getBlockByHash'],
  null_receipt: ['eth_getTransactionReceipt', 'eth_getBlockReceipts'],
  duplicate_logs: ['eth_getLogs'],
  reorder_logs: ['eth_getLogs'],
  /** The refusal of a range that is too large, with the error text of a random provider. */
  range_limit: ['eth_getLogs'],
} as const satisfies Record<string, readonly string[]>

export type AnswerFaultKind = keyof typeof METHODS_BY_ANSWER_FAULT
/** Kind of a fault. With `silent_socket` a WebSocket stays open, but no more messages pass. */
export type FaultKind = (typeof REQUEST_FAULT_KINDS)[number] | AnswerFaultKind | 'silent_socket'

export const FAULT_KINDS: readonly FaultKind[] = [
  ...REQUEST_FAULT_KINDS,
  ...(Object.keys(METHODS_BY_ANSWER_FAULT) as AnswerFaultKind[]),
  'silent_socket',
]

/** A call, a batch of calls or a message from the node, for which a fault is chosen. */
export interface ProxiedCall {
  /** The called method, `METHOD_LABEL_OF_BATCH`, or `NOTIFICATION_METHOD`. */
  method: string
  /** Number of the call among the calls of this method, from 1. */
  ordinal: number
  params: readonly unknown[]
}

/** Probability of each fault for each call to which it applies, or a plan that chooses each call's fault. */
export type Faults =
  | Partial<Record<FaultKind, number>>
  | ((request: ProxiedCall) => FaultKind | null)

/** `ProxiedCall.method` of a message that the node sends. */
export const NOTIFICATION_METHOD = 'notification'
/** `ProxiedCall.method` of a batch of calls. */
export const METHOD_LABEL_OF_BATCH = 'batch'

function appliesToMethod(kind: FaultKind, method: string): boolean {
  if (kind === 'silent_socket') return method === NOTIFICATION_METHOD
  if (method === NOTIFICATION_METHOD) return kind === 'delay' || kind === 'drop'
  return (
    !isAnswerFault(kind) || (METHODS_BY_ANSWER_FAULT[kind] as readonly string[]).includes(method)
  )
}

/** True for faults that change the answers of certain methods. */
export const isAnswerFault = (kind: FaultKind): kind is AnswerFaultKind =>
  kind in METHODS_BY_ANSWER_FAULT

/**
 * Chooses a call's fault; null for a call without a fault. With probabilities, the choice depends only on the
 * probabilities, the seed, the method and the ordinal, so it is reproducible.
 */
export function chooseFault(seed: number, faults: Faults, request: ProxiedCall): FaultKind | null {
  const { method, ordinal } = request
  if (typeof faults === 'function') {
    const kind = faults(request)
    return kind !== null && appliesToMethod(kind, method) ? kind : null
  }
  const hits = FAULT_KINDS.filter(
    (kind) =>
      appliesToMethod(kind, method) &&
      seededRandomNumber(seed, kind, method, ordinal) < (faults[kind] ?? 0),
  )
  return hits.length > 0
    ? pickElement(seededRandomNumber(seed, 'which', method, ordinal), hits)
    : null
}
