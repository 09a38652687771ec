import { setTimeout as sleep } from 'node:timers/promises'
import { answerWithFault, type FaultLimits, type FaultyAnswer } from './answers.js'
import { createSimulatedFork } from './forks.js'
import {
  chooseFault,
  type FaultKind,
  type FaultRequest,
  type Faults,
  isAnswerFault,
  METHOD_LABEL_OF_BATCH,
  NOTIFICATION_METHOD,
} from './kinds.js'
import type { LieMethod } from './lies.js'
import { type NodeErrorText, PROXY_SERVER_ERRORS, RATE_LIMIT_ERRORS } from './nodeErrorTexts.js'
import { integerBetween, pickElement, seededRandomNumber, seededRandomSequence } from './random.js'
import type { RpcAnswer, RpcCall, Upstream } from './upstream.js'

/** HTTP answer to the client. Null: the connection is reset without an answer. */
export type ProxyHttpReply = {
  status: number
  headers: Record<string, string>
  text: string
} | null

export interface FaultyPipeOptions {
  upstream: Upstream
  seed: number
  faults: () => Faults
  limits: FaultLimits
  onFault: (kind: FaultKind, request: Omit<FaultRequest, 'params'>) => void
}

const JSON_HEADERS = { 'content-type': 'application/json' }

export type FaultyPipe = ReturnType<typeof createFaultyPipe>

/** Creates the part of the proxy that passes requests to a node and the node's answers back, with faults. */
export function createFaultyPipe(options: FaultyPipeOptions) {
  const { upstream, seed, faults, limits, onFault } = options
  /** Faults that a test requested: methods whose next answer is wrong, and the finalized block while it is frozen. */
  const staged = { lies: new Set<LieMethod>(), finalized: null as string | null }
  const forks = createSimulatedFork(seed, upstream, limits.forkBlocks)
  const take = countRequests()
  /** Newest answer by method, which the fault `wrong_id` returns to the next call of the method. */
  const latest = new Map<string, { id: RpcCall['id']; answer: RpcAnswer }>()

  const ask = async (call: RpcCall): Promise<RpcAnswer> =>
    (await forks.known(call)) ??
    (await upstream(call.method, withFinalized(call.params, staged.finalized)))

  const kindOf = (request: FaultRequest, isInBatch = false): FaultKind | null =>
    staged.lies.has(request.method as LieMethod)
      ? 'lie'
      : chooseFault(seed, faults(), request, { isInBatch })

  /** Answers one call, wrongly if `kind` is a fault of answers. */
  const answer = async (
    call: RpcCall,
    request: FaultRequest,
    kind: FaultKind | null,
  ): Promise<FaultyAnswer> => {
    if (kind === null || !isAnswerFault(kind)) return ask(call)
    const next = seededRandomSequence(seed, 'answer', request.method, request.ordinal)
    const wrong = await answerWithFault(kind, call, { upstream, forks, limits, next })
    if (!wrong) return ask(call)

    if (kind === 'lie') staged.lies.delete(request.method as LieMethod)
    onFault(kind, request)
    return wrong
  }

  const single = (call: RpcCall): Promise<ProxyHttpReply> => {
    const request = take(call.method, call.params)
    const kind = kindOf(request)
    return faulty(options, request, kind, async () => {
      const { status = 200, ...rest } = await answer(call, request, kind)
      const before = latest.get(call.method)
      latest.set(call.method, { id: call.id, answer: rest })
      // wrong_id: the answer and id of the previous call of this method, else this call's answer with another id
      const given =
        kind === 'wrong_id'
          ? (before ?? { id: `${call.id}0`, answer: rest })
          : { id: call.id, answer: rest }
      return { status, text: JSON.stringify({ jsonrpc: '2.0', id: given.id, ...given.answer }) }
    })
  }

  const batch = (calls: readonly RpcCall[]): Promise<ProxyHttpReply> => {
    const request = take(METHOD_LABEL_OF_BATCH)
    const kind = kindOf(request)
    return faulty(options, request, kind, async () => {
      const answers = await Promise.all(
        calls.map(async (call) => {
          const one = take(call.method, call.params)
          const { status: _, ...rest } = await answer(call, one, kindOf(one, true))
          return { jsonrpc: '2.0', id: call.id, ...rest }
        }),
      )
      const given =
        kind === 'wrong_id'
          ? answers.map((one, i) => ({ ...one, id: calls.at(i - 1)!.id }))
          : answers
      return { status: 200, text: JSON.stringify(given) }
    })
  }

  return {
    staged,
    /** Answers the body of a request: a call or a batch. */
    async handle(body: string): Promise<ProxyHttpReply> {
      const parsed = JSON.parse(body) as RpcCall | RpcCall[]
      try {
        return await (Array.isArray(parsed)
          ? batch(parsed.map(withParams))
          : single(withParams(parsed)))
      } catch (error) {
        const message = `the node is away: ${(error as Error).message}`
        return worded({ status: 502, code: -32000, message }, null)
      }
    },
    /** Chooses the fault and delay of a message that the node sends over a WebSocket. */
    notification(): { kind: FaultKind | null; delayMs: number } {
      const request = take(NOTIFICATION_METHOD)
      const kind = chooseFault(seed, faults(), request)
      if (kind) onFault(kind, request)
      return { kind, delayMs: delayOf(options, request) }
    },
  }
}

/** Runs a request with a fault of the transport: a refusal, silence, a cut connection or a truncated answer. */
async function faulty(
  options: FaultyPipeOptions,
  request: FaultRequest,
  kind: FaultKind | null,
  work: () => Promise<{ status: number; text: string }>,
): Promise<ProxyHttpReply> {
  const random = (purpose: string) =>
    seededRandomNumber(options.seed, purpose, request.method, request.ordinal)
  if (kind !== null && !isAnswerFault(kind)) options.onFault(kind, request)
  if (kind === 'rate_limit')
    return worded(pickElement(random('wording'), RATE_LIMIT_ERRORS), options.limits.retryAfterS)
  if (kind === 'server_error')
    return worded(pickElement(random('wording'), PROXY_SERVER_ERRORS), null)
  if (kind === 'hang') return new Promise<never>(() => {})
  // half of the dropped requests reach the node, so a transaction may be sent without an answer
  if (kind === 'drop' && random('half') < 0.5) return null

  const { status, text } = await work()
  if (kind === 'drop') return null
  if (kind === 'delay') await sleep(delayOf(options, request))
  const cut = kind === 'truncate' ? integerBetween(random('cut'), 1, text.length - 1) : text.length
  return { status, headers: JSON_HEADERS, text: text.slice(0, cut) }
}

const delayOf = ({ seed, limits }: FaultyPipeOptions, { method, ordinal }: FaultRequest): number =>
  integerBetween(seededRandomNumber(seed, 'delay', method, ordinal), 1, limits.delayMs)

/** Creates the function that numbers the requests of each method, from 1. */
function countRequests() {
  const counts = new Map<string, number>()
  return (method: string, params: readonly unknown[] = []): FaultRequest => {
    const ordinal = (counts.get(method) ?? 0) + 1
    counts.set(method, ordinal)
    return { method, ordinal, params }
  }
}

/**
 * Parameters with `finalized` replaced by `block`, while finality stalls at that block. Null: finality does not stall.
 */
const withFinalized = (params: readonly unknown[], block: string | null): readonly unknown[] =>
  block === null ? params : params.map((param) => (param === 'finalized' ? block : param))

const withParams = (call: RpcCall): RpcCall => ({ ...call, params: call.params ?? [] })

function worded(
  { status, code, message }: NodeErrorText,
  retryAfterS: number | null,
): ProxyHttpReply {
  const headers: Record<string, string> =
    retryAfterS === null ? {} : { 'retry-after': String(retryAfterS) }
  if (code === 0)
    return { status, headers: { ...headers, 'content-type': 'text/html' }, text: message }
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })
  return { status, headers: { ...headers, ...JSON_HEADERS }, text }
}
