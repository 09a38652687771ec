import { expect, it } from 'vitest'
import type { OnCall } from '../support/rpcProxy.js'
import { RECORD_HASH, useSilentNodes } from './silentNodes.js'

/** A node that is asked several times about one thing has one vote. */

const { world, node, open, drive, journalled, onChain, head, forger } = useSilentNodes()

it('a hostile node that first fails, and then refuses a question as too large, does not vote twice', async () => {
  const lie = { block: -1, name: 'gift', isOn: false }
  const forge = forger(lie)
  const asked = new Map<string, number>()
  const hostile: OnCall = async (method, body) => {
    if (!lie.isOn || method !== 'eth_call' || !body.includes(RECORD_HASH))
      return forge(method, body)
    const block = JSON.stringify(JSON.parse(body).params[1])
    const count = asked.get(block) ?? 0
    asked.set(block, count + 1)
    if (count === 0) return { status: 502 }
    return count === 1 ? { status: 413 } : forge(method, body)
  }
  let faults = 0
  const honest: OnCall = async (method, body) =>
    method === 'eth_call' && body.includes(RECORD_HASH) && faults-- > 0
      ? { status: 502 }
      : undefined
  const lone = await open({ rpcUrls: [await node(hostile), await node(honest)] })
  await world.bid(2, ['before'])
  await world.test.mine({ blocks: 3 })
  await drive(lone, 40)
  await world.bid(0, ['honest'])
  lie.block = await head()
  await world.test.mine({ blocks: 3 })
  lie.isOn = true
  faults = 1

  await drive(lone)

  expect(faults).toBeLessThan(1)
  expect(await journalled(lone)).toEqual(await onChain(lone.indexer.state.nextBlock - 1))
  expect(lone.indexer.state.lastError).toContain('contradict each other')
})
