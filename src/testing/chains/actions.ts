import type { Hex } from 'viem'
import { type LocalClients, localChainClients, type RpcUrlAndChainId } from './localClients.js'
import { type Miner, replaceNewestBlocks, takeOverMining } from './miner.js'

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

export interface ChainActionsOptions extends RpcUrlAndChainId {
  label: string
  /** Time between blocks, ms. Null for an attached chain, whose mining its owner controls. */
  blockMs: number | null
  /**
   * Time between blocks while nobody sends a transaction, ms. If set, this process mines from the start, instead of
   * anvil.
   */
  idleMs?: number | undefined
}

/**
 * Creates the actions of a chain. Methods that both anvil and Hardhat support are called by Hardhat's names. A chain
 * with `blockMs` is mined by this process from the first `pause` or `reorg` on, because anvil's block interval can't be
 * interrupted.
 */
export function createChainActions({
  label,
  rpcUrl,
  chainId,
  blockMs,
  idleMs,
}: ChainActionsOptions): ChainActions & { end(): Promise<void> } {
  const clients: LocalClients = localChainClients({ rpcUrl, chainId })
  const ask = <T>(method: string, params: unknown[] = []): Promise<T> =>
    clients.test.request({ method, params } as never) as Promise<T>
  const head = async () => Number(await clients.reader.getBlockNumber({ cacheTime: 0 }))
  const mine = async (blocks = 1): Promise<number> => {
    assertWholeNumber('mine', blocks, 1)
    await ask('hardhat_mine', [`0x${blocks.toString(16)}`])
    return head()
  }
  let miner: Promise<Miner> | null = null
  const minerOf = (ms: number): Promise<Miner> => (miner ??= takeOverMining(clients, ms, idleMs))
  if (idleMs !== undefined && blockMs !== null) minerOf(blockMs).catch(() => {})
  let isPaused = false
  let hadAutomine = false
  const setPaused = async (next: boolean): Promise<void> => {
    if (next === isPaused) return
    isPaused = next
    if (blockMs !== null) return (await minerOf(blockMs)).hold(next)
    if (next) hadAutomine = await ask<boolean>('hardhat_getAutomine')
    if (hadAutomine) await ask('evm_setAutomine', [!next])
  }

  const replace = async (depth: number): Promise<number> => {
    await replaceNewestBlocks(clients, depth).catch((error: Error) => {
      throw new WorldError(
        `chain "${label}" took no reorg of ${depth} blocks: it has to be an anvil with that many blocks, 127 at most.`,
        {
          cause: error,
        },
      )
    })
    return (await head()) - depth + 1
  }
  return {
    mine,
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    async reorg(depth) {
      assertWholeNumber('reorg', depth, 1)
      return blockMs === null
        ? replace(depth)
        : (await minerOf(blockMs)).paused(() => replace(depth))
    },
    async drop(tx) {
      const found = await ask<boolean | Hex | null>('hardhat_dropTransaction', [tx])
      if (!found)
        throw new WorldError(
          `chain "${label}" has no ${tx} in its mempool: \`pause\` it before you send.`,
        )
    },
    async advance(seconds) {
      assertWholeNumber('advance', seconds, 0)
      await ask('evm_increaseTime', [seconds])
      await mine()
    },
    /** Ends this process's mining of the chain. */
    end: async () => (await miner)?.stop(),
  }
}
