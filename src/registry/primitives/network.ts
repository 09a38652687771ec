/** The two partitions of the service. Each has its own journal, locks, cursors and hub chain. */
export const NETWORKS = ['mainnet', 'testnet'] as const
export type Network = (typeof NETWORKS)[number]

/** Codes of the networks in the columns `network` of the database. Never renumber. */
export const NETWORK_CODE: Record<Network, number> = { mainnet: 0, testnet: 1 }

/**
 * Text that identifies one of the four transparency logs in names of logs and tile URLs. Each network has a log of its
 * feed and a log of evidence.
 */
export type LogPlace = Network | `${Network}/evidence`

/** Codes of transparency logs in the column `network` of their tables. Never renumber. */
export const LOG_CODE: Record<LogPlace, number> = {
  ...NETWORK_CODE,
  'mainnet/evidence': 2,
  'testnet/evidence': 3,
}

export const networkOfLog = (place: LogPlace): Network =>
  place.startsWith('mainnet') ? 'mainnet' : 'testnet'

/** The first letter of an event id (`m-1-42`). */
export const NETWORK_LETTER: Record<Network, string> = { mainnet: 'm', testnet: 't' }

/**
 * Labels of chains that a request may name, with their network. A family whose chains share one label has it in its
 * row of families.ts.
 */
export const NETWORK_OF_CHAIN_LABEL: Readonly<Record<string, Network>> = {
  '1': 'mainnet',
  '10': 'mainnet',
  '56': 'mainnet',
  '137': 'mainnet',
  '8453': 'mainnet',
  '81457': 'mainnet',
  '42161': 'mainnet',
  '43114': 'mainnet',
  '98866': 'mainnet',
  '11155111': 'testnet',
  '17000': 'testnet',
}
