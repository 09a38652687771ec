import type { Network } from '../../registry/primitives/network.js'
import type { Message } from '../generated/client.js'
import { prepareStatement } from '../journal/partitions.js'
import {
  nestUnfinishedJobColumns,
  UNFINISHED_JOB_COLUMNS,
  type UnfinishedJobRow,
  unfinishedJobSql,
} from '../outbox/unfinishedJob.js'
import type { DecodedRow, Queryable } from '../pg/rows.js'
import {
  blockConfirmations,
  HUB_RECEIPT_COLUMNS,
  type HubReceiptRow,
  nestHubReceiptColumns,
} from './receipts.js'

type MessageRow = HubReceiptRow &
  UnfinishedJobRow &
  Pick<DecodedRow<Message>, 'guid' | 'chain' | 'block' | 'logIndex' | 'packet' | 'sentMs'> & {
    /** Label of the spoke that sent the message. */
    label: string
    isConfirmed: boolean
    /** The spoke's cursor. */
    nextBlock: number
    /** The spoke's newest stored block. */
    latest: number | null
  }

/**
 * Maximum number of a transaction's messages that are read for its status. A message takes more than 100,000 gas, so a
 * transaction of 16.7 million gas (EIP-7825) has fewer.
 */
const MAX_MESSAGES_PER_STATUS = 256

/** A message that a transaction sent from a spoke, with its progress at the hub. */
export type MessageWithProgress = Awaited<ReturnType<typeof findMessagesOfTransaction>>[number]

const readMessagesOfTx = prepareStatement<MessageRow>(
  (
    l,
  ) => `SELECT m.guid, m.chain, c.label, m.log_index, m.block, m.packet, m.sent_ms, m.confirmed AS is_confirmed, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = m.chain) AS latest,
      ${HUB_RECEIPT_COLUMNS}, ${UNFINISHED_JOB_COLUMNS}
    FROM messages m
    JOIN chains c ON c.network = m.network AND c.chain = m.chain
    LEFT JOIN received r ON r.network = m.network AND r.guid = m.guid
    ${unfinishedJobSql(l, 'm.guid', 'verify', 'execute')}
    WHERE m.network = ${l.network} AND m.tx_hash = $1
    ORDER BY m.log_index LIMIT ${MAX_MESSAGES_PER_STATUS}`,
)

/** Messages that a transaction sent from a spoke, in log order, at most `MAX_MESSAGES_PER_STATUS`. */
export async function findMessagesOfTransaction(db: Queryable, network: Network, hash: Buffer) {
  const rows = await readMessagesOfTx(db, network, hash)
  return rows.map(({ nextBlock, latest, ...row }) => ({
    ...nestUnfinishedJobColumns(nestHubReceiptColumns(row)),
    confirmations: blockConfirmations(row.block, { latest, nextBlock }),
  }))
}
