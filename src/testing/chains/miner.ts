import { setTimeout as sleep } from 'node:timers/promises'
import { advanceClockToLead, readClockLeadSeconds } from './clock.js'
import type { LocalClients } from './localClients.js'

/**
 * Controls the mining that `startMiner` began. For a fixed head, use `paused` around one call, or `hold(true)` until
 * `hold(false)`. `stop` is final.
 */
export type Miner = ReturnType<typeof startMiner>

/**
 * Starts to mine a chain whose node does not mine. Anvil's own interval mining is not used, for two reasons. If it
 * coincides with `anvil_reorg`, anvil loses the parent of a block for good, which no real node does. Besides, it keeps
 * the state of each block, 260 KiB, even with pruning options.
 * @param idleMs time between blocks once no transaction has been pending for `idleAfterMs`; default: `blockMs`
 */
export function startMiner(
  { test }: Pick<LocalClients, 'test'>,
  blockMs: number,
  idleMs = blockMs,
  idleAfterMs = 120_000,
) {
  let isStopped = false
  let isHeld = false
  let lastBlockMs = 0
  let lastTransactionMs = performance.now()
  const mine = async (): Promise<void> => {
    if (isHeld) return
    const nowMs = performance.now()
    if (idleMs > blockMs) {
      if ((await test.getTxpoolStatus()).pending > 0) lastTransactionMs = nowMs
      const isIdle = nowMs - lastTransactionMs > idleAfterMs
      if (isIdle && nowMs - lastBlockMs < idleMs) return
    }
    lastBlockMs = nowMs
    await test.mine({ blocks: 1 })
  }
  let queue: Promise<unknown> = Promise.resolve()
  /** Runs `act` while the miner mines no block, after the earlier calls of `paused` have ended. */
  const paused = <T>(act: () => Promise<T>): Promise<T> => {
    const result = queue.then(act)
    queue = result.catch(() => {})
    return result
  }
  const mineUntilStopped = async () => {
    while (!isStopped) {
      // ignore errors: a chain that is being stopped refuses to mine
      await paused(mine).catch(() => {})
      await sleep(blockMs)
    }
  }
  mineUntilStopped()
  return {
    paused,
    /** Stops mining (true) or resumes it (false). */
    hold: (next: boolean) =>
      paused(async () => {
        isHeld = next
      }),
    /** Stops the mining for good, after the block that is being mined. */
    stop(): Promise<unknown> {
      isStopped = true
      return queue
    },
  }
}

/**
 * Replaces the newest blocks by empty ones. Their transactions are dropped. `anvil_reorg` sets the chain's clock back,
 * so the clock is advanced again.
 */
export async function replaceNewestBlocks(
  { test }: Pick<LocalClients, 'test'>,
  depth: number,
): Promise<void> {
  const leadS = await readClockLeadSeconds({ test })
  await test.request({ method: 'anvil_reorg', params: [depth, []] } as never)
  await advanceClockToLead({ test }, leadS)
}
