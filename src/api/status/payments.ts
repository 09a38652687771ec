import {
  ChainUnavailableError,
  isPaymentChainPort,
  type PaymentChainPort,
} from '../../chains/chain.js'
import { findTrackedTx } from '../../db/transactions/transactions.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { txIdFormOf, txIdText } from '../../registry/primitives/txId.js'
import type { Confirmations } from '../../registry/status.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { timestampToMillisecond } from '../http/timestamps.js'
import {
  decideTxStatusWithDefaults,
  findTransactionOnChains,
  storeSeenTxStatus,
  type TxStatus,
} from './decide.js'
import {
  findPaidCommunityNames,
  findPaymentMessages,
  statusOfPackets,
  statusOfPaidCommunityNames,
} from './packets.js'

/** Confirmations of a transaction where the chain has not reported any. */
const UNREPORTED_CONFIRMATIONS: Confirmations = { have: 0, need: 1 }

/**
 * Status of a transaction on a chain on which names are paid for, such as Solana.
 * @throws ChainUnavailableError where no stored record decides and a chain that may have the transaction does not
 * answer
 */
export async function paymentTxStatus(context: Context, tx: Buffer): Promise<TxStatus> {
  const { pool, network } = context
  const ports = chainsOfNetwork(context)
    .filter(isPaymentChainPort)
    .filter(({ family }) => family.txIdForm === txIdFormOf(tx))
  const ask = () => findTransactionOnChains(ports, (port) => port.transaction(txIdText(tx)))
  const statusFromPayments = async (): Promise<TxStatus | null> => {
    const sent = await findPaymentMessages({ context, tx }, () => readConfirmations(ask))
    if (sent) return statusOfPackets(sent)
    const named = await findPaidCommunityNames({ context, tx })
    if (!named) return null
    if (named.paidNames.some(({ source }) => !source.isConfirmed)) {
      const confirmations = await readConfirmations(ask)
      for (const { source } of named.paidNames) source.confirmations = confirmations
    }
    return statusOfPaidCommunityNames(named)
  }
  const known = await statusFromPayments()
  if (known) return known
  const tracked = await findTrackedTx(pool, network, tx)
  const remembered = {
    ...decideTxStatusWithDefaults({ tracked }),
    ...(tracked && { network: tracked.label }),
  }
  if (tracked?.verdict)
    return { ...remembered, updatedAt: timestampToMillisecond(tracked.lastSeenMs) }
  if (ports.length === 0) return remembered
  const { chain, seen } = await ask()
  if (seen.state !== 'mined') return remembered
  // the watcher may have stored the payment after the database was read and before the chain answered
  const late = await statusFromPayments()
  if (late) return late
  const answer = decideTxStatusWithDefaults({ tracked, seen })
  const number = tracked?.chain ?? chain.chain
  if (number !== null && (tracked || seen.isOurs)) {
    const sighting = { chain: number, sender: null, nonce: null, seenMs: Date.now() }
    await storeSeenTxStatus({ context, tx }, sighting, answer)
  }
  return {
    ...answer,
    network: chain.label,
    ...(!tracked && !seen.isOurs && { isOfStranger: true }),
  }
}

/**
 * Confirmations of a transaction by its chain; `UNREPORTED_CONFIRMATIONS` if the chain is unavailable or does not have
 * it. The status itself comes from our own records.
 */
async function readConfirmations(
  ask: () => Promise<{ seen: Awaited<ReturnType<PaymentChainPort['transaction']>> }>,
): Promise<Confirmations> {
  const isAway = (error: unknown) => error instanceof ChainUnavailableError
  const response = await fallbackOnExpectedError(ask(), isAway, null)
  return response?.seen.state === 'mined' ? response.seen.confirmations : UNREPORTED_CONFIRMATIONS
}
