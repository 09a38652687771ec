import type pg from 'pg'
import { packetPlace } from '../../chains/evm/bridge/packet.js'
import type { EvmChain } from '../../chains/evm/chain.js'
import { newestConfirmedMessage } from '../../db/bridge/messages.js'
import type { ChainRow } from '../../db/journal/chains.js'
import type { SentMessage } from '../../registry/bridge/message.js'
import { fetchRange } from './fetchRange.js'
import type { RangeWidth } from './width.js'

/**
 * Gap detector of a spoke's messages. A packet's nonce counts 1, 2, 3, … on its path (LayerZero V2): a jump is a log
 * that a node left out. The hub executes a path's packets in order, so that one missing message would block all later
 * ones.
 */
export type MessageOrder = ReturnType<typeof createMessageOrder>

interface MessagePosition {
  nonce: bigint
  /** srcEid, sender, dstEid and receiver, as in the packet. */
  path: Buffer
  block: number
}

/** Blocks that are checked against their headers at once. */
const CHUNK_BLOCKS = 512

export function createMessageOrder(pool: pg.Pool, chain: EvmChain, row: ChainRow, width: RangeWidth) {
  let newest: MessagePosition | null | undefined

  const load = async (): Promise<MessagePosition | null> => {
    const message = await newestConfirmedMessage(pool, row.network, row.chain)
    return message && positionOf(message)
  }

  /** Reads every message of blocks `from` to `to`, each block's logs checked against its header. */
  const readAgain = async (from: number, to: number): Promise<SentMessage[]> => {
    const found: SentMessage[] = []
    for (let first = from; first <= to; first += CHUNK_BLOCKS) {
      const last = Math.min(to, first + CHUNK_BLOCKS - 1)
      const range = await fetchRange({ chain, width, checkFrom: first }, first, last)
      found.push(...range.decoded.sent)
    }
    return found
  }

  /** Reads the messages between two of a path. A spoke that is watched from later on has none before its first. */
  const between = async (before: MessagePosition | null, after: MessagePosition): Promise<SentMessage[]> => {
    const start = before ?? { nonce: 0n, path: after.path, block: chain.config.startBlock }
    if (!start.path.equals(after.path) || after.nonce === start.nonce + 1n) return []
    const isBetween = ({ nonce, path }: MessagePosition) =>
      path.equals(after.path) && nonce > start.nonce && nonce < after.nonce
    const found = (await readAgain(start.block, after.block)).filter((message) => isBetween(positionOf(message)))
    if (before && BigInt(found.length) !== after.nonce - before.nonce - 1n) {
      throw new Error(
        `chain "${row.label}": between messages ${before.nonce} (block ${before.block}) and ${after.nonce} (block ${after.block}) some are missing: its nodes do not give all logs`,
      )
    }
    return found
  }

  return {
    /**
     * @param sent messages of confirmed blocks, in order, after all earlier ones
     * @returns these, with the messages that nodes left out before each
     * @throws Error where the chain's headers and logs have no message for a nonce
     */
    async complete(sent: readonly SentMessage[]): Promise<SentMessage[]> {
      if (sent.length === 0) return []
      newest ??= await load()
      let before: MessagePosition | null = newest
      const all: SentMessage[] = []
      for (const message of sent) {
        const position = positionOf(message)
        // earlier messages may be confirmed again after a restart
        if (before === null || position.nonce > before.nonce || !position.path.equals(before.path)) {
          all.push(...(await between(before, position)))
          before = position
        }
        all.push(message)
      }
      return all
    },
    /** Moves behind committed messages. */
    advance(sent: readonly SentMessage[]): void {
      const last = sent.at(-1)
      if (last) newest = positionOf(last)
    },
    /** Reads the position from the database again, after a failed step. */
    forget(): void {
      newest = undefined
    },
  }
}

const positionOf = ({ packet, block }: Pick<SentMessage, 'packet' | 'block'>): MessagePosition => ({
  ...packetPlace(packet),
  block,
})
