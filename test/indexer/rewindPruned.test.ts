import { expect, it } from 'vitest'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { encodeRunningHashes } from '../../src/chains/evm/runningHash/hashes.js'
import { readLastConfirmedHashes } from '../../src/chains/evm/runningHash/prove.js'
import { findChain } from '../../src/db/chains/chains.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import type { LoneIndexer } from '../faults/support.js'
import { answering, failing, RECORD_HASH, useSilentNodes } from './silentNodes.js'

/** A rewind to a block whose state the nodes no longer have: nobody returns the hub's record (running hash) there. */

const { world, node, open, drive, journalled, onChain, head, confirmed, pruned, made } =
  useSilentNodes()

const PROVED = { trust: 'proved', trustNodes: 2, lastError: null }

/** Rewinds to a block, as the command does. The leader's term is ended only by name, so that the test goes on. */
async function rewind(lone: LoneIndexer, rpcUrls: string[], block: number): Promise<void> {
  const { chain } = await world.open({ rpcUrls })
  const row = (await findChain(lone.pool, 'mainnet', '1'))!
  const target = await checkRewindTarget(lone.pool, chain, row, block)
  await rewindJournal(lone.pool, target, { apply: true })
  await lone.pool.query('UPDATE leaders SET epoch = epoch - 1')
  await lone.restart()
}

/** A hub with bids before and after the block to rewind to, indexed by two nodes. */
async function indexed(rpcUrls: string[]): Promise<{ lone: LoneIndexer; block: number }> {
  await world.bid(1, [`before-${made()}`])
  await world.test.mine({ blocks: 40 })
  const block = (await head()) - 10
  await world.bid(2, [`after-${made()}`])
  await world.test.mine({ blocks: 30 })
  const lone = await open({ rpcUrls })
  await drive(lone, 40)
  await lone.indexer.step()
  return { lone, block }
}

it.each([
  ['20 blocks', 20, 3],
  ['20 blocks', 20, 90],
  ['the newest block', 1, 3],
])(
  'nodes that keep the state of %s: the chain goes on, %d, %d blocks later',
  async (_, kept, blocks) => {
    const rpcUrls = [await node(pruned(kept)), await node(pruned(kept))]
    const { lone, block } = await indexed(rpcUrls)
    await world.test.mine({ blocks })
    await rewind(lone, rpcUrls, block)
    expect(await drive(lone, 40)).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject(PROVED)
    // the record that was found is stored, so a restart does not need the old logs
    await lone.restart()
    await world.bid(3, [`later-${made()}`])
    await world.test.mine({ blocks: 3 })
    expect(await drive(lone, 40)).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  },
)

it('a second rewind is possible before the chain has gone on', async () => {
  const rpcUrls = [await node(pruned(20)), await node(pruned(20))]
  const { lone, block } = await indexed(rpcUrls)
  await rewind(lone, rpcUrls, block)
  await rewind(lone, rpcUrls, block - 5)
  expect(await drive(lone, 40)).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})

it('a database that has no record for its cursor goes on, too', async () => {
  const rpcUrls = [await node(pruned(20)), await node(pruned(20))]
  const { lone, block } = await indexed(rpcUrls)
  await rewind(lone, rpcUrls, block)
  await lone.pool.query('UPDATE chains SET record = NULL')
  await lone.restart()
  expect(await drive(lone, 40)).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})

it('one node can not name the block that a rewind continues from', async () => {
  let lieAbout = -1
  const liar = await node(async (method, body) =>
    method === 'eth_getBlockByNumber' && body.includes(`"0x${lieAbout.toString(16)}"`)
      ? answering(({ result }) => ({ result: { ...Object(result), hash: `0x${'66'.repeat(32)}` } }))
      : undefined,
  )
  const rpcUrls = [liar, world.anvil.rpcUrl]
  const { lone, block } = await indexed(rpcUrls)
  lieAbout = block - 1
  await expect(rewind(lone, rpcUrls, block)).rejects.toThrow('contradict each other')
  lieAbout = -1
  await rewind(lone, rpcUrls, block)
  expect(await drive(lone, 40)).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})

/** Requests for logs by number: the oldest block that was requested. */
function oldestRequested() {
  const requested = { oldest: Number.POSITIVE_INFINITY }
  const note = (method: string, body: string): undefined => {
    const [filter] = (JSON.parse(body) as { params: { fromBlock?: string }[] }).params
    if (method === 'eth_getLogs' && filter?.fromBlock)
      requested.oldest = Math.min(requested.oldest, Number(filter.fromBlock))
  }
  return { requested, note }
}

it('a momentary fault does not cause all logs to be read, where nodes have the old state', async () => {
  let failures = 0
  const { requested, note } = oldestRequested()
  const flaky = await node(async (method, body) => {
    note(method, body)
    const isFault = body.includes(RECORD_HASH) && failures-- > 0
    return isFault ? failing(-32_603, 'Internal error') : undefined
  })
  const rpcUrls = [flaky, await node(async (method, body) => note(method, body))]
  const { lone, block } = await indexed(rpcUrls)
  await rewind(lone, rpcUrls, block)
  requested.oldest = Number.POSITIVE_INFINITY
  // a node is asked twice, each time by the block's hash and by its number
  failures = 4
  await drive(lone, 40)
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(requested.oldest).toBeGreaterThanOrEqual(block)
})

it('all logs are read once, although the step fails afterwards', async () => {
  const { requested, note } = oldestRequested()
  const keeps = pruned(20)
  const counted = await node(async (method, body) => {
    note(method, body)
    return keeps(method, body)
  })
  const rpcUrls = [counted, await node(keeps)]
  const { lone, block } = await indexed(rpcUrls)
  await rewind(lone, rpcUrls, block)
  // the leader's term has ended, so the write after the proof is refused
  await lone.pool.query('UPDATE leaders SET epoch = epoch + 1')
  await expect(lone.indexer.step()).rejects.toThrow('another process leads')
  expect(requested.oldest).toBe(world.config.startBlock)
  await lone.pool.query('UPDATE leaders SET epoch = epoch - 1')
  requested.oldest = Number.POSITIVE_INFINITY
  await world.test.mine({ blocks: 60 })
  expect(await drive(lone, 40)).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(requested.oldest).toBeGreaterThanOrEqual(block)
})

it('logs that do not make the newest record prove nothing: the chain waits for nodes that agree, without another rewind', async () => {
  let hidden = -1
  const lossy = await node(async (method, body) => {
    if (method !== 'eth_getLogs') return pruned(20)(method, body)
    return answering(({ result }) =>
      Array.isArray(result)
        ? { result: result.filter((log: RawLog) => Number(log.blockNumber) !== hidden) }
        : {},
    )
  })
  const rpcUrls = [lossy, await node(pruned(20))]
  const { lone, block } = await indexed(rpcUrls)
  await world.test.mine({ blocks: 40 })
  await rewind(lone, rpcUrls, block)
  const before = await journalled(lone)
  // a log before the rewind's block, which is in the journal already
  hidden = Number(before.at(-1)!.split(' ')[0])
  expect(hidden).toBeLessThan(block)
  await lone.indexer.step().catch(() => {})
  const [error] = await drive(lone, 1)
  expect(error?.message).toMatch(
    /do not produce its contracts' running hashes|contradict each other/,
  )
  expect(await journalled(lone)).toEqual(before)
  hidden = -1
  const left = async () =>
    (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
  await expect.poll(left, { timeout: 10_000 }).toBe(0)
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(lone.indexer.state).toMatchObject(PROVED)
})

it('while nodes contradict each other about the record, a rewind is refused, and is not needed afterwards', async () => {
  let isLying = false
  const liar = await node(async (_, body) =>
    isLying && body.includes(RECORD_HASH)
      ? answering(() => ({ result: `0x${'66'.repeat(32)}` }))
      : undefined,
  )
  const rpcUrls = [world.anvil.rpcUrl, liar]
  const { lone, block } = await indexed(rpcUrls)
  isLying = true
  await world.bid(3, [`disputed-${made()}`])
  await world.test.mine({ blocks: 3 })
  const [error] = await drive(lone, 1)
  expect(error?.message).toContain('contradict each other')
  expect(error?.message).not.toContain('rewind')
  await expect(rewind(lone, rpcUrls, block)).rejects.toThrow('contradict each other')
  isLying = false
  const left = async () =>
    (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
  await expect.poll(left, { timeout: 10_000 }).toBe(0)
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})

it('a stored record of another block means a rewind, and no record a payments contract that is deployed later', async () => {
  await world.test.mine({ blocks: 30 })
  const { chain } = await world.open({ rpcUrls: [await node(pruned(20))] })
  const { config } = chain
  const spoke = {
    ...chain,
    config: { ...config, role: 'spoke' as const, communityPayments: config.contract },
  }
  const nextBlock = (await head()) - 25
  const { hash } = await world.public.getBlock({ blockNumber: BigInt(nextBlock - 1) })
  const parentHash = fromHex(hash)
  const row = { ...(await findChain(world.pool, 'mainnet', '1'))!, nextBlock, parentHash }
  const known = [Buffer.alloc(32, 7)]
  const hashesOf = async (of: typeof chain, record: Buffer | null) =>
    (await readLastConfirmedHashes(of, { ...row, record })).runningHashes
  const ofOther = encodeRunningHashes(spoke.config, Buffer.alloc(32, 1), known)
  const ofThis = encodeRunningHashes(spoke.config, parentHash, known)
  expect(await hashesOf(spoke, ofOther)).toBeNull()
  expect(await hashesOf(spoke, ofThis)).toEqual(known)
  expect(await hashesOf(spoke, null)).toEqual([Buffer.alloc(32)])
  expect(await hashesOf(chain, null)).toBeNull()
  const trusted = { ...chain, config: { ...config, trust: 'trusted' as const } }
  expect(await hashesOf(trusted, ofOther)).toEqual([])
})
