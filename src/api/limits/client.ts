import { isIPv4, isIPv6 } from 'node:net'

/** Number of 16-bit groups of an IPv6 address. */
const GROUPS = 8
/** Number of groups of the prefix that one subscriber gets. */
const SUBSCRIBER_GROUPS = 4
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The address by which rate limits count a client: its IPv4 address, or the /64 prefix of its IPv6 address. */
export function rateLimitAddress(address = ''): string {
  const text = address.split('%')[0]!
  const mapped = MAPPED.exec(text)?.[1] ?? address
  if (isIPv4(mapped)) return mapped
  return isIPv6(text) ? `${prefixOf(text)}::/64` : 'unknown'
}

/** The first 64 bits, normalized: URLs have exactly one spelling of an IPv6 address (WHATWG URL, 3.5). */
function prefixOf(text: string): string {
  const { hostname } = new URL(`http://[${text}]`)
  const [left, right] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = right ? Array(GROUPS - left!.length - right.length).fill('0') : []
  return [...left!, ...zeros, ...(right ?? [])].slice(0, SUBSCRIBER_GROUPS).join(':')
}
