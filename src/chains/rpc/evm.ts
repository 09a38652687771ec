import type { Hex } from '../chain.js'
import { classifyRpcError, NodeError, transientError, WrongChainError } from './errors.js'
import type { ErrorRow } from './errorTable.js'
import { requireRpcAnswerForm } from './forms.js'
import { createJsonHttpClient, type JsonHttpAnswer } from './http.js'
import { type RpcCall, type RpcNodes, RpcPool, type RpcPoolOptions } from './nodes.js'

export type { RpcCall }

export const toRpcQuantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

const QUANTITY_PATTERN = /^0x0*[0-9a-f]{1,13}$/i

/** Parses a QUANTITY of the execution API. @throws RpcError transient for another form, or from 2^52 on */
export function parseQuantity(value: unknown): number {
  if (typeof value !== 'string' || !QUANTITY_PATTERN.test(value))
    throw transientError('a number has another form')
  return Number(value)
}

/**
 * Timeouts by method, ms. Calls about the newest block have short timeouts, because a late answer is useless.
 * `eth_getLogs` has a long one, because nodes read logs from disk.
 */
const TIMEOUT_MS_BY_METHOD: Readonly<Record<string, number>> = {
  eth_blockNumber: 3_000,
  eth_chainId: 3_000,
  eth_getBlockByNumber: 3_000,
  eth_getBlockByHash: 3_000,
  eth_getLogs: 20_000,
}
const DEFAULT_TIMEOUT_MS = 10_000
/** Timeout of the logs of one new block: a hanging node must not delay the head. */
const BLOCK_LOGS_TIMEOUT_MS = 5_000
/** Number of blocks by which the heads of honest nodes may differ. */
const BEHIND_BLOCKS = 3

function evmTimeoutOf(method: string, [filter]: readonly unknown[]): number {
  const isOfBlock =
    method === 'eth_getLogs' && (filter as { blockHash?: Hex } | undefined)?.blockHash !== undefined
  return isOfBlock ? BLOCK_LOGS_TIMEOUT_MS : (TIMEOUT_MS_BY_METHOD[method] ?? DEFAULT_TIMEOUT_MS)
}

/** RPC nodes of one EVM chain. Every node must have the chain's id and genesis hash. */
export type EvmRpc = RpcNodes<Hex>

export function createEvmRpc({
  chainId,
  ...options
}: RpcPoolOptions<Hex> & { chainId: number }): EvmRpc {
  const readGenesis = async (host: string, call: RpcCall): Promise<Hex> => {
    const answered = Number(await call<Hex>('eth_chainId', []))
    const block = await call<{ hash: Hex } | null>('eth_getBlockByNumber', ['0x0', false])
    if (answered !== chainId)
      throw new WrongChainError(
        `${host} is on chain id ${answered}, not ${chainId} (chain "${options.label}")`,
      )
    if (!block) throw transientError(`${host} has no block 0`)
    return block.hash.toLowerCase() as Hex
  }
  return new RpcPool({
    ...options,
    connect: (url, limitMs = Number.POSITIVE_INFINITY) =>
      createJsonRpcCaller(url, {
        timeoutOf: (method, params) => Math.min(evmTimeoutOf(method, params), limitMs),
      }),
    readGenesis,
    headOf: async (call) => {
      const head = await call<{ number: Hex; timestamp: Hex } | null>('eth_getBlockByNumber', [
        'latest',
        false,
      ])
      return {
        height: Number(head?.number ?? Number.NaN),
        timeMs: head && Number(head.timestamp) * 1_000,
      }
    },
    behindBlocks: BEHIND_BLOCKS,
  })
}

interface JsonRpcAnswer {
  id?: number | null
  result?: unknown
  error?: unknown
}

interface RpcCallerOptions {
  /** Timeout of a call, ms. Default: the EVM method's. */
  timeoutOf?: (method: string, params: readonly unknown[]) => number
  /** Rows for the errors of this chain family's clients. */
  familyTable?: readonly ErrorRow[]
}

/**
 * Creates a caller of a node (EVM or Solana) or of a remote signer over HTTP. The caller checks the form of results but
 * does not decode them. It throws RpcErrors, and does not retry.
 */
export function createJsonRpcCaller(
  url: string,
  { timeoutOf = evmTimeoutOf, familyTable }: RpcCallerOptions = {},
): RpcCall {
  const post = createJsonHttpClient(url)
  let count = 0
  return async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    count += 1
    const body = { jsonrpc: '2.0', id: count, method, params }
    let http: JsonHttpAnswer | undefined
    try {
      http = await post(body, timeoutOf(method, params))
      const answer = (http.data ?? {}) as JsonRpcAnswer
      // a broken proxy may return another request's answer; an error about a malformed request has no id
      if (answer.id !== body.id && (answer.id ?? null) !== null)
        throw transientError(`${method}: the answer has another id`)
      if (answer.error) throw new NodeError(answer.error)
      if (answer.id !== body.id || answer.result === undefined)
        throw transientError(`${method}: the answer holds no result`)
      return requireRpcAnswerForm<T>(method, answer.result)
    } catch (error) {
      throw classifyRpcError(error, method, { response: http, familyTable })
    }
  }
}
