import type { Deadline } from '../../db/pg/pool.js'
import { nextTurn } from '../../ops/turns.js'
import { ApiError } from '../http/errors.js'
import { countedAddress } from '../limits/client.js'
import type { Meter } from '../limits/gate.js'
import type { Exchange } from './exchange.js'

/** Error of a request that is answered before its work is done. */
export const tooLong = () => {
  const cause = new Error('no answer was ready within the time limit of a request')
  return new ApiError('unavailable', 'This took too long.', {}, { cause })
}

/** The caller has left: nobody gets an answer, and nothing of ours has failed. */
export class CallerLeftError extends ApiError {
  constructor() {
    super('unavailable', 'The caller has left.')
  }
}

/** Ends a time after the request began, or with the caller's connection. */
export function patienceOf(
  exchange: Pick<Exchange, 'req' | 'res' | 'startedMs'>,
  limitMs: number,
): Deadline {
  const { res, startedMs } = exchange
  const leftMs = () => startedMs + limitMs - performance.now()
  const ended = new AbortController()
  const leave = () => {
    clearTimeout(timer)
    if (!res.writableFinished) ended.abort(new CallerLeftError())
  }
  const timer = setTimeout(() => ended.abort(tooLong()), Math.max(0, leftMs()))
  if (isGone(exchange)) leave()
  else res.once('close', leave)
  return { leftMs, signal: ended.signal }
}

/** True once an answer is whole, or its connection is closed. */
const isGone = ({ req, res }: Pick<Exchange, 'req' | 'res'>): boolean =>
  res.closed || req.socket.destroyed

/** Time beyond its stay within which a request is answered; what says nothing for longer is closed. */
const ANSWER_MS = 15_000

export type Caller = ReturnType<typeof callerOf>

/** Caller who waits for the answer of a request. */
export function callerOf(exchange: Exchange, meter: Meter) {
  const address = countedAddress(exchange.ip)
  /** Once the connection of the answer is closed, or the answer is whole. */
  const whenGone = (act: () => void): void =>
    isGone(exchange) ? act() : void exchange.res.once('close', act)
  let ended: AbortController | undefined
  const caller = {
    /** The address that limits count. */
    address,
    /** Fires once nobody waits for the answer. */
    get signal(): AbortSignal {
      if (!ended) {
        const leaving = new AbortController()
        whenGone(() => leaving.abort(new CallerLeftError()))
        ended = leaving
      }
      return ended.signal
    },
    /** Waits until a part of the caller's long work may be done. @throws CallerLeftError once nobody waits for it */
    turn: (): Promise<void> => nextTurn(caller),
    /** True if the operator gave the caller's key limits of its own. */
    isRaised: meter.isRaised,
    /** Charges the caller for what only the handler knows; the debt refuses later requests. */
    owe: (units: number): void => meter.giveBack(-units),
    /** Id of the last message of a stream that broke off. */
    lastEventId: String(exchange.req.headers['last-event-id'] ?? '') || undefined,
    /** @returns signal that fires after that time, and when the caller leaves */
    stay(ms: number): AbortSignal {
      // of this answer alone: Node sets it again before the next request
      exchange.req.socket.setTimeout(ms + ANSWER_MS)
      return patienceOf(exchange, ms).signal
    },
    hasLeft: (): boolean => isGone(exchange),
    whenGone,
  }
  return caller
}
