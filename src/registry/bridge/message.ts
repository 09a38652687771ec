/**
 * A message that left a spoke, with its packet and options from the endpoint's `PacketSent` in the same transaction.
 */
export interface SentMessage {
  guid: Buffer
  /** The sender's word. */
  from: Buffer
  txHash: Buffer
  block: number
  blockHash: Buffer
  logIndex: number
  sentMs: number
  /** LayerZero's encodedPayload. */
  packet: Buffer
  options: Buffer
}

/** A message that the hub has taken: `Received(bytes32 guid,bytes32 from,uint256 bids)`, which follows its bids. */
export interface ReceivedMessage {
  guid: Buffer
  txHash: Buffer
  block: number
  logIndex: number
  /** Bids of the message: that many `Bid` logs of the transaction, right before this log. */
  bids: number
  /** `MessageRefused` came before it: nothing in the message could be read, its money was credited. */
  isRefused: boolean
}
