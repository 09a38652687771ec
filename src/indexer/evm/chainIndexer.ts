import { isDeepStrictEqual } from 'node:util'
import { readHeads } from '../../chains/evm/chain.js'
import { mergeLogs } from '../../chains/evm/decodeLogs.js'
import type { Header } from '../../chains/evm/logs.js'
import { foldRecord, packRecord } from '../../chains/evm/record.js'
import { transient } from '../../chains/rpc/errors.js'
import { haltChain } from '../../db/journal/chains.js'
import { assertLeader, markCaughtUp, readHead } from '../../db/journal/head.js'
import { FINALITY_ALARM_MS } from '../../ops/alarms.js'
import { type ChainState, isHeadStale } from '../../ops/chainState.js'
import { failpoint } from '../../ops/failpoint.js'
import { sentenceOf } from '../../ops/log/errors.js'
import {
  makesRecord,
  type Place,
  type ProvedRange,
  placeOf,
  prove,
  recordAt,
  toldRanges,
  unrecorded,
} from '../../record/prove.js'
import { rangesOf } from '../../record/ranges.js'
import { createRangeWidth } from '../../record/width.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { HeadClock } from '../headClock.js'
import { measure } from '../progress.js'
import { assertCheckpoint, DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { type Extension, extendTail } from './tail.js'
import {
  type ChainIndexerOptions,
  decodedOf,
  firstState,
  logCount,
  type Outcome,
  type TailBlock,
} from './types.js'
import { firstBatch, writeFollowed } from './write.js'

/** Gap up to which blocks are followed one by one, as facts first; a larger gap is backfilled in ranges. */
export const FOLLOW_MAX_BLOCKS = 64

/** Ranges fetched ahead of the writer: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3

/** Looks, and their time, after which a replaced checkpoint halts its chain: what few answers show may pass. */
const HALT_PATIENCE = { looks: 3, ms: 60_000 }
/** A local chain replaces a confirmed block only by coming back from an older state. */
export const NO_PATIENCE = { looks: 1, ms: 0 }

/** Contracts' record that is asked for as of a block. */
type RecordWord = { hash: Buffer; own: ReturnType<typeof recordAt> }

/**
 * Indexes one chain: a hub's logs go through the tail into the journal, a spoke's messages into their table. Every
 * write checks the leader's epoch, so a network has one writer.
 */
export class ChainIndexer {
  readonly state: ChainState
  readonly #options: ChainIndexerOptions
  readonly #clock = new HeadClock()
  readonly #width = createRangeWidth()
  readonly #ranges: ReturnType<typeof rangesOf>
  /** Minimum in force; null before the first step. */
  #minimumWei: bigint | null = null
  /** Unconfirmed blocks above the checkpoint. The tables show a copy: a restart reads the tail anew. */
  #tail: TailBlock[] = []
  /** Place of the checkpoint; null before it is looked at, and after a failed step. */
  #place: Place | null = null
  /** Looks in a row that found the checkpoint replaced. */
  #doubt: { looks: number; sinceMs: number } | null = null
  /** Most blocks followed in one step: halved by a failed step, since one bad answer fails all of them. */
  #maxBlocks = FOLLOW_MAX_BLOCKS

  constructor(options: ChainIndexerOptions) {
    this.#options = options
    this.#ranges = rangesOf(options.chain, this.#width)
    this.state = firstState(options.row)
  }

  /**
   * Does what there is to do now towards the chain's head, without timers.
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  async step(): Promise<Outcome> {
    try {
      const outcome = await this.#advance()
      if (outcome.kind !== 'behind') this.#doubt = null
      await this.#settle(outcome)
      this.#maxBlocks = Math.min(FOLLOW_MAX_BLOCKS, 2 * this.#maxBlocks)
      this.state.lastError = null
      return outcome
    } catch (error) {
      if (error instanceof DeepReorgError && this.#isOutOfPatience())
        return this.#halt(
          `${error.message}, which was confirmed: look at the chain, then run \`clusterd journal rewind\`, or \`clusterd journal unhalt\` if it has that block again`,
        )
      this.#maxBlocks = Math.max(1, Math.floor(this.#maxBlocks / 2))
      // the transaction may have been committed: tail and place are read anew
      this.#tail = []
      this.#place = null
      this.state.lastError = sentenceOf(error)
      throw error
    }
  }

  /** Counts a look that found the checkpoint replaced. */
  #isOutOfPatience(): boolean {
    const { chain, haltPatience = chain.config.local ? NO_PATIENCE : HALT_PATIENCE } = this.#options
    this.#doubt ??= { looks: 0, sinceMs: performance.now() }
    this.#doubt.looks += 1
    return (
      this.#doubt.looks >= haltPatience.looks &&
      performance.now() - this.#doubt.sinceMs >= haltPatience.ms
    )
  }

  async #advance(): Promise<Outcome> {
    const { pool, chain, row, epoch } = this.#options
    const { state } = this
    state.halted = row.halted
    if (row.halted) {
      // an operator's rewind ends this leadership: the next leader finds the chain repaired
      await assertLeader(pool, row.network, epoch)
      return { kind: 'halted', reason: row.halted }
    }
    if (this.#minimumWei === null) {
      const head = await readHead(pool, row.network)
      this.#minimumWei = head.minimumWei
      state.isCaughtUp = head.caughtUp
    }
    const { latest, confirmed: told, confirmedMs } = await chain.heads()
    const confirmed = confirmedMs === null ? told : await this.#finalizedBy(told)
    this.#clock.see(latest)
    const { blockMs } = this.#clock
    Object.assign(state, {
      latest: latest.number,
      headMs: latest.timestampMs,
      confirmed,
      confirmedMs,
      blockMs,
    })
    if (latest.number < row.nextBlock - 1) return { kind: 'behind', latest: latest.number }
    if (!this.#place) await assertCheckpoint(pool, chain, row, epoch)
    const place = this.#place?.record ? this.#place : await placeOf(chain, row)
    this.#place = place
    state.trust ??= place.trust
    const isFar = latest.number - this.#tailBlock > FOLLOW_MAX_BLOCKS && confirmed >= row.nextBlock
    return isFar ? this.#backfill(confirmed) : this.#follow(latest, confirmed, place)
  }

  /**
   * Takes confirmed blocks up to `to` into the journal: parallel ranges, one ordered writer, the checkpoint in the
   * rows' own transaction. A process that is killed anywhere goes on from the checkpoint; the signal ends it sooner.
   */
  async #backfill(to: number): Promise<Outcome> {
    const { chain, row, signal, onProgress } = this.#options
    const { network, label, nextBlock: first } = row
    const ahead: ReturnType<typeof toldRanges>[] = []
    const startedMs = Date.now()
    let asked = first
    let entries = 0
    this.#tail = []
    while (row.nextBlock <= to && !signal.aborted) {
      while (ahead.length < RANGES_AHEAD && asked <= to) {
        const end = Math.min(to, asked + this.#width.blocks - 1)
        const told = toldRanges(this.#ranges, asked, end)
        // awaited below in its turn; until then a failure is not unhandled
        told.catch(() => {})
        ahead.push(told)
        asked = end + 1
      }
      for (const told of await ahead.shift()!) {
        const { lastHash } = this.#place!
        const range = await prove(chain, this.#place!, told)
        if (lastHash && !range.parentHash.equals(lastHash)) {
          if (await isCheckpointReplaced(chain, row))
            throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
          throw new Error(
            `getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`,
          )
        }
        await this.#write('backfill', [range], behind(range))
        entries += range.decoded.entries.length
      }
      const { nextBlock } = row
      Object.assign(this.state, { nextBlock, tailBlock: nextBlock - 1, lastStepMs: Date.now() })
      const counts = {
        doneBlocks: nextBlock - first,
        totalBlocks: to - first + 1,
        registrations: entries,
      }
      onProgress?.(measure({ network, label, ...counts }, startedMs))
    }
    return { kind: 'backfilled', blocks: row.nextBlock - first, entries }
  }

  /** A tag is a node's word, and what it confirms stays: the lowest counts, but of nodes that stand still for long. */
  async #finalizedBy(told: number): Promise<number> {
    const { chain, row } = this.#options
    if (told < row.nextBlock) return told
    const looks = await chain.rpc.onEveryNode((call) => readHeads(call, chain.config))
    const moving = looks.filter(({ confirmedMs }) => confirmedMs! > Date.now() - FINALITY_ALARM_MS)
    return Math.min(...(moving.length > 0 ? moving : looks).map(({ confirmed }) => confirmed))
  }

  async #follow(latest: Header, confirmedBlock: number, place: Place): Promise<Outcome> {
    const { chain, row } = this.#options
    const before = this.#tail
    const word = this.#askRecord(latest, confirmedBlock)
    const extension = await extendTail({ chain, row, tail: before }, latest, this.#maxBlocks)
    const kept = extension ? before.filter(({ block }) => block < extension.dropFrom) : before
    const tail = extension ? [...kept, ...extension.blocks] : before
    const confirming = firstBatch(tail.filter(({ block }) => block <= confirmedBlock))
    if (!extension && confirming.length === 0)
      return latest.number < this.#tailBlock
        ? { kind: 'behind', latest: latest.number }
        : { kind: 'idle' }
    const proved = await this.#provedOf(confirming, place, word)
    if (proved.at(-1)?.trust === 'trusted') await this.#proveHead(tail)
    await this.#write('follow', proved, extension)
    this.#tail = tail.slice(confirming.length)
    return {
      kind: 'followed',
      blocks: extension?.blocks.length ?? 0,
      facts: logCount(extension?.blocks ?? []),
      confirmedBlocks: confirming.length,
      entries: logCount(confirming),
      dropped: before.length - kept.length,
    }
  }

  /** Asks an only node for the record of a confirmed block while logs are read, but not after a failed step. */
  #askRecord(latest: Header, confirmed: number): RecordWord | null {
    const { chain, row } = this.#options
    const hash =
      confirmed === latest.number
        ? fromHex(latest.hash)
        : this.#tail[confirmed - row.nextBlock]?.hash
    const isWanted =
      chain.role === 'hub' && chain.config.rpcUrls.length === 1 && !this.state.lastError
    if (!hash || confirmed < row.nextBlock || !isWanted) return null
    const own = recordAt(chain, hash)
    own.catch(() => {})
    return { hash, own }
  }

  /**
   * Logs of blocks that are confirmed now. What the tail has of them is enough where the contracts' record proves it,
   * and no second node could tell of other places of these logs; else they are read again.
   */
  async #provedOf(
    blocks: readonly TailBlock[],
    place: Place,
    word: RecordWord | null,
  ): Promise<ProvedRange[]> {
    const { chain, row } = this.#options
    const first = blocks[0]
    const last = blocks.at(-1)
    if (!first || !last) return []
    const from = first.block
    const to = last.block
    const decoded = decodedOf(blocks)
    const lastHash = last.hash
    const isEnough =
      chain.role === 'hub' && (chain.config.rpcUrls.length === 1 || decoded.record.length === 0)
    const own = isEnough
      ? await (word?.hash.equals(lastHash) ? word.own : recordAt(chain, lastHash))
      : null
    const seen = { from, to, decoded, parentHash: first.parentHash, lastHash, own }
    const told = makesRecord(place, seen) ? [seen] : await toldRanges(this.#ranges, from, to)
    const ranges: ProvedRange[] = []
    for (const one of told) ranges.push(await prove(chain, ranges.at(-1) ?? place, one))
    if (
      !ranges[0]!.parentHash.equals(first.parentHash) ||
      !ranges.at(-1)!.lastHash.equals(lastHash)
    )
      throw transient(
        `blocks ${from}-${to} of chain "${row.label}" are of another fork than before`,
      )
    return ranges
  }

  /** With the checkpoint behind the logs, and the tail that goes on from there. */
  async #write(
    at: 'backfill' | 'follow',
    proved: readonly ProvedRange[],
    extension: Extension | null,
  ): Promise<void> {
    const { chain, row } = this.#options
    const last = proved.at(-1)
    const to = last
      ? {
          nextBlock: last.to + 1,
          parentHash: last.lastHash,
          record: last.record && packRecord(chain.config, last.lastHash, last.record),
        }
      : null
    const confirmed = mergeLogs(proved.map(({ decoded }) => decoded))
    failpoint(`${at}.before_transaction`)
    const write = { at, extension, minimumWei: this.#minimumWei!, to, confirmed }
    this.#minimumWei = await writeFollowed(this.#options, write)
    if (last) {
      Object.assign(row, to)
      this.#place = last
      this.state.trust = last.trust
    }
    failpoint(`${at}.after_commit`)
  }

  get isAtHead(): boolean {
    const { latest, confirmed } = this.state
    return this.#tailBlock === latest && this.#options.row.nextBlock > (confirmed ?? -1)
  }

  get #tailBlock(): number {
    return this.#options.row.nextBlock + this.#tail.length - 1
  }

  async #settle({ kind }: Outcome): Promise<void> {
    const { pool, chain, row, epoch } = this.#options
    const { state } = this
    state.nextBlock = row.nextBlock
    state.tailBlock = this.#tailBlock
    state.lastStepMs = Date.now()
    // a backfill may have taken hours: the step after it knows the head
    if (
      state.isCaughtUp ||
      (kind !== 'followed' && kind !== 'idle') ||
      !(await this.#hasCaughtUp())
    )
      return
    // a spoke that is added later doesn't bring catching up back
    if (chain.role === 'hub') await markCaughtUp(pool, row.network, epoch)
    state.isCaughtUp = true
  }

  /** By a head that isn't that of a node which still syncs. */
  async #hasCaughtUp(): Promise<boolean> {
    const { chain, row } = this.#options
    const { confirmed } = this.state
    if (confirmed === null || confirmed < chain.config.startBlock || row.nextBlock <= confirmed)
      return false
    // a node that syncs shows an old head
    if (!chain.config.local && isHeadStale(this.state, Date.now())) return false
    if (this.state.trust !== 'proved') await this.#proveHead()
    const looks = await chain.rpc.onEveryNode((call) => readHeads(call, chain.config))
    return looks.every((look) => row.nextBlock > look.confirmed - FOLLOW_MAX_BLOCKS)
  }

  /** At the newest known block, whose state each node has. @throws Error where the logs are others */
  async #proveHead(tail: readonly TailBlock[] = this.#tail): Promise<void> {
    const { chain, row } = this.#options
    const top = tail.at(-1)?.hash ?? row.parentHash
    const before = this.#place?.record
    const own = top && before && (await recordAt(chain, top))
    if (!own || chain.role !== 'hub') return
    if (!isDeepStrictEqual(foldRecord(before, decodedOf(tail).record), own))
      throw new Error(unrecorded(chain, row.nextBlock + tail.length - 1))
    this.state.trust = 'proved'
  }

  async #halt(reason: string): Promise<Outcome> {
    const { pool, row, epoch } = this.#options
    await haltChain(pool, row, epoch, reason)
    row.halted = reason
    this.state.halted = reason
    return { kind: 'halted', reason }
  }
}

/** Tail behind a range of a catch-up. The last hash stays known: a local chain may come back from an older state. */
const behind = ({ to: block, lastHash: hash }: ProvedRange): Extension => ({
  dropFrom: block,
  blocks: [{ block, hash, parentHash: Buffer.alloc(32), timestampMs: 0, decoded: mergeLogs([]) }],
})
