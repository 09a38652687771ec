import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { createChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { type CommunityWorld, startCommunityWorld } from '../communities/communityWorld.js'
import { openChains } from '../support/bridgeWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

/** More blocks than are checked against their headers, and than are followed one by one. */
const MANY_BLOCKS = 700

let at: CommunityWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Blocks whose logs the spoke's node leaves out. */
let missing: number[] = []
/** Whether it leaves them out of single blocks, too, and has no receipts. */
let isBlind = false

const leaveOut = (answer: string): string => {
  const { result, ...rest } = JSON.parse(answer) as { result: RawLog[] }
  const isRange = new Set(result.map(({ blockNumber }) => blockNumber)).size > 1
  const given = result.filter(({ blockNumber }) => !missing.includes(Number(blockNumber)))
  return JSON.stringify({ ...rest, result: isRange || isBlind ? given : result })
}
const refuse = (answer: string): string =>
  JSON.stringify({ ...JSON.parse(answer), result: undefined, error: { code: -32601, message: 'method not found' } })

beforeAll(async () => {
  at = await startCommunityWorld(['club'])
  await at.configure('club', { prices: [at.price('8453', 1_000n)] })
  proxy = await startRpcProxy(at.world.spoke.anvil.rpcUrl, async (method) => {
    if (method === 'eth_getBlockReceipts' && isBlind) return refuse
    return method === 'eth_getLogs' ? leaveOut : undefined
  })
  const file = at.world.file as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls = [proxy.url]
  await at.world.releaseIndex()
})
afterAll(async () => {
  await proxy?.stop()
  await at?.stop()
})
beforeEach(() => {
  missing = []
  isBlind = false
})

let names = 0
/** Pays for names on the spoke, a block each. @returns the blocks */
async function pay(count: number, token = 'native'): Promise<number[]> {
  const blocks: number[] = []
  for (let i = 0; i < count; i++) {
    const { tx } = await at.pay({ on: '8453', name: `n${names++}`, token })
    blocks.push(Number((await at.world.spoke.public.getTransactionReceipt({ hash: tx })).blockNumber))
  }
  return blocks
}
const mine = (blocks: number) => at.world.spoke.test.mine({ blocks })

/** Numbers of the confirmed payments, by token. */
async function stored(token = 'native'): Promise<number[]> {
  const sql = 'SELECT number FROM payments WHERE token = $1 AND state >= 1 ORDER BY block, sequence'
  const { rows } = await at.pool.query<{ number: string }>(sql, [token])
  return rows.map(({ number }) => Number(number))
}
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

it('payments that a node leaves out of old blocks are found by their numbers', async () => {
  const blocks = await pay(6)
  await mine(MANY_BLOCKS)
  missing = [blocks[0]!, blocks[2]!, blocks[3]!]
  await at.world.index()
  expect(await stored()).toEqual(upTo(6))
})

it('one that was left out at the end of a range is found when the next comes', async () => {
  const blocks = await pay(2)
  await mine(MANY_BLOCKS)
  missing = [blocks[1]!]
  await at.world.index()
  expect(await stored()).toEqual(upTo(7))
  await pay(1)
  await mine(2)
  await at.world.index()
  expect(await stored()).toEqual(upTo(9))
})

it('each token counts for itself', async () => {
  const token = await at.deployToken('8453')
  for (let by = 1; by < 4; by++) await at.mint(token, by, 1_000_000n, '8453')
  const blocks = await pay(3, token)
  const [native] = await pay(1)
  await mine(MANY_BLOCKS)
  missing = [blocks[1]!]
  await at.world.index()
  expect([await stored(token), (await stored()).at(-1)]).toEqual([upTo(3), 10])
  expect(native).toBeGreaterThan(blocks[2]!)
})

describe('a live block that its node shows without its payment', () => {
  it('holds up the payments after it, with an error that says so, until a node gives its logs', async () => {
    const before = (await stored()).length
    const [lost] = await pay(1)
    missing = [lost!]
    isBlind = true
    await mine(3)
    await at.world.index()
    await pay(1)
    // it is seen before it is confirmed, and is no end of the count
    await at.world.index()
    await mine(2)
    const open = (await openChains(at.pool, at.world.file))[1]!
    const [epoch, { signal }] = [at.world.epochOf('index')!, new AbortController()]
    const indexer = await createChainIndexer({ pool: at.pool, chain: open.chain, row: open.row, epoch, signal })
    const failure = new RegExp(`between numbers ${before} .* and ${before + 2} .* some are missing`)
    for (let step = 0; step < 3; step++) await expect(indexer.step()).rejects.toThrow(failure)
    expect(indexer.state.lastError).toMatch(failure)
    expect(await stored()).toEqual(upTo(before))
    isBlind = false
    for (let step = 0; step < 20; step++) if ((await indexer.step()).kind === 'idle') break
    expect(await stored()).toEqual(upTo(before + 2))
  })
})

it('another contract counts anew: what it had before waits for nothing', async () => {
  const { rows } = await at.pool.query<{ newest: string }>('SELECT max(number) AS newest FROM payments')
  expect(Number(rows[0]!.newest)).toBeGreaterThan(3)
  // as of a contract that the chain’s own does not know
  await at.pool.query("UPDATE payments SET id = sha256(id), number = 2 WHERE token = 'native' AND number = $1", [
    rows[0]!.newest,
  ])
  await at.world.releaseIndex()
  await pay(1)
  await mine(2)
  await at.world.index()
  expect((await stored()).at(-1)).toBe(Number(rows[0]!.newest) + 1)
})
