import PQueue from 'p-queue'
import { classifyRpcError, NodeError, RpcError, type RpcFault, transient } from './errors.js'
import { type JsonAnswer, jsonClient } from './http.js'
import { type Call, NodePool, type Nodes, type PoolOptions } from './nodes.js'

/** Agreement that a cluster reached on a block (`confirmed`: two thirds voted; `finalized`: irreversible). */
export type Commitment = 'confirmed' | 'finalized'

/** Several nodes of one Solana cluster; genesis hashes in base58. Concurrent calls travel in one batch. */
export type SolanaRpc = Nodes

const DEFAULT_TIMEOUT_MS = 20_000
/** Equals 20 s; slots are shorter than the blocks of other chains. */
const BEHIND_SLOTS = 50

export function createSolanaRpc({ timeoutMs = DEFAULT_TIMEOUT_MS, ...options }: PoolOptions<string>): SolanaRpc {
  return new NodePool({
    ...options,
    connect: (url, limitMs = timeoutMs) => batching(url, Math.min(timeoutMs, limitMs)),
    readGenesis: (_, call) => call<string>('getGenesisHash', []),
    headOf: (call) => call<number>('getSlot', [{ commitment: 'confirmed' }]),
    behindBlocks: BEHIND_SLOTS,
  })
}

/** Limits a response to about 1 MB of transactions. */
const BATCH_CALLS = 100
const REQUESTS_AT_ONCE = 4
/** Concurrency for nodes without batches, where each call is a request. */
const SINGLES_AT_ONCE = 16
/**
 * Reactions to the errors of Agave's nodes (`rpc-client-api`, custom_error.rs) by their numbers: their words look like
 * those of EVM nodes and mean other things. What only another node, or a later moment, can answer is transient.
 */
const FAULTS: ReadonlyMap<number, RpcFault> = new Map([
  ...[-32_602, -32_002, -32_003, -32_006, -32_013, -32_015].map((code) => [code, 'refused'] as const),
  ...[-32_001, -32_004, -32_005, -32_007, -32_008, -32_009].map((code) => [code, 'transient'] as const),
  ...[-32_010, -32_011, -32_012, -32_014, -32_016].map((code) => [code, 'transient'] as const),
])

/** JSON-RPC 2.0, section 5.1: request not understood as a whole. */
const INVALID_REQUEST = -32_600

interface Waiting {
  method: string
  params: readonly unknown[]
  resolve(result: unknown): void
  reject(error: RpcError): void
}

interface Answer {
  id?: number | null
  result?: unknown
  error?: { code: number; message: string }
}

/**
 * Calls a node over HTTP. Calls of one turn of the event loop are sent as JSON-RPC batches, a few at once. A batch that
 * is too large for the node is halved; a node that refuses batches gets single requests from then on.
 */
export function batching(url: string, timeoutMs: number): Call {
  const post = jsonClient(url)
  const queue = new PQueue({ concurrency: REQUESTS_AT_ONCE })
  let takesBatches = true
  let count = 0
  let waiting: Waiting[] = []

  const flush = (): void => {
    const calls = waiting
    waiting = []
    const size = takesBatches ? BATCH_CALLS : 1
    for (let i = 0; i < calls.length; i += size) void queue.add(() => send(calls.slice(i, i + size)))
  }

  const send = async (calls: readonly Waiting[]): Promise<void> => {
    const bodies = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++count, method, params }))
    const fail = (error: RpcError) => {
      for (const { reject } of calls) reject(error)
    }
    let http: JsonAnswer | undefined
    try {
      http = await post(bodies.length === 1 ? bodies[0]! : bodies, timeoutMs)
      const answer = (http.data ?? {}) as Answer | readonly Answer[]
      const answers = bodies.length === 1 && !Array.isArray(answer) ? [answer] : answer
      if (!Array.isArray(answers)) return refused(calls, answers as Answer)
      const byId = new Map(answers.map((one: Answer) => [one.id, one]))
      calls.forEach((one, i) => {
        settle(one, bodies[i]!, byId.get(bodies[i]!.id) ?? (calls.length === 1 ? answers[0] : undefined))
      })
    } catch (error) {
      const sorted = classifyRpcError(error, calls[0]!.method, http)
      if (sorted.fault === 'too_much' && calls.length > 1) halve(calls)
      else fail(sorted)
    }
  }

  /** Handles an error for a batch as a whole. */
  const refused = (calls: readonly Waiting[], { error }: Answer): void => {
    if (error?.code !== INVALID_REQUEST) throw new NodeError(error ?? NO_ERROR)
    takesBatches = false
    queue.concurrency = SINGLES_AT_ONCE
    for (const one of calls) void queue.add(() => send([one]))
  }

  const halve = (calls: readonly Waiting[]): void => {
    const middle = Math.ceil(calls.length / 2)
    void queue.add(() => send(calls.slice(0, middle)))
    void queue.add(() => send(calls.slice(middle)))
  }

  const settle = ({ method, resolve, reject }: Waiting, body: { id: number }, answer: Answer | undefined): void => {
    if (answer?.error) reject(errorOf(new NodeError(answer.error), method))
    // a broken proxy may return another request's answer, or part of one
    else if (!answer || answer.id !== body.id || answer.result === undefined)
      reject(transient(`${method}: the answer holds no result, or has another id`))
    else resolve(answer.result)
  }

  return <T>(method: string, params: readonly unknown[]) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ method, params, resolve: resolve as (result: unknown) => void, reject })
      if (waiting.length === 1) setImmediate(flush)
    })
}

function errorOf(error: NodeError, method: string): RpcError {
  const fault = FAULTS.get(error.code as number)
  return fault
    ? new RpcError(fault, `${method}: ${error.message}`, null, { cause: error })
    : classifyRpcError(error, method)
}

const NO_ERROR = { code: 0, message: 'the answer to a batch is no list' }
