import type { MoveContent } from '../journal/change.js'
import { encodeChangeEffects } from '../journal/effects.js'
import type { PublicEvent } from '../journal/eventTypes.js'
import { keyOf } from '../primitives/bytes.js'
import type { ClusterName, JournalRow, MoveRow } from './rows.js'
import { type Work, wholeCluster } from './work.js'

/**
 * Moves of a cluster's names to the cluster that its last verified wallet enters. The change that decides a move writes
 * down its first names, at most `namesPerEntry`; `move_names` entries, slices, write down the others, oldest first.
 *
 * 1. The decision moves all names at once: whoever asks gets the target as their holder, before their slice as after
 *    it. A slice changes no answer but who changed a name last, and when.
 * 2. A source has no verified wallet, and none is verified in it, until the last slice: nothing is added to its names.
 * 3. A cluster takes part in one move at most: a source is no target, a target no source, and of one source.
 * 4. A target keeps a verified wallet, since it holds names.
 * 5. A slice is an entry that names the source alone, so the fold stays a function of the journal; one for which
 *    no names are left (a rewind took them) has no effect.
 *
 * Tables and feed after the last slice are those of a move in one entry, but for the entries' numbers.
 */

/** True if a move that is under way keeps names from leaving a cluster for another. */
export function isMoving(
  work: Work,
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

/** In slices where there are many names. @returns the events of the first slice */
export function beginMove(work: Work, move: MoveRow): PublicEvent[] {
  const { source, target } = move
  const from = wholeCluster(work, source)
  const to = wholeCluster(work, target)
  for (const [name, holder] of work.owners) if (holder === source) work.owners.set(name, target)
  const names = from.names
  to.names = [...to.names, ...names].sort((a, b) => a.seq - b.seq)
  from.names = []
  return writeDown(work, { ...move, names }, move.seq)
}

/** Folds a slice. */
export function continueMove(work: Work, row: JournalRow, { clusterId }: MoveContent): void {
  const source = work.clusterSerials.get(keyOf(clusterId))
  const move = source !== undefined && work.moves.get(source)
  if (!move) return
  const events = writeDown(work, move, row.seq)
  row.actor = move.actor
  row.effects = encodeChangeEffects({ cluster: move.target, events })
  row.publicCount = events.length
}

/** Writes down a move's next names. */
function writeDown(
  work: Work,
  move: MoveRow & { names: readonly ClusterName[] },
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
