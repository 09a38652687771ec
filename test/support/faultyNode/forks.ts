import { keccak256, toBytes } from 'viem'
import {
  type RpcAnswer,
  type RpcCall,
  readHeadNumber,
  type UpstreamCaller,
} from '../../../src/testing/faultProxy/upstream.js'

interface Block {
  number: string
  hash: string
  parentHash: string
}

interface Log {
  blockHash: string
  data: string
}

/**
 * Simulates a fork that the node is not on. It branches off a few blocks below the head, with other bidders in its
 * logs. Blocks once returned stay available by hash, as on a node of that fork.
 * @param forkBlocks length of the fork, shorter than the confirmation depth, since the indexer correctly confirms a
 * longer fork
 */
export function createSimulatedFork(seed: number, upstream: UpstreamCaller, forkBlocks: number) {
  /**
   * For the hash of each block of the fork: the hash of the node's block at that height, and the block's place in the
   * fork, from 1 upwards.
   */
  const returned = new Map<string, { real: string; depth: number }>()

  // a block contains its parent's hash, so the hash depends on how many fork blocks there are up to this block
  const hashOf = (real: string, depth: number): string => {
    const hash = keccak256(toBytes(`${seed}|${real}|${depth}`))
    returned.set(hash, { real, depth })
    return hash
  }
  const forked = (block: Block, depth: number): Block => ({
    ...block,
    hash: hashOf(block.hash, depth),
    parentHash: depth === 1 ? block.parentHash : hashOf(block.parentHash, depth - 1),
  })
  const blockByHash = async (hash: string): Promise<RpcAnswer> => {
    const { real, depth } = returned.get(hash)!
    const { result } = await upstream('eth_getBlockByHash', [real, false])
    return { result: result ? forked(result as Block, depth) : null }
  }
  const logsOf = async (filter: object, hash: string): Promise<RpcAnswer> => {
    const answer = await upstream('eth_getLogs', [
      { ...filter, blockHash: returned.get(hash)!.real },
    ])
    if (!Array.isArray(answer.result)) return answer
    return {
      result: (answer.result as Log[]).map((log) => ({
        ...log,
        blockHash: hash,
        data: ofAnother(log.data),
      })),
    }
  }

  return {
    /**
     * The fork's answer to `eth_getBlockByNumber`. Null for other calls, and where the fork has the same block as the
     * node.
     */
    async block(call: RpcCall, depth: number): Promise<RpcAnswer | null> {
      if (call.method !== 'eth_getBlockByNumber') return null
      const answer = await upstream(call.method, call.params)
      const block = answer.result as Block | null | undefined
      if (!block) return null
      const left = forkBlocks - ((await readHeadNumber(upstream)) - Number(block.number))
      return left < 1 ? null : { result: forked(block, Math.min(depth, left)) }
    },
    /** Answer to a query by the hash of a fork block that was returned before. Null for other queries. */
    async known({ method, params }: RpcCall): Promise<RpcAnswer | null> {
      const [first] = params
      if (method === 'eth_getBlockByHash' && typeof first === 'string' && returned.has(first))
        return blockByHash(first)
      if (method !== 'eth_getLogs' || typeof first !== 'object' || first === null) return null
      const { blockHash } = first as { blockHash?: string }
      return blockHash !== undefined && returned.has(blockHash) ? logsOf(first, blockHash) : null
    },
  }
}

/** Replaces the first 32 bytes of a log's data: the bidder of a bid, or the id of a bridge message. */
const ofAnother = (data: string): string =>
  data.length < 66 ? data : `0x${'0'.repeat(24)}${'f0'.repeat(20)}${data.slice(66)}`
