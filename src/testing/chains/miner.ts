import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalClients } from './localClients.js'

/** Mines a chain's blocks in this process, so that a test can stop the mining where it has to know the head. */
export interface Miner {
  /** Runs `act` while no other block is mined. */
  paused<T>(act: () => Promise<T>): Promise<T>
  /** Replaces every block from `block` up by empty ones. @returns how many were replaced */
  reorgFrom(block: number | bigint): Promise<number>
  stop(): Promise<void>
}

/**
 * Takes the mining over from a chain. Left to its own interval, anvil loses blocks for good when `anvil_reorg` meets
 * its miner: a block is known then but not its parent, by number or by hash, as no real node does.
 */
export async function takeOverMining(clients: LocalClients, blockMs: number): Promise<Miner> {
  const { test, reader } = clients
  await test.setIntervalMining({ interval: 0 })
  let isStopped = false
  let queue: Promise<unknown> = Promise.resolve()
  const paused = <T>(act: () => Promise<T>): Promise<T> => {
    const own = queue.then(act)
    queue = own.catch(() => {})
    return own
  }
  const mining = (async () => {
    while (!isStopped) {
      // a stopping chain takes no block
      await paused(() => test.mine({ blocks: 1 })).catch(() => {})
      await sleep(blockMs)
    }
  })()
  return {
    paused,
    reorgFrom: (block) =>
      paused(async () => {
        const depth = Number(await reader.getBlockNumber({ cacheTime: 0 })) - Number(block) + 1
        await reorg(clients, depth)
        return depth
      }),
    async stop() {
      isStopped = true
      await mining
    },
  }
}

/** Replaces the newest blocks of a chain by empty ones; their transactions are dropped. */
export async function reorg({ test }: Pick<LocalClients, 'test'>, depth: number): Promise<void> {
  await test.request({ method: 'anvil_reorg', params: [depth, []] } as never)
}
