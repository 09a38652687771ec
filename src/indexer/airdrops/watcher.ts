import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { RpcError } from '../../chains/rpc/errors.js'
import {
  restartClaims,
  type SeenClaim,
  storeConfirmedClaims,
  storeUnconfirmedClaims,
  type WatchedAirdrop,
  watchedAirdrops,
} from '../../db/airdrop/claims.js'
import { assertLeader } from '../../db/journal/head.js'
import { inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { isCheckpointReplaced } from '../evm/checkpoint.js'
import { createRangeWidth } from '../evm/width.js'
import { readConfirmed, readUnconfirmed } from './read.js'

/** What one step came to. */
export type AirdropOutcome =
  /** Confirmed blocks were taken in; there may be more. */
  | { kind: 'took'; airdrops: number; claims: number }
  /** Nothing new that is believed; unconfirmed claims may have changed. */
  | { kind: 'idle'; airdrops: number }

export interface AirdropWatcherOptions {
  pool: pg.Pool
  chain: EvmChain
  epoch: number
  /** Told when blocks that had been believed were replaced: the airdrop's claims are read again from the start. */
  onRestart?: (community: string) => void
}

/**
 * Follows the claims of a chain's distributors. None of it is state of the registry, so a reorg below the checkpoint halts
 * nothing: the blocks are read again, and what was stored of them is replaced range by range.
 */
export interface AirdropWatcher {
  /**
   * One step for each airdrop, without timers. Killed anywhere, the next one goes on from the stored checkpoints.
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<AirdropOutcome>
}

export function createAirdropWatcher({ pool, chain, epoch, onRestart }: AirdropWatcherOptions): AirdropWatcher {
  const { network } = chain
  const width = createRangeWidth()
  /** The unconfirmed claims that are stored, by airdrop; an airdrop that isn't in it was not looked at yet. */
  const tails = new Map<number, string>()

  const write = (work: (client: pg.PoolClient) => Promise<boolean>) =>
    inTransaction(pool, async (client) => {
      await assertLeader(client, network, epoch)
      const isDone = await work(client)
      failpoint('airdrops.before_commit')
      return isDone
    })

  /** @returns claims that were taken in, null where no block is new */
  const follow = async (watched: WatchedAirdrop, confirmed: number): Promise<number | null> => {
    const from = watched.nextBlock
    if (from > confirmed) return null
    const to = Math.min(confirmed, from + width.blocks - 1)
    const range = await readRange(watched, from, to, confirmed)
    if (!range) return 0
    const { claims, last, parentHash } = range
    width.answered(to - from + 1, claims.length)
    if (watched.parentHash && toHex(watched.parentHash) !== parentHash) return restart(watched, from)
    const isEnded = last.timestampMs >= watched.endsAtS * 1_000
    await write((client) => storeConfirmedClaims(client, watched, { to, hash: fromHex(last.hash), claims, isEnded }))
    // what was unconfirmed may have been among them
    tails.delete(watched.airdrop)
    return claims.length
  }

  /** @returns null where a node finds the range too large: less is asked for in the next step */
  const readRange = async (watched: WatchedAirdrop, from: number, to: number, confirmed: number) => {
    try {
      return await chain.rpc.onOneNode((call) => readConfirmed(call, chain, watched, { from, to, confirmed }))
    } catch (error) {
      const isTooMuch = error instanceof RpcError && error.fault === 'too_much' && from !== to
      if (isTooMuch) {
        width.tooMuch(to - from + 1)
        return null
      }
      width.failed(to - from + 1)
      throw new Error(`getting claims of blocks ${from}-${to}: ${(error as Error).message}`, { cause: error })
    }
  }

  const restart = async (watched: WatchedAirdrop, from: number): Promise<number> => {
    if (!(await isCheckpointReplaced(chain, watched)))
      throw new RpcError(
        'transient',
        `block ${from} is of a fork that leaves out block ${from - 1}, which is on the chain`,
      )
    await write(async (client) => {
      await restartClaims(client, watched)
      return true
    })
    onRestart?.(watched.community)
    return 0
  }

  const lookAhead = async (watched: WatchedAirdrop, latest: number): Promise<void> => {
    const from = watched.nextBlock
    const claims =
      latest >= from ? await chain.rpc.onOneNode((call) => readUnconfirmed(call, watched, from, latest)) : []
    const text = claims.map(keyOf).join()
    if (tails.get(watched.airdrop) === text) return
    if (await write((client) => storeUnconfirmedClaims(client, watched, claims))) tails.set(watched.airdrop, text)
  }

  return {
    async step() {
      const airdrops = await watchedAirdrops(pool, network, chain.label)
      if (airdrops.length === 0) return { kind: 'idle', airdrops: 0 }
      const { latest, confirmed } = await chain.heads()
      let claims = 0
      let took = 0
      for (const watched of airdrops) {
        const found = await follow(watched, confirmed)
        if (found === null) await lookAhead(watched, latest.number)
        else took += 1
        claims += found ?? 0
      }
      return took > 0 ? { kind: 'took', airdrops: took, claims } : { kind: 'idle', airdrops: airdrops.length }
    },
  }
}

const keyOf = ({ index, blockHash, txHash, receiver }: SeenClaim): string =>
  [index, toHex(blockHash), toHex(txHash), toHex(receiver)].join('/')
