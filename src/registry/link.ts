/**
 * Which `Bid` logs of a hub transaction belong to which message. A transaction may carry direct bids and several messages;
 * its logs are given in log order, all of them that are named here.
 */

/** A `Bid` log of the hub. */
export interface BidLog {
  kind: 'bid'
  logIndex: number
  /** 32-byte words. */
  from: Buffer
  amountWei: bigint
  nameWord: Buffer
  /** null where there is none, or a zero one. */
  referral: Buffer | null
}

/** `Received(bytes32 guid, bytes32 from, uint256 bids)`: the last log of a message on our hub. */
export interface ReceivedLog {
  kind: 'received'
  logIndex: number
  guid: Buffer
  from: Buffer
  bids: bigint
}

/** `MessageRefused(bytes32 guid, …)`: our hub could not read the message. */
export interface MessageRefusedLog {
  kind: 'message_refused'
  logIndex: number
  guid: Buffer
}

/** The endpoint's `PacketDelivered`, after what the receiver logged; null when it is another application's packet. */
export interface DeliveredLog {
  kind: 'delivered'
  logIndex: number
  guid: Buffer | null
}

/** What a message asked the hub to bid; the amount is null where the message does not name it (a bridged `placeBid`). */
export interface MessageBids {
  from: Buffer
  bids: readonly { amountWei: bigint | null; nameWord: Buffer }[]
  referral: Buffer | null
}

export interface Link {
  guid: Buffer
  /** Log index of `Received` or `PacketDelivered`. */
  logIndex: number
  /** Log indexes of the message's bids, in its order. */
  bids: number[]
  /** The hub refused the whole message. */
  isRefused: boolean
}

/** A message that was received, but whose bids can't be told: the operator has to look. */
export interface LinkAlarm {
  guid: Buffer
  logIndex: number
  problem: 'missing_bids' | 'other_sender' | 'unknown_message' | 'other_bids'
}

export interface Links {
  links: Link[]
  alarms: LinkAlarm[]
  /** Log indexes of the bids that no message owns. */
  direct: number[]
}

/**
 * Links the logs of our hub: a message owns the `bids` bid logs directly before its `Received` that no earlier `Received` took.
 * Each has to name the message's sender.
 */
export function linkReceived(logs: readonly (BidLog | ReceivedLog | MessageRefusedLog)[]): Links {
  const links: Link[] = []
  const alarms: LinkAlarm[] = []
  const untaken: BidLog[] = []
  const refused = new Set<string>()
  for (const log of logs) {
    if (log.kind === 'bid') untaken.push(log)
    else if (log.kind === 'message_refused') refused.add(log.guid.toString('hex'))
    else {
      const { guid, logIndex } = log
      const taken = lastOf(untaken, log.bids)
      if (!taken) alarms.push({ guid, logIndex, problem: 'missing_bids' })
      else if (taken.some((bid) => !bid.from.equals(log.from))) alarms.push({ guid, logIndex, problem: 'other_sender' })
      else {
        untaken.length -= taken.length
        const isRefused = refused.has(guid.toString('hex'))
        links.push({ guid, logIndex, bids: taken.map((bid) => bid.logIndex), isRefused })
      }
    }
  }
  return { links, alarms, direct: untaken.map((bid) => bid.logIndex) }
}

/**
 * Links the logs of a hub that says nothing of messages (watch-only): a packet owns the last k bid logs before its
 * `PacketDelivered` and after the previous one, k the bids in its message, each equal in order to the message's sender, amount,
 * name and referral. Anything else is an alarm and no link.
 * @param messageOf what the message of a guid asks for; no bids for one that asks for none, null when the packet is unknown
 */
export function linkDelivered(
  logs: readonly (BidLog | DeliveredLog)[],
  messageOf: (guid: Buffer) => MessageBids | null,
): Links {
  const links: Link[] = []
  const alarms: LinkAlarm[] = []
  const direct: number[] = []
  let since: BidLog[] = []
  for (const log of logs) {
    if (log.kind === 'bid') {
      since.push(log)
      continue
    }
    const { guid, logIndex } = log
    const message = guid && messageOf(guid)
    let own: readonly BidLog[] = []
    if (guid && !message) alarms.push({ guid, logIndex, problem: 'unknown_message' })
    else if (guid && message) {
      const last = lastOf(since, BigInt(message.bids.length))
      const problem = last ? (isAsAsked(last, message) ? null : 'other_bids') : 'missing_bids'
      if (problem) alarms.push({ guid, logIndex, problem })
      else {
        own = last!
        links.push({ guid, logIndex, bids: own.map((bid) => bid.logIndex), isRefused: false })
      }
    }
    for (const bid of since.slice(0, since.length - own.length)) direct.push(bid.logIndex)
    since = []
  }
  for (const bid of since) direct.push(bid.logIndex)
  return { links, alarms, direct }
}

const lastOf = (bids: readonly BidLog[], count: bigint): readonly BidLog[] | null =>
  count > BigInt(bids.length) ? null : bids.slice(bids.length - Number(count))

const isAsAsked = (logs: readonly BidLog[], message: MessageBids): boolean =>
  logs.every((log, i) => {
    const asked = message.bids[i]!
    return (
      log.from.equals(message.from) &&
      (asked.amountWei === null || asked.amountWei === log.amountWei) &&
      log.nameWord.equals(asked.nameWord) &&
      isSame(log.referral, message.referral)
    )
  })

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a && b ? a.equals(b) : a === b)
