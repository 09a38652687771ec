import {
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net'

/**
 * Time that a new connection gives each address of a host name, except the last, before the next address is tried, ms.
 * It exceeds the second after which a lost SYN is repeated (RFC 6298). Two addresses fit into the shortest timeout of a
 * call about the newest block.
 */
export const ADDRESS_ATTEMPT_MS = 1_500

// Node's default of 250 ms ends every slow handshake. The setting holds for all connections of the process, because
// `pg` and `ws` take no option for it. An operator may have set a longer time in NODE_OPTIONS.
setDefaultAutoSelectFamilyAttemptTimeout(
  Math.max(ADDRESS_ATTEMPT_MS, getDefaultAutoSelectFamilyAttemptTimeout()),
)
