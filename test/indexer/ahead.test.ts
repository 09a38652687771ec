import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bidEmitterAbi, bidEmitterRuntimeBytecode } from '../../contracts/evm/artifacts/local/BidEmitter.js'
import { replay } from '../../src/db/journal/replay.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'

/** Bids of a transaction within the block's gas, and enough for several batches of the first catch-up. */
const [BIDS, TRANSACTIONS] = [200, 60]

let world: HubWorld
beforeAll(async () => {
  world = await startHubWorld()
  await world.test.setCode({ address: world.hub, bytecode: bidEmitterRuntimeBytecode })
  await world.test.impersonateAccount({ address: world.wallet(9).address })
  for (let i = 0; i < TRANSACTIONS; i++) {
    const data = encodeFunctionData({
      abi: bidEmitterAbi,
      functionName: 'emitBids',
      args: [BigInt(i * BIDS), BigInt(BIDS)],
    })
    const transaction = { from: world.wallet(9).address, to: world.hub, data, gas: '0x1c9c380' } as const
    await world.public.request({ method: 'eth_sendTransaction' as never, params: [transaction] as never })
  }
  await world.test.mine({ blocks: 100 })
})
afterAll(() => world?.stop())

it('the first catch-up folds anew what it had folded before another writer moved the head', async () => {
  let moved = 0
  const indexer = await world.restart({
    onProgress: () => {
      if (moved++ === 1) void world.pool.query('UPDATE journal_heads SET at_ms = at_ms + 1 WHERE network = 0')
    },
  })
  while ((await indexer.step()).kind !== 'idle');
  expect(moved).toBeGreaterThan(3)
  const { rows } = await world.pool.query(
    `SELECT count(*)::int AS names, max(seq)::int AS seq, count(DISTINCT cluster)::int AS clusters FROM names WHERE outcome = 1`,
  )
  const all = BIDS * TRANSACTIONS
  // the hub's minimum comes first
  expect(rows).toEqual([{ names: all, seq: all + 1, clusters: all }])
  const { live, rebuilt } = await replay(world.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})
