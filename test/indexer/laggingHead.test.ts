import { type Hex, toHex } from 'viem'
import { expect, it } from 'vitest'
import type { OnCall } from '../support/rpcProxy.js'
import { failing, useSilentNodes } from './silentNodes.js'

/** Nodes of different heights in a catch-up: the first node's newest block may be a confirmed one for others. */

const { world, node, open, drive, journalled, onChain, head, confirmed, pruned } = useSilentNodes()

/** More than are followed one by one. */
const GAP = 70
const LAG = 6

/** Number of a block that a call names by its hash or number. Null for other parameters. */
async function numberOf(block: unknown): Promise<number | null> {
  if (typeof block === 'string') return /^0x[0-9a-f]{1,8}$/.test(block) ? Number(block) : null
  const { blockHash } = Object(block) as { blockHash?: Hex }
  return blockHash ? Number((await world.public.getBlock({ blockHash })).number) : null
}

it('a catch-up reaches the newest block of a lagging node, where others do not keep the state of newer blocks', async () => {
  await world.bid(0, ['before-the-lag'])
  await world.test.mine({ blocks: GAP })
  let lag = LAG
  const lagging: OnCall = async (_, body) => {
    const newest = (await head()) - lag
    const { params } = JSON.parse(body) as { params: unknown[] }
    for (const block of params.slice(0, 2)) {
      const number = await numberOf(block)
      if (number !== null && number > newest) return failing(-32_000, 'header not found')
    }
    return { body: body.replace('"latest"', `"${toHex(newest)}"`) }
  }
  const behind = [await node(lagging), await node(lagging)]
  const ahead = [await node(pruned(1)), await node(pruned(1))]
  const lone = await open({ rpcUrls: [...behind, ...ahead] })

  expect(await drive(lone, 1)).toEqual([])
  expect(lone.indexer.state.nextBlock).toBe((await head()) - LAG + 1)
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))

  lag = 0
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  expect(lone.indexer.state.nextBlock).toBe((await confirmed()) + 1)
})
