import type { Forks } from './forks.js'
import type { AnswerFault } from './kinds.js'
import { between, pick, type sequence, shuffled } from './random.js'
import { headOf, quantity, type RpcAnswer, type RpcCall, type Upstream } from './upstream.js'
import { fill, RANGE_LIMITS } from './wordings.js'

/** How far faults go. */
export interface FaultLimits {
  /** Longest delay, milliseconds. */
  delayMs: number
  /** What Retry-After asks for, seconds. */
  retryAfterS: number
  /** Widest range of `eth_getLogs` that `range_limit` lets through. */
  rangeBlocks: number
  /** Most blocks by which a stale head lags. */
  staleBlocks: number
  /** Most blocks of another fork; within the confirmation depth, else it would rightly be believed. */
  forkBlocks: number
}

export interface FaultyAnswer extends RpcAnswer {
  /** HTTP status, where the answer is an error that comes with one. */
  status?: number
}

export interface AnswerContext {
  upstream: Upstream
  forks: Forks
  limits: FaultLimits
  /** The numbers of this very call. */
  next: ReturnType<typeof sequence>
}

/** A wrong answer to a call; null where this one has nothing that could be wrong in that way. */
export async function wrongAnswer(
  kind: AnswerFault,
  call: RpcCall,
  context: AnswerContext,
): Promise<FaultyAnswer | null> {
  const { upstream, forks, limits, next } = context
  switch (kind) {
    case 'stale_head':
      return staleAnswer(call, upstream, between(next(), 1, limits.staleBlocks))
    case 'other_fork':
      return forks.block(call, between(next(), 1, limits.forkBlocks))
    case 'null_block':
    case 'null_receipt':
      return { result: null }
    case 'range_limit':
      return rangeRefusal(call, context)
    case 'missing_logs':
      return ofLogs(call, upstream, (logs) => {
        const missing = pick(
          next(),
          logs.map(({ blockNumber }) => blockNumber),
        )
        return logs.filter(({ blockNumber }) => blockNumber !== missing)
      })
    case 'duplicate_logs':
      return ofLogs(call, upstream, (logs) => {
        const twice = pick(next(), logs)
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

const TAGS = ['latest', 'safe', 'finalized']

/** The answer of a node that lags by some blocks. */
async function staleAnswer(call: RpcCall, upstream: Upstream, lag: number): Promise<FaultyAnswer | null> {
  if (call.method === 'eth_blockNumber') return { result: quantity(Math.max(0, (await headOf(upstream)) - lag)) }
  const tag = call.params.find((param) => typeof param === 'string' && TAGS.includes(param))
  if (tag === undefined) return null
  const tagged = (await upstream('eth_getBlockByNumber', [tag, false])).result as { number: string } | null
  if (!tagged) return null
  const block = quantity(Math.max(0, Number(tagged.number) - lag))
  return upstream(
    call.method,
    call.params.map((param) => (param === tag ? block : param)),
  )
}

/** A refusal for the range, as one provider or another words it. */
function rangeRefusal({ params }: RpcCall, { limits, next }: AnswerContext): FaultyAnswer | null {
  const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string }
  if (fromBlock === undefined || toBlock === undefined) return null
  const blocks = Number(toBlock) - Number(fromBlock) + 1
  if (!(blocks > limits.rangeBlocks)) return null
  const { status, ...error } = fill(pick(next(), RANGE_LIMITS), limits.rangeBlocks, blocks)
  return { error, status }
}
