import type { Hex } from 'viem'
import { type ChainAt, type LocalClients, localClients } from './localClients.js'
import { type Miner, reorg, takeOverMining } from './miner.js'

/** The sentence says what to do. */
export class WorldError extends Error {
  override name = 'WorldError'
}

/** @throws WorldError for anything but a whole number from `least` on */
export function assertWhole(what: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new WorldError(`${what} takes a whole number from ${least} on, not ${value}.`)
}

/** Actions of a test on a chain. A number that is none of theirs is a WorldError. */
export interface ChainVerbs {
  /** All that waits comes in the first block. @returns the newest block's number */
  mine(blocks?: number): Promise<number>
  /** Leaves the mining to `mine` alone, until `resume`: what is sent waits. */
  pause(): Promise<void>
  /** Lets the chain mine by itself again, as before `pause`. */
  resume(): Promise<void>
  /**
   * Replaces the newest blocks by empty ones; their transactions are gone until they are sent again. anvil alone can.
   * @returns the first block that is another one now
   */
  reorg(depth: number): Promise<number>
  /** From the mempool, in no block yet. @throws WorldError where the mempool does not have it */
  drop(tx: Hex): Promise<void>
  /** A block is mined at that time. The database's clock and the daemon's stay. */
  advance(seconds: number): Promise<void>
}

export interface VerbOptions extends ChainAt {
  label: string
  /** Null for a chain whose mining is somebody else's. */
  blockMs: number | null
  /** Between blocks while nobody sends a transaction: mines in this process from the start. */
  idleMs?: number | undefined
}

/**
 * Verbs of a chain. Methods that anvil and Hardhat both know are called by Hardhat's names. A chain of ours mines in
 * this process from its first `pause` or `reorg` on: anvil's own interval can't be stopped for a moment.
 */
export function chainVerbs({
  label,
  rpcUrl,
  chainId,
  blockMs,
  idleMs,
}: VerbOptions): ChainVerbs & { end(): Promise<void> } {
  const clients: LocalClients = localClients({ rpcUrl, chainId })
  const ask = <T>(method: string, params: unknown[] = []): Promise<T> =>
    clients.test.request({ method, params } as never) as Promise<T>
  const head = async () => Number(await clients.reader.getBlockNumber({ cacheTime: 0 }))
  const mine = async (blocks = 1): Promise<number> => {
    assertWhole('mine', blocks, 1)
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
    await reorg(clients, depth).catch((error: Error) => {
      throw new WorldError(
        `chain "${label}" took no reorg of ${depth} blocks: it has to be an anvil, and that deep.`,
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
      assertWhole('reorg', depth, 1)
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
      assertWhole('advance', seconds, 0)
      await ask('evm_increaseTime', [seconds])
      await mine()
    },
    /** Ends what mines in this process. */
    end: async () => (await miner)?.stop(),
  }
}
