/**
 * Message that a spoke's log `Sent` reports. Packet and options come from LayerZero's log `PacketSent` in the same
 * transaction.
 */
export interface SentMessage {
  guid: Buffer
  /** The sender as a 32-byte word. */
  from: Buffer
  txHash: Buffer
  block: number
  blockHash: Buffer
  logIndex: number
  /** Timestamp of the block, ms. */
  sentMs: number
  /** LayerZero's encodedPayload. */
  packet: Buffer
  options: Buffer
}

/** Message received by the hub: the log `Received(bytes32 guid,bytes32 from,uint256 bids)` after its `Bid` logs. */
export interface ReceivedMessage {
  guid: Buffer
  txHash: Buffer
  block: number
  logIndex: number
  /**
   * Number of the message's bids, whose `Bid` logs come right before this log; 0 for a message that was refused as a
   * whole.
   */
  bids: number
}

/** Change of the hub's debt to a bidder: `Credited`, or `RefundWithdrawn` with a negative amount. */
export interface HubCreditChange {
  /** Stored address of the bidder. */
  wallet: Buffer
  /** LayerZero's endpoint id of the chain that the money came from, 0 for the hub. */
  eid: number
  amountWei: bigint
  txHash: Buffer
  block: number
  logIndex: number
}
