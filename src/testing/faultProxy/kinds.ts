import { draw, pick } from './random.js'

/** What can go wrong with a whole HTTP request or a message of a socket. */
const REQUEST_KINDS = ['delay', 'drop', 'rate_limit', 'server_error', 'truncate', 'wrong_id'] as const

/** The methods that a fault of an answer touches. */
const ANSWER_KINDS = {
  /** A node that lags: heads, and state asked for as of the head, are some blocks old. */
  stale_head: ['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getTransactionCount', 'eth_getBalance', 'eth_call'],
  /** A node whose newest blocks are others, with other bidders in their logs. */
  other_fork: ['eth_getBlockByNumber'],
  /** A node that announces a block whose logs it has not indexed: they are absent, all of one block. */
  missing_logs: ['eth_getLogs'],
  null_block: ['eth_getBlockByNumber', 'eth_getBlockByHash'],
  null_receipt: ['eth_getTransactionReceipt', 'eth_getBlockReceipts'],
  duplicate_logs: ['eth_getLogs'],
  reorder_logs: ['eth_getLogs'],
  /** Ranges wider than a limit are refused, each time in another provider's words. */
  range_limit: ['eth_getLogs'],
} as const satisfies Record<string, readonly string[]>

export type RequestFault = (typeof REQUEST_KINDS)[number]
export type AnswerFault = keyof typeof ANSWER_KINDS
/** `silent_socket`: a WebSocket stays open and says nothing more. */
export type FaultKind = RequestFault | AnswerFault | 'silent_socket'

export const FAULT_KINDS: readonly FaultKind[] = [
  ...REQUEST_KINDS,
  ...(Object.keys(ANSWER_KINDS) as AnswerFault[]),
  'silent_socket',
]

/** One call of a method, by its number among the calls of that method, from 1. A batch as a whole has the method `batch`, what a node sends by itself `notification`. */
export interface FaultRequest {
  method: string
  ordinal: number
  params: readonly unknown[]
}

/** How probable each fault is, a call that it can touch; or a plan that says what goes wrong with each call. */
export type Faults = Partial<Record<FaultKind, number>> | ((request: FaultRequest) => FaultKind | null)

export const NOTIFICATION = 'notification'
export const BATCH = 'batch'

/** Whether a fault can touch a call. Calls inside a batch share its connection and its body. */
function touches(kind: FaultKind, method: string, isInBatch: boolean): boolean {
  if (kind === 'silent_socket') return method === NOTIFICATION
  if (method === NOTIFICATION) return kind === 'delay' || kind === 'drop'
  if (isAnswerFault(kind)) return (ANSWER_KINDS[kind] as readonly string[]).includes(method)
  return !isInBatch
}

export const isAnswerFault = (kind: FaultKind): kind is AnswerFault => kind in ANSWER_KINDS

/** What goes wrong with a call, by seed, method and ordinal alone; at most one thing. */
export function chooseFault(
  seed: number,
  faults: Faults,
  request: FaultRequest,
  { isInBatch = false }: { isInBatch?: boolean } = {},
): FaultKind | null {
  const { method, ordinal } = request
  if (typeof faults === 'function') {
    const kind = faults(request)
    return kind !== null && touches(kind, method, isInBatch) ? kind : null
  }
  const hits = FAULT_KINDS.filter(
    (kind) => touches(kind, method, isInBatch) && draw(seed, kind, method, ordinal) < (faults[kind] ?? 0),
  )
  return hits.length > 0 ? pick(draw(seed, 'which', method, ordinal), hits) : null
}
