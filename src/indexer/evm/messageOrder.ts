import type pg from 'pg'
import { packetPlace } from '../../chains/evm/bridge/packet.js'
import type { EvmChain } from '../../chains/evm/chain.js'
import { newestConfirmedMessage } from '../../db/bridge/messages.js'
import type { ChainRow } from '../../db/chains.js'
import type { SentMessage } from '../../registry/bridge/message.js'
import { fetchRange } from './fetchRange.js'
import type { RangeWidth } from './width.js'

/**
 * The messages of a spoke count 1, 2, 3, … (a packet's nonce on its path, LayerZero V2): a jump is a log that a node left out.
 * The hub executes a path's packets in their order, so that one message missing here would hold up all later ones.
 */
export interface MessageOrder {
  /**
   * @param sent messages of confirmed blocks, in order, behind all that were taken before
   * @returns these, with what was left out before each
   * @throws Error where the chain's headers and logs have no message for a number
   */
  complete(sent: readonly SentMessage[]): Promise<SentMessage[]>
  /** They are committed. */
  taken(sent: readonly SentMessage[]): void
  /** What the database holds is not known: it is asked again. */
  forget(): void
}

/** The place of a message: which it is on its path, and its block. */
interface Place {
  nonce: bigint
  /** srcEid, sender, dstEid and receiver, as they stand in the packet. */
  path: Buffer
  block: number
}

/** So many blocks are held against their headers at once. */
const CHUNK_BLOCKS = 512

export function createMessageOrder(pool: pg.Pool, chain: EvmChain, row: ChainRow, width: RangeWidth): MessageOrder {
  let newest: Place | null | undefined

  const load = async (): Promise<Place | null> => {
    const message = await newestConfirmedMessage(pool, row.network, row.chain)
    return message && placeOf(message)
  }

  /** Every message of blocks `from` to `to`: each block's logs are held against its header. */
  const readAgain = async (from: number, to: number): Promise<SentMessage[]> => {
    const found: SentMessage[] = []
    for (let first = from; first <= to; first += CHUNK_BLOCKS) {
      const last = Math.min(to, first + CHUNK_BLOCKS - 1)
      const range = await fetchRange({ chain, width, checkFrom: first }, first, last)
      found.push(...range.decoded.sent)
    }
    return found
  }

  /** The messages between two of a path. Before the first that is known, a spoke that was watched later may have none. */
  const between = async (before: Place | null, after: Place): Promise<SentMessage[]> => {
    const start = before ?? { nonce: 0n, path: after.path, block: chain.config.startBlock }
    if (!start.path.equals(after.path) || after.nonce === start.nonce + 1n) return []
    const isBetween = ({ nonce, path }: Place) => path.equals(after.path) && nonce > start.nonce && nonce < after.nonce
    const found = (await readAgain(start.block, after.block)).filter((message) => isBetween(placeOf(message)))
    if (before && BigInt(found.length) !== after.nonce - before.nonce - 1n) {
      throw new Error(
        `chain "${row.label}": between messages ${before.nonce} (block ${before.block}) and ${after.nonce} (block ${after.block}) some are missing: its nodes do not give all logs`,
      )
    }
    return found
  }

  return {
    async complete(sent) {
      if (sent.length === 0) return []
      newest ??= await load()
      let before: Place | null = newest
      const all: SentMessage[] = []
      for (const message of sent) {
        const place = placeOf(message)
        // what was taken before may be confirmed again after a restart
        if (before === null || place.nonce > before.nonce || !place.path.equals(before.path)) {
          all.push(...(await between(before, place)))
          before = place
        }
        all.push(message)
      }
      return all
    },
    taken(sent) {
      const last = sent.at(-1)
      if (last) newest = placeOf(last)
    },
    forget() {
      newest = undefined
    },
  }
}

const placeOf = ({ packet, block }: Pick<SentMessage, 'packet' | 'block'>): Place => ({
  ...packetPlace(packet),
  block,
})
