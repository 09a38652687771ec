import { CONFIRMED_BLOCK_TAGS } from '../../registry/primitives/confirmation.js'
import type { AnswerFaultKind } from './kinds.js'
import { RANGE_LIMIT_ERRORS } from './nodeErrorTexts.js'
import { integerBetween, pickElement } from './random.js'
import {
  hexQuantity,
  type RpcAnswer,
  type RpcCall,
  readHeadNumber,
  type UpstreamCaller,
} from './upstream.js'

/** Limits of the faults that the proxy injects. */
export interface FaultSeverity {
  /** Longest delay, ms. */
  delayMs: number
  /** Value of Retry-After, seconds. */
  retryAfterS: number
  /** Largest range of `eth_getLogs` that the fault `range_limit` lets through, blocks. */
  rangeBlocks: number
  /** Largest lag of a stale head, blocks. */
  staleBlocks: number
}

export interface FaultyAnswer extends RpcAnswer {
  /** HTTP status of an error answer. */
  status?: number
}

/**
 * Answers a call with a fault of the given kind. Null where the fault does not apply to the call's content or result.
 * `random` is a random number for this call, in [0, 1).
 */
export async function answerWithFault(
  kind: AnswerFaultKind,
  call: RpcCall,
  upstream: UpstreamCaller,
  limits: FaultSeverity,
  random: number,
): Promise<FaultyAnswer | null> {
  switch (kind) {
    case 'stale_head':
      return staleAnswer(call, upstream, integerBetween(random, 1, limits.staleBlocks))
    case 'null_block':
    case 'null_receipt':
      return { result: null }
    case 'range_limit':
      return rangeRefusal(call, limits.rangeBlocks, random)
  }
  const { result } = await upstream(call.method, call.params)
  if (!Array.isArray(result) || result.length === 0) return null
  const logs = result as { blockNumber: string }[]
  switch (kind) {
    case 'missing_logs': {
      const { blockNumber: missing } = pickElement(random, logs)
      return { result: logs.filter(({ blockNumber }) => blockNumber !== missing) }
    }
    case 'duplicate_logs':
      return { result: logs.flatMap((log) => [log, log]) }
    case 'reorder_logs':
      return logs.length < 2 ? null : { result: logs.toReversed() }
  }
}

const HEAD_BLOCK_TAGS: readonly unknown[] = ['latest', ...CONFIRMED_BLOCK_TAGS]

/**
 * Answer of a node that lags by `lag` blocks. Null for a call that asks neither for the head nor for a block by a tag
 * such as `latest`, and where no block has the tag.
 */
async function staleAnswer(
  call: RpcCall,
  upstream: UpstreamCaller,
  lag: number,
): Promise<FaultyAnswer | null> {
  if (call.method === 'eth_blockNumber')
    return { result: hexQuantity(Math.max(0, (await readHeadNumber(upstream)) - lag)) }
  const tag = call.params.find((param) => HEAD_BLOCK_TAGS.includes(param))
  if (tag === undefined) return null
  const tagged = (await upstream('eth_getBlockByNumber', [tag, false])).result as {
    number: string
  } | null
  if (!tagged) return null
  const block = hexQuantity(Math.max(0, Number(tagged.number) - lag))
  return upstream(
    call.method,
    call.params.map((param) => (param === tag ? block : param)),
  )
}

function rangeRefusal(
  { params }: RpcCall,
  rangeBlocks: number,
  random: number,
): FaultyAnswer | null {
  const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string }
  if (fromBlock === undefined || toBlock === undefined) return null
  const blocks = Number(toBlock) - Number(fromBlock) + 1
  if (!(blocks > rangeBlocks)) return null
  const { status, ...error } = pickElement(random, RANGE_LIMIT_ERRORS)
  return { error, status }
}
