import type { ChainTx, EvmChainPort, Hex } from '../../chains/chain.js'
import { ignoreOutage } from '../../db/pg/unavailable.js'
import {
  findUnconfirmedTx,
  type JournalledTx,
  type UnconfirmedTx,
} from '../../db/transactions/bids.js'
import {
  findTrackedTx,
  readConfirmedBlocks,
  storeInvalidVerdict,
  storeReplacement,
  storeTxSighting,
  type TrackedTx,
  type TxSighting,
} from '../../db/transactions/transactions.js'
import { decodeAddress } from '../../registry/primitives/address.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { timestampToMillisecond } from '../http/timestamps.js'
import {
  decideTxStatusWithDefaults,
  findTransactionOnChains,
  storeSeenTxStatus,
  type TxStatus,
  type TxStatusQuery,
} from './decide.js'
import {
  findPaidCommunityNames,
  findSentPackets,
  readCreditOfDirectBids,
  statusOfPackets,
  statusOfPaidCommunityNames,
} from './packets.js'

/** Maximum number of replacements that are followed, because a replacement may itself have been replaced. */
const MAX_REPLACEMENTS = 4

/** Stands for the last confirmed block of a chain that has no confirmed block yet. */
const NO_CONFIRMED_BLOCK = -1

/**
 * Status of a transaction on EVM chains.
 * @throws ChainUnavailableError where no stored record decides and a chain that may have the transaction does not
 * answer
 */
export function evmTxStatus(context: Context, hash: Hex): Promise<TxStatus> {
  return statusOfTransaction({ context, tx: fromHex(hash), replacementsLeft: MAX_REPLACEMENTS })
}

interface EvmTxStatusQuery extends TxStatusQuery {
  replacementsLeft: number
}

async function statusOfTransaction(query: EvmTxStatusQuery): Promise<TxStatus> {
  const { context, tx } = query
  const { pool, network } = context
  const hub = evmChainsOfNetwork(context)[0]
  const journalled = await context.lookups[network].journalled(tx)
  if (journalled) return statusFromJournal(query, journalled)
  const [tail, tracked, paid] = await Promise.all([
    hub ? findUnconfirmedTx(pool, network, hub.chain, tx) : null,
    findTrackedTx(pool, network, tx),
    findPaidCommunityNames(query),
  ])
  // the status of messages to the hub has priority. Messages are read after the payments, because a payment may be
  // stored together with its message
  const sent = await findSentPackets(query)
  if (sent) return statusOfPackets(sent, tracked)
  if (tail && !tracked?.verdict) return statusFromUnconfirmedLogs(query, tail, tracked)
  // a bid may have moved from the unconfirmed logs (tail) into the journal after the first look-up in the journal
  const lateEntry = await context.lookups[network].journalled(tx)
  if (lateEntry) return statusFromJournal(query, lateEntry)
  // an invalid verdict is based on a sender and nonce that one lying node may have reported. Confirmed payments outrank
  // it, because they come from two nodes
  const hasConfirmedPayment = paid?.paidNames.some(({ source }) => source.isConfirmed)
  if (tracked?.verdict && !hasConfirmedPayment) {
    const replaced = tracked.replacedBy ? { replacedBy: toHex(tracked.replacedBy) } : {}
    const updatedAt = timestampToMillisecond(tracked.lastSeenMs)
    const { label } = tracked
    return {
      ...decideTxStatusWithDefaults({ tracked }),
      network: label,
      ...replaced,
      updatedAt,
    }
  }
  if (paid) return statusOfPaidCommunityNames(paid)
  if (tracked?.replacedBy) return statusOfReplacement(query, tracked.replacedBy, tracked.label)
  return statusFromChains(query, tracked)
}

async function statusFromJournal(query: TxStatusQuery, tx: JournalledTx): Promise<TxStatus> {
  const { bids, more, winner, hasWonAll } = tx
  const credit = hasWonAll ? null : await readCreditOfDirectBids(query)
  const answer = decideTxStatusWithDefaults({ journal: bids, more, credit })
  const sender = winner && { sender: decodeAddress(winner).text }
  return { ...answer, ...hubTxFields(query, tx), ...sender }
}

/** Response fields of a transaction on the hub itself. */
const hubTxFields = (
  { context, tx }: TxStatusQuery,
  { block, atMs, amountWei }: Pick<JournalledTx, 'block' | 'atMs' | 'amountWei'>,
) => ({
  network: evmChainsOfNetwork(context)[0]?.label,
  paid: { token: 'native', amount: String(amountWei) },
  hubTx: toHex(tx),
  block,
  hubBlock: block,
  updatedAt: timestampToMillisecond(atMs),
})

function statusFromUnconfirmedLogs(
  query: TxStatusQuery,
  tail: UnconfirmedTx,
  tracked: TrackedTx | null,
): TxStatus {
  // store sender and nonce: a reorg may remove the transaction from the unconfirmed logs (tail)
  if (!tracked?.sender) void storeHubSighting(query).catch(() => {})
  const answer = decideTxStatusWithDefaults({
    tail: tail.bids,
    more: tail.more,
    tailConfirmations: tail.confirmations,
  })
  return { ...answer, ...hubTxFields(query, tail) }
}

async function storeHubSighting(query: TxStatusQuery): Promise<void> {
  const hub = evmChainsOfNetwork(query.context)[0]
  const seen = await hub?.transaction(toHex(query.tx), NO_CONFIRMED_BLOCK)
  const { pool, network } = query.context
  if (hub && seen && seen.state !== 'unknown')
    await storeTxSighting(pool, network, query.tx, sightingOf(hub, seen))
}

const sightingOf = (
  { chain }: EvmChainPort,
  { sender, nonce }: Exclude<ChainTx, { state: 'unknown' }>,
): TxSighting => ({ chain, sender: sender && fromHex(sender), nonce, seenMs: Date.now() })

async function statusFromChains(
  query: EvmTxStatusQuery,
  tracked: TrackedTx | null,
): Promise<TxStatus> {
  const { context, tx } = query
  const all = evmChainsOfNetwork(context)
  const tracking = all.filter(({ chain }) => chain === tracked?.chain)
  // use the confirmed blocks of the journal, because a node may report another head a moment later
  const blocks = await readConfirmedBlocks(context.pool, context.network)
  const confirmedOn = (port: EvmChainPort) => blocks.get(port.chain) ?? NO_CONFIRMED_BLOCK
  const { chain, seen } = await findTransactionOnChains(
    tracking.length > 0 ? tracking : all,
    (port) => port.transaction(toHex(tx), confirmedOn(port)),
  )
  if (seen.state === 'unknown') {
    if (!tracked) return { status: 'not_found' }
    const by = await findReplacement(chain, { tx, confirmed: confirmedOn(chain) }, tracked)
    if (by) {
      await ignoreOutage(storeReplacement(context.pool, context.network, tx, by))
      return statusOfReplacement(query, by, chain.label)
    }
    return {
      ...decideTxStatusWithDefaults({ tracked, seen }),
      network: tracked.label,
      updatedAt: timestampToMillisecond(tracked.lastSeenMs),
    }
  }
  const answer = decideTxStatusWithDefaults({ tracked, seen })
  if (tracked || seen.isOurs) await storeSeenTxStatus(query, sightingOf(chain, seen), answer)
  const isOnHub = chain.role === 'hub' && seen.state === 'mined'
  return {
    ...answer,
    network: chain.label,
    ...(isOnHub && { hubTx: toHex(tx) }),
    ...(!tracked && !seen.isOurs && { isOfStranger: true }),
  }
}

/**
 * Hash of the transaction in a block up to `confirmed` that used the nonce of `tx`. Null where none is found, and where
 * the sender or the nonce is unknown.
 */
async function findReplacement(
  chain: EvmChainPort,
  { tx, confirmed }: { tx: Buffer; confirmed: number },
  { sender, nonce }: TrackedTx,
): Promise<Buffer | null> {
  if (!sender || nonce === null) return null
  const by = await chain.replacement(toHex(sender), nonce, confirmed)
  const replacement = by && fromHex(by)
  return replacement && !replacement.equals(tx) ? replacement : null
}

/**
 * The status of a replaced transaction, which is the status of the replacement. A transaction whose replacement is
 * invalid, such as a cancellation, is invalid for good.
 */
async function statusOfReplacement(
  query: EvmTxStatusQuery,
  by: Buffer,
  network: string,
): Promise<TxStatus> {
  const { context, tx, replacementsLeft: left } = query
  const replacedBy = toHex(by)
  const { isOfStranger: _, ...answer }: TxStatus =
    left > 0
      ? await statusOfTransaction({ ...query, tx: by, replacementsLeft: left - 1 })
      : { status: 'pending' }
  // a replacement is confirmed on its chain, so the answer `not_found` comes from a node that lags
  if (answer.status === 'not_found')
    return { status: 'pending', network, reason: 'replaced', replacedBy }
  if (answer.status === 'invalid')
    await storeInvalidVerdict(context.pool, context.network, tx, 'replaced')
  return { ...answer, network: answer.network ?? network, reason: 'replaced', replacedBy }
}
