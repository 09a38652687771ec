import { sha256 } from '@noble/hashes/sha2.js'
import { type FilledTile, GrowingTree } from '../registry/transparencyLog/append.js'
import {
  generationInLogName,
  parseEventId,
  readBeginningLeaf,
} from '../registry/transparencyLog/beginning.js'
import {
  formatSignedNote,
  fromBase64,
  keyIdOf,
  parseCheckpoint,
  parseNote,
  type TreeHead,
  toBase64,
} from '../registry/transparencyLog/note.js'
import { ProvedTree } from '../registry/transparencyLog/provedTree.js'
import {
  bundlePath,
  type EntryBundle,
  rangeHashFromTiles,
  TILE_WIDTH,
  type Tile,
  tileAt,
  tileKey,
  tilePath,
  tilesForRanges,
  unpackBundle,
} from '../registry/transparencyLog/tiles.js'
import {
  consistencyProofRanges,
  createTreeHasher,
  HASH_BYTES,
  isConsistencyProofValid,
  isSameHash,
  type Sha256,
} from '../registry/transparencyLog/tree.js'
import { decodeUtf8 } from './bytes.js'
import type { Client } from './client.js'
import { ClusterdError, logMismatchError } from './error.js'
import { abortReasonOf } from './time.js'
import { readBytesUpTo, type Transport } from './transport.js'
import {
  isTextSigned,
  type LogWitnesses,
  parseWitnesses,
  type RequiredWitnesses,
  requireWitnesses,
} from './witnesses.js'

export type { TreeHead }

/** Size and root of a transparency log's tree, with the signed note. */
export interface SignedHead extends TreeHead {
  /**
   * The signed note. Its signatures, in order: the pinned key's; others under the log's name, not verified; valid ones
   * of the configured witnesses; other cosignatures, not verified.
   */
  note: string
}

/** Size and root of a transparency log's tree, in values that JSON can represent. */
export interface TreeHeadJson extends Omit<TreeHead, 'root'> {
  /** Root hash, base64. */
  root: string
}

/** An entry of a transparency log. */
export interface LogEntry {
  /** Index in the log. Entry 0 begins the log; in the feed's log, entry n is event n. */
  index: number
  /** Text of the bytes whose hash is a leaf of the tree. */
  text: string
}

/** The place of a transparency log: a network for the log of its feed, or the evidence log of a network. */
type LogPlace = `${'mainnet' | 'testnet'}${'' | '/evidence'}`

export interface LogOptions {
  /** Public key of the service's logs, obtained from another source than the service: 32 bytes in base64. */
  key: string
  /** Place of the log; default: the feed of the client's network. */
  network?: LogPlace
  /** Domain with which the log's name begins (`names.example`). Needed if the key also signs for other services. */
  domain?: string | undefined
  /** Checkpoint that was verified last. Each later checkpoint has to continue it. */
  last?: TreeHead | TreeHeadJson | undefined
  /**
   * Name of a log, such as `names.example/mainnet/5`, to accept although it does not continue `last`. Events that this
   * log has lost are accepted as lost. A log older than the log of `last` is refused.
   */
  accept?: string | undefined
  /** Witnesses, a number of which must have signed each checkpoint. */
  witnesses?: LogWitnesses | undefined
  /** SHA-256 to use in place of the implementation in JavaScript. */
  sha256?: Sha256 | undefined
}

/** Verified new entries of an entry bundle. @internal for mirrors */
interface VerifiedEntries {
  /** Index in the log of the first text. */
  from: number
  texts: string[]
  /** Tiles of the Merkle tree that the entries extend. */
  tiles: FilledTile[]
}

/** Maximum length of an entry, bytes. */
const MAX_ENTRY_BYTES = 8_192
/** Maximum length of a checkpoint's signed note, bytes. */
const MAX_NOTE_BYTES = 65_536
/** Number of bundles requested in advance. */
const BUNDLES_AHEAD = 8
const KEY_BYTES = 32
/** Maximum number of kept signatures of the service on a note: it may sign with several keys. */
const KEPT_SIGNATURES = 4

/** Reader of a service's transparency log. Verifies every result by the pinned key and the last checkpoint. */
export class LogReader {
  #last: TreeHead | null = null
  readonly #transport: Transport
  readonly #network: LogPlace
  readonly #domain: string | undefined
  readonly #accept: string | undefined
  readonly #key: Uint8Array
  readonly #witnesses: RequiredWitnesses
  readonly #sha256: Sha256
  readonly #tree: ReturnType<typeof createTreeHasher>
  /** Resolves when all earlier comparisons with `last` have ended. A new comparison waits for this promise. */
  #lastComparison: Promise<unknown> = Promise.resolve()

  /** @throws TypeError for an invalid key or number of witnesses, and for a `last` that is not a checkpoint */
  constructor(client: Client, options: LogOptions) {
    const key = fromBase64(options.key)
    if (key?.length !== KEY_BYTES)
      throw new TypeError(`The key of a log is 32 bytes in base64, not “${options.key}”.`)
    this.#key = key
    this.#transport = client.transport
    this.#network = options.network ?? client.transport.network
    this.#domain = options.domain
    this.#accept = options.accept
    this.#sha256 = options.sha256 ?? sha256
    this.#tree = createTreeHasher(this.#sha256)
    this.#witnesses = parseWitnesses(this.#sha256, options.witnesses)
    this.last = options.last ?? null
  }

  /** Checkpoint that was verified last, in values that JSON can represent. Null before the first checkpoint. */
  get last(): TreeHeadJson | null {
    return this.#last && { ...this.#last, root: toBase64(this.#last.root) }
  }

  /** @throws TypeError for a value that is no checkpoint */
  set last(last: TreeHead | TreeHeadJson | null) {
    this.#last = last === null || last === undefined ? null : treeHeadOf(last)
  }

  /**
   * Reads the newest checkpoint. It has to be signed by the key, and to continue the checkpoint that was verified last.
   * @throws ClusterdError log_mismatch, whose message says what is wrong; errors of requests; the signal's reason
   */
  async checkpoint(signal?: AbortSignal): Promise<SignedHead> {
    return this.#afterPreviousComparison(async () =>
      this.#acceptNote(
        textOf(await this.#read('checkpoint', MAX_NOTE_BYTES, signal), 'The checkpoint'),
        signal,
      ),
    )
  }

  /** Verifies a checkpoint from another source, as `checkpoint` does. @throws as `checkpoint` */
  async take(note: string, signal?: AbortSignal): Promise<SignedHead> {
    return this.#afterPreviousComparison(() => this.#acceptNote(note, signal))
  }

  async #acceptNote(note: string, signal?: AbortSignal): Promise<SignedHead> {
    const head = this.#verifyNote(note)
    const last = this.#last
    if (last?.origin === head.origin) await this.#assertGrown(last, head, signal)
    else if (last) {
      this.#assertNewer(last, head)
      if (head.origin !== this.#accept) await this.#assertFollows(last, head, signal)
    }
    const { origin, size, root } = head
    this.#last = { origin, size, root }
    return head
  }

  /** Runs comparisons one after the other, because each compares with the last checkpoint. */
  #afterPreviousComparison<T>(compare: () => Promise<T>): Promise<T> {
    const compared = this.#lastComparison.then(compare)
    this.#lastComparison = compared.catch(() => {})
    return compared
  }

  /** Verifies the log's name and the signatures of pinned key and witnesses. @throws ClusterdError log_mismatch */
  #verifyNote(note: string): SignedHead {
    const parsed = parseNote(note)
    const head = parsed && parseCheckpoint(parsed.text)
    if (!parsed || !head) throw logMismatchError('The checkpoint is not a signed one.')
    const { origin } = head
    const isOfDomain = !this.#domain || origin.startsWith(`${this.#domain}/${this.#network}/`)
    if (generationInLogName(origin, this.#network) === null || !isOfDomain)
      throw logMismatchError(`The checkpoint is of another log, ${origin}.`)
    const keyId = keyIdOf(this.#sha256, origin, this.#key)
    const candidates = parsed.signatures.filter(({ name }) => name === origin)
    const signed = candidates.find((one) => one.keyId === keyId)
    if (!signed)
      throw logMismatchError('The checkpoint is signed by other keys than the one expected.')
    if (!isTextSigned(this.#key, signed.signature, parsed.text))
      throw logMismatchError('The signature of the checkpoint is wrong.')
    const logs = [signed, ...candidates.filter((one) => one !== signed)].slice(0, KEPT_SIGNATURES)
    const others = requireWitnesses(this.#witnesses, parsed, origin)
    const signatures = [...logs, ...others]
    return { ...head, note: formatSignedNote({ text: parsed.text, signatures }) }
  }

  /**
   * Reads an event and proves by the newest checkpoint that the log has it.
   * @param id such as `m-1-42`
   * @throws ClusterdError invalid_request for an id that no event of this network can have; as `checkpoint`
   */
  async event(id: string, signal?: AbortSignal): Promise<LogEntry> {
    const eventId = parseEventId(id)
    if (eventId?.network !== this.#network)
      throw new ClusterdError('invalid_request', `No event of ${this.#network} has the id “${id}”.`)
    const head = await this.checkpoint(signal)
    const index = eventId.number
    if (eventId.generation !== generationInLogName(head.origin, this.#network))
      throw logMismatchError(`The log is ${head.origin}: event ${id} is of another generation.`)
    if (index >= head.size) throw logMismatchError(`The log has no event ${id} yet.`)
    return { index, text: await this.#readEntry(head, index, signal) }
  }

  /** Entries up to a checkpoint, in order. Each is proved by the checkpoint's tree. */
  async *entries(
    head: TreeHead | TreeHeadJson,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<LogEntry> {
    const tree = new GrowingTree(this.#tree)
    for await (const { from, texts } of this.bundles(treeHeadOf(head), { signal, tree }))
      for (const [i, text] of texts.entries()) yield { index: from + i, text }
  }

  /** Reads and verifies the entries up to `head` that `tree` does not have, and appends them. @internal for mirrors */
  async *bundles(
    head: TreeHead,
    { signal: given, tree }: { signal: AbortSignal | undefined; tree: GrowingTree },
  ): AsyncGenerator<VerifiedEntries> {
    const first = Math.floor(tree.size / TILE_WIDTH)
    const ahead: Promise<ReadBundle>[] = []
    const proved = await this.#provedTree(head, given)
    if (given?.aborted) throw abortReasonOf(given)
    const left = new AbortController()
    const { signal } = left
    const leave = () => left.abort(given?.reason)
    given?.addEventListener('abort', leave)
    const ask = (index: number): void => {
      const tile = tileAt(head.size, 0, index)
      if (!tile) return
      const bundle = this.#readBundle(head, tile, signal)
      bundle.catch(() => {})
      ahead.push(bundle)
    }
    for (let i = 0; i < BUNDLES_AHEAD; i++) ask(first + i)
    try {
      for (let index = first; tree.size < head.size; index++) {
        const { entries, leaves } = await ahead.shift()!
        ask(index + BUNDLES_AHEAD)
        const from = tree.size
        const known = from - index * TILE_WIDTH
        const tiles = tree.append(leaves.slice(known))
        // for a full bundle, the last hash on level 1 is the bundle's root
        const above = tiles.find(({ level }) => level === 1)
        await proved
          .assertBundle({ index }, leaves, above?.hashes.slice(-HASH_BYTES))
          .catch(logMismatchIn(head))
        yield { from, texts: entries.slice(known).map(entryText), tiles }
      }
    } finally {
      given?.removeEventListener('abort', leave)
      left.abort()
    }
    // the entries that `tree` had before also have to be a part of the checkpoint's tree
    if (!isSameHash(tree.root, head.root))
      throw logMismatchError(`The entries of ${head.origin} do not make its checkpoint.`)
  }

  /** Text of one entry of a checkpoint's tree. */
  async #readEntry(head: TreeHead, index: number, signal?: AbortSignal): Promise<string> {
    const tile = tileAt(head.size, 0, Math.floor(index / TILE_WIDTH))!
    const proved = await this.#provedTree(head, signal)
    const { entries, leaves } = await this.#readBundle(head, tile, signal)
    await proved.assertBundle(tile, leaves).catch(logMismatchIn(head))
    return entryText(entries[index % TILE_WIDTH]!)
  }

  #provedTree(head: TreeHead, signal?: AbortSignal): Promise<ProvedTree> {
    const read = (tiles: readonly Tile[]) => this.#readTiles(head, tiles, signal)
    return ProvedTree.open(this.#tree, head, read).catch(logMismatchIn(head))
  }

  /** Checks that a checkpoint continues an older checkpoint of the same log. */
  async #assertGrown(last: TreeHead, head: TreeHead, signal?: AbortSignal): Promise<void> {
    if (head.size < last.size)
      throw logMismatchError(
        `The checkpoint is older than the last one: ${head.size} of ${last.size} entries.`,
      )
    const ranges = last.size > 0 ? consistencyProofRanges(last.size, head.size) : []
    const tiles = await this.#readTiles(head, tilesForRanges(ranges, head.size), signal)
    const proof = ranges.map((range) => rangeHashFromTiles(this.#tree, range, tiles))
    const isSame = head.size > last.size || isSameHash(head.root, last.root)
    if (!isSame || !isConsistencyProofValid(this.#tree, last, head, proof))
      throw logMismatchError(
        `The log ${head.origin} has forked: its history is not the one of ${last.size} entries.`,
      )
  }

  /** Checks that a log is not older than the service's last log. The option `accept` does not change this. */
  #assertNewer(last: TreeHead, { origin }: TreeHead): void {
    const isOfService = domainOf(origin) === domainOf(last.origin)
    if (isOfService && this.#generationIn(origin) < this.#generationIn(last.origin))
      throw logMismatchError(`The checkpoint is of ${origin}, older than ${last.origin}.`)
  }

  /**
   * Checks that the log of a new generation begins with the end of the previous log, and that this end continues the
   * last checkpoint.
   */
  async #assertFollows(last: TreeHead, head: TreeHead, signal?: AbortSignal): Promise<void> {
    const { origin } = head
    if (head.size === 0) throw logMismatchError(`The log ${origin} has no beginning.`)
    const previous = beginningOf(head, await this.#readEntry(head, 0, signal))
    if (previous?.origin !== last.origin) {
      const isMissed =
        previous !== null && this.#generationIn(previous.origin) > this.#generationIn(last.origin)
      const why = isMissed
        ? `${previous.origin}, the generation before it, was missed`
        : 'it is another log'
      throw discontinuityError(head, `does not begin where ${last.origin} ended: ${why}`)
    }
    if (previous.size < last.size)
      throw discontinuityError(
        head,
        `begins behind entry ${previous.size} of ${last.origin}, of which ${last.size} were known: the others were lost, as where a backup is restored`,
      )
    await this.#assertGrown(last, previous, signal)
  }

  /** Reads an entry bundle, and hashes its entries. */
  async #readBundle(
    head: TreeHead,
    { index, width }: EntryBundle,
    signal: AbortSignal | undefined,
  ): Promise<ReadBundle> {
    const path = bundlePath({ index, width })
    const bytes = await this.#read(`${this.#prefix(head)}/${path}`, width * MAX_ENTRY_BYTES, signal)
    try {
      const entries = unpackBundle(bytes, width)
      return { entries, leaves: entries.map((entry) => this.#tree.leaf(entry)) }
    } catch (error) {
      return logMismatchIn(head)(error)
    }
  }

  async #readTiles(head: TreeHead, tiles: readonly Tile[], signal?: AbortSignal) {
    const hashes = await Promise.all(
      tiles.map(async (tile) => {
        const length = tile.width * HASH_BYTES
        const bytes = await this.#read(`${this.#prefix(head)}/${tilePath(tile)}`, length, signal)
        if (bytes.length !== length)
          throw logMismatchError(
            `${tilePath(tile)} of ${head.origin} has not ${tile.width} hashes.`,
          )
        return [tileKey(tile), bytes] as const
      }),
    )
    return new Map(hashes)
  }

  #generationIn = (origin: string): number => generationInLogName(origin, this.#network) ?? 0

  #prefix = ({ origin }: TreeHead): string => String(generationInLogName(origin, this.#network))

  /** Reads the bytes of a response, up to a limit. @throws ClusterdError */
  #read(path: string, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#transport.repeated({ signal }, async (limit) => {
      const url = `/v1/log/${this.#network}/${path}`
      const response = await this.#transport.open('GET', url, { signal: limit })
      const bytes = await readBytesUpTo(response, most)
      if (!bytes) throw logMismatchError(`${path} is longer than ${most} bytes.`)
      return bytes
    })
  }
}

/** A checkpoint with its root as bytes. @throws TypeError for a value that is no checkpoint */
function treeHeadOf({ origin, size, root }: TreeHead | TreeHeadJson): TreeHead {
  const bytes = typeof root === 'string' ? fromBase64(root) : root
  const isRoot = bytes instanceof Uint8Array && bytes.length === HASH_BYTES
  if (typeof origin === 'string' && Number.isSafeInteger(size) && size >= 0 && isRoot)
    return { origin, size, root: bytes }
  throw new TypeError('This is no checkpoint: keep `reader.last`.')
}

/** Entries of a bundle, and their hashes. */
interface ReadBundle {
  entries: Uint8Array[]
  leaves: Uint8Array[]
}

/** Text of signed bytes. @throws ClusterdError log_mismatch for bytes that are not UTF-8 */
function textOf(bytes: Uint8Array, what: string): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw logMismatchError(`${what} is not UTF-8.`, cause)
  }
}

const entryText = (entry: Uint8Array): string => textOf(entry, 'An entry of the log')

/**
 * Parses a log's first entry.
 * @returns last checkpoint of the previous log, null for a network's first log
 * @throws ClusterdError log_mismatch
 */
function beginningOf({ origin }: TreeHead, text: string): TreeHead | null {
  try {
    return readBeginningLeaf(text, origin)
  } catch (cause) {
    throw logMismatchError(`The first entry of ${origin} is not its beginning.`, cause)
  }
}

/** Creates an error handler. @throws ClusterdError log_mismatch for malformed bytes; other errors unchanged */
const logMismatchIn =
  ({ origin }: TreeHead) =>
  (error: unknown): never => {
    throw error instanceof RangeError
      ? logMismatchError(`The log ${origin}: ${error.message}.`, error)
      : error
  }

const domainOf = (origin: string): string => origin.split('/', 1)[0]!

/** Error of a log that does not continue the last checkpoint. The message says how to accept the log nevertheless. */
const discontinuityError = ({ origin }: TreeHead, why: string): ClusterdError =>
  logMismatchError(`The log ${origin} ${why}. To go on with it nevertheless, accept ${origin}.`)
