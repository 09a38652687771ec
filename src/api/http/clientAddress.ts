import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { MAX_FORWARDED_CHARS } from '../guard/requestHeaders.js'

/** Decides whether a hop is a trusted proxy, as Express's `trust proxy` does. */
type IsTrusted = (address: string, hop: number) => boolean

type RequestWithSocket = Pick<IncomingMessage, 'headers'> & {
  socket: { remoteAddress?: string | undefined }
}

/** Client of a request, as reported by the trusted proxies before this process. */
export interface Caller {
  /** Address of the client, in the form under which rate limits count requests. */
  address: string
  /** Id of the request in the log and in the response. */
  id: string
  /** Trace that the request belongs to (W3C Trace Context). */
  trace: string | undefined
}

export function callerOfRequest(req: RequestWithSocket, isTrusted: IsTrusted): Caller {
  const { remoteAddress } = req.socket
  // an id is accepted only from a trusted proxy, because a client could send the id of another request
  const isByProxy = remoteAddress !== undefined && isTrusted(remoteAddress, 0)
  const headers = isByProxy ? req.headers : {}
  return {
    address: rateLimitAddress(clientAddress(req, isTrusted)),
    id: REQUEST_ID_PATTERN.exec(String(headers['x-request-id'] ?? ''))?.[0] ?? randomUUID(),
    trace: TRACE_PARENT_PATTERN.exec(String(headers.traceparent ?? ''))?.[1],
  }
}

/** Matches ids in the forms that proxies generate: UUIDs, hex, base64, `host:port-number`. */
const REQUEST_ID_PATTERN = /^[\w.:@/+=-]{8,128}$/
/**
 * Matches a `traceparent` header: version, trace id, parent id and flags. Version ff and ids of zeros are invalid. A
 * header of version 00 is 55 characters long; later versions may have more fields.
 */
const TRACE_PARENT_PATTERN =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/

/**
 * The address of the client: counted from this process outwards, the first hop that is not a trusted proxy. A hop
 * that a proxy hides (`unknown`, `_name`) is replaced by the proxy's address.
 */
export function clientAddress(
  { headers, socket }: RequestWithSocket,
  isTrusted: IsTrusted,
): string | undefined {
  let address = socket.remoteAddress
  if (address === undefined || !isTrusted(address, 0)) return address
  for (const [i, hop] of forwardedHops(headers).entries()) {
    if (!isTrusted(address, i)) return address
    const named = plainAddress(hop)
    if (named === null) return address
    address = named
  }
  return address
}

/**
 * Hops reported by proxies, the nearest first: from `X-Forwarded-For`, else from `Forwarded` (RFC 7239). Only the end
 * of a long list is read. `checkRequestHeaders` refuses a request with a long list, but the request still counts for
 * the client that the end of the list names.
 */
function forwardedHops(headers: RequestWithSocket['headers']): string[] {
  const list = headers['x-forwarded-for']
  if (list !== undefined) return String(list).slice(-MAX_FORWARDED_CHARS).split(',').reverse()
  const elements = headers.forwarded?.slice(-MAX_FORWARDED_CHARS).split(',') ?? []
  return elements.map((element) => FORWARDED_FOR_PATTERN.exec(element)?.[1] ?? '').reverse()
}

const FORWARDED_FOR_PATTERN = /(?:^|;)\s*for\s*=\s*([^;]*)/i
const V4_WITH_PORT_PATTERN = /^(\d+\.\d+\.\d+\.\d+)(?::[\w.-]*)?$/
const V6_IN_BRACKETS_PATTERN = /^\[([^\]]*)\](?::[\w.-]*)?$/

/** An address without quotes, brackets, port and zone, as gateways and RFC 7239 write them; null for any other text. */
function plainAddress(hop: string): string | null {
  const text = hop.replaceAll('"', '').trim()
  const bare =
    V4_WITH_PORT_PATTERN.exec(text)?.[1] ?? V6_IN_BRACKETS_PATTERN.exec(text)?.[1] ?? text
  const address = bare.split('%')[0]!
  return isIPv4(address) || isIPv6(address) ? address : null
}

/** Number of 16-bit groups of an IPv6 address. */
const IPV6_GROUPS = 8
/** Number of groups in the prefix that a provider assigns to one subscriber. */
const SUBSCRIBER_GROUPS = 4
const V4_MAPPED_PATTERN = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The address by which rate limits count a client: its IPv4 address, or the /64 prefix of its IPv6 address. */
export function rateLimitAddress(address = ''): string {
  if (isIPv4(address)) return address
  const text = address.split('%')[0]!
  const mapped = V4_MAPPED_PATTERN.exec(text)?.[1] ?? address
  if (isIPv4(mapped)) return mapped
  return isIPv6(text) ? `${subscriberPrefix(text)}::/64` : 'unknown'
}

/** The first 64 bits of an IPv6 address, normalized: a URL has exactly one spelling of an address (WHATWG URL, 3.5). */
function subscriberPrefix(text: string): string {
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const groupsIn = (address: string) => address.split(':').filter(Boolean)
  const zeros = '0:'.repeat(IPV6_GROUPS - groupsIn(short).length)
  return groupsIn(short.replace('::', `:${zeros}`))
    .slice(0, SUBSCRIBER_GROUPS)
    .join(':')
}
