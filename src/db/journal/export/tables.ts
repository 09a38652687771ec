import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'

/**
 * What an export does about a table. `journal`: in parts, by sequence. `state`: folded from the journal again; a public
 * export has it, since its journal lacks what is private. `chain`: what chains showed, as far as the journal's
 * checkpoints. `here`: in no chain, and for nobody but its operator. `derived`: made again, or of no use elsewhere.
 */
type Kept = 'journal' | 'state' | 'chain' | 'here' | 'derived'

interface Exported {
  kept: Kept
  /** Condition on the rows of some networks, by their codes; default: by the column `network`. */
  where?: (codes: string) => string
  /** Column that counts by itself, which goes on behind the imported rows. */
  serial?: string
}

/** Rows that belong to no network. */
const ALL = { where: () => 'true' }
const byNetwork = (codes: string): string => `network IN (${codes})`

/** Every table, in the order in which rows may be written. docs/backup.md has the same list for readers. */
export const TABLES = {
  deployment: { kept: 'here', ...ALL },
  chains: { kept: 'chain' },
  facts: { kept: 'chain' },
  tail_blocks: { kept: 'chain' },
  messages: { kept: 'chain' },
  received: { kept: 'chain' },
  hub_credits: { kept: 'chain' },
  payments: { kept: 'chain' },
  payment_cursors: { kept: 'chain' },
  jobs: { kept: 'here', serial: 'id' },
  relay_signers: { kept: 'here' },
  tracked_txs: { kept: 'here' },
  sessions: { kept: 'here', ...ALL },
  api_keys: { kept: 'here', ...ALL },
  wallet_shares: { kept: 'here' },
  airdrops: { kept: 'here', serial: 'airdrop' },
  airdrop_allocations: { kept: 'here' },
  airdrop_pages: { kept: 'here' },
  airdrop_claims: { kept: 'here' },
  webhooks: { kept: 'here', serial: 'id' },
  webhook_failures: {
    kept: 'here',
    where: (codes) => `webhook IN (SELECT id FROM webhooks WHERE ${byNetwork(codes)})`,
  },
  names: { kept: 'state' },
  clusters: { kept: 'state' },
  wallets: { kept: 'state' },
  communities: { kept: 'state' },
  community_names: { kept: 'state' },
  moves: { kept: 'state' },
  journal: { kept: 'journal' },
  journal_heads: { kept: 'derived' },
  chain_states: { kept: 'derived' },
  leaders: { kept: 'derived' },
  feed_checkpoints: { kept: 'derived' },
  limit_buckets: { kept: 'derived' },
  archives: { kept: 'derived' },
} as const satisfies Record<string, Exported>
export type TableName = keyof typeof TABLES

const entries = Object.entries(TABLES) as [TableName, Exported][]

/** The condition on a table's rows of some networks. */
export const rowsOf = (table: TableName, networks: readonly Network[]): string =>
  (entryOf(table).where ?? byNetwork)(networks.map((network) => NETWORK_CODE[network]).join())

/** Column of a table that counts by itself, undefined without one. */
export const serialOf = (table: TableName): string | undefined => entryOf(table).serial

/** Tables whose rows are copied whole, for all networks at once. */
export const copiedTables = (isPublic: boolean): TableName[] =>
  entries.flatMap(([table, { kept }]) => (kept === 'chain' || (!isPublic && kept === 'here') ? [table] : []))

/** Tables that have to be empty before an import; the others hold a row from the beginning. */
export const FILLED_TABLES: readonly TableName[] = entries.flatMap(([table, { kept }]) =>
  kept !== 'derived' && table !== 'deployment' ? [table] : [],
)

/** Columns of the journal that the fold reads; the others follow from them. */
export const INPUT_COLUMNS = 'network, generation, seq, kind, chain, block, log_index, tx_key, at_ms, body, ruleset'
/** All columns of the journal, for a copy that is not folded. */
export const JOURNAL_COLUMNS = `${INPUT_COLUMNS}, public_first, public_count, actor, effects`

function entryOf(table: TableName): Exported {
  return TABLES[table]
}
