import { decodePaymentLog } from '../../../registry/community/payment.js'
import type {
  CommunityNameTarget,
  ConfirmedPaymentOutcome,
  Payment,
  PaymentOutcome,
} from '../../../registry/payment/payment.js'
import { addressOfWord } from '../../../registry/primitives/address.js'
import { fromHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import { RefutedAnswerError } from '../../rpc/errors.js'
import { CONTRACT_EVENTS } from '../events.js'
import type { RawLog } from '../logs.js'

/** Event topics of the payments contract (ICommunityPayments.sol). All events but `Bid` have an indexed payment id. */
export const PAYMENT_EVENT_TOPIC = CONTRACT_EVENTS.payments.payment.topic
export const HELD_EVENT_TOPIC = CONTRACT_EVENTS.payments.held.topic
const OUTCOME_BY_TOPIC: Readonly<Record<Hex, PaymentOutcome>> = {
  [CONTRACT_EVENTS.payments.refused.topic]: 'refused',
  [CONTRACT_EVENTS.payments.released.topic]: 'released',
  [CONTRACT_EVENTS.payments.reclaimed.topic]: 'reclaimed',
}

type CommunityPayment = Payment<CommunityNameTarget>

/** Decodes the events that end payments, in order. Skips logs without a payment id. */
export const decodePaymentOutcomes = (logs: readonly RawLog[]): ConfirmedPaymentOutcome[] =>
  logs.flatMap(({ topics: [first, id], blockNumber }) => {
    const outcome = first && OUTCOME_BY_TOPIC[first]
    return outcome && id ? [{ id: fromHex(id), outcome, block: Number(blockNumber) }] : []
  })

/**
 * Decodes the logs of a payments contract, in order. A `Held` log with the payment's id follows each `Bid` log.
 * `runningHashInputs` checks the id.
 * @param timeOf timestamp of a log's block, ms
 * @throws RefutedAnswerError where a node left a `Held` log out
 */
export function decodeCommunityPayments(
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): CommunityPayment[] {
  const payments: CommunityPayment[] = []
  let bid: RawLog | null = null
  for (const log of logs) {
    if (bid && log.topics[0] !== HELD_EVENT_TOPIC) break
    if (log.topics[0] === PAYMENT_EVENT_TOPIC) bid = log
    if (!bid || log.topics[0] !== HELD_EVENT_TOPIC) continue
    payments.push(paymentOf(bid, log, timeOf(bid)))
    bid = null
  }
  if (bid)
    throw new RefutedAnswerError(
      `eth_getLogs: a payment of block ${Number(bid.blockNumber)} came without its second log`,
    )
  return payments
}

function paymentOf(bid: RawLog, held: RawLog, paidMs: number): CommunityPayment {
  const words = fromHex(bid.data)
  const { token, amount, recipient, referral } = decodePaymentLog(words)
  const heldWords = fromHex(held.data)
  return {
    id: fromHex(held.topics[1]!),
    tx: fromHex(bid.transactionHash),
    block: Number(bid.blockNumber),
    blockHash: fromHex(bid.blockHash),
    sequence: Number(bid.logIndex),
    payer: addressOfWord(words.subarray(0, 32)),
    money: { token, amount },
    target: {
      kind: 'communityName',
      recipient,
      community: words.subarray(160, 192),
      name: words.subarray(192, 224),
      // truncated to the contract's types: a node may return any number for an unconfirmed block
      number: BigInt.asUintN(64, wordToBigInt(heldWords.subarray(0, 32))),
      reclaimableMs: Number(BigInt.asUintN(40, wordToBigInt(heldWords.subarray(32)))) * 1_000,
    },
    referral,
    paidMs,
  }
}
