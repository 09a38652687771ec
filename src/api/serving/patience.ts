import { setMaxListeners } from 'node:events'
import type { Deadline } from '../../db/pg/pool.js'
import { waitForEventLoopTurn } from '../../ops/turns.js'
import { ApiError } from '../http/errors.js'
import type { RequestMeter } from '../limits/meter.js'
import type { HttpExchange } from './exchange.js'

/** Error of a request whose deadline passes before its response is ready. */
export const requestTimeoutError = () => {
  const cause = new Error('no answer was ready within the time limit of a request')
  return new ApiError('unavailable', 'This took too long.', {}, { cause })
}

/** Error of a request whose caller has disconnected. No response is sent, and the error is not counted as a failure. */
export const CALLER_LEFT_ERROR = new ApiError('unavailable', 'The caller has left.')

/** Time for sending the response after a long poll has ended, ms: the socket's timeout is this much longer. */
const SENDING_MS = 15_000

/**
 * The caller that waits for the response of a request. This is a class because V8 gives each object literal with a
 * getter a hidden class, which keeps the whole request in memory until a full garbage collection.
 */
export class WaitingCaller {
  readonly #exchange: HttpExchange
  /** Meter of the caller, for work whose price only the handler knows. */
  readonly meter: RequestMeter
  readonly #extendDeadline: (ms: number) => void

  constructor(exchange: HttpExchange, meter: RequestMeter, extendDeadline: (ms: number) => void) {
    this.#exchange = exchange
    this.meter = meter
    this.#extendDeadline = extendDeadline
  }

  /** The client's address, as rate limits count it. */
  get address(): string {
    return this.#exchange.address
  }

  /** Id of the last message that the client got of an interrupted stream. */
  get lastEventId(): string | undefined {
    return String(this.#exchange.req.headers['last-event-id'] ?? '') || undefined
  }

  /** Waits for a later turn of the event loop. @throws `CALLER_LEFT_ERROR` once nobody waits for the response */
  turn(): Promise<void> {
    return waitForEventLoopTurn(this.address, () => {
      if (this.hasLeft()) throw CALLER_LEFT_ERROR
    })
  }

  /**
   * Deadline of a request. Its signal fires at the time limit, counted from the request's start, or when the caller
   * disconnects.
   */
  deadline(limitMs: number): Deadline {
    const { startedMs } = this.#exchange
    const leftMs = () => startedMs + limitMs - performance.now()
    const ended = new AbortController()
    const timer = setTimeout(() => ended.abort(requestTimeoutError()), leftMs())
    this.whenGone(() => {
      clearTimeout(timer)
      ended.abort(CALLER_LEFT_ERROR)
    })
    return { leftMs, signal: ended.signal }
  }

  /**
   * Extends the deadline and the socket's timeout for a long poll of `ms`. @returns signal that fires `ms` after the
   * request's start, and when the caller disconnects
   */
  allowLongPoll(ms: number): AbortSignal {
    this.#extendDeadline(ms)
    // the timeout holds for this response only: Node resets the timeout before the next request
    this.#exchange.req.socket.setTimeout(ms + SENDING_MS)
    return this.deadline(ms).signal
  }

  /** True once the response is complete, or its connection is closed. */
  hasLeft(): boolean {
    const { req, res } = this.#exchange
    return res.closed || req.socket.destroyed
  }

  /** Runs a function once the response is complete or its connection is closed. */
  whenGone(onGone: () => void): void {
    if (this.hasLeft()) {
      onGone()
      return
    }
    const { req, res } = this.#exchange
    let isOver = false
    const end = () => {
      for (const emitter of [req.socket, res]) emitter.off('close', end)
      if (!isOver) onGone()
      isOver = true
    }
    // when the connection closes, a response that waits behind another response emits nothing, so the socket is also
    // watched
    setMaxListeners(0, req.socket)
    for (const emitter of [req.socket, res]) emitter.once('close', end)
  }
}
