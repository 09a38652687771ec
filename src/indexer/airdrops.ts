import type pg from 'pg'
import { pad } from 'viem'
import { CLAIMED_TOPIC, decodeClaimed } from '../chains/evm/airdrop/distributor.js'
import type { EvmChain } from '../chains/evm/chain.js'
import { type LogFilter, type RawLog, readLogs } from '../chains/evm/logs.js'
import { RpcError, transient } from '../chains/rpc/errors.js'
import type { Call } from '../chains/rpc/evm.js'
import {
  restartClaims,
  type SeenClaim,
  storeClaims,
  type WatchedAirdrop,
  watchedAirdrops,
} from '../db/airdrop/claims.js'
import { assertLeader } from '../db/journal/head.js'
import { inTransaction } from '../db/pg/pool.js'
import type { LeaderContext } from '../ops/context.js'
import { failpoint } from '../ops/failpoint.js'
import { sentenceOf } from '../ops/log/errors.js'
import { FatalError, IDLE_POLL_MS, type StepResult, type Worker } from '../ops/worker.js'
import { createRangeWidth } from '../record/width.js'
import { addressOfWord } from '../registry/primitives/address.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { isCheckpointReplaced } from './evm/checkpoint.js'

/** Follows the claims of airdrops on one chain. A chain without airdrops costs a database query now and then. */
export function airdropWorker({ pool, network, epoch, log }: LeaderContext, chain: EvmChain): Worker {
  const fields = { network, chain: chain.label }
  const onRestart = (community: string) =>
    log.warn({ ...fields, community }, 'confirmed blocks were replaced: the claims of an airdrop are read again')
  const onClaims = (community: string, claims: number) =>
    log.info({ ...fields, community, claims }, 'claims of an airdrop')
  const watcher = new AirdropWatcher({ pool, chain, epoch, onRestart, onClaims })
  return {
    name: 'the airdrop watcher',
    fields,
    pollMs: chain.config.pollMs,
    idleMs: IDLE_POLL_MS,
    step: (_signal, alive) => watcher.step(alive),
  }
}

export interface AirdropWatcherOptions {
  pool: pg.Pool
  chain: EvmChain
  epoch: number
  /** Called when confirmed blocks were replaced: the airdrop's claims are read again from the start. */
  onRestart?: (community: string) => void
  /** Called with the number of claims that were stored of confirmed blocks. */
  onClaims?: (community: string, claims: number) => void
}

/**
 * Follows the claims of a chain's distributors. Claims are no state of the registry, so that a reorg below the
 * checkpoint halts nothing: the blocks are read again, and their stored claims are replaced range by range.
 */
export class AirdropWatcher {
  readonly #options: AirdropWatcherOptions
  readonly #width = createRangeWidth()
  /** Keys of the stored unconfirmed claims by airdrop; none for an airdrop without a step so far. */
  readonly #tails = new Map<number, string>()

  constructor(options: AirdropWatcherOptions) {
    this.#options = options
  }

  /**
   * Advances each airdrop, without timers. A process that is killed anywhere goes on from the stored checkpoints. One
   * that fails holds up no other.
   * @param alive called after each airdrop
   * @throws the first of their errors: ChainUnavailableError, LostLeadershipError, or one of the database; the next
   *   step goes on
   */
  async step(alive = () => {}): Promise<StepResult> {
    const { pool, chain } = this.#options
    const airdrops = await watchedAirdrops(pool, chain.network, chain.label)
    if (airdrops.length === 0) return 'idle'
    const { latest, confirmed } = await chain.heads()
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
    const from = watched.nextBlock
    const to = Math.min(confirmed, from + this.#width.blocks - 1)
    const range = await this.#readRange(watched, from, to)
    if (!range) return
    const { claims, last, parentHash } = range
    this.#width.answered(to - from + 1, claims.length)
    if (watched.parentHash && toHex(watched.parentHash) !== parentHash) return this.#restart(watched, from)
    const isEnded = last.timestampMs >= watched.endsAtS * 1_000
    const hash = fromHex(last.hash)
    await this.#write((client) => storeClaims(client, watched, claims, { to, hash, isEnded }))
    // unconfirmed claims may have been among them
    this.#tails.delete(watched.airdrop)
    if (claims.length > 0) this.#options.onClaims?.(watched.community, claims.length)
  }

  /** @returns null where a node finds the range too large: the next step reads a smaller one */
  async #readRange(
    watched: WatchedAirdrop,
    from: number,
    to: number,
  ): Promise<Awaited<ReturnType<typeof readClaims>> | null> {
    const { chain } = this.#options
    try {
      return await chain.rpc.quorum((call) => readClaims(call, watched, from, to))
    } catch (error) {
      if (error instanceof RpcError && error.fault === 'too_much' && from !== to) {
        this.#width.tooMuch(to - from + 1)
        return null
      }
      this.#width.failed(to - from + 1)
      throw new Error(`getting claims of blocks ${from}-${to}: ${sentenceOf(error)}`, { cause: error })
    }
  }

  async #restart(watched: WatchedAirdrop, from: number): Promise<void> {
    if (!(await isCheckpointReplaced(this.#options.chain, watched)))
      throw transient(`block ${from} is of a fork that leaves out block ${from - 1}, which is on the chain`)
    await this.#write((client) => restartClaims(client, watched))
    this.#options.onRestart?.(watched.community)
  }

  async #followTail(watched: WatchedAirdrop, latest: number): Promise<void> {
    const from = watched.nextBlock
    const { rpc } = this.#options.chain
    const seen = latest < from ? null : await rpc.onOneNode((call) => readClaims(call, watched, from, latest))
    const claims = seen?.claims ?? []
    const keys = claims.map(keyOf).join()
    if (this.#tails.get(watched.airdrop) === keys) return
    if (await this.#write((client) => storeClaims(client, watched, claims, null)))
      this.#tails.set(watched.airdrop, keys)
  }

  #write<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { pool, chain, epoch } = this.#options
    return inTransaction(pool, async (client) => {
      await assertLeader(client, chain.network, epoch)
      const isDone = await work(client)
      failpoint('airdrops.before_commit')
      return isDone
    })
  }
}

const keyOf = ({ index, blockHash, txHash, receiver }: SeenClaim): string =>
  [index, toHex(blockHash), toHex(txHash), toHex(receiver)].join('/')

/** Reads the claims in blocks from a node, with the hash below them as their first block states it. @throws RpcError */
async function readClaims(call: Call, watched: WatchedAirdrop, from: number, to: number) {
  const { logs, first, last } = await readLogs(call, filterOf(watched), from, to)
  return { claims: claimsOf(logs, watched), last, parentHash: first.parentHash }
}

const filterOf = ({ distributor }: WatchedAirdrop): LogFilter => ({
  addresses: [toHex(distributor)],
  topics: [CLAIMED_TOPIC],
})

/** Claims by leaf: a distributor pays each leaf of its tree once. Logs that it can't have emitted are ignored. */
function claimsOf(logs: readonly RawLog[], { leafCount }: WatchedAirdrop): SeenClaim[] {
  const claims = new Map<number, SeenClaim>()
  for (const log of logs) {
    const claimed = decodeClaimed(log)
    if (!claimed || claimed.index >= BigInt(leafCount)) continue
    const index = Number(claimed.index)
    claims.set(index, {
      index,
      receiver: addressOfWord(fromHex(pad(claimed.to))),
      block: Number(log.blockNumber),
      blockHash: fromHex(log.blockHash),
      logIndex: Number(log.logIndex),
      txHash: fromHex(log.transactionHash),
    })
  }
  return [...claims.values()]
}
