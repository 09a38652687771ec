import { type FilledTile, GrowingTree } from '../registry/log/append.js'
import {
  fromBase64,
  parseCheckpoint,
  parseNote,
  type TreeHead,
  verifierKey,
} from '../registry/log/note.js'
import {
  bundlePath,
  hashOfRange,
  keyOfTile,
  TILE_WIDTH,
  type Tile,
  tileIn,
  tilePath,
  tilesFor,
  unpackBundle,
} from '../registry/log/tiles.js'
import {
  consistencyRanges,
  createTreeHash,
  HASH_BYTES,
  inclusionRanges,
  isConsistent,
  isSameHash,
  rootByInclusion,
  type Sha256,
} from '../registry/log/tree.js'
import { ClusterdError, unreachable } from './error.js'
import { sha256 } from './sha256.js'
import type { Transport } from './transport.js'

export type { TreeHead }

/** A log's tree, and the note that signs it. */
export interface SignedHead extends TreeHead {
  note: string
}

/** An entry of the log, as its JSON says it. */
export interface LogEntry {
  /** Place in the log: that of the beginning is 0, that of an event its number. */
  index: number
  /** Bytes that are hashed, as text. */
  text: string
}

export interface LogOptions {
  /** Public key of the service's logs, from elsewhere than the service: 32 bytes in base64. */
  key: string
  /** Default: that of the client. */
  network?: 'mainnet' | 'testnet'
  /** Checkpoint that was verified last: the log may only have grown since. */
  last?: TreeHead | undefined
  /** In place of the one in JavaScript. */
  sha256?: Sha256 | undefined
}

export interface EntriesOptions {
  signal?: AbortSignal | undefined
  /** Tree of the entries that are known already; default: of none. */
  tree?: GrowingTree | undefined
  /** Takes the tiles that each bundle makes longer. */
  onTiles?(tiles: readonly FilledTile[]): void
}

/** Longest entry, note and other answer that are read, bytes. */
const MOST_ENTRY = 8_192
const MOST_NOTE = 65_536
/** Bundles that are asked for ahead. */
const AHEAD = 8
const KEY_BYTES = 32

/** Reader of a service's log: what it gives was verified by the pinned key and the checkpoint before. */
export class LogReader {
  /** Checkpoint that was verified last. */
  last: TreeHead | null
  readonly #transport: Transport
  readonly #network: string
  readonly #key: Uint8Array
  readonly #sha256: Sha256
  readonly #tree: ReturnType<typeof createTreeHash>

  /** @throws TypeError for a key that is none */
  constructor(transport: Transport, options: LogOptions) {
    const key = fromBase64(options.key)
    if (key?.length !== KEY_BYTES)
      throw new TypeError(`The key of a log is 32 bytes in base64, not “${options.key}”.`)
    this.#key = key
    this.#transport = transport
    this.#network = options.network ?? transport.network
    this.#sha256 = options.sha256 ?? sha256
    this.#tree = createTreeHash(this.#sha256)
    this.last = options.last ?? null
  }

  /**
   * The newest checkpoint: signed by the key, and a continuation of the last one.
   * @throws ClusterdError log_mismatch, whose message names what is wrong
   */
  async checkpoint(signal?: AbortSignal): Promise<SignedHead> {
    const bytes = await this.#get('checkpoint', MOST_NOTE, signal)
    const head = await this.verified(textOf(bytes))
    const { last } = this
    if (last && last.origin !== head.origin) await this.#assertFollows(last, head, signal)
    else if (last) await this.#assertGrown(last, head, signal)
    this.last = head
    return head
  }

  /** Head of a note that the key has signed under the log's name. @throws ClusterdError log_mismatch */
  async verified(note: string): Promise<SignedHead> {
    const parsed = parseNote(note)
    const head = parsed && parseCheckpoint(parsed.text)
    if (!parsed || !head) throw mismatch('The checkpoint is not a signed one.')
    if (!generationOf(head.origin, this.#network))
      throw mismatch(`The checkpoint is of another log, ${head.origin}.`)
    const [, id] = verifierKey(this.#sha256, head.origin, this.#key).split('+')
    const signed = parsed.signatures.find(
      ({ name, keyId }) => name === head.origin && keyId === Number.parseInt(id!, 16),
    )
    if (!signed) throw mismatch('The checkpoint is signed by other keys than the one expected.')
    const key = await crypto.subtle.importKey('raw', this.#key.slice(), 'Ed25519', false, [
      'verify',
    ])
    const text = new TextEncoder().encode(parsed.text)
    if (!(await crypto.subtle.verify('Ed25519', key, signed.signature.slice(), text)))
      throw mismatch('The signature of the checkpoint is wrong.')
    return Object.assign(head, { note })
  }

  /** An event that the newest checkpoint proves. @param id as `m-1-42` */
  async event(id: string, signal?: AbortSignal): Promise<LogEntry> {
    const [, generation, number] = /^[mt]-(\d+)-(\d+)$/.exec(id) ?? []
    const head = await this.checkpoint(signal)
    const index = Number(number)
    if (Number(generation) !== generationOf(head.origin, this.#network))
      throw mismatch(`The log is ${head.origin}: event ${id} is of another generation.`)
    const bundle = tileIn(head.size, 0, Math.floor(index / TILE_WIDTH))
    if (!bundle || index >= head.size) throw mismatch(`The log has no event ${id} yet.`)
    const entries = await this.#bundle(head, bundle, signal)
    const entry = entries[index % TILE_WIDTH]!
    await this.#assertIncluded(head, index, entry, signal)
    return { index, text: textOf(entry) }
  }

  /**
   * Entries up to a checkpoint, in their order, whose tree it proves: it fails at the end, where they do not make its
   * root, so what came before counts only then.
   */
  async *entries(
    head: TreeHead,
    { signal, tree = new GrowingTree(this.#tree), onTiles }: EntriesOptions = {},
  ): AsyncGenerator<LogEntry> {
    const first = Math.floor(tree.size / TILE_WIDTH)
    const ahead: Promise<Uint8Array[]>[] = []
    const ask = (index: number): void => {
      const tile = tileIn(head.size, 0, index)
      if (!tile) return
      const asked = this.#bundle(head, tile, signal)
      asked.catch(() => {})
      ahead.push(asked)
    }
    for (let i = 0; i < AHEAD; i++) ask(first + i)
    for (let index = first; tree.size < head.size; index++) {
      const entries = await ahead.shift()!
      ask(index + AHEAD)
      const fresh = entries.slice(tree.size - index * TILE_WIDTH)
      const from = tree.size
      const tiles = tree.append(fresh.map((entry) => this.#tree.leaf(entry)))
      onTiles?.(tiles)
      for (const [i, entry] of fresh.entries()) yield { index: from + i, text: textOf(entry) }
    }
    if (!isSameHash(tree.root, head.root))
      throw mismatch(`The entries of ${head.origin} do not make its checkpoint.`)
  }

  async #assertIncluded(
    head: TreeHead,
    index: number,
    entry: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    const { size, root } = head
    const ranges = inclusionRanges(index, size)
    const tiles = await this.#tiles(head, tilesFor(ranges, size), signal)
    const proof = ranges.map((range) => hashOfRange(this.#tree, range, tiles))
    const made = rootByInclusion(this.#tree, this.#tree.leaf(entry), { index, size }, proof)
    if (!made || !isSameHash(made, root))
      throw mismatch(`Entry ${index} of ${head.origin}, or a tile beside it, was altered.`)
  }

  /** A checkpoint of the same log continues an older one. */
  async #assertGrown(last: TreeHead, head: TreeHead, signal?: AbortSignal): Promise<void> {
    if (head.size < last.size)
      throw mismatch(
        `The checkpoint is older than the last one: ${head.size} of ${last.size} entries.`,
      )
    const ranges = last.size > 0 ? consistencyRanges(last.size, head.size) : []
    const tiles = await this.#tiles(head, tilesFor(ranges, head.size), signal)
    const proof = ranges.map((range) => hashOfRange(this.#tree, range, tiles))
    const isSame = head.size > last.size || isSameHash(head.root, last.root)
    if (!isSame || !isConsistent(this.#tree, last, head, proof))
      throw mismatch(
        `The log ${head.origin} has forked: its history is not the one of ${last.size} entries.`,
      )
  }

  /** The log of a new generation begins with the end of the last one, which continues what is known of it. */
  async #assertFollows(last: TreeHead, head: TreeHead, signal?: AbortSignal): Promise<void> {
    const before = generationOf(last.origin, this.#network) ?? 0
    if (generationOf(head.origin, this.#network)! < before)
      throw mismatch(`The checkpoint is of ${head.origin}, older than ${last.origin}.`)
    const entries = await this.#bundle(head, tileIn(head.size, 0, 0)!, signal)
    await this.#assertIncluded(head, 0, entries[0]!, signal)
    const { previous } = JSON.parse(textOf(entries[0]!))
    const root = fromBase64(String(previous?.root))
    const isKnown = previous?.origin === last.origin && previous.size >= last.size && root
    if (!isKnown)
      throw mismatch(`The log ${head.origin} does not begin where ${last.origin} ended.`)
    await this.#assertGrown(last, { origin: last.origin, size: previous.size, root }, signal)
  }

  async #bundle(
    head: TreeHead,
    { index, width }: Tile,
    signal?: AbortSignal,
  ): Promise<Uint8Array[]> {
    const path = bundlePath({ index, width })
    const bytes = await this.#get(`${this.#below(head)}/${path}`, width * MOST_ENTRY, signal)
    try {
      return unpackBundle(bytes, width)
    } catch (cause) {
      throw mismatch(`${path} of ${head.origin} is no bundle of ${width} entries.`, cause)
    }
  }

  async #tiles(head: TreeHead, tiles: readonly Tile[], signal?: AbortSignal) {
    const found = await Promise.all(
      tiles.map(async (tile) => {
        const length = tile.width * HASH_BYTES
        const bytes = await this.#get(`${this.#below(head)}/${tilePath(tile)}`, length, signal)
        if (bytes.length !== length)
          throw mismatch(`${tilePath(tile)} of ${head.origin} has not ${tile.width} hashes.`)
        return [keyOfTile(tile), bytes] as const
      }),
    )
    return new Map(found)
  }

  #below = ({ origin }: TreeHead): string => String(generationOf(origin, this.#network))

  /** Bytes of an answer, up to so many: an endless or packed one ends there. @throws ClusterdError */
  #get(path: string, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#transport.repeated({ signal }, async (limit) => {
      const url = `/v1/log/${this.#network}/${path}`
      const response = await this.#transport.open('GET', url, { signal: limit })
      const chunks: Uint8Array[] = []
      let length = 0
      // not every browser iterates a stream
      const reader = response.body?.getReader()
      for (;;) {
        const { done, value } = (await reader?.read().catch(unreachable)) ?? { done: true }
        if (done) break
        length += value.length
        if (length > most) {
          void reader!.cancel().catch(() => {})
          throw mismatch(`${path} is longer than ${most} bytes.`)
        }
        chunks.push(value)
      }
      const bytes = new Uint8Array(length)
      let at = 0
      for (const chunk of chunks) {
        bytes.set(chunk, at)
        at += chunk.length
      }
      return bytes
    })
  }
}

// a mark of the byte order is part of the text: it changes the hash
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Generation that a log's name ends with; null for a log of another network. */
export function generationOf(origin: string, network: string): number | null {
  const [, ofNetwork, generation] = /\/(mainnet|testnet)\/([1-9]\d{0,8})$/.exec(origin) ?? []
  return ofNetwork === network ? Number(generation) : null
}

export const mismatch = (message: string, cause?: unknown): ClusterdError =>
  new ClusterdError('log_mismatch', message, { cause })
