import { toHex } from 'viem'
import { expect, it } from 'vitest'
import type { OnCall } from '../support/rpcProxy.js'
import { useSilentNodes } from './silentNodes.js'

/** A node whose head moves, and whose finalized block stands still, delays nothing beside two others. */

const { world, node, open, head, made } = useSilentNodes()

const TAG = { kind: 'tag', tag: 'finalized' } as const
const DEPTH = 2

it.each([
  ['the first', 0],
  ['the second', 1],
  ['the last', 2],
])('the finality of %s of three nodes may stand still', async (_, stuck) => {
  await world.bid(2, [`before-${made()}`])
  await world.test.mine({ blocks: 4 })
  let stuckAt: number | null = null
  const finalizing =
    (isStuck: boolean): OnCall =>
    async (_method, body) => {
      const newest = (await head()) - DEPTH
      const finalized = isStuck ? (stuckAt ?? newest) : newest
      return { body: body.replace('"finalized"', `"${toHex(finalized)}"`) }
    }
  const rpcUrls: string[] = []
  for (let i = 0; i < 3; i++) rpcUrls.push(await node(finalizing(i === stuck)))
  const lone = await open({ rpcUrls, confirmation: TAG })
  const steps = async () => {
    for (let i = 0; i < 12; i++) await lone.indexer.step()
  }
  await steps()
  stuckAt = (await head()) - DEPTH

  await world.bid(0, [`waits-${made()}`])
  await world.test.mine({ blocks: 8 })
  await steps()

  expect(lone.indexer.state).toMatchObject({
    nextBlock: (await head()) - DEPTH + 1,
    confirmed: (await head()) - DEPTH,
    lastError: null,
  })
})

it('of two nodes the lower finality counts, and its age is shown', async () => {
  await world.test.mine({ blocks: 4 })
  const stuckAt = (await head()) - DEPTH
  const stuck: OnCall = async (_method, body) => ({
    body: body.replace('"finalized"', `"${toHex(stuckAt)}"`),
  })
  const moving: OnCall = async (_method, body) => ({
    body: body.replace('"finalized"', `"${toHex((await head()) - DEPTH)}"`),
  })
  const lone = await open({ rpcUrls: [await node(moving), await node(stuck)], confirmation: TAG })
  await world.test.mine({ blocks: 8 })
  for (let i = 0; i < 12; i++) await lone.indexer.step()
  const { timestamp } = await world.public.getBlock({ blockNumber: BigInt(stuckAt) })
  expect(lone.indexer.state).toMatchObject({
    nextBlock: stuckAt + 1,
    confirmed: stuckAt,
    confirmedMs: Number(timestamp) * 1_000,
  })
})
