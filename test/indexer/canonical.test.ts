import { type Hex, toHex } from 'viem'
import { expect, it } from 'vitest'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, failing, RECORD_HASH, useSilentNodes } from './silentNodes.js'

/** A block that two nodes know is not yet a block of the chain. */

const { world, node, open, drive, journalled, onChain, head, made } = useSilentNodes()

type Header = Record<'number' | 'hash' | 'parentHash' | 'timestamp', Hex>

const headerOf = async (number: number) =>
  (await world.public.request({
    method: 'eth_getBlockByNumber',
    params: [toHex(number), false],
  })) as unknown as Header

const resultOf = (result: unknown) => answering(() => ({ result, error: undefined as never }))

/** How a node answers a call as of a block that it knows from another fork. */
const SECOND_NODES: Record<string, (params: unknown[], record: Hex) => ReturnType<OnCall>> = {
  // as geth, Erigon, Nethermind and reth do
  'keeps to requireCanonical': async ([, at], record) =>
    (at as { requireCanonical?: boolean }).requireCanonical
      ? failing(-32_000, 'hash is not currently canonical')
      : resultOf(record),
  'ignores requireCanonical': async (_, record) => resultOf(record),
}

it.each(Object.keys(SECOND_NODES))(
  'the cursor never moves onto an orphaned block that another node knows, which %s',
  async (kind) => {
    await world.bid(2, [`before-${made()}`])
    await world.test.mine({ blocks: 3 })
    let orphans: Header[] = []
    let record: Hex = '0x'
    const orphanAt = (at: unknown) =>
      orphans.find(({ hash, number }) => at === hash || at === number)
    const blockOf = (what: unknown) => orphanAt((what as { blockHash?: Hex })?.blockHash)

    const hostile: OnCall = async (method, body) => {
      const { params } = JSON.parse(body) as { params: unknown[] }
      if (orphans.length === 0) return undefined
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
        return resultOf(orphans.at(-1))
      if (method.startsWith('eth_getBlockBy') && orphanAt(params[0]))
        return resultOf(orphanAt(params[0]))
      if (method === 'eth_getLogs' && blockOf(params[0])) return resultOf([])
      return method === 'eth_call' && blockOf(params[1]) ? resultOf(record) : undefined
    }
    const honest: OnCall = async (method, body) => {
      const { params } = JSON.parse(body) as { params: unknown[] }
      const isAsked = method === 'eth_call' && body.includes(RECORD_HASH) && blockOf(params[1])
      return isAsked ? SECOND_NODES[kind]!(params, record) : undefined
    }
    const lone = await open({ rpcUrls: [await node(hostile), await node(honest)] })
    await drive(lone, 40)
    await lone.indexer.step()

    const fork = await world.test.snapshot()
    const from = (await head()) + 1
    await world.test.mine({ blocks: 3, interval: 7 })
    const orphaned = [await headerOf(from), await headerOf(from + 1), await headerOf(from + 2)]
    record = (await world.public.call({ to: world.hub, data: RECORD_HASH })).data!
    await world.test.revert({ id: fork })
    await world.bid(0, [`skipped-${made()}`])
    await world.test.mine({ blocks: 2, interval: 3 })
    orphans = orphaned
    for (let i = 0; i < 4; i++) await lone.indexer.step().catch(() => null)

    const { rows } = await lone.pool.query(
      "SELECT '0x' || encode(parent_hash, 'hex') AS hash, halted FROM chains",
    )
    expect(orphaned.map(({ hash }) => hash)).not.toContain(rows[0].hash)
    expect(rows[0].halted).toBeNull()
    expect(lone.indexer.state.lastError).toMatch(/contradict each other .* about/)

    orphans = []
    await world.test.mine({ blocks: 2 })
    await expect.poll(() => drive(lone, 4), { timeout: 10_000 }).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain((await head()) - 2))
  },
)
