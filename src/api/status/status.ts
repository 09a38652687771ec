import { type ChainPort, type ChainTx, ChainUnavailableError, type Hex } from '../../chains/chain.js'
import {
  findInTail,
  findJournalled,
  findTracked,
  type JournalledTx,
  keepReplacement,
  keepVerdict,
  rememberSighting,
  type TailTx,
  type TrackedTx,
} from '../../db/journal/transactions.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  INVALID_REASONS,
  type InvalidReason,
  isTerminal,
  type Seen,
  type StatusAnswer,
  type StatusInput,
  status,
  type Tracked,
} from '../../registry/status.js'
import { millisecondsText } from '../clusters/timestamps.js'
import { paidNamesOf } from '../communities/paidNames.js'
import { type Context, chainsOf } from '../http/context.js'
import { packetsOf } from './packets.js'

/** The status of a transaction as it is answered after `tx`. */
export interface TxStatus extends StatusAnswer {
  /** The transaction that took this one's nonce and whose status this is. */
  replacedBy?: string
  updatedAt?: string
}

/** A replacement may itself have been unknown to us; more links than this are no honest chain. */
const MAX_REPLACEMENTS = 4
/**
 * The status of a registration transaction, from our records and, where they don't decide, from the network's chains.
 * @throws ChainUnavailableError when no record decides and a chain that may have it can't be asked
 */
export async function txStatus(context: Context, network: Network, hash: Hex): Promise<TxStatus> {
  return follow(context, network, fromHex(hash), MAX_REPLACEMENTS)
}

async function follow(context: Context, network: Network, hash: Buffer, left: number): Promise<TxStatus> {
  const { pool } = context
  const hub = chainsOf(context, network)[0]
  const journalled = await findJournalled(pool, network, hash)
  if (journalled) return ofJournal(context, hash, journalled)
  const [tail, tracked, sent, paid] = await Promise.all([
    hub ? findInTail(pool, network, hub.chain, hash) : null,
    findTracked(pool, network, hash),
    packetsOf(context, network, hash),
    paidNamesOf(context, network, hash),
  ])
  if (sent) return ofMessages(context, sent, tracked)
  if (tail && !tracked?.verdict) return ofTail(context, network, hash, tail, tracked)
  // a bid may have moved from the tail into the journal between those two questions
  const late = await findJournalled(pool, network, hash)
  if (late) return ofJournal(context, hash, late)
  if (tracked?.verdict) {
    const replaced = tracked.replacedBy ? { replacedBy: toHex(tracked.replacedBy) } : {}
    return { ...decide(context, { tracked }), ...replaced, updatedAt: millisecondsText(tracked.lastSeenMs) }
  }
  if (paid) return ofPayments(context, network, hash, paid)
  if (tracked?.replacedBy) return ofReplacement(context, network, hash, tracked.replacedBy, left)
  return ofChains(context, network, hash, tracked, left)
}

function ofJournal(context: Context, hash: Buffer, { bids, atMs }: JournalledTx): TxStatus {
  return { ...decide(context, { journal: bids }), hubTx: toHex(hash), updatedAt: millisecondsText(atMs) }
}

type Sent = NonNullable<Awaited<ReturnType<typeof packetsOf>>>
type Paid = NonNullable<Awaited<ReturnType<typeof paidNamesOf>>>

const ofMessages = (context: Context, { packets, sentMs }: Sent, tracked: TrackedTx | null): TxStatus => ({
  ...decide(context, { packets, tracked }),
  updatedAt: millisecondsText(sentMs),
})

async function ofPayments(context: Context, network: Network, hash: Buffer, paid: Paid): Promise<TxStatus> {
  // what it sent to the hub decides first, and may have come into sight with the payment
  const sent = await packetsOf(context, network, hash)
  if (sent) return ofMessages(context, sent, null)
  const { paidNames, paidMs } = paid
  return { ...decide(context, { paidNames }), updatedAt: millisecondsText(paidMs) }
}

function ofTail(context: Context, network: Network, hash: Buffer, tail: TailTx, tracked: TrackedTx | null): TxStatus {
  // a reorg may take it out of the tail: remember it now, as the chain shows it, without keeping the caller waiting
  if (!tracked?.sender) void rememberFromHub(context, network, hash)
  const answer = decide(context, { tail: tail.bids, tailConfirmations: tail.confirmations })
  return { ...answer, hubTx: toHex(hash), updatedAt: millisecondsText(tail.atMs) }
}

async function rememberFromHub(context: Context, network: Network, hash: Buffer): Promise<void> {
  const hub = chainsOf(context, network)[0]
  if (!hub) return
  try {
    const seen = await hub.transaction(toHex(hash))
    if (seen.state !== 'unknown') await remember(context, network, hash, hub, seen)
  } catch {
    // the next poll tries again
  }
}

const remember = (
  context: Context,
  network: Network,
  hash: Buffer,
  { chain }: ChainPort,
  seen: Exclude<ChainTx, { state: 'unknown' }>,
): Promise<void> =>
  rememberSighting(context.pool, network, hash, {
    chain,
    sender: fromHex(seen.sender),
    nonce: seen.nonce,
    seenMs: context.now(),
  })

/** Asks the chains: all of the network, or the one that had it before. */
async function ofChains(
  context: Context,
  network: Network,
  hash: Buffer,
  tracked: TrackedTx | null,
  left: number,
): Promise<TxStatus> {
  const all = chainsOf(context, network)
  const home = all.filter(({ chain }) => chain === tracked?.chain)
  const { chain, tx } = await askChains(home.length > 0 ? home : all, toHex(hash))
  if (tx.state === 'unknown') {
    if (!tracked) return { status: 'not_found' }
    const by = await replacementOf(chain, hash, tracked)
    if (by) {
      await keepReplacement(context.pool, network, hash, by)
      return ofReplacement(context, network, hash, by, left)
    }
    return { ...decide(context, { tracked, seen: tx }), updatedAt: millisecondsText(tracked.lastSeenMs) }
  }
  await remember(context, network, hash, chain, tx)
  const answer = decide(context, { tracked, seen: tx })
  if (isTerminal(answer.status) && answer.reason) await keepVerdict(context.pool, network, hash, answer.reason)
  return chain.role === 'hub' && tx.state === 'mined' ? { ...answer, hubTx: toHex(hash) } : answer
}

/**
 * Asks chains at once for a hash; the first in their order that has it counts. Only when all of them say no is it unknown.
 * @throws ChainUnavailableError when none has it and one could not be asked
 */
async function askChains(chains: readonly ChainPort[], hash: Hex): Promise<{ chain: ChainPort; tx: ChainTx }> {
  const answers = await Promise.allSettled(chains.map((chain) => chain.transaction(hash)))
  const known = answers.findIndex((answer) => answer.status === 'fulfilled' && answer.value.state !== 'unknown')
  const chain = chains[Math.max(known, 0)]
  if (!chain) throw new ChainUnavailableError('no chain of this network is configured')
  const failed = answers.find((answer) => answer.status === 'rejected')
  const answer = answers[known]
  if (answer?.status === 'fulfilled') return { chain, tx: answer.value }
  if (failed) throw failed.reason
  return { chain, tx: { state: 'unknown' } }
}

async function replacementOf(chain: ChainPort, hash: Buffer, { sender, nonce }: TrackedTx): Promise<Buffer | null> {
  if (!sender || nonce === null) return null
  const by = await chain.replacement(toHex(sender), nonce)
  const taken = by && fromHex(by)
  return taken && !taken.equals(hash) ? taken : null
}

/** The status of the transaction that took the nonce stands for the replaced one; a cancel makes it invalid. */
async function ofReplacement(
  context: Context,
  network: Network,
  hash: Buffer,
  by: Buffer,
  left: number,
): Promise<TxStatus> {
  const replacedBy = toHex(by)
  // it is confirmed, so it is known to its chain: an answer of "unknown" is a node that lags
  const answer: TxStatus = left > 0 ? await follow(context, network, by, left - 1) : { status: 'pending' }
  if (answer.status === 'not_found') return { status: 'pending', reason: 'replaced', replacedBy }
  if (answer.status === 'invalid') await keepVerdict(context.pool, network, hash, 'replaced')
  return { ...answer, reason: 'replaced', replacedBy }
}

/** The one function that decides, with everything that is not known left empty. */
export function decide(
  context: Context,
  known: Partial<Omit<StatusInput, 'tracked' | 'seen'>> & { tracked?: TrackedTx | null; seen?: ChainTx | Seen },
): StatusAnswer {
  const { tracked = null, seen = { state: 'unknown' }, ...rest } = known
  return status({
    nowMs: context.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    ...rest,
    seen: asSeen(seen),
    tracked: tracked && asTracked(tracked),
  })
}

function asSeen(tx: ChainTx | Seen): Seen {
  if (tx.state !== 'mined') return { state: tx.state }
  const { succeeded, isRegistration, confirmations, isConfirmed } = tx
  return { state: 'mined', succeeded, isRegistration, confirmations, isConfirmed }
}

function asTracked({ lastSeenMs, verdict }: TrackedTx): Tracked {
  if (verdict !== null && !isReason(verdict))
    throw new Error(`tracked_txs holds the verdict "${verdict}", unknown to this version`)
  return { lastSeenMs, verdict }
}

const isReason = (text: string): text is InvalidReason => INVALID_REASONS.some((reason) => reason === text)
