/** Columns, for a select list, of a row `r` of `received`: the hub's log that it received a message or a payment. */
export const HUB_RECEIPT_COLUMNS = `r.tx_hash AS hub_tx, r.block AS hub_block, r.log_index AS hub_log_index, r.bids AS hub_bids,
  r.confirmed AS hub_confirmed`

/** A row of `HUB_RECEIPT_COLUMNS`. All are null where there is no receipt, though only the type of `hubTx` says so. */
export interface HubReceiptRow {
  hubTx: Buffer | null
  hubBlock: number
  hubLogIndex: number
  hubBids: number
  hubConfirmed: boolean
}

/** Replaces the receipt columns of a row by one object: the hub's log that it received a message or a payment. */
export const nestHubReceiptColumns = <Row extends HubReceiptRow>(row: Row) => {
  const {
    hubTx,
    hubBlock: block,
    hubLogIndex: logIndex,
    hubBids: bids,
    hubConfirmed: isConfirmed,
    ...rest
  } = row
  return { ...rest, received: hubTx && { txHash: hubTx, block, logIndex, bids, isConfirmed } }
}

/**
 * Confirmations of a block. `have`: how many newer blocks its chain has. `need`: how many blocks are newer than the
 * chain's last confirmed block. The block is confirmed if `have` is at least `need`. `latest` is the newest stored
 * block, null for none, and `nextBlock` the chain's cursor.
 */
export function blockConfirmations(
  block: number,
  { latest, nextBlock }: { latest: number | null; nextBlock: number },
) {
  const head = Math.max(latest ?? block, block)
  // blocks before the chain's cursor are confirmed
  return { have: head - block, need: Math.max(0, head - (nextBlock - 1)) }
}
