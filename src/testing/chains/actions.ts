import { type Hex, toHex } from 'viem'
import { localChainClients, type RpcUrlAndChainId } from './localClients.js'
import { type Miner, replaceNewestBlocks } from './miner.js'

/** Error of a local world. Its message says what to do. */
export class WorldError extends Error {
  override name = 'WorldError'
}

/** @throws WorldError for anything but a whole number that is at least `least` */
export function assertWholeNumber(what: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new WorldError(`${what} takes a whole number from ${least} on, not ${value}.`)
}

/** Actions of a test on a chain. They throw a WorldError for an invalid number. */
export interface ChainActions {
  /** Mines blocks. All waiting transactions are in the first block. @returns the newest block's number */
  mine(blocks?: number): Promise<number>
  /** Stops automatic mining until `resume`. Only `mine` adds blocks, and sent transactions wait. */
  pause(): Promise<void>
  /** Resumes automatic mining. */
  resume(): Promise<void>
  /**
   * Replaces the newest blocks by empty ones. Their transactions are gone until they are sent again. Only works on
   * anvil.
   * @returns number of the first replaced block
   */
  reorg(depth: number): Promise<number>
  /** Removes a transaction from the mempool. @throws WorldError where the mempool does not have it */
  drop(tx: Hex): Promise<void>
  /** Advances the chain's clock, and mines a block at that time. The clocks of database and daemon do not change. */
  advance(seconds: number): Promise<void>
}

/**
 * Creates the actions of a chain.
 * @param miner mines the chain; null for an attached chain, whose owner controls the mining
 */
export function createChainActions(
  { label, ...at }: RpcUrlAndChainId & { label: string },
  miner: Miner | null,
): ChainActions {
  const clients = localChainClients(at)
  const { reader, test } = clients
  const head = async () => Number(await reader.getBlockNumber({ cacheTime: 0 }))
  const mine = async (blocks = 1): Promise<number> => {
    assertWholeNumber('mine', blocks, 1)
    // viem's action would ask for blocks with equal times, which Hardhat refuses
    await test.request({ method: 'hardhat_mine', params: [toHex(blocks)] } as never)
    return head()
  }
  let isPaused = false
  let hadAutomine = false
  const setPaused = async (next: boolean): Promise<void> => {
    if (next === isPaused) return
    isPaused = next
    if (miner) return miner.hold(next)
    if (next) hadAutomine = await test.getAutomine()
    if (hadAutomine) await test.setAutomine(!next)
  }

  const replace = async (depth: number): Promise<number> => {
    await replaceNewestBlocks(clients, depth).catch((cause: Error) => {
      const text = `chain "${label}" took no reorg of ${depth} blocks: it has to be an anvil with that many blocks, 127 at most.`
      throw new WorldError(text, { cause })
    })
    return (await head()) - depth + 1
  }
  return {
    mine,
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    async reorg(depth) {
      assertWholeNumber('reorg', depth, 1)
      return miner ? miner.paused(() => replace(depth)) : replace(depth)
    },
    async drop(tx) {
      const transaction = await reader.getTransaction({ hash: tx }).catch(() => null)
      if (transaction?.blockNumber !== null)
        throw new WorldError(
          `chain "${label}" has no ${tx} in its mempool: \`pause\` it before you send.`,
        )
      await test.dropTransaction({ hash: tx })
    },
    async advance(seconds) {
      assertWholeNumber('advance', seconds, 0)
      await test.increaseTime({ seconds })
      await mine()
    },
  }
}
