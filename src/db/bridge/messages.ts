import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ArrayColumns,
  columnsFromProperties,
  type RewrittenBlocks,
  replaceUnconfirmedRows,
} from '../pg/arrays.js'
import type { ChainRowKey, Queryable } from '../pg/rows.js'

/** SQL: true for a message `t` that the hub has received in a confirmed block. */
const IS_RECEIVED_SQL =
  'EXISTS (SELECT 1 FROM received r WHERE r.network = t.network AND r.guid = t.guid AND r.confirmed)'

const messageColumns = (chain: number, isConfirmed: boolean): ArrayColumns<SentMessage> => [
  ['chain', 'int2', () => chain],
  ['confirmed', 'bool', () => isConfirmed],
  ['sender', 'bytea', ({ from }) => from],
  ...columnsFromProperties<SentMessage>(
    'bytea',
    'guid',
    'txHash',
    'blockHash',
    'packet',
    'options',
  ),
  ...columnsFromProperties<SentMessage>('int8', 'block', 'sentMs'),
  ...columnsFromProperties<SentMessage>('int4', 'logIndex'),
]

/**
 * Writes messages of a spoke's blocks. A stored confirmed message is not overwritten. After a reorg, the spoke may send
 * another message with the same guid. The new message replaces the stored one, unless the hub has received the stored
 * one in a confirmed block: then the status of a transaction depends on the stored message.
 */
export const writeMessages = (
  db: Queryable,
  { network, chain }: ChainRowKey,
  blocks: RewrittenBlocks,
  messages: readonly SentMessage[],
): Promise<void> =>
  replaceUnconfirmedRows(db, network, blocks, {
    replaced: `chain = $3 AND NOT confirmed AND NOT ${IS_RECEIVED_SQL}`,
    values: [chain],
    table: 'messages',
    columns: messageColumns(chain, blocks.isConfirmed),
    items: messages,
    onConflict: (set) => `(network, guid) DO UPDATE SET ${set}
      WHERE NOT t.confirmed AND (t.tx_hash = excluded.tx_hash OR NOT ${IS_RECEIVED_SQL})`,
  })

const receiptColumns = (isConfirmed: boolean): ArrayColumns<ReceivedMessage> => [
  ['confirmed', 'bool', () => isConfirmed],
  ...columnsFromProperties<ReceivedMessage>('bytea', 'guid', 'txHash'),
  ...columnsFromProperties<ReceivedMessage>('int8', 'block'),
  ...columnsFromProperties<ReceivedMessage>('int4', 'logIndex', 'bids'),
]

export const writeMessageReceipts = (
  db: Queryable,
  network: Network,
  blocks: RewrittenBlocks,
  receipts: readonly ReceivedMessage[],
): Promise<void> =>
  replaceUnconfirmedRows(db, network, blocks, {
    replaced: 'NOT confirmed',
    values: [],
    table: 'received',
    columns: receiptColumns(blocks.isConfirmed),
    items: receipts,
    onConflict: (set) => `(network, guid) DO UPDATE SET ${set} WHERE NOT t.confirmed`,
  })
