import { setTimeout as sleep } from 'node:timers/promises'
import {
  type LocalClients,
  localChainClients,
  type RpcUrlAndChainId,
} from '../../src/testing/chains/localClients.js'
import { startMiner } from '../../src/testing/chains/miner.js'

export { type Miner, replaceNewestBlocks, startMiner } from '../../src/testing/chains/miner.js'

const MINE_QUICKLY_MS = 40
const MINED_DEADLINE_MS = 30_000

/**
 * Waits until a chain that mines on demand has put all that it was sent into blocks: its answer comes before the block
 * does.
 */
export async function allMined({ test }: Pick<LocalClients, 'test'>): Promise<void> {
  const end = performance.now() + MINED_DEADLINE_MS
  while ((await test.getTxpoolStatus()).pending > 0 && (await test.getAutomine())) {
    if (performance.now() > end)
      throw new Error(`transactions were left unmined for ${MINED_DEADLINE_MS / 1_000} s`)
    await sleep(5)
  }
}

/** Ends the mining on demand; earlier transactions are in a block, later ones wait. */
export async function holdBlocks(clients: Pick<LocalClients, 'test'>): Promise<void> {
  await allMined(clients)
  await clients.test.setAutomine(false)
}

/** Mines blocks of which the first one has this base fee. */
export async function mineAt(
  { test }: Pick<LocalClients, 'test'>,
  baseFeePerGas: bigint,
  blocks = 1,
): Promise<void> {
  await test.setNextBlockBaseFeePerGas({ baseFeePerGas })
  await test.mine({ blocks })
}

/** Mines blocks in quick succession during `work`, so that it does not wait for the chain's block time. */
export async function mineBlocksQuicklyDuring<T>(
  at: RpcUrlAndChainId,
  work: () => Promise<T>,
): Promise<T> {
  const miner = startMiner(localChainClients(at), MINE_QUICKLY_MS)
  try {
    return await work()
  } finally {
    await miner.stop()
  }
}
