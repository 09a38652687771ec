import bs58 from 'bs58'
import { ChainUnavailableError, type SolanaPort } from '../../chains/chain.js'
import { findTracked, keepVerdict, rememberSighting } from '../../db/journal/transactions.js'
import { bestEffort } from '../../db/pg/unavailable.js'
import { orIf } from '../../ops/log/errors.js'
import { type Confirmations, isTerminal } from '../../registry/status.js'
import type { Context } from '../http/context.js'
import { millisecondsText } from '../http/timestamps.js'
import { decide, type TxStatus } from './decide.js'
import { ofPaidNames, ofSent, paidNamesOf, paymentsOf } from './packets.js'

/** Confirmations of a transaction that the cluster has not reported. */
const UNREPORTED: Confirmations = { have: 0, need: 1 }

/**
 * @param signature base58 of 64 bytes
 * @throws ChainUnavailableError when no record decides and the cluster does not answer
 */
export async function solanaStatus(context: Context, signature: string): Promise<TxStatus> {
  const { pool, network } = context
  const tx = Buffer.from(bs58.decode(signature))
  const cluster = context.solana.find((one) => one.network === network)
  const ofPayments = async (): Promise<TxStatus | null> => {
    const sent = await paymentsOf({ context, tx }, () => confirmationsOf(cluster, signature))
    if (sent) return ofSent(context, sent)
    const named = await paidNamesOf({ context, tx })
    if (!named) return null
    if (named.paidNames.some(({ source }) => !source.isConfirmed)) {
      const confirmations = await confirmationsOf(cluster, signature)
      for (const { source } of named.paidNames) source.confirmations = confirmations
    }
    return ofPaidNames(context, named)
  }
  const known = await ofPayments()
  if (known) return known
  const tracked = await findTracked(pool, network, tx)
  if (tracked?.verdict)
    return { ...decide(context, { tracked }), updatedAt: millisecondsText(tracked.lastSeenMs) }
  if (!cluster) return decide(context, { tracked })
  const seen = await cluster.transaction(signature)
  if (seen.state === 'unknown') return decide(context, { tracked })
  // the watcher may have stored the payment between the two questions
  const late = await ofPayments()
  if (late) return late
  const { chain } = cluster
  if (chain !== null && (tracked || seen.isOurs))
    await bestEffort(
      rememberSighting(pool, network, tx, {
        chain,
        sender: null,
        nonce: null,
        seenMs: context.now(),
      }),
    )
  const answer = decide(context, { tracked, seen })
  if (isTerminal(answer.status) && answer.reason)
    await keepVerdict(pool, network, tx, answer.reason)
  return answer
}

/** Confirmations of a transaction; an unavailable cluster withholds no answer that our records give. */
async function confirmationsOf(
  cluster: SolanaPort | undefined,
  signature: string,
): Promise<Confirmations> {
  if (!cluster) return UNREPORTED
  const isAway = (error: unknown) => error instanceof ChainUnavailableError
  const tx = await orIf(cluster.transaction(signature), isAway, null)
  return tx?.state === 'mined' ? tx.confirmations : UNREPORTED
}
