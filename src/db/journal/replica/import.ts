import type pg from 'pg'
import { entriesOf, foldCopy, keysOfCopy } from '../../../registry/fold/replica.js'
import { createEventReader, type ReadEvent } from '../../../registry/journal/eventReader.js'
import { FEED_START, feedHash } from '../../../registry/journal/feedHash.js'
import type { Network } from '../../../registry/primitives/network.js'
import { notify } from '../../pg/notify.js'
import { leaf, STATE_TABLES } from '../../pg/partitions.js'
import { pipelined } from '../../pg/pipeline.js'
import { execute } from '../../pg/rows.js'
import { writeChanges } from '../append.js'
import { addCheckpoints, CHECKPOINT_EVERY, type FeedCheckpoint, readCheckpoint } from '../feed.js'
import { lockHead } from '../head.js'
import { completeSlice, probeKeys } from '../slice.js'
import { readReplicas } from './replica.js'

/** Events that are written together. */
const BATCH_EVENTS = 3_000

const IMPORTED =
  'UPDATE journal_heads SET feed_generation = $2, proved_block = 0, caught_up = false WHERE network = $1'

export type FeedImport = Awaited<ReturnType<typeof beginImport>>

/**
 * Begins to take the feed of a network in, in the caller's transaction: nothing of it is seen before that commits.
 * @throws Error for a network with a journal of its own
 */
export async function beginImport(client: pg.ClientBase, network: Network) {
  let head = await lockHead(client, network, null)
  const isKnown = (await readReplicas(client)).has(network)
  if (!isKnown && head.seq > 0)
    throw new Error(`the database has a journal of ${network} of its own: name an empty one.`)
  const known: FeedCheckpoint = isKnown
    ? await readCheckpoint(client, network)
    : { generation: 0, count: 0, hash: FEED_START }
  const checkpoints: FeedCheckpoint[] = []
  let at: FeedCheckpoint = { ...known, count: 0, hash: FEED_START }
  const read = createEventReader(network)
  let events: ReadEvent[] = []
  let writing: Promise<unknown> = Promise.resolve()

  /** Takes the next event. @throws Error for another line, or for another event than was imported before */
  function take(line: string): void {
    const event = read(line)
    const { generation } = at.generation === 0 ? event : at
    if (event.generation !== generation)
      throw new Error(`the feed of ${network} began anew: name an empty database`)
    if (event.number !== at.count + 1)
      throw new Error(`event ${event.number} comes after event ${at.count}`)
    at = { generation, count: event.number, hash: feedHash(at.hash, line) }
    if (at.count === known.count && !at.hash.equals(known.hash))
      throw new Error('the events up to this are not those that were imported before')
    if (at.count <= known.count) return
    events.push(event)
    if (at.count % CHECKPOINT_EVERY === 0) checkpoints.push(at)
  }

  /** Writes what has come where it is much, but for the last entry, which may go on. */
  async function flush(least = BATCH_EVENTS): Promise<void> {
    // the server ends a transaction that is silent for long, as while known events are read again
    if (at.count <= known.count) await client.query('SELECT')
    if (events.length < least) return
    const entries = entriesOf(events)
    events = (least > 0 && entries.pop()) || []
    await writing
    const slice = await completeSlice(
      client,
      { network, head },
      await probeKeys(client, network, keysOfCopy(entries)),
    )
    const changes = foldCopy(slice, entries)
    head = { ...head, ...changes.head }
    // the next lines are read meanwhile
    writing = pipelined(client, (db) => writeChanges(db, network, changes))
    writing.catch(() => {})
  }

  /** @returns the feed, with the number of events that are new @throws Error for one that is older than is known */
  async function end() {
    if (at.count < known.count)
      throw new Error(
        `the feed of ${network} has ${at.count} of the ${known.count} events that were imported before.`,
      )
    await flush(0)
    await writing
    const added = at.count - known.count
    if (added > 0) {
      const newest = at.count % CHECKPOINT_EVERY === 0 ? [] : [at]
      await addCheckpoints(client, network, { ...known, generation: at.generation }, [
        ...checkpoints,
        ...newest,
      ])
      await execute(client, network, IMPORTED, [at.generation])
      for (const table of ['journal', ...STATE_TABLES] as const)
        await client.query(`ANALYZE ${leaf(table, network)}`)
      await notify(client, network)
    }
    return { network, ...at, added }
  }
  return { network, take, flush, end }
}
