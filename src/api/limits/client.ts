import { isIPv4, isIPv6 } from 'node:net'

/** Text bits of an IPv6 group. */
const GROUPS = 8
/** Groups of the prefix that one subscriber gets. */
const SUBSCRIBER_GROUPS = 4
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The part of a client's address that is counted: an IPv4 address, the /64 of an IPv6 one. */
export function countedAddress(address: string | undefined): string {
  if (address !== undefined && isIPv4(address)) return address
  const text = address?.split('%')[0] ?? ''
  const mapped = MAPPED.exec(text)?.[1] ?? text
  if (isIPv4(mapped)) return mapped
  return isIPv6(text) ? `${prefixOf(text)}::/64` : 'unknown'
}

/** The first 64 bits, written out so that every form of an address gives the same text. */
function prefixOf(text: string): string {
  const [head = '', tail] = text.split('::')
  const left = head === '' ? [] : head.split(':')
  // an IPv4 tail stands for two groups
  const right = tail
    ? tail.split(':').flatMap((group) => (group.includes('.') ? ['', ''] : [group]))
    : []
  const zeros = tail === undefined ? [] : Array(GROUPS - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, SUBSCRIBER_GROUPS)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
