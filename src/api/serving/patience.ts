import type { ServerResponse } from 'node:http'
import type { Patience } from '../../db/pg/pool.js'
import type { Caller } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { countedAddress } from '../limits/client.js'
import type { Meter } from '../limits/gate.js'
import type { Exchange } from './exchange.js'

/** Error of a request that is answered before its work is done. */
export const tooLong = () => new ApiError('unavailable', 'This took too long.')

/** Error of a request whose caller has left: nobody gets an answer, and nothing of ours has failed. */
export class CallerLeftError extends ApiError {
  constructor() {
    super('unavailable', 'The caller has left.')
  }
}

/** Ends with the time, or with the caller's connection. Nothing waits until somebody asks for its signal. */
export class CallerPatience implements Patience {
  readonly #res: ServerResponse
  readonly #endMs: number
  #gone: AbortController | null = null

  constructor({ res, startedMs }: Pick<Exchange, 'res' | 'startedMs'>, limitMs: number) {
    this.#res = res
    this.#endMs = startedMs + limitMs
  }

  /** Called without its object, too. */
  readonly leftMs = (): number => this.#endMs - performance.now()

  get signal(): AbortSignal {
    this.#gone ??= this.#watch()
    return this.#gone.signal
  }

  #watch(): AbortController {
    const gone = new AbortController()
    const res = this.#res
    const isDone = () => res.writableFinished
    if (res.closed && !isDone()) gone.abort(new CallerLeftError())
    const timer = setTimeout(() => gone.abort(tooLong()), Math.max(0, this.leftMs()))
    res.once('close', () => {
      clearTimeout(timer)
      if (!isDone()) gone.abort(new CallerLeftError())
    })
    return gone
  }
}

/** Time beyond its stay within which a request is answered; what says nothing for longer is closed. */
const ANSWER_MS = 15_000

/** Who waits for the answer of a request. */
export const callerOf = (exchange: Exchange, { isRaised }: Pick<Meter, 'isRaised'>): Caller => ({
  address: countedAddress(exchange.ip),
  isRaised,
  lastEventId: String(exchange.req.headers['last-event-id'] ?? '') || undefined,
  stay(ms) {
    // of this answer alone: Node sets it again before the next request
    exchange.req.socket.setTimeout(ms + ANSWER_MS)
    return new CallerPatience(exchange, ms).signal
  },
  hasLeft: () => exchange.res.closed,
  whenGone: (act) => (exchange.res.closed ? act() : void exchange.res.once('close', act)),
})
