import bs58 from 'bs58'
import type { SolanaPort } from '../../chains/chain.js'
import { findTracked, keepVerdict, rememberSighting } from '../../db/journal/transactions.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Confirmations, isTerminal } from '../../registry/status.js'
import { millisecondsText } from '../clusters/timestamps.js'
import { paidNamesOf } from '../communities/paidNames.js'
import type { Context } from '../http/context.js'
import { paymentsOf } from './packets.js'
import { decide, type TxStatus, txStatus } from './status.js'
import type { TxId } from './txId.js'

/** Until the cluster says. */
const NOT_TOLD: Confirmations = { have: 0, need: 1 }

/** The status of a registration transaction on whatever chain. @throws ChainUnavailableError as txStatus and signatureStatus */
export const statusOf = (context: Context, network: Network, id: TxId): Promise<TxStatus> =>
  id.type === 'evm' ? txStatus(context, network, id.hash) : signatureStatus(context, network, id.signature)

/**
 * The status of a Solana transaction by its signature, from our records and, where they don't decide, from the cluster.
 * @param signature base58 of 64 bytes
 * @throws ChainUnavailableError when no record decides and the cluster can't be asked
 */
export async function signatureStatus(context: Context, network: Network, signature: string): Promise<TxStatus> {
  const { pool } = context
  const bytes = Buffer.from(bs58.decode(signature))
  const cluster = context.solana.find((one) => one.network === network)
  const ofPayments = async (): Promise<TxStatus | null> => {
    const paid = await paymentsOf(context, network, bytes, () => confirmationsOf(cluster, signature))
    if (paid) return { ...decide(context, { packets: paid.packets }), updatedAt: millisecondsText(paid.paidMs) }
    const named = await paidNamesOf(context, network, bytes)
    if (!named) return null
    if (named.paidNames.some(({ source }) => !source.isConfirmed)) {
      const confirmations = await confirmationsOf(cluster, signature)
      for (const { source } of named.paidNames) source.confirmations = confirmations
    }
    return { ...decide(context, { paidNames: named.paidNames }), updatedAt: millisecondsText(named.paidMs) }
  }
  const known = await ofPayments()
  if (known) return known
  const tracked = await findTracked(pool, network, bytes)
  if (tracked?.verdict) return { ...decide(context, { tracked }), updatedAt: millisecondsText(tracked.lastSeenMs) }
  if (!cluster) return decide(context, { tracked })
  const tx = await cluster.transaction(signature)
  if (tx.state === 'unknown') return decide(context, { tracked })
  // the watcher may have come to it meanwhile
  const late = await ofPayments()
  if (late) return late
  const { chain } = cluster
  if (chain !== null)
    await rememberSighting(pool, network, bytes, { chain, sender: null, nonce: null, seenMs: context.now() })
  const answer = decide(context, { tracked, seen: { ...tx, state: 'mined' } })
  if (isTerminal(answer.status) && answer.reason) await keepVerdict(pool, network, bytes, answer.reason)
  return answer
}

/** How deep a transaction lies; a cluster that is away keeps no answer from our records. */
async function confirmationsOf(cluster: SolanaPort | undefined, signature: string): Promise<Confirmations> {
  try {
    const tx = await cluster?.transaction(signature)
    return tx?.state === 'seen' ? tx.confirmations : NOT_TOLD
  } catch {
    return NOT_TOLD
  }
}
