import { isIPv4, isIPv6 } from 'node:net'

/** Number of 16-bit groups of an IPv6 address. */
const GROUPS = 8
/** Number of groups of the prefix that one subscriber gets. */
const SUBSCRIBER_GROUPS = 4
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The address by which rate limits count a client: its IPv4 address, or the /64 prefix of its IPv6 address. */
export function rateLimitAddress(address = ''): string {
  if (isIPv4(address)) return address
  const text = address.split('%')[0]!
  const mapped = MAPPED.exec(text)?.[1] ?? address
  if (isIPv4(mapped)) return mapped
  return isIPv6(text) ? `${prefixOf(text)}::/64` : 'unknown'
}

/** The first 64 bits, normalized: URLs have exactly one spelling of an IPv6 address (WHATWG URL, 3.5). */
function prefixOf(text: string): string {
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const groupsIn = (address: string) => address.split(':').filter(Boolean)
  const zeros = '0:'.repeat(GROUPS - groupsIn(short).length)
  return groupsIn(short.replace('::', `:${zeros}`))
    .slice(0, SUBSCRIBER_GROUPS)
    .join(':')
}
