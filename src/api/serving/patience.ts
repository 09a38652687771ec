import type { Deadline } from '../../db/pg/pool.js'
import { waitForEventLoopTurn } from '../../ops/turns.js'
import { ApiError } from '../http/errors.js'
import { rateLimitAddress } from '../limits/client.js'
import type { RequestMeter } from '../limits/gate.js'
import type { HttpExchange } from './exchange.js'

/** Error of a request whose deadline passes before its response is ready. */
export const requestTimeoutError = () => {
  const cause = new Error('no answer was ready within the time limit of a request')
  return new ApiError('unavailable', 'This took too long.', {}, { cause })
}

/** The caller has disconnected. Nobody gets the response, and it is no failure of the service. */
export class CallerDisconnectedError extends ApiError {
  constructor() {
    super('unavailable', 'The caller has left.')
  }
}

/** One error for all callers, because the signal of each expensive request fires at its end. */
const CALLER_LEFT = new CallerDisconnectedError()

/** Deadline of a request: some time after it began, or when the caller disconnects. */
export function requestDeadline(
  exchange: Pick<HttpExchange, 'req' | 'res' | 'startedMs'>,
  limitMs: number,
): Deadline {
  const { res, startedMs } = exchange
  const leftMs = () => startedMs + limitMs - performance.now()
  const ended = new AbortController()
  const leave = () => {
    clearTimeout(timer)
    if (!res.writableFinished) ended.abort(CALLER_LEFT)
  }
  const timer = setTimeout(() => ended.abort(requestTimeoutError()), Math.max(0, leftMs()))
  if (isGone(exchange)) leave()
  else res.once('close', leave)
  return { leftMs, signal: ended.signal }
}

/** True once a response is complete, or its connection is closed. */
const isGone = ({ req, res }: Pick<HttpExchange, 'req' | 'res'>): boolean =>
  res.closed || req.socket.destroyed

/** Time for the response after a long poll or stream has ended. A connection without a byte for longer is closed. */
const ANSWER_MS = 15_000

/**
 * The caller that waits for the response of a request. A class: an object literal with a getter would have a hidden
 * class of its own for each request, which keeps the whole request in memory until a full garbage collection.
 */
export class WaitingCaller {
  /** The client's address, as rate limits count it. */
  readonly address: string
  /** True if the operator gave the caller's key limits of its own. */
  readonly isRaised: boolean
  readonly #exchange: HttpExchange
  readonly #meter: RequestMeter
  #signal: AbortSignal | undefined
  #acts: (() => void)[] | undefined

  constructor(exchange: HttpExchange, meter: RequestMeter) {
    this.#exchange = exchange
    this.#meter = meter
    this.address = rateLimitAddress(exchange.ip)
    this.isRaised = meter.isRaised
  }

  /** Fires once nobody waits for the response. */
  get signal(): AbortSignal {
    if (!this.#signal) {
      const leaving = new AbortController()
      this.whenGone(() => leaving.abort(CALLER_LEFT))
      this.#signal = leaving.signal
    }
    return this.#signal
  }

  /** Id of the last message that the client got of an interrupted stream. */
  get lastEventId(): string | undefined {
    return String(this.#exchange.req.headers['last-event-id'] ?? '') || undefined
  }

  /**
   * Waits for the caller's turn before a part of long work. @throws CallerDisconnectedError once nobody waits for the
   * response
   */
  readonly turn = (): Promise<void> => waitForEventLoopTurn(this)

  /** Charges the caller for work that only the handler knows. The debt delays later requests. */
  owe(units: number): void {
    this.#meter.giveBack(-units)
  }

  /** Allows a long poll of `ms`. @returns signal that fires after that time, and when the caller disconnects */
  allowLongPoll(ms: number): AbortSignal {
    // the timeout holds for this response only: Node resets it before the next request
    this.#exchange.req.socket.setTimeout(ms + ANSWER_MS)
    return requestDeadline(this.#exchange, ms).signal
  }

  hasLeft(): boolean {
    return isGone(this.#exchange)
  }

  /**
   * Runs a function once the response is complete or its connection closed. Adds one listener to the response, however
   * often it is called: Node warns of more than ten, and a streamed response has seven of its own.
   */
  whenGone(act: () => void): void {
    if (this.hasLeft()) act()
    else if (this.#acts) this.#acts.push(act)
    else {
      const acts = [act]
      this.#acts = acts
      this.#exchange.res.once('close', () => {
        for (const next of acts) next()
      })
    }
  }
}
