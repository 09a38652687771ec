import { createHash } from 'node:crypto'
import { NOBODY } from '../../../registry/primitives/address.js'
import type { ActorPage, ArchiveFile, ArchiveWriter } from './file.js'

/**
 * Pairs of an actor and the number of a block that has public events of it, sorted, so that a wallet's own feed reads
 * its blocks alone. A pair is the first six bytes of the actor's SHA-256, then the block, two bytes: actors that share
 * six bytes cost a block that is read in vain.
 */
const PAIR_BYTES = 8
const HASH_BYTES = 6
const MAX_BLOCK = 0xffff
const PAIRS_A_PAGE = 4_096

const hashOf = (actor: Buffer): bigint =>
  BigInt(createHash('sha256').update(actor).digest().readUIntBE(0, HASH_BYTES)) << 16n
const keyOf = (pair: bigint): string => pair.toString(16).padStart(2 * PAIR_BYTES, '0')

/** Collects the pairs of a file. */
export class ActorPairs {
  #pairs = new BigUint64Array(1 << 16)
  #length = 0

  /** @param actors of the public entries of a block; null for a private one, whom the feed shows as nobody */
  add(block: number, actors: Iterable<Buffer | null>): void {
    if (block > MAX_BLOCK) throw new RangeError(`an archive has no block ${block}`)
    const hashes = new Set([...actors].map((actor) => hashOf(actor ?? NOBODY)))
    for (const hash of hashes) {
      if (this.#length === this.#pairs.length) {
        const longer = new BigUint64Array(2 * this.#length)
        longer.set(this.#pairs)
        this.#pairs = longer
      }
      this.#pairs[this.#length++] = hash | BigInt(block)
    }
  }

  /** Writes the pages. */
  async write(writer: ArchiveWriter): Promise<ActorPage[]> {
    const sorted = this.#pairs.subarray(0, this.#length).sort()
    const pages: ActorPage[] = []
    for (let from = 0; from < sorted.length; from += PAIRS_A_PAGE) {
      const page = sorted.subarray(from, from + PAIRS_A_PAGE)
      const plain = Buffer.alloc(page.length * PAIR_BYTES)
      for (const [i, pair] of page.entries()) plain.writeBigUInt64BE(pair, i * PAIR_BYTES)
      pages.push({ ...(await writer.add(plain)), key: keyOf(page[0]!) })
    }
    return pages
  }
}

/** Numbers of the blocks that may have public events of an actor, ascending. */
export async function blocksOf(file: ArchiveFile, pages: readonly ActorPage[], actor: Buffer): Promise<number[]> {
  const first = hashOf(actor)
  const last = first | BigInt(MAX_BLOCK)
  const blocks: number[] = []
  for (const [i, page] of pages.entries()) {
    const next = pages[i + 1]
    if (page.key > keyOf(last) || (next && next.key < keyOf(first))) continue
    const plain = await file.read(page)
    for (let at = 0; at < plain.length; at += PAIR_BYTES) {
      const pair = plain.readBigUInt64BE(at)
      if (pair >= first && pair <= last) blocks.push(Number(pair - first))
    }
  }
  return blocks
}
