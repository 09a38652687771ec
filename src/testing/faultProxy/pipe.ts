import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultLimits, type FaultyAnswer, wrongAnswer } from './answers.js'
import { createForks } from './forks.js'
import {
  BATCH,
  chooseFault,
  type FaultKind,
  type FaultRequest,
  type Faults,
  isAnswerFault,
} from './kinds.js'
import type { LiedAbout } from './lies.js'
import { between, draw, pick, sequence } from './random.js'
import type { RpcAnswer, RpcCall, Upstream } from './upstream.js'
import { RATE_LIMITS, SERVER_ERRORS, type Wording } from './wordings.js'

/** Answer to the client; null: the connection is cut. */
export type Reply = { status: number; headers: Record<string, string>; text: string } | null

export type Pipe = ReturnType<typeof createPipe>

export interface PipeOptions {
  upstream: Upstream
  seed: number
  faults: () => Faults
  limits: FaultLimits
  onFault: (kind: FaultKind, request: Omit<FaultRequest, 'params'>) => void
}

const JSON_HEADERS = { 'content-type': 'application/json' }

export function createPipe({ upstream, seed, faults, limits, onFault }: PipeOptions) {
  const forks = createForks(seed, upstream, limits.forkBlocks)
  const requests = new Requests()
  /** Newest answer per method, for a client that is to get another one's. */
  const latest = new Map<string, { id: RpcCall['id']; answer: RpcAnswer }>()
  /** Faults that a test stages by hand: methods that lie next, and the finalized block while finality stalls. */
  const staged = { lies: new Set<LiedAbout>(), finalized: null as string | null }

  const kindOf = (request: FaultRequest, isInBatch = false): FaultKind | null =>
    staged.lies.has(request.method as LiedAbout)
      ? 'lie'
      : chooseFault(seed, faults(), request, { isInBatch })

  const ask = async (call: RpcCall): Promise<RpcAnswer> =>
    (await forks.known(call)) ??
    (await upstream(call.method, withFinalized(call.params, staged.finalized)))

  /** Answers one call, wrongly where its fault is one of answers. */
  const answer = async (
    call: RpcCall,
    request: FaultRequest,
    kind: FaultKind | null,
  ): Promise<FaultyAnswer> => {
    if (kind !== null && isAnswerFault(kind)) {
      const next = sequence(seed, 'answer', request.method, request.ordinal)
      const wrong = await wrongAnswer(kind, call, { upstream, forks, limits, next })
      if (wrong) {
        if (kind === 'lie') staged.lies.delete(request.method as LiedAbout)
        onFault(kind, request)
        return wrong
      }
    }
    return ask(call)
  }

  const single = async (call: RpcCall): Promise<Reply> => {
    const request = requests.take(call.method, call.params)
    const kind = kindOf(request)
    return faulty(request, kind, async () => {
      const { status = 200, ...rest } = await answer(call, request, kind)
      const before = latest.get(call.method)
      latest.set(call.method, { id: call.id, answer: rest })
      // another client's answer under this call's id
      const given =
        kind === 'wrong_id'
          ? (before ?? { id: `${call.id}0`, answer: rest })
          : { id: call.id, answer: rest }
      return { status, text: JSON.stringify({ jsonrpc: '2.0', id: given.id, ...given.answer }) }
    })
  }

  const batch = async (calls: readonly RpcCall[]): Promise<Reply> => {
    const request = requests.take(BATCH, [])
    const kind = chooseFault(seed, faults(), request)
    return faulty(request, kind, async () => {
      const answers = await Promise.all(
        calls.map(async (call) => {
          const one = requests.take(call.method, call.params)
          const { status: _, ...rest } = await answer(call, one, kindOf(one, true))
          return { jsonrpc: '2.0', id: call.id, ...rest }
        }),
      )
      const ids = calls.map(({ id }) => id)
      const given =
        kind === 'wrong_id'
          ? answers.map((one, i) => ({ ...one, id: ids.at(i - 1) ?? null }))
          : answers
      return { status: 200, text: JSON.stringify(given) }
    })
  }

  const faulty = async (
    request: FaultRequest,
    kind: FaultKind | null,
    work: () => Promise<{ status: number; text: string }>,
  ): Promise<Reply> => {
    const { method, ordinal } = request
    const random = (purpose: string) => draw(seed, purpose, method, ordinal)
    if (kind !== null && !isAnswerFault(kind)) onFault(kind, request)
    if (kind === 'rate_limit')
      return worded(pick(random('wording'), RATE_LIMITS), limits.retryAfterS)
    if (kind === 'server_error') return worded(pick(random('wording'), SERVER_ERRORS), null)
    if (kind === 'hang') return new Promise<never>(() => {})
    // half of the dropped requests reach the node: a transaction may be sent without an answer
    if (kind === 'drop' && random('half') < 0.5) return null
    const { status, text } = await work()
    if (kind === 'drop') return null
    if (kind === 'delay') await sleep(between(random('delay'), 1, limits.delayMs))
    const cut = kind === 'truncate' ? between(random('cut'), 1, text.length - 1) : text.length
    return { status, headers: JSON_HEADERS, text: text.slice(0, cut) }
  }

  return {
    /** Answers a request's body: a call or a batch. */
    async handle(body: string): Promise<Reply> {
      const parsed = JSON.parse(body) as RpcCall | RpcCall[]
      try {
        return await (Array.isArray(parsed)
          ? batch(parsed.map(withParams))
          : single(withParams(parsed)))
      } catch (error) {
        return worded(
          { status: 502, code: -32000, message: `the node is away: ${(error as Error).message}` },
          null,
        )
      }
    },
    staged,
    /** Fault of a message that the node sends by itself. */
    faultOf: (method: string) => chooseFault(seed, faults(), requests.take(method, [])),
    /** Counts an injected fault. */
    note: (kind: FaultKind) => onFault(kind, requests.newest),
    delayMs: () =>
      between(
        draw(seed, 'delay', requests.newest.method, requests.newest.ordinal),
        1,
        limits.delayMs,
      ),
  }
}

/** Requests that a pipe got, counted by method. */
class Requests {
  readonly #counts = new Map<string, number>()
  newest: FaultRequest = { method: '', ordinal: 0, params: [] }

  take(method: string, params: readonly unknown[]): FaultRequest {
    const ordinal = (this.#counts.get(method) ?? 0) + 1
    this.#counts.set(method, ordinal)
    this.newest = { method, ordinal, params }
    return this.newest
  }
}

/** Parameters that ask for an old block while finality stalls. */
const withFinalized = (params: readonly unknown[], block: string | null): readonly unknown[] =>
  block === null ? params : params.map((param) => (param === 'finalized' ? block : param))

const withParams = (call: RpcCall): RpcCall => ({ ...call, params: call.params ?? [] })

function worded({ status, code, message }: Wording, retryAfterS: number | null): Reply {
  const headers: Record<string, string> =
    retryAfterS === null ? {} : { 'retry-after': String(retryAfterS) }
  if (code === 0)
    return { status, headers: { ...headers, 'content-type': 'text/html' }, text: message }
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })
  return { status, headers: { ...headers, ...JSON_HEADERS }, text }
}
