import { addressOfWord } from './address.js'
import { BID_WORDS } from './bid.js'
import { keyOf, wordToBigInt } from './bytes.js'
import { actorOfChange, decodeChange, isChangeKind } from './change.js'
import { clusterId } from './clusterId.js'
import { NO_EFFECTS } from './effects.js'
import type { Entry } from './entry.js'
import { applyBid } from './fold/bid.js'
import { applyChange } from './fold/change.js'
import type { Changes, JournalRow, Keys, Slice } from './fold/rows.js'
import { beginWork, finishWork, type Work } from './fold/work.js'
import { wordToName } from './name.js'
import type { Network } from './network.js'

export type {
  ChangeOutcome,
  Changes,
  ClusterRow,
  ClusterState,
  Head,
  JournalRow,
  Keys,
  NameMove,
  NameRow,
  Slice,
  VerifiedWallet,
  WalletRow,
} from './fold/rows.js'

/**
 * The registry is a pure fold of the journal. `keysOf(entries)` says which rows a batch touches, the writer loads them
 * into a `Slice`, `fold` gives the rows to write. The same code serves one signed change and 5,000 logs.
 */

/** The keys of the rows a batch reads. */
export function keysOf(entries: readonly Entry[]): Keys {
  const keys: Keys = {
    names: new Set(),
    wallets: new Set(),
    actors: new Set(),
    clusterIds: new Set(),
    heldNames: false,
  }
  for (const entry of entries) {
    if (entry.kind === 'bid') {
      const name = wordToName(entry.body.subarray(BID_WORDS.name, BID_WORDS.referral))
      if (name === null) continue
      keys.names.add(name)
      keys.wallets.add(keyOf(addressOfWord(entry.body.subarray(BID_WORDS.from, BID_WORDS.amount))))
    } else if (isChangeKind(entry.kind)) {
      const actor = keyOf(actorOfChange(entry.body))
      keys.wallets.add(actor)
      keys.actors.add(actor)
      if (entry.kind === 'verify_wallet' || entry.kind === 'remove_wallets') keys.heldNames = true
      if (entry.kind !== 'verify_wallet') continue
      const change = decodeChange(entry.kind, entry.body)
      if (change.kind === 'verify_wallet') keys.clusterIds.add(keyOf(change.clusterId))
    }
  }
  return keys
}

/**
 * The ids of the first cluster that each wallet of `keys` would create. Costly and the same in every state, so a writer may
 * have them made before its turn.
 */
export function firstClusterIds(network: Network, keys: Keys): Map<string, Buffer> {
  const ids = new Map<string, Buffer>()
  for (const key of keys.wallets) ids.set(key, clusterId(network, Buffer.from(key, 'latin1'), 0))
  return ids
}

/**
 * Folds entries, in order, into the rows to write. A signed change that can't be made is left without effect and its refusal
 * told in `outcomes`; a writer of new ones refuses it then, a rebuild keeps it.
 * Throws RangeError for a body of wrong form, Error for a slice that lacks a key of `keysOf`.
 * @param writerMs the writer's clock in milliseconds: a journal timestamp is max(previous, min(cause, writer)). A rebuild
 *   passes Infinity and each entry's journalled timestamp as its cause, so that timestamps are copied.
 */
export function fold(before: Slice, entries: readonly Entry[], writerMs: number): Changes {
  const work = beginWork(before, entries)
  const { changes } = work
  for (const entry of entries) {
    const head = changes.head
    head.seq += 1
    head.atMs = Math.max(head.atMs, Math.min(entry.causeMs, writerMs))
    // named one by one: a spread costs more than all the rest of the row
    const row: JournalRow = {
      kind: entry.kind,
      position: entry.position,
      txKey: entry.txKey,
      causeMs: entry.causeMs,
      body: entry.body,
      seq: head.seq,
      atMs: head.atMs,
      publicFirst: head.publicSeq + 1,
      publicCount: 0,
      actor: null,
      effects: NO_EFFECTS,
    }
    apply(work, row)
    head.publicSeq += row.publicCount
    changes.journal.push(row)
  }
  return finishWork(work, before)
}

function apply(work: Work, row: JournalRow): void {
  switch (row.kind) {
    case 'bid':
      applyBid(work, row)
      break
    case 'minimum':
      if (row.body.length !== 32)
        throw new RangeError(`the body of a minimum is one word, not ${row.body.length} bytes`)
      work.changes.head.minimumWei = wordToBigInt(row.body)
      break
    default:
      applyChange(work, row)
  }
}
