import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../http/clientAddress.js'

/** Request under way. */
export interface Exchange extends Caller {
  req: IncomingMessage
  res: ServerResponse
  /** Pattern of the route: paths and queries themselves may hold secrets, and are neither logged nor counted. */
  route: string
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  startedMs: number
}

/** A client, as far as limits look at it. */
export type Client = Pick<Exchange, 'ip' | 'req'>
