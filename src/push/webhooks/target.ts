import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** A URL to which webhooks must not be sent. The message is one sentence for the operator. */
export class TargetRefusedError extends Error {
  override name = 'TargetRefusedError'
}

const createBlockList = (
  family: 'ipv4' | 'ipv6',
  subnets: Readonly<Record<string, number>>,
): BlockList => {
  const list = new BlockList()
  for (const [net, prefix] of Object.entries(subnets)) list.addSubnet(net, prefix, family)
  return list
}

/** Address ranges that are private or have no hosts (IANA's special-purpose address registries), by IP version. */
const PRIVATE_RANGES = {
  ipv4: createBlockList('ipv4', {
    '0.0.0.0': 8,
    '10.0.0.0': 8,
    '100.64.0.0': 10,
    '127.0.0.0': 8,
    '169.254.0.0': 16,
    '172.16.0.0': 12,
    '192.0.0.0': 24,
    '192.0.2.0': 24,
    '192.88.99.0': 24,
    '192.168.0.0': 16,
    '198.18.0.0': 15,
    '198.51.100.0': 24,
    '203.0.113.0': 24,
    '224.0.0.0': 3,
  }),
  // everything except public addresses, which begin with 2 or 3 (RFC 4291), and ranges that embed an IPv4 address,
  // which may be private
  ipv6: createBlockList('ipv6', {
    '::': 3,
    '4000::': 2,
    '8000::': 1,
    '2001::': 23,
    '2001:db8::': 32,
    '2002::': 16,
    '3fff::': 20,
  }),
}

/** True for an address in `PRIVATE_RANGES`, and for a text that is no IP address. */
export const isPrivateAddress = (address: string): boolean => {
  const family = isIP(address)
  // IPv4 addresses have a separate list, since an IPv6 list also matches IPv4 addresses that are mapped into its ranges
  return (
    family === 0 ||
    (family === 4 ? PRIVATE_RANGES.ipv4.check(address) : PRIVATE_RANGES.ipv6.check(address, 'ipv6'))
  )
}

/**
 * Parses and checks the URL of a webhook.
 * @param allowsPrivate whether the operator allows private addresses, and HTTP without TLS
 * @throws TargetRefusedError with one sentence
 */
export function parseWebhookUrl(text: string, allowsPrivate: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TargetRefusedError('The target is no http(s) URL.')
  if (url.username || url.password)
    throw new TargetRefusedError('The target must not hold a user name or password.')
  if (allowsPrivate) return url
  if (url.protocol !== 'https:')
    throw new TargetRefusedError('The target has no TLS: use https, or set WEBHOOKS_PRIVATE=true.')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) && isPrivateAddress(host)) throw privateAddressError(host)
  return url
}

const privateAddressError = (address: string): TargetRefusedError =>
  new TargetRefusedError(
    `The target is a private address (${address}): set WEBHOOKS_PRIVATE=true to allow it.`,
  )

/**
 * DNS look-up for a webhook's connection. It refuses private addresses. The socket connects to the address that was
 * checked, so a host name that resolves differently later (DNS rebinding) has no effect.
 */
export const lookupPublicAddress: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0)
    const hidden = addresses.find(({ address }) => isPrivateAddress(address))
    if (hidden) return callback(privateAddressError(hidden.address), '', 0)
    if (options.all) return callback(null, addresses)
    callback(null, addresses[0]!.address, addresses[0]!.family)
  })
}
