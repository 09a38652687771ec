import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { type Cipher, cipherOf, PLAIN, SALT_BYTES } from './cipher.js'

/**
 * An export file: `MAGIC`, then frames. A frame is its kind (one byte), the length of its content (four bytes, big
 * endian), the content, and a checksum: SHA-256 over the checksum before it (of `MAGIC` for the first), kind, length
 * and content. So each frame is checked by itself, and the last one's checksum is of the whole file. A segment begins
 * with its salt; what was cut is gone on with by another segment. Contents are JSON behind its length (four bytes),
 * then bytes; packed by gzip, then sealed (`cipher.ts`).
 */
const MAGIC = Buffer.from('clusterd export 1\n')
/** Kinds: a segment that is sealed, one that is not, a frame of it, the last one. */
const KIND = { sealed: 0x53, plain: 0x50, data: 0x44, end: 0x45 } as const
const HEAD_BYTES = 5
const CHECK_BYTES = 32
/** Pieces are of a megabyte and one row: a stranger's file must not fill the memory with more. */
const MAX_CONTENT_BYTES = 64 << 20
/** Level of gzip: bodies are mostly hashes and addresses, which a higher one packs no better. */
const LEVEL = 1

/** What is written: fields, and bytes that belong to them. */
export interface Frame<Fields = unknown> {
  fields: Fields
  bytes: Buffer
}

/** A frame as it was read. */
export interface ReadFrame<Fields> extends Frame<Fields> {
  isEnd: boolean
  /** Position behind the frame in the file, and the checksum up to there. */
  end: number
  checksum: Buffer
}

/** Thrown for a file that is not whole, with one sentence that says what to do. */
export class BrokenExportError extends Error {
  override name = 'BrokenExportError'
}

/** Thrown for a file that ends too early. */
export class CutExportError extends BrokenExportError {}

const packed = promisify(gzip)
const unpacked = promisify(gunzip)

const sha256 = (...parts: Buffer[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Where a file goes on: at its beginning, or behind whole frames. */
export interface Resumed {
  end: number
  checksum: Buffer
}

/** Writes an export file, frame by frame. */
export class ExportWriter {
  readonly #file: fs.FileHandle
  readonly #cipher: Cipher
  #checksum: Buffer
  #position: number
  #frames = 0

  private constructor(file: fs.FileHandle, cipher: Cipher, { end, checksum }: Resumed) {
    this.#file = file
    this.#cipher = cipher
    this.#checksum = checksum
    this.#position = end
  }

  /**
   * Begins a file that nobody but its owner may read, or goes on with one: what stands behind its whole frames goes.
   * @param key seals the frames; null leaves them in the clear
   * @throws Error with code EEXIST where a file to begin exists
   */
  static async open(path: string, key: Buffer | null, resumed: Resumed | null): Promise<ExportWriter> {
    const file = await fs.open(path, resumed ? 'r+' : 'wx', 0o600)
    const salt = randomBytes(SALT_BYTES)
    const start = resumed ?? { end: MAGIC.length, checksum: sha256(MAGIC) }
    const writer = new ExportWriter(file, key ? cipherOf(key, salt) : PLAIN, start)
    await file.truncate(start.end)
    if (!resumed) await file.write(MAGIC, 0, MAGIC.length, 0)
    await writer.#put(key ? KIND.sealed : KIND.plain, salt)
    return writer
  }

  /** Adds a frame. */
  write = (frame: Frame): Promise<void> => this.#add(KIND.data, frame)

  /** Adds the last frame, and waits for the disk. @returns the checksum of the whole, and the file's length */
  async end(fields: unknown): Promise<{ checksum: Buffer; bytes: number }> {
    await this.#add(KIND.end, { fields, bytes: Buffer.alloc(0) })
    await this.#file.sync()
    return { checksum: this.#checksum, bytes: this.#position }
  }

  close = (): Promise<void> => this.#file.close()

  async #add(kind: number, { fields, bytes }: Frame): Promise<void> {
    const json = Buffer.from(JSON.stringify(fields))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(json.length)
    const content = await packed(Buffer.concat([length, json, bytes]), { level: LEVEL })
    await this.#put(kind, this.#cipher.seal(this.#frames++, contextOf(this.#checksum, kind), content))
  }

  async #put(kind: number, content: Buffer): Promise<void> {
    const head = headOf(kind, content.length)
    this.#checksum = sha256(this.#checksum, head, content)
    const frame = Buffer.concat([head, content, this.#checksum])
    await this.#file.write(frame, 0, frame.length, this.#position)
    this.#position += frame.length
  }
}

function headOf(kind: number, length: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = kind
  head.writeUInt32BE(length, 1)
  return head
}

const contextOf = (checksum: Buffer, kind: number): Buffer => Buffer.concat([checksum, Buffer.from([kind])])

/**
 * Reads the frames of an export, each after its checksum.
 * @param key that the frames are sealed under, null for none
 * @throws BrokenExportError for a file that is no export, cut, changed, or sealed under another key
 */
export async function* readFrames<Fields>(path: string, key: Buffer | null): AsyncGenerator<ReadFrame<Fields>> {
  const file = await fs.open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new BrokenExportError(`${path} can't be read (${error.code}): name an export that \`clusterd export\` made.`)
  })
  try {
    yield* framesOf<Fields>({ file, path, size: (await file.stat()).size }, key)
  } finally {
    await file.close()
  }
}

interface Source {
  file: fs.FileHandle
  path: string
  size: number
}

async function* framesOf<Fields>(source: Source, key: Buffer | null): AsyncGenerator<ReadFrame<Fields>> {
  const { path } = source
  const magic = await readAt(source, 0, MAGIC.length)
  if (!magic?.equals(MAGIC)) throw new BrokenExportError(`${path} is no export of this version of \`clusterd export\`.`)
  let checksum = sha256(MAGIC)
  let cipher: Cipher | null = null
  let number = 0
  for (let end = MAGIC.length; ; ) {
    const { kind, content, next } = await readFrame(source, { end, checksum })
    const context = contextOf(checksum, kind)
    ;({ end, checksum } = next)
    if (kind === KIND.sealed || kind === KIND.plain) {
      cipher = openSegment(path, kind === KIND.sealed, content, key)
      number = 0
      continue
    }
    if (!cipher) throw damaged(path, end)
    const frame = await opened<Fields>(cipher, number++, context, content).catch(() => null)
    if (!frame) throw key ? wrongKey(path) : damaged(path, end)
    const isEnd = kind === KIND.end
    yield { ...frame, isEnd, end, checksum }
    if (!isEnd) continue
    if (source.size > end) throw damaged(path, end)
    return
  }
}

interface RawFrame {
  kind: number
  content: Buffer
  next: Resumed
}

async function readFrame(source: Source, { end, checksum }: Resumed): Promise<RawFrame> {
  const { path } = source
  const head = await readAt(source, end, HEAD_BYTES)
  if (!head) throw cut(path, end)
  const [kind, length] = [head[0]!, head.readUInt32BE(1)]
  if (!Object.values(KIND).some((known) => known === kind)) throw damaged(path, end)
  const content = await readAt(source, end + HEAD_BYTES, length)
  const check = await readAt(source, end + HEAD_BYTES + length, CHECK_BYTES)
  if (!content || !check) throw cut(path, end)
  if (!check.equals(sha256(checksum, head, content))) throw damaged(path, end)
  return { kind, content, next: { end: end + HEAD_BYTES + length + CHECK_BYTES, checksum: check } }
}

function openSegment(path: string, isSealed: boolean, salt: Buffer, key: Buffer | null): Cipher {
  if (!isSealed && key) throw new BrokenExportError(`${path} is not encrypted: leave out --key-file to read it.`)
  if (!isSealed) return PLAIN
  if (!key) throw new BrokenExportError(`${path} is encrypted: name the file with its key, --key-file.`)
  return cipherOf(key, salt)
}

async function opened<Fields>(cipher: Cipher, number: number, context: Buffer, sealed: Buffer): Promise<Frame<Fields>> {
  const content = await unpacked(cipher.open(number, context, sealed), {
    ...{ finishFlush: constants.Z_FINISH, maxOutputLength: MAX_CONTENT_BYTES },
  })
  const length = content.readUInt32BE(0)
  const fields = JSON.parse(content.toString('utf8', 4, 4 + length)) as Fields
  return { fields, bytes: content.subarray(4 + length) }
}

/** Bytes at a position, null where the file ends before their end. */
async function readAt({ file, size }: Source, position: number, length: number): Promise<Buffer | null> {
  if (position + length > size) return null
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) return null
    done += bytesRead
  }
  return bytes
}

const cut = (path: string, end: number): Error =>
  new CutExportError(`${path} is cut behind byte ${end}: \`clusterd export --resume\` writes the rest of it.`)
const damaged = (path: string, end: number): Error =>
  new BrokenExportError(`${path} is damaged behind byte ${end}: take another copy, or export again.`)
const wrongKey = (path: string): Error =>
  new BrokenExportError(`${path} does not open with this key: name the file with its own, --key-file.`)
