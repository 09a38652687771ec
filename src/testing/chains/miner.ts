import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalClients } from './localClients.js'

/** A test can stop the mining where it has to know the head. */
export interface Miner {
  /** Runs `act` while no other block is mined. */
  paused<T>(act: () => Promise<T>): Promise<T>
  /** Mines nothing more, or goes on. */
  hold(isHeld: boolean): Promise<void>
  stop(): Promise<void>
}

/**
 * Takes the mining over from a chain. Left to its own interval, anvil loses blocks for good when `anvil_reorg` meets
 * its miner: a block is known then but not its parent, by number or by hash, as no real node does.
 * @param idleMs between blocks once nobody has sent a transaction for `afterMs`; default: as always
 */
export async function takeOverMining(
  { test }: Pick<LocalClients, 'test'>,
  blockMs: number,
  idleMs = blockMs,
  afterMs = 120_000,
): Promise<Miner> {
  await test.setIntervalMining({ interval: 0 })
  let isStopped = false
  let isHeld = false
  let minedMs = 0
  let usedMs = performance.now()
  const mine = async (): Promise<void> => {
    if (idleMs > blockMs && (await test.getTxpoolStatus()).pending > 0) usedMs = performance.now()
    const nowMs = performance.now()
    if (isHeld || (idleMs > blockMs && nowMs - usedMs > afterMs && nowMs - minedMs < idleMs)) return
    minedMs = nowMs
    await test.mine({ blocks: 1 })
  }
  let queue: Promise<unknown> = Promise.resolve()
  const paused = <T>(act: () => Promise<T>): Promise<T> => {
    const own = queue.then(act)
    queue = own.catch(() => {})
    return own
  }
  const mining = (async () => {
    while (!isStopped) {
      // a stopping chain takes no block
      await paused(mine).catch(() => {})
      await sleep(blockMs)
    }
  })()
  return {
    paused,
    hold: (next) =>
      paused(async () => {
        isHeld = next
      }),
    async stop() {
      isStopped = true
      await mining
    },
  }
}

/** Their transactions are dropped. */
export async function reorg({ test }: Pick<LocalClients, 'test'>, depth: number): Promise<void> {
  await test.request({ method: 'anvil_reorg', params: [depth, []] } as never)
}
