import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../http/clientAddress.js'

/** A request with its response and its caller. */
export interface HttpExchange extends Caller {
  req: IncomingMessage
  res: ServerResponse
  /** Pattern of the route. Paths and queries may hold secrets, so they are neither logged nor used as metric labels. */
  route: string
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  /** Time at which the request arrived, by `performance.now()`. */
  startedMs: number
}
