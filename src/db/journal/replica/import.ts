import type pg from 'pg'
import { entriesOf, foldLines, keysOfLines } from '../../../registry/fold/feedLines.js'
import type { Head } from '../../../registry/fold/rows.js'
import { FEED_START } from '../../../registry/journal/feedHash.js'
import { createFeedReader, type FeedLine } from '../../../registry/journal/feedLine.js'
import type { Network } from '../../../registry/primitives/network.js'
import { readLeaders } from '../../deployment/leaders.js'
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

/** Feed of a network after an import. */
export interface Imported extends FeedCheckpoint {
  network: Network
  /** Events that are new here. */
  added: number
}

/** Takes the feed of a network in, in the caller's transaction: nothing of it is seen before that commits. */
export class FeedImport {
  readonly #client: pg.ClientBase
  readonly #network: Network
  /** What was imported before; of a first import nothing. */
  readonly #known: FeedCheckpoint
  readonly #checkpoints: FeedCheckpoint[] = []
  readonly #reader: ReturnType<typeof createFeedReader>
  #head: Head
  #generation: number
  #count = 0
  #lines: FeedLine[] = []
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(client: pg.ClientBase, network: Network, head: Head, known: FeedCheckpoint) {
    this.#client = client
    this.#network = network
    this.#reader = createFeedReader(network)
    this.#head = head
    this.#known = known
    this.#generation = known.generation
  }

  /** @throws Error for a network with a journal of its own, or that a daemon indexes */
  static async begin(client: pg.ClientBase, network: Network): Promise<FeedImport> {
    const head = await lockHead(client, network, null)
    const known = await readCheckpoint(client, network)
    const isReplica = (await readReplicas(client)).has(network)
    if (!isReplica && head.seq > 0)
      throw new Error(`the database has a journal of ${network} that was not imported: name an empty one.`)
    if ((await readLeaders(client)).some((leader) => leader.network === network))
      throw new Error(`a daemon indexes ${network} into this database: name another, or stop the daemon.`)
    return new FeedImport(client, network, head, isReplica ? known : { generation: 0, count: 0, hash: FEED_START })
  }

  /** Takes the next event. @throws Error for another line, or for another event than was imported before */
  take(text: string): void {
    const line = this.#reader.read(text)
    this.#generation ||= line.generation
    if (line.generation !== this.#generation)
      throw new Error(`the feed of ${this.#network} has begun anew since the import: name an empty database`)
    if (line.number !== this.#count + 1) throw new Error(`event ${line.number} comes after event ${this.#count}`)
    this.#count += 1
    const { count, hash } = this.#known
    if (this.#count === count && !this.#reader.hash().equals(hash))
      throw new Error('the events up to this are not those that were imported before')
    if (this.#count <= count) return
    this.#lines.push(line)
    if (this.#count % CHECKPOINT_EVERY === 0) this.#checkpoints.push(this.#at())
  }

  #at(): FeedCheckpoint {
    return { generation: this.#generation, count: this.#count, hash: this.#reader.hash() }
  }

  /** Writes what has come where it is much, but for the last entry, which may go on. */
  async flush(least = BATCH_EVENTS): Promise<void> {
    if (this.#lines.length < least) return
    const entries = entriesOf(this.#lines)
    this.#lines = least > 0 ? entries.pop()! : []
    await this.#writing
    const [client, network, head] = [this.#client, this.#network, this.#head]
    const slice = await completeSlice(client, { network, head }, await probeKeys(client, network, keysOfLines(entries)))
    const changes = foldLines(slice, entries)
    this.#head = changes.head
    // the next lines are read meanwhile
    this.#writing = pipelined(client, (db) => writeChanges(db, network, changes))
    this.#writing.catch(() => {})
  }

  /** Ends the import: answers are read from what it has once the transaction commits. @throws Error for a feed that is older */
  async end(): Promise<Imported> {
    const [client, network, known, at] = [this.#client, this.#network, this.#known, this.#at()]
    if (at.count < known.count)
      throw new Error(`the feed of ${network} has ${at.count} of the ${known.count} events that were imported before.`)
    await this.flush(0)
    await this.#writing
    const added = at.count - known.count
    if (added > 0) {
      const newest = at.count % CHECKPOINT_EVERY === 0 ? [] : [at]
      await addCheckpoints(client, network, { ...known, generation: at.generation }, [...this.#checkpoints, ...newest])
      await execute(client, network, IMPORTED, [at.generation])
      for (const table of ['journal', ...STATE_TABLES] as const) await client.query(`ANALYZE ${leaf(table, network)}`)
      await notify(client, network)
    }
    return { network, ...at, added }
  }
}

const IMPORTED = 'UPDATE journal_heads SET feed_generation = $2, proved_block = 0, caught_up = false WHERE network = $1'
