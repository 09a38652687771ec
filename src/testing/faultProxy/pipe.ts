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

export interface PipeOptions {
  upstream: Upstream
  seed: number
  faults: () => Faults
  limits: FaultLimits
  onFault: (kind: FaultKind, request: Omit<FaultRequest, 'params'>) => void
}

const JSON_HEADERS = { 'content-type': 'application/json' }

/** Passes requests on to a node, and its answers back, with faults. */
export class Pipe {
  /** Faults that a test stages by hand: methods that lie next, and the finalized block while finality stalls. */
  readonly staged = { lies: new Set<LiedAbout>(), finalized: null as string | null }
  readonly #options: PipeOptions
  readonly #forks: ReturnType<typeof createForks>
  readonly #requests = new Requests()
  /** Newest answer per method, for a client that is to get another one's. */
  readonly #latest = new Map<string, { id: RpcCall['id']; answer: RpcAnswer }>()

  constructor(options: PipeOptions) {
    const { seed, upstream, limits } = options
    this.#options = options
    this.#forks = createForks(seed, upstream, limits.forkBlocks)
  }

  /** Answers a request's body: a call or a batch. */
  async handle(body: string): Promise<Reply> {
    const parsed = JSON.parse(body) as RpcCall | RpcCall[]
    try {
      return await (Array.isArray(parsed)
        ? this.#batch(parsed.map(withParams))
        : this.#single(withParams(parsed)))
    } catch (error) {
      const message = `the node is away: ${(error as Error).message}`
      return worded({ status: 502, code: -32000, message }, null)
    }
  }

  /** Fault of a message that the node sends by itself. */
  faultOf(method: string): FaultKind | null {
    const { seed, faults } = this.#options
    return chooseFault(seed, faults(), this.#requests.take(method, []))
  }

  /** Counts an injected fault. */
  note(kind: FaultKind): void {
    this.#options.onFault(kind, this.#requests.newest)
  }

  delayMs(): number {
    const { seed, limits } = this.#options
    const { method, ordinal } = this.#requests.newest
    return between(draw(seed, 'delay', method, ordinal), 1, limits.delayMs)
  }

  async #single(call: RpcCall): Promise<Reply> {
    const request = this.#requests.take(call.method, call.params)
    const kind = this.#kindOf(request)
    return this.#faulty(request, kind, async () => {
      const { status = 200, ...rest } = await this.#answer(call, request, kind)
      const before = this.#latest.get(call.method)
      this.#latest.set(call.method, { id: call.id, answer: rest })
      // another client's answer under this call's id
      const given =
        kind === 'wrong_id'
          ? (before ?? { id: `${call.id}0`, answer: rest })
          : { id: call.id, answer: rest }
      return { status, text: JSON.stringify({ jsonrpc: '2.0', id: given.id, ...given.answer }) }
    })
  }

  async #batch(calls: readonly RpcCall[]): Promise<Reply> {
    const { seed, faults } = this.#options
    const request = this.#requests.take(BATCH, [])
    const kind = chooseFault(seed, faults(), request)
    return this.#faulty(request, kind, async () => {
      const answers = await Promise.all(
        calls.map(async (call) => {
          const one = this.#requests.take(call.method, call.params)
          const { status: _, ...rest } = await this.#answer(call, one, this.#kindOf(one, true))
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

  #kindOf(request: FaultRequest, isInBatch = false): FaultKind | null {
    const { seed, faults } = this.#options
    if (this.staged.lies.has(request.method as LiedAbout)) return 'lie'
    return chooseFault(seed, faults(), request, { isInBatch })
  }

  /** Answers one call, wrongly where its fault is one of answers. */
  async #answer(
    call: RpcCall,
    request: FaultRequest,
    kind: FaultKind | null,
  ): Promise<FaultyAnswer> {
    if (kind === null || !isAnswerFault(kind)) return this.#ask(call)
    const { seed, upstream, limits, onFault } = this.#options
    const next = sequence(seed, 'answer', request.method, request.ordinal)
    const wrong = await wrongAnswer(kind, call, { upstream, forks: this.#forks, limits, next })
    if (!wrong) return this.#ask(call)

    if (kind === 'lie') this.staged.lies.delete(request.method as LiedAbout)
    onFault(kind, request)
    return wrong
  }

  async #ask(call: RpcCall): Promise<RpcAnswer> {
    const known = await this.#forks.known(call)
    const params = withFinalized(call.params, this.staged.finalized)
    return known ?? (await this.#options.upstream(call.method, params))
  }

  /** Does the work of a request with the faults of transports: refusals, silence, cut connections and texts. */
  async #faulty(
    request: FaultRequest,
    kind: FaultKind | null,
    work: () => Promise<{ status: number; text: string }>,
  ): Promise<Reply> {
    const { seed, limits, onFault } = this.#options
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
