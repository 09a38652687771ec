import type pg from 'pg'
import {
  foldMirrorEntries,
  groupEventsIntoEntries,
  rowKeysOfMirrorEntries,
} from '../../registry/fold/mirrorFold.js'
import type { Network } from '../../registry/primitives/network.js'
import type { FilledTile } from '../../registry/transparencyLog/append.js'
import type { LeafEvent } from '../../registry/transparencyLog/leafReader.js'
import { TILE_WIDTH, tileKey } from '../../registry/transparencyLog/tiles.js'
import {
  deleteTransparencyLogs,
  type PreviousTransparencyLog,
  readTransparencyLogState,
  type StoredTransparencyLog,
  storePreviousTransparencyLog,
  storeTiles,
  writeTransparencyLogRow,
} from '../feed/transparencyLog.js'
import { writeFoldedBatch } from '../journal/append.js'
import { assertIndexingLeader, type LockedJournalHead, lockJournalHead } from '../journal/head.js'
import { partitionName, STATE_TABLES } from '../journal/partitions.js'
import { findRowsOfKeys, loadRegistryRowsOfBatch } from '../journal/slice.js'
import { notifyNetwork } from '../pg/notify.js'
import { execute } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'
import { readMirroredNetworks } from './mirrors.js'

/** Events written in one batch. */
const BATCH_EVENTS = 3_000
/** Number of new entries from which on ANALYZE runs before the commit, so that the next statements have good plans. */
const ANALYZE_FROM_ENTRIES = 10_000
/**
 * How long a transaction may idle while it waits for the mirror's source, ms. Between two writes, a dozen entry bundles
 * (`BATCH_EVENTS`) are requested, eight at a time, each with a timeout of 20 s.
 */
const IDLE_LIMIT_MS = 90_000

/** Lets a transaction idle while it waits for the mirror's source. */
export const allowSourceWait = (client: pg.ClientBase) =>
  client.query(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`)

const MIRRORED_TABLES = ['journal', ...STATE_TABLES] as const

const RESET_HEAD = `UPDATE journal_heads
  SET generation = generation + 1, seq = 0, public_seq = 0, at_ms = 0, serial = 0, proved_block = 0, proved_seq = 0, names = 0, names_seq = 0
  WHERE network = $1`
const STORE_COPIED_HEAD = `UPDATE journal_heads SET feed_generation = $2, caught_up = false, mirrored_ms = ${NOW_MS_SQL},
  proved_block = coalesce(proved_block, 0) WHERE network = $1`

/**
 * Locks and returns the head of a mirrored network, or of an empty one.
 * @throws Error if the network has its own journal or log
 */
export async function lockMirrorHead(
  client: pg.ClientBase,
  network: Network,
): Promise<LockedJournalHead> {
  const head = await lockJournalHead(client, network, null)
  const isCopy = (await readMirroredNetworks(client)).has(network)
  const { log } = await readTransparencyLogState(client, network)
  if (!isCopy && (head.seq > 0 || log))
    throw new Error(`The database has a journal of ${network} of its own: name an empty one.`)
  return head
}

/**
 * Copies one network's transparency log from the mirrored service into this database, in the caller's transaction.
 * Readers see nothing before its commit.
 */
export class MirrorWriter {
  readonly #client: pg.ClientBase
  readonly #network: Network
  readonly #generation: number
  #head: LockedJournalHead
  #events: LeafEvent[] = []
  #tiles = new Map<string, FilledTile>()
  #writing: Promise<unknown> = Promise.resolve()
  #writtenEntries = 0

  private constructor(
    client: pg.ClientBase,
    place: { network: Network; generation: number; head: LockedJournalHead },
  ) {
    this.#client = client
    this.#network = place.network
    this.#generation = place.generation
    this.#head = place.head
  }

  /**
   * @param stored log of the mirror as the caller has read it
   * @param next log to read; if it has another origin than the stored log, the mirror is emptied first
   * @returns null where the mirror's log has changed meanwhile
   * @throws LostLeadershipError; Error for a network that has its own journal
   */
  static async open(
    client: pg.ClientBase,
    { network, epoch }: { network: Network; epoch: number },
    {
      stored,
      next,
    }: {
      stored: StoredTransparencyLog | null
      next: Pick<StoredTransparencyLog, 'generation' | 'origin'>
    },
  ): Promise<MirrorWriter | null> {
    await assertIndexingLeader(client, network, epoch)
    await allowSourceWait(client)
    let head = await lockMirrorHead(client, network)
    const { log } = await readTransparencyLogState(client, network)
    if (log?.origin !== stored?.origin || log?.size !== stored?.size) return null
    const { generation } = next
    if (log && log.origin !== next.origin) {
      await deleteTransparencyLogs(client, network, generation)
      await deleteTransparencyLogs(client, `${network}/evidence`, generation)
      for (const table of MIRRORED_TABLES)
        await client.query(`DELETE FROM ${partitionName(table, network)}`)
      await execute(client, network, RESET_HEAD)
      head = await lockJournalHead(client, network, null)
    }
    return new MirrorWriter(client, { network, generation, head })
  }

  /**
   * Collects the next events, and writes them once they make a batch (`BATCH_EVENTS`).
   * @throws RangeError for an event that does not fit the state
   */
  async addEvents(events: readonly LeafEvent[]): Promise<void> {
    this.#events.push(...events)
    if (this.#events.length < BATCH_EVENTS) return
    const entries = groupEventsIntoEntries(this.#events)
    // the last entry may have more events
    this.#events = entries.pop()!
    await this.#write(entries)
  }

  async #write(entries: readonly LeafEvent[][]): Promise<void> {
    const network = this.#network
    const head = this.#head
    await this.#writing
    const client = this.#client
    await this.#writeTiles(({ width }) => width === TILE_WIDTH)
    const probed = await findRowsOfKeys(client, network, rowKeysOfMirrorEntries(entries))
    const slice = await loadRegistryRowsOfBatch(client, { network, head }, probed)
    const changes = foldMirrorEntries(slice, entries)
    this.#head = { ...head, ...changes.head }
    this.#writtenEntries += entries.length
    // the next events are read while this batch is written
    this.#writing = writeFoldedBatch(client, network, changes)
    this.#writing.catch(() => {})
  }

  /** Resolves once no write runs, for a caller that rolls back: a later write would run after the transaction. */
  async waitForWrites(): Promise<void> {
    await this.#writing.catch(() => {})
  }

  /** Collects tiles that are new, or longer than the stored ones, to write them later. */
  addTiles(tiles: readonly FilledTile[]): void {
    for (const tile of tiles) this.#tiles.set(tileKey(tile), tile)
  }

  async #writeTiles(isWritten: (tile: FilledTile) => boolean): Promise<void> {
    const tiles = [...this.#tiles].filter(([, tile]) => isWritten(tile))
    for (const [key] of tiles) this.#tiles.delete(key)
    await storeTiles(
      this.#client,
      this.#network,
      this.#generation,
      tiles.map(([, tile]) => tile),
    )
  }

  /**
   * Stores the final size and root of the previous log, as the new log's first leaf gives them. Deletes the stored logs
   * of later generations, because they belong to another history.
   * @param previous null if the new log is the first one
   */
  async storePreviousLog(previous: PreviousTransparencyLog | null): Promise<void> {
    await deleteTransparencyLogs(this.#client, this.#network, (previous?.generation ?? 0) + 1)
    if (previous) await storePreviousTransparencyLog(this.#client, this.#network, previous)
  }

  /** Writes the remaining events, and the log with its signed checkpoint. */
  async end(log: StoredTransparencyLog): Promise<void> {
    const client = this.#client
    const network = this.#network
    await this.#write(groupEventsIntoEntries(this.#events))
    await this.#writing
    await this.#writeTiles(() => true)
    await writeTransparencyLogRow(client, network, log)
    await execute(client, network, STORE_COPIED_HEAD, [this.#generation])
    if (this.#writtenEntries >= ANALYZE_FROM_ENTRIES)
      for (const table of MIRRORED_TABLES)
        await client.query(`ANALYZE ${partitionName(table, network)}`)
    await notifyNetwork(client, network)
  }
}
