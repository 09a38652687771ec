import { CONFIRMED_BLOCK_TAGS } from '../../registry/primitives/confirmation.js'
import type { SimulatedFork } from './forks.js'
import type { AnswerFault } from './kinds.js'
import { wrongAnswerTo } from './lies.js'
import { RANGE_LIMIT_ERRORS } from './nodeErrorTexts.js'
import { integerBetween, pickElement, type seededRandomSequence, shuffled } from './random.js'
import {
  hexQuantity,
  type RpcAnswer,
  type RpcCall,
  readHeadNumber,
  type Upstream,
} from './upstream.js'

/** Limits of the faults that the proxy injects into answers. */
export interface FaultLimits {
  /** Longest delay, ms. */
  delayMs: number
  /** Value of Retry-After, seconds. */
  retryAfterS: number
  /** Widest range of `eth_getLogs` under `range_limit`. */
  rangeBlocks: number
  /** Largest lag of a stale head, blocks. */
  staleBlocks: number
  /**
   * Length of the simulated fork, blocks. Keep it shorter than the confirmation depth, since the indexer correctly
   * confirms a longer fork.
   */
  forkBlocks: number
}

export interface FaultyAnswer extends RpcAnswer {
  /** HTTP status of an error answer. */
  status?: number
}

export interface FaultyAnswerContext {
  upstream: Upstream
  forks: SimulatedFork
  limits: FaultLimits
  /** Next random number for this call, in [0, 1). */
  next: ReturnType<typeof seededRandomSequence>
}

/** Answers a call with a fault of the given kind. Null where this fault does not apply to the call's content. */
export async function answerWithFault(
  kind: AnswerFault,
  call: RpcCall,
  context: FaultyAnswerContext,
): Promise<FaultyAnswer | null> {
  const { upstream, forks, limits, next } = context
  switch (kind) {
    case 'stale_head':
      return staleAnswer(call, upstream, integerBetween(next(), 1, limits.staleBlocks))
    case 'other_fork':
      return forks.block(call, integerBetween(next(), 1, limits.forkBlocks))
    case 'null_block':
    case 'null_receipt':
      return { result: null }
    case 'lie':
      return wrongAnswerTo(call, upstream, next)
    case 'range_limit':
      return rangeRefusal(call, context)
    case 'missing_logs':
      return ofLogs(call, upstream, (logs) => {
        const missing = pickElement(
          next(),
          logs.map(({ blockNumber }) => blockNumber),
        )
        return logs.filter(({ blockNumber }) => blockNumber !== missing)
      })
    case 'duplicate_logs':
      return ofLogs(call, upstream, (logs) => {
        const twice = pickElement(next(), logs)
        return logs.flatMap((log) => (log === twice || next() < 0.5 ? [log, { ...log }] : [log]))
      })
    case 'reorder_logs':
      return ofLogs(call, upstream, (logs) => (logs.length < 2 ? null : shuffled(logs, next)))
  }
}

interface Log {
  blockNumber: string
}

async function ofLogs(
  { method, params }: RpcCall,
  upstream: Upstream,
  change: (logs: Log[]) => Log[] | null,
): Promise<FaultyAnswer | null> {
  const { result } = await upstream(method, params)
  if (!Array.isArray(result) || result.length === 0) return null
  const changed = change(result as Log[])
  return changed && { result: changed }
}

const TAGS: readonly unknown[] = ['latest', ...CONFIRMED_BLOCK_TAGS]

/** Answer of a node that lags by some blocks. */
async function staleAnswer(
  call: RpcCall,
  upstream: Upstream,
  lag: number,
): Promise<FaultyAnswer | null> {
  if (call.method === 'eth_blockNumber')
    return { result: hexQuantity(Math.max(0, (await readHeadNumber(upstream)) - lag)) }
  const tag = call.params.find((param) => TAGS.includes(param))
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
  { limits, next }: FaultyAnswerContext,
): FaultyAnswer | null {
  const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string }
  if (fromBlock === undefined || toBlock === undefined) return null
  const blocks = Number(toBlock) - Number(fromBlock) + 1
  if (!(blocks > limits.rangeBlocks)) return null
  const { status, ...error } = pickElement(next(), RANGE_LIMIT_ERRORS)
  return { error, status }
}
