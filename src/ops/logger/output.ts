import fs from 'node:fs'

/** Maximum size of the lines that wait for a slow reader or disk, bytes. Further lines are dropped. */
const MAX_WAITING_BYTES = 2 ** 24
/** Number of attempts to write at the end of the process: with the pauses, half a second. */
const MAX_FLUSH_ATTEMPTS = 50
/** Pause before a write to a full pipe is tried again. */
const RETRY_PAUSE_MS = 10

/**
 * Destination of the logger: a file descriptor that is written to without waiting. A write never ends or blocks the
 * process, while pino's own destination throws on a full disk and retries for ever at exit. Lines that find no room in
 * a pipe or on a disk are written with a later line. While more than `MAX_WAITING_BYTES` wait, new lines are dropped. A
 * pipe without a reader gets nothing.
 */
export class LoggerOutput {
  readonly #fd: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isWriting = false
  #isClosed = false

  constructor(fd: number) {
    this.#fd = fd
    process.once('exit', () => this.flushSync())
  }

  write(line: string): void {
    if (this.#isClosed || this.#waitingBytes > MAX_WAITING_BYTES) return
    this.#enqueue(Buffer.from(line))
    if (!this.#isWriting) this.#writeNext()
  }

  /** Writes waiting lines, as many as the reader or the disk takes. */
  flushSync(): void {
    // an asynchronous write continues meanwhile, in a thread of Node.js
    if (this.#isWriting) blockProcess(RETRY_PAUSE_MS)
    for (let tries = 0; this.#waiting.length > 0 && tries < MAX_FLUSH_ATTEMPTS; ) {
      const next = this.#takeAll()
      try {
        this.#requeueRest(next, fs.writeSync(this.#fd, next))
      } catch (error) {
        this.#requeueRest(next, 0)
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        tries += 1
        blockProcess(RETRY_PAUSE_MS)
      }
    }
  }

  #writeNext(): void {
    const next = this.#takeAll()
    this.#isWriting = true
    fs.write(this.#fd, next, (error, written) => {
      this.#isWriting = false
      this.#isClosed = error?.code === 'EPIPE'
      const done = error ? 0 : written
      this.#requeueRest(next, this.#isClosed ? next.length : done)
      if (error?.code === 'EAGAIN')
        setTimeout(() => this.#isWriting || this.#writeWaiting(), RETRY_PAUSE_MS).unref()
      else if (!error) this.#writeWaiting()
    })
  }

  #writeWaiting(): void {
    if (this.#waiting.length > 0) this.#writeNext()
  }

  #enqueue(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
  }

  #takeAll(): Buffer {
    const next = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return next
  }

  /** Queues the unwritten part of a write again, before lines that were added meanwhile. */
  #requeueRest(bytes: Buffer, written: number): void {
    if (written === bytes.length) return
    const left = bytes.subarray(written)
    this.#waiting.unshift(left)
    this.#waitingBytes += left.length
  }
}

/** Blocks the process, which is about to end, for some ms. */
function blockProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
