import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalClients } from '../../../src/testing/chains/localChain.js'

/** Mines a chain's blocks, never beside something that must have the chain for itself. */
export interface Miner {
  /** Runs `act` while no block is mined. */
  still<T>(act: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/**
 * Takes the mining over from a chain. Left to its own interval, anvil loses blocks for good when `anvil_reorg` meets its miner:
 * it then knows a block but not its parent, by number or by hash, as no real node does.
 */
export async function takeOverMining({ test }: Pick<LocalClients, 'test'>, blockMs: number): Promise<Miner> {
  await test.setIntervalMining({ interval: 0 })
  let isStopped = false
  let turn: Promise<unknown> = Promise.resolve()
  const still = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = turn.then(act)
    turn = mine.catch(() => {})
    return mine
  }
  const mining = (async () => {
    while (!isStopped) {
      // a chain that ends with its world takes no block
      await still(() => test.mine({ blocks: 1 })).catch(() => {})
      await sleep(blockMs)
    }
  })()
  return {
    still,
    async stop() {
      isStopped = true
      await mining
    },
  }
}
