import type pg from 'pg'
import { pad } from 'viem'
import { CLAIMED_EVENT_TOPIC, decodeClaimedLog } from '../chains/evm/airdrop/distributor.js'
import { type EvmChain, readConfirmedBlock } from '../chains/evm/chain.js'
import { logLocation, type RawLog, readLogsOfRange } from '../chains/evm/logs.js'
import { type BlockRangeSource, readBlocksInRanges } from '../chains/evm/runningHash/ranges.js'
import { createLogRangeWidth } from '../chains/evm/runningHash/width.js'
import { transientError } from '../chains/rpc/errors.js'
import type { RpcCall } from '../chains/rpc/evm.js'
import {
  type ClaimOnChain,
  readWatchedAirdrops,
  restartClaimIndexing,
  storeClaims,
  type WatchedAirdrop,
} from '../db/airdrop/claims.js'
import { assertIndexingLeader } from '../db/journal/head.js'
import { inTransaction } from '../db/pg/pool.js'
import type { LeaderContext } from '../ops/context.js'
import { failpoint } from '../ops/failpoint.js'
import { FatalError, IDLE_POLL_MS, type StepResult, type Worker } from '../ops/worker.js'
import { addressOfWord } from '../registry/primitives/address.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { isCursorReplaced } from './evm/cursor.js'

/** Worker that follows a chain's airdrop claims. For a chain without airdrops each step is only a database query. */
export function createAirdropWorker(ctx: LeaderContext, chain: EvmChain): Worker {
  const watcher = new AirdropWatcher({ ...ctx, chain })
  return {
    name: 'the airdrop watcher',
    fields: { network: ctx.network, chain: chain.label },
    pollMs: chain.config.pollMs,
    idleMs: IDLE_POLL_MS,
    step: (_signal, alive) => watcher.step(alive),
  }
}

type AirdropWatcherOptions = Pick<LeaderContext, 'pool' | 'epoch' | 'log'> & { chain: EvmChain }

/**
 * Reads the claims of a chain's airdrop distributor contracts. Claims are not part of the registry's state, so a reorg
 * below an airdrop's cursor does not halt the chain. Instead the cursor returns to the airdrop's first block, and each
 * range that is read again replaces its stored claims.
 */
export class AirdropWatcher {
  readonly #options: AirdropWatcherOptions
  readonly #width = createLogRangeWidth()
  /**
   * Keys (`claimKey`) of the stored unconfirmed claims as one text, by airdrop. Missing where the stored claims are not
   * known: before an airdrop's first step, and after a confirmed range was stored.
   */
  readonly #tails = new Map<number, string>()

  constructor(options: AirdropWatcherOptions) {
    this.#options = options
  }

  /**
   * Does the next piece of work for each airdrop, without timers. A process that is killed anywhere continues from the
   * stored cursors. A failing airdrop does not delay the others.
   * @param alive called after each airdrop
   * @throws the first error of an airdrop, such as ChainUnavailableError, RpcError or a database error, once all
   * airdrops were tried; LostLeadershipError immediately. The next step continues
   */
  async step(alive = () => {}): Promise<StepResult> {
    const { pool, chain } = this.#options
    const airdrops = await readWatchedAirdrops(pool, chain.network, chain.label)
    if (airdrops.length === 0) return 'idle'
    const heads = await chain.heads()
    const { latest } = heads
    const isDue = airdrops.some(({ nextBlock }) => nextBlock <= heads.confirmed)
    const { confirmed } = isDue ? await readConfirmedBlock(chain, heads) : heads
    let result: StepResult = 'waiting'
    const errors: unknown[] = []
    for (const watched of airdrops) {
      try {
        if (watched.nextBlock > confirmed) await this.#followTail(watched, latest.number)
        else {
          await this.#follow(watched, confirmed)
          result = 'progressed'
        }
      } catch (error) {
        if (error instanceof FatalError) throw error
        errors.push(error)
      }
      alive()
    }
    if (errors.length > 0) throw errors[0]
    return result
  }

  async #follow(watched: WatchedAirdrop, confirmed: number): Promise<void> {
    const { chain, log } = this.#options
    const { network, community, nextBlock: from } = watched
    const source: BlockRangeSource<ClaimRange> = {
      rpc: chain.rpc,
      width: this.#width,
      read: (call, first, last) => readClaims(call, watched, first, last),
      sizeOf: ({ claims }) => claims.length,
    }
    // A range that nodes refuse as too large is returned in parts. Only the first part is stored here, and the next
    // steps read the rest again.
    const [range] = await readBlocksInRanges(
      source,
      from,
      Math.min(confirmed, from + this.#width.blocks - 1),
    )
    const { claims, last, parentHash } = range!.answer
    if (watched.parentHash && toHex(watched.parentHash) !== parentHash)
      return this.#restart(watched, from)
    const isEnded = last.timestampMs >= watched.endsAtS * 1_000
    const stored = { to: last.number, hash: fromHex(last.hash), isEnded }
    await this.#write((client) => storeClaims(client, watched, claims, stored))
    // this write may have replaced stored unconfirmed claims
    this.#tails.delete(watched.airdrop)
    if (claims.length > 0)
      log.info(
        { network, chain: chain.label, community, claims: claims.length },
        'claims of an airdrop',
      )
  }

  async #restart(watched: WatchedAirdrop, from: number): Promise<void> {
    const { chain, log } = this.#options
    if (!(await isCursorReplaced(chain, watched)))
      throw transientError(
        `block ${from} is of a fork that leaves out block ${from - 1}, which is on the chain`,
      )
    await this.#write((client) => restartClaimIndexing(client, watched))
    const fields = { network: chain.network, chain: chain.label, community: watched.community }
    log.warn(fields, 'confirmed blocks were replaced: the claims of an airdrop are read again')
  }

  async #followTail(watched: WatchedAirdrop, latest: number): Promise<void> {
    const from = watched.nextBlock
    const { rpc } = this.#options.chain
    const seen =
      latest < from ? null : await rpc.onOneNode((call) => readClaims(call, watched, from, latest))
    const claims = seen?.claims ?? []
    const keys = claims.map(claimKey).join()
    if (this.#tails.get(watched.airdrop) === keys) return
    if (await this.#write((client) => storeClaims(client, watched, claims, null)))
      this.#tails.set(watched.airdrop, keys)
  }

  #write<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { pool, chain, epoch } = this.#options
    return inTransaction(pool, async (client) => {
      await assertIndexingLeader(client, chain.network, epoch)
      const isDone = await work(client)
      failpoint('airdrops.before_commit')
      return isDone
    })
  }
}

const claimKey = ({ index, blockHash, txHash, receiver }: ClaimOnChain): string =>
  [index, toHex(blockHash), toHex(txHash), toHex(receiver)].join('/')

/** Reads the claims of some blocks, with the parent hash of the first block. @throws RpcError */
async function readClaims(call: RpcCall, watched: WatchedAirdrop, from: number, to: number) {
  const filter = { addresses: [toHex(watched.distributor)], topics: [CLAIMED_EVENT_TOPIC] }
  const { logs, first, last } = await readLogsOfRange(call, filter, from, to)
  return { claims: claimsOf(logs, watched), last, parentHash: first.parentHash }
}

type ClaimRange = Awaited<ReturnType<typeof readClaims>>

/**
 * Decodes claims, one for each leaf: a distributor pays each leaf of its tree once. Ignores logs that are not claims of
 * a leaf of the tree.
 */
function claimsOf(logs: readonly RawLog[], { leafCount }: WatchedAirdrop): ClaimOnChain[] {
  const claims = new Map<number, ClaimOnChain>()
  for (const log of logs) {
    const claimed = decodeClaimedLog(log)
    if (!claimed || claimed.index >= BigInt(leafCount)) continue
    const index = Number(claimed.index)
    claims.set(index, {
      ...logLocation(log),
      index,
      receiver: addressOfWord(fromHex(pad(claimed.to))),
      blockHash: fromHex(log.blockHash),
    })
  }
  return [...claims.values()]
}
