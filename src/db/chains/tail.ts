import { bidTxHash, decideBid } from '../../registry/journal/bid.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import type { TailBlock } from '../generated/client.js'
import { prepareStatement } from '../journal/partitions.js'
import { type ArrayColumns, columnsFromProperties, insertRows } from '../pg/arrays.js'
import { type DecodedRow, execute, prepared, type Queryable } from '../pg/rows.js'

/**
 * A block of the tail, with the journal entries that it will add once confirmed. A block that is confirmed when it is
 * first read has no entries here: only its hash is kept.
 */
export interface StoredUnconfirmedBlock extends Omit<DecodedRow<TailBlock>, 'network' | 'chain'> {
  /** Entries in log order, each with its position on the chain. */
  entries: readonly DecodedEntry[]
}

type TailBlockRow = Omit<StoredUnconfirmedBlock, 'entries'>
const tailBlockColumns = (chain: number): ArrayColumns<TailBlockRow> => [
  ['chain', 'int2', () => chain],
  ...columnsFromProperties<TailBlockRow>('int8', 'block', 'timestampMs'),
  ...columnsFromProperties<TailBlockRow>('bytea', 'hash', 'parentHash'),
]

interface Fact {
  block: number
  hash: Buffer
  entry: DecodedEntry
}

const factColumns = (chain: number, minimumWei: bigint): ArrayColumns<Fact> => [
  ['chain', 'int2', () => chain],
  ['block_hash', 'bytea', ({ hash }) => hash],
  ['log_index', 'int4', ({ entry }) => entry.position!.logIndex],
  ['block', 'int8', ({ block }) => block],
  ['kind', 'int2', ({ entry }) => ENTRY_KIND[entry.kind]],
  ['tx_hash', 'bytea', ({ entry }) => txHashOf(entry)],
  ['name', 'text', ({ entry }) => nameThatMayLead(entry, minimumWei)],
  ['cause_ms', 'int8', ({ entry }) => entry.causeMs],
  ['body', 'bytea', ({ entry }) => entry.body],
]

/** Prepares the deletion of a chain's rows (`$2`) from a block (`$3`) on, or before that block. */
const prepareBlockDeletion = (table: 'facts' | 'tail_blocks', blocks: '>=' | '<') =>
  prepared(`DELETE FROM ${table} WHERE network = $1 AND chain = $2 AND block ${blocks} $3`)

export interface UnconfirmedBlocksToWrite {
  dropFrom: number
  blocks: readonly StoredUnconfirmedBlock[]
  /** Current minimum bid, which a bid has to reach to win its name. */
  minimumWei: bigint
  /** True where the caller knows that no block from `dropFrom` on is stored: nothing is deleted. */
  isKnownEmpty?: boolean
}

/**
 * Deletes the stored blocks of a chain from number `dropFrom` on, and adds the new blocks. The deleted blocks were
 * reorged, or are read again after a restart.
 */
export async function writeUnconfirmedBlocks(
  db: Queryable,
  network: Network,
  chain: number,
  { dropFrom, blocks, minimumWei, isKnownEmpty = false }: UnconfirmedBlocksToWrite,
): Promise<void> {
  const facts = blocks.flatMap(({ block, hash, entries }) =>
    entries.map((entry) => ({ block, hash, entry })),
  )
  const tables = isKnownEmpty ? [] : (['facts', 'tail_blocks'] as const)
  await Promise.all([
    ...tables.map((table) =>
      execute(db, network, prepareBlockDeletion(table, '>='), [chain, dropFrom]),
    ),
    insertRows(db, network, {
      table: 'tail_blocks',
      columns: tailBlockColumns(chain),
      items: blocks,
    }),
    insertRows(db, network, {
      table: 'facts',
      columns: factColumns(chain, minimumWei),
      items: facts,
    }),
  ])
}

/** Number of confirmed blocks whose hashes are kept, to find where a fork before the cursor begins. */
export const KEPT_BLOCK_HASHES = 128

/**
 * Deletes unconfirmed entries (table `facts`) of blocks that are confirmed now, and the hashes of blocks that are more
 * than `KEPT_BLOCK_HASHES` before `below`.
 * @param below first block that is not confirmed
 * @param isKnownEmpty true if the caller knows that the table has no such entries, which saves a statement
 */
export async function deleteUnconfirmedEntriesBefore(
  db: Queryable,
  network: Network,
  chain: number,
  below: number,
  isKnownEmpty: boolean,
): Promise<void> {
  await Promise.all([
    isKnownEmpty || execute(db, network, prepareBlockDeletion('facts', '<'), [chain, below]),
    execute(db, network, prepareBlockDeletion('tail_blocks', '<'), [
      chain,
      below - KEPT_BLOCK_HASHES,
    ]),
  ])
}

/** Transaction hash of facts other than bids. Only the transactions of bids are looked up. */
const NO_TX_HASH = Buffer.alloc(32)
const txHashOf = ({ kind, body }: DecodedEntry): Buffer =>
  kind === 'bid' ? bidTxHash(body) : NO_TX_HASH

/** Name that a bid wins if no earlier bid has won it. Null for other entries, and for a bid that can't win. */
function nameThatMayLead({ content }: DecodedEntry, minimumWei: bigint): string | null {
  if (content.kind !== 'bid') return null
  const decision = decideBid(content, minimumWei, () => false)
  return decision.outcome === 'won' ? decision.name : null
}

/** Stored block hashes of a chain, newest first. */
export const readBlockHashes = prepareStatement<{ block: number; hash: Buffer }, [chain: number]>(
  'SELECT block, hash FROM tail_blocks WHERE network = $1 AND chain = $2 ORDER BY block DESC',
)
