import type { MoveNamesContent } from '../journal/change.js'
import type { PublicEvent } from '../journal/eventTypes.js'
import { mapKey } from '../primitives/bytes.js'
import type { ClusterName, JournalRow, NameMoveRow } from './rows.js'
import { type FoldState, requireLoadedCluster, setPublicEvents } from './work.js'

/**
 * When the last verified wallet of a cluster (the source) enters another cluster (the target), the source's names move
 * there. The target owns all of them from that entry on. The entry writes the new owner into the rows of the oldest
 * names, at most `namesPerEntry`, with an event for each. Further `move_names` entries (parts of the move) do so for
 * the remaining names, oldest first.
 *
 * 1. Look-ups do not wait for the parts: they return the target as the owner also of a name whose row still has the
 * source. When a part writes that row, look-ups change only in who changed the name last, and when.
 * 2. Until the last part the source has no verified wallet and accepts none, so it gets no further names.
 * 3. A cluster is the source or target of at most one move in progress. Names that fit in one entry may still move to a
 * cluster that is a target.
 * 4. A target cannot lose its last verified wallet, because it has names, and because its wallets cannot take these
 * names to another cluster (3).
 * 5. The body of a part has only the id of the source, so the fold stays a function of the journal. A part without
 * remaining names (after a rewind) has no effect.
 *
 * After the last part, tables and feed equal those of a move in one entry, except for the entries' numbers.
 */

/** True if a move in progress forbids that the `moving` names leave the source for the target. */
export function isBlockedByNameMove(
  work: FoldState,
  source: number,
  target: number,
  moving: readonly ClusterName[],
): boolean {
  const isTarget = (cluster: number): boolean =>
    [...work.moves.values()].some((move) => move.target === cluster)
  return (
    moving.length > 0 &&
    (isTarget(source) || (moving.length > work.rules.namesPerEntry && isTarget(target)))
  )
}

/** Begins a move. @returns the events of the names that this entry moves */
export function beginNameMove(work: FoldState, move: NameMoveRow): PublicEvent[] {
  const { source, target } = move
  const from = requireLoadedCluster(work, source)
  const to = requireLoadedCluster(work, target)
  for (const [name, holder] of work.owners) if (holder === source) work.owners.set(name, target)
  const names = from.names
  to.names = [...to.names, ...names].sort((a, b) => a.seq - b.seq)
  from.names = []
  return transferNextNames(work, { ...move, names }, move.seq)
}

/** Folds a `move_names` entry: moves the next names. */
export function continueNameMove(
  work: FoldState,
  row: JournalRow,
  { clusterId }: MoveNamesContent,
): void {
  const source = work.clusterSerials.get(mapKey(clusterId))
  const move = source !== undefined && work.moves.get(source)
  if (!move) return
  const events = transferNextNames(work, move, row.seq)
  row.actor = move.actor
  setPublicEvents(row, move.target, events)
}

/** Transfers the next names of a move, at most `namesPerEntry`. @returns their events */
function transferNextNames(
  work: FoldState,
  move: NameMoveRow & { names: readonly ClusterName[] },
  seq: number,
): PublicEvent[] {
  const { source, target } = move
  const { namesPerEntry } = work.rules
  const left = move.names.slice(namesPerEntry)
  if (left.length > 0) work.moves.set(source, { ...move, names: left })
  else work.moves.delete(source)
  return move.names.slice(0, namesPerEntry).map(({ name }) => {
    work.changes.nameMoves.push({ name, cluster: target, updatedSeq: seq })
    return { type: 'TRANSFER_NAME', cluster: target, from: source, name }
  })
}
