import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Network } from '../../../registry/primitives/network.js'

/**
 * An archive file: `MAGIC`, blocks of entries, pages of actors, the index, and the trailer (the index's position, eight
 * bytes, its length, four, both big endian, and its SHA-256). Each of them is packed by gzip, and the index, JSON, has
 * where each begins, its lengths and its SHA-256: one can be read alone, and nothing else lies between. A block is a
 * whole COPY in PostgreSQL's binary format. Nobody writes to a file that has its name.
 */
const MAGIC = Buffer.from('clusterd archive 1\n')
const TRAILER_BYTES = 44
/** Bounds of what is read at once: a damaged or strange file must not fill the memory. */
const MAX_BYTES = 64 << 20
/** What is written once and kept for years is packed well; a higher level hardly packs hashes any better. */
const LEVEL = 6

/** Part of a file. */
export interface Piece {
  /** Position in the file, and length there, bytes. */
  at: number
  bytes: number
  /** Length unpacked. */
  plain: number
  /** Of the bytes in the file, hex. */
  sha256: string
}

export interface Block extends Piece {
  /** Number of its first entry. */
  seq: number
  /** Number of the first event that it may have, and that behind its last. */
  event: number
  eventEnd: number
  /** Time of its last entry, ms. */
  lastMs: number
}

/** Pairs of an actor and a block that has public events of it (`actors.ts`). */
export interface ActorPage extends Piece {
  /** The first pair, hex. */
  key: string
}

export interface ArchiveIndex {
  network: Network
  generation: number
  /** Numbers of the first and the last entry. */
  first: number
  last: number
  /** Columns of each block, joined by commas. */
  columns: string
  /** Migrations of the database that wrote it. */
  migrations: string[]
  /** Hash over the effects of its entries, hex (`src/db/journal/stateHash.ts`). */
  entriesHash: string
  blocks: Block[]
  actors: ActorPage[]
}

/** Thrown for a file that is not what was written, or can't be read; its message names the file. */
export class BrokenArchiveError extends Error {
  override name = 'BrokenArchiveError'
}

const packed = promisify(gzip)
const unpacked = promisify(gunzip)
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

/** Writes a file from its beginning to its end. */
export class ArchiveWriter {
  readonly #file: fs.FileHandle
  readonly #hash = createHash('sha256')
  #end = 0

  private constructor(file: fs.FileHandle) {
    this.#file = file
  }

  /** Begins a file anew, which only its owner may read. */
  static async open(path: string): Promise<ArchiveWriter> {
    const writer = new ArchiveWriter(await fs.open(path, 'w', 0o600))
    await writer.#append(MAGIC)
    return writer
  }

  async add(plain: Buffer): Promise<Piece> {
    const bytes = (await packed(plain, { level: LEVEL })) as Buffer
    const piece = { at: this.#end, bytes: bytes.length, plain: plain.length, sha256: sha256(bytes).toString('hex') }
    await this.#append(bytes)
    return piece
  }

  /** Writes index and trailer, and lets all reach the disk. */
  async end(index: ArchiveIndex): Promise<{ bytes: number; fileHash: Buffer; indexHash: Buffer }> {
    const { at, bytes, sha256: hash } = await this.add(Buffer.from(JSON.stringify(index)))
    const indexHash = Buffer.from(hash, 'hex')
    const trailer = Buffer.alloc(TRAILER_BYTES)
    trailer.writeBigUInt64BE(BigInt(at))
    trailer.writeUInt32BE(bytes, 8)
    indexHash.copy(trailer, 12)
    await this.#append(trailer)
    await this.#file.sync()
    return { bytes: this.#end, fileHash: this.#hash.digest(), indexHash }
  }

  close = (): Promise<void> => this.#file.close()

  async #append(bytes: Buffer): Promise<void> {
    await this.#file.writeFile(bytes)
    this.#hash.update(bytes)
    this.#end += bytes.length
  }
}

/** Reads pieces of a file. */
export class ArchiveFile {
  readonly path: string
  readonly #file: fs.FileHandle

  private constructor(path: string, file: fs.FileHandle) {
    this.path = path
    this.#file = file
  }

  /** Opens a file for the time of `work`. @throws BrokenArchiveError where it is missing, or no piece is what it was */
  static async with<T>(path: string, work: (file: ArchiveFile) => Promise<T>): Promise<T> {
    const handle = await fs.open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      throw new BrokenArchiveError(`${path} can't be read (${error.code}).`, { cause: error })
    })
    try {
      return await work(new ArchiveFile(path, handle))
    } finally {
      await handle.close()
    }
  }

  /** The index, with its hash. */
  async index(): Promise<{ index: ArchiveIndex; indexHash: Buffer }> {
    const { size } = await this.#file.stat()
    if (size < MAGIC.length + TRAILER_BYTES || !(await this.#bytes(0, MAGIC.length)).equals(MAGIC))
      throw this.#broken('is no archive')
    const trailer = await this.#bytes(size - TRAILER_BYTES, TRAILER_BYTES)
    const [at, bytes] = [Number(trailer.readBigUInt64BE()), trailer.readUInt32BE(8)]
    if (at + bytes + TRAILER_BYTES !== size) throw this.#broken('is cut')
    const indexHash = trailer.subarray(12)
    const plain = await this.#unpacked({ at, bytes, plain: MAX_BYTES, sha256: indexHash.toString('hex') })
    return { index: JSON.parse(plain.toString()) as ArchiveIndex, indexHash }
  }

  /** The bytes of a piece, unpacked. */
  async read(piece: Piece): Promise<Buffer> {
    const plain = await this.#unpacked(piece)
    if (plain.length !== piece.plain) throw this.#broken('is damaged')
    return plain
  }

  /** SHA-256 of the whole file. */
  async hash(): Promise<Buffer> {
    const hash = createHash('sha256')
    for await (const chunk of this.#file.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer)
    return hash.digest()
  }

  async #unpacked({ at, bytes, plain, sha256: hash }: Piece): Promise<Buffer> {
    const content = await this.#bytes(at, bytes)
    if (sha256(content).toString('hex') !== hash) throw this.#broken('is damaged')
    const options = { maxOutputLength: Math.min(plain, MAX_BYTES) }
    return unpacked(content, options).catch(() => {
      throw this.#broken('is damaged')
    }) as Promise<Buffer>
  }

  async #bytes(at: number, length: number): Promise<Buffer> {
    if (length > MAX_BYTES) throw this.#broken('is damaged')
    const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(length), 0, length, at)
    if (bytesRead < length) throw this.#broken('is cut')
    return buffer
  }

  #broken = (what: string): BrokenArchiveError =>
    new BrokenArchiveError(`${this.path} ${what}: put the file back from a copy.`)
}
