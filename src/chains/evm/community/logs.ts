import { toEventSelector } from 'viem'
import { decodePaymentLog } from '../../../registry/community/payment.js'
import type { CommunityNameTarget, Payment } from '../../../registry/payment/payment.js'
import { addressOfWord } from '../../../registry/primitives/address.js'
import { fromHex, wordToBigInt } from '../../../registry/primitives/bytes.js'
import { RpcError } from '../../rpc/errors.js'
import type { RawLog } from '../logs.js'

/** Event topics of the payments contract (ICommunityPayments.sol); no argument is indexed. */
export const PAYMENT_TOPIC = toEventSelector('Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)')
export const HELD_TOPIC = toEventSelector('Held(bytes32,uint64)')

type CommunityPayment = Payment<CommunityNameTarget>

const PAYMENT_BYTES = 8 * 32
const HELD_BYTES = 2 * 32

/**
 * Decodes the logs of a payments contract, in order. Each `Bid` is followed by the `Held` with the payment's id. Logs
 * of another length are skipped.
 * @param timeOf a log's block time, milliseconds
 * @throws RpcError transient where a node gave one log of a pair without the other
 */
export function readPayments(logs: readonly RawLog[], timeOf: (log: RawLog) => number): CommunityPayment[] {
  const payments: CommunityPayment[] = []
  let bid: RawLog | null = null
  for (const log of logs) {
    if (isOf(log, PAYMENT_TOPIC, PAYMENT_BYTES)) {
      if (bid) throw unpaired(bid)
      bid = log
    } else if (isOf(log, HELD_TOPIC, HELD_BYTES)) {
      if (!bid || !follows(log, bid)) throw unpaired(bid ?? log)
      payments.push(paymentOf(bid, log, timeOf(bid)))
      bid = null
    }
  }
  if (bid) throw unpaired(bid)
  return payments
}

const isOf = ({ topics, data }: RawLog, topic: string, bytes: number): boolean =>
  topics[0] === topic && data.length === 2 + 2 * bytes

const follows = (log: RawLog, bid: RawLog): boolean =>
  log.transactionHash === bid.transactionHash && Number(log.logIndex) === Number(bid.logIndex) + 1

const unpaired = ({ blockNumber, transactionHash }: RawLog): RpcError =>
  new RpcError(
    'transient',
    `eth_getLogs: a payment has two logs, block ${Number(blockNumber)} came with one (${transactionHash}); is \`communityPayments\` our contract?`,
  )

function paymentOf(bid: RawLog, held: RawLog, paidMs: number): CommunityPayment {
  const words = fromHex(bid.data)
  const { token, amount, recipient, referral } = decodePaymentLog(words)
  const heldWords = fromHex(held.data)
  return {
    id: heldWords.subarray(0, 32),
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
      ...{ number: 0n, reclaimableMs: null },
      heldUntilMs: Number(wordToBigInt(heldWords.subarray(32))) * 1_000,
    },
    referral,
    paidMs,
  }
}
