import type { IncomingMessage, ServerResponse } from 'node:http'

/** Request under way. */
export interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  /** Pattern of the route: paths and queries themselves may hold secrets, and are neither logged nor counted. */
  route: string
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  /** Address of the client, as the proxies before us tell it where they are trusted. */
  ip: string | undefined
  startedMs: number
}

/** A client, as far as limits look at it. */
export type Client = Pick<Exchange, 'ip' | 'req'>
