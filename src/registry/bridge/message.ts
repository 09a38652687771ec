/** Message sent by a spoke, with packet and options of the endpoint's `PacketSent` in the same transaction. */
export interface SentMessage {
  guid: Buffer
  /** Word of the sender. */
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

/** Message received by the hub: `Received(bytes32 guid,bytes32 from,uint256 bids)`, which follows its bids. */
export interface ReceivedMessage {
  guid: Buffer
  txHash: Buffer
  block: number
  logIndex: number
  /** Number of the message's bids: the `Bid` logs right before this log. */
  bids: number
  /** True after `MessageRefused`: the message was unreadable, its money credited. */
  isRefused: boolean
}
