import { RpcRequestError } from 'viem'
import { getHttpRpcClient } from 'viem/utils'
import type { Hex } from '../chain.js'
import { classifyRpcError, RpcError } from './errors.js'
import { type Call, createNodes, type Nodes, WrongChainError } from './nodes.js'

export { type Call, WrongChainError }

export interface RpcOptions {
  label: string
  urls: readonly string[]
  chainId: number
  /** Checked against block 0 of every node; learned from the first node where it is not given. */
  genesisHash?: Hex
  timeoutMs?: number
  onFault?: (url: string, error: RpcError) => void
}

const DEFAULT_TIMEOUT_MS = 20_000
const BEHIND_BLOCKS = 3

/** Several nodes of one EVM chain: those on another chain id or genesis are refused. */
export interface Rpc extends Nodes {
  /** Hash of block 0. @throws ChainUnavailableError, WrongChainError */
  genesisHash(): Promise<Hex>
}

export function createRpc(options: RpcOptions): Rpc {
  const { label, urls, onFault, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  let genesis = options.genesisHash ?? null

  const check = async (url: string, call: Call): Promise<void> => {
    const chainId = Number(await call<Hex>('eth_chainId', []))
    const block = await call<{ hash: Hex } | null>('eth_getBlockByNumber', ['0x0', false])
    if (chainId !== options.chainId)
      throw new WrongChainError(`${url} is on chain id ${chainId}, not ${options.chainId} (chain "${label}")`)
    if (!block) throw new RpcError('transient', `${url} has no block 0`)
    genesis ??= block.hash.toLowerCase() as Hex
    if (block.hash.toLowerCase() !== genesis)
      throw new WrongChainError(`${url} has genesis ${block.hash}, not ${genesis} (chain "${label}")`)
  }

  const nodes = createNodes({
    label,
    urls,
    connect: (url) => transport(url, timeoutMs),
    check,
    headOf: async (call) => Number(await call<Hex>('eth_blockNumber', [])),
    behindBlocks: BEHIND_BLOCKS,
    ...(onFault ? { onFault } : {}),
  })
  return { ...nodes, genesisHash: () => nodes.onOneNode(async () => genesis!) }
}

/** A node's call over HTTP: raw results, no retries of its own, faults sorted. */
function transport(url: string, timeoutMs: number): Call {
  const client = getHttpRpcClient(url, { timeout: timeoutMs })
  let count = 0
  return async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    count += 1
    const body = { id: count, method, params }
    let http: Response | undefined
    try {
      const answer = await client.request({
        body,
        onResponse: (response) => {
          http = response
        },
      })
      // a broken proxy may hand out somebody else's answer; an error about the request as a whole has no id
      if (answer.id !== body.id && (answer.id ?? null) !== null)
        throw new RpcError('transient', `${method}: the answer has another id`)
      if (answer.error) throw new RpcRequestError({ body, error: answer.error, url })
      if (answer.id !== body.id || answer.result === undefined)
        throw new RpcError('transient', `${method}: the answer holds no result`)
      return answer.result as T
    } catch (error) {
      throw classifyRpcError(error, method, http)
    }
  }
}
