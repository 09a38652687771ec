import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, toFunctionSelector, toHex } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { filterOf } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { emptyRecord, foldRecord, recordWords } from '../../src/chains/evm/record.js'
import type { ChainConfig } from '../../src/config/index.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { between, pick, sequence } from '../../src/testing/faultProxy/random.js'
import { indexerOver, type LoneIndexer } from '../faults/support.js'
import { startHubWorld } from '../support/hubWorld.js'
import { type OnCall, startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

/** What one node of two, and the silence of the other, may make of a hub's journal: nothing. */

const RECORD_HASH = toFunctionSelector('recordHash()')
/** More than are followed one by one. */
const GAP = 70
/** Runs of a liar beside a node that falters: `FALTERS=2000` for a long one, `FALTER_SEED` for the same again. */
const RUNS = Number(process.env.FALTERS ?? 6)
const SEED = Number(process.env.FALTER_SEED ?? 22)

const world = useWorld(() => startHubWorld())
const ends: (() => Promise<unknown>)[] = []
let databases = 0
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

type Answer = { result?: unknown; error?: object }
const answering = (change: (answer: Answer) => Answer) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), ...change(JSON.parse(text)) })
const failing = (code: number, message: string) =>
  answering(() => ({ result: undefined, error: { code, message } }))

const head = async () => Number(await world.public.getBlockNumber({ cacheTime: 0 }))
const confirmed = async () => (await head()) - 2

async function node(onCall: OnCall): Promise<string> {
  const proxy = await startRpcProxy(world.anvil.rpcUrl, onCall)
  ends.push(() => proxy.stop())
  return proxy.url
}

async function open(config: Partial<ChainConfig>): Promise<LoneIndexer> {
  const lone = await indexerOver(world, `silence_${databases++}`, { local: true, ...config })
  ends.push(() => lone.stop())
  return lone
}

/** Steps as a worker does, without its pauses. @returns the errors */
async function drive(lone: LoneIndexer, most = 12): Promise<Error[]> {
  const errors: Error[] = []
  const to = await confirmed()
  for (let i = 0; i < most && lone.indexer.state.nextBlock <= to; i++) {
    await lone.indexer.step().catch((error: Error) => errors.push(error))
    if (errors.length > 0) await sleep(30)
  }
  return errors
}

/** Place, transaction and words of each bid that the journal has. */
const journalled = async ({ pool }: LoneIndexer): Promise<string[]> => {
  const { rows } = await pool.query(
    `SELECT block || ' ' || log_index || ' ' || encode(body, 'hex') AS bid FROM journal
     WHERE kind = 1 ORDER BY seq`,
  )
  return rows.map(({ bid }) => bid)
}

async function logsTo(to: number): Promise<RawLog[]> {
  const { addresses, topics } = filterOf(world.config)
  const filter = { address: addresses, topics: [topics], fromBlock: '0x0', toBlock: toHex(to) }
  const params = [filter] as never
  return (await world.public.request({ method: 'eth_getLogs', params })) as unknown as RawLog[]
}

const onChain = async (to: number): Promise<string[]> =>
  (await logsTo(to))
    .filter(({ topics, data }) => topics.length === 1 && data.length > 2 + 64)
    .map(
      ({ blockNumber, logIndex, transactionHash, data }) =>
        `${Number(blockNumber)} ${Number(logIndex)} ${transactionHash.slice(2)}${data.slice(2)}`,
    )

/** Logs with a bid that nobody made behind the last one of a block. */
function withForged(logs: RawLog[], block: number, name: string): RawLog[] {
  const last = logs.findLastIndex((log) => Number(log.blockNumber) === block)
  const log = logs[last]
  if (!log || log.data.length !== 2 + 3 * 64) return logs
  const data = `0x${'00'.repeat(12)}${'66'.repeat(20)}${log.data.slice(66, 130)}${toHex(nameToWord(name)).slice(2)}`
  const forged = { ...log, logIndex: '0xff' as Hex, data: data as Hex }
  return [...logs.slice(0, last + 1), forged, ...logs.slice(last + 1)]
}

/** A node that tells of a bid which was never made, and of the record that would follow. */
const forger =
  (lie: { block: number; name: string; isOn: boolean }): OnCall =>
  async (method, body) => {
    if (!lie.isOn) return undefined
    const { params } = JSON.parse(body) as { params: [unknown, unknown] }
    if (method === 'eth_getLogs')
      return answering(({ result }) =>
        result ? { result: withForged(result as RawLog[], lie.block, lie.name) } : {},
      )
    if (method !== 'eth_call' || !body.includes(RECORD_HASH)) return undefined
    const at = params[1]
    const block =
      typeof at === 'string'
        ? Number(at)
        : Number((await world.public.getBlock(at as { blockHash: Hex })).number)
    const logs = withForged(await logsTo(block), lie.block, lie.name)
    const words = recordWords(world.config, logs, (log) => Number(log.blockTimestamp) * 1_000)
    const [hash] = foldRecord(emptyRecord(world.config), words)
    return answering(() => ({ result: `0x${hash!.toString('hex')}` }))
  }

const rangeOf = (body: string): number => {
  const [{ fromBlock, toBlock }] = (JSON.parse(body) as { params: [Record<string, string>] }).params
  return fromBlock ? Number(toBlock) - Number(fromBlock) : 0
}

/** Reasons of a second node to fail, in words of several vendors. @param count of the question, from 0 */
const FAULTS: Record<string, (count: number, method: string, body: string) => ReturnType<OnCall>> =
  {
    'fails once': async (count) => (count === 0 ? failing(-32_000, 'header not found') : undefined),
    'is rate limited once': async (count) =>
      count === 0 ? failing(429, 'Too many requests') : undefined,
    'always fails': async () => failing(-32_603, 'Internal error'),
    'allows ten blocks': async (_, method, body) =>
      method === 'eth_getLogs' && rangeOf(body) >= 10
        ? failing(
            -32_600,
            'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
          )
        : undefined,
    'refuses by its plan': async (_, method) =>
      method === 'eth_call' || method === 'eth_getLogs'
        ? failing(-32_601, 'the method is not available on your plan')
        : undefined,
    forbids: async () => failing(-32_001, 'Unauthorized: archive access is not included'),
    'loses its answers': async () => 'lost',
    'answers null': async (_, method) =>
      method === 'eth_call' || method === 'eth_getLogs'
        ? answering(() => ({ result: null }))
        : undefined,
  }

describe.each(Object.keys(FAULTS))('beside a second node that %s', (fault) => {
  it.each([
    ['live', 3],
    ['in a catch-up', GAP],
  ])(
    'a bid that nobody made never enters, %s, and the honest node’s return is enough',
    async (_, blocks) => {
      const lie = { block: -1, name: `gift-${databases}`, isOn: false }
      let count: number | null = null
      const second = await node(async (method, body) =>
        count === null ? undefined : FAULTS[fault]!(count++, method, body),
      )
      const lone = await open({ rpcUrls: [await node(forger(lie)), second] })
      await drive(lone, 40)
      await world.bid(0, [`true-${databases}`])
      lie.block = await head()
      await world.test.mine({ blocks })
      lie.isOn = true
      count = 0
      const errors = await drive(lone)
      expect(await journalled(lone)).toEqual(await onChain(lone.indexer.state.nextBlock - 1))
      expect(errors.length).toBeGreaterThan(0)
      expect(lone.indexer.state.lastError).toMatch(
        /contradict each other|does not|did not|no RPC URL/,
      )
      lie.isOn = false
      count = null
      const left = async () =>
        (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
      await expect.poll(left, { timeout: 10_000 }).toBe(0)
      expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
      expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2, lastError: null })
    },
  )
})

it('one of two nodes that is away is named, and what is new is shown as unconfirmed meanwhile', async () => {
  let isAway = false
  const second = await node(async () => (isAway ? 'lost' : undefined))
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl, second] })
  await drive(lone, 40)
  await lone.indexer.step()
  const { headMs } = lone.indexer.state
  isAway = true
  await world.bid(1, [`waits-${databases}`])
  await world.test.mine({ blocks: 3 })
  const errors = await drive(lone, 3)
  expect(errors[0]).toMatchObject({ name: 'SilenceError' })
  expect(lone.indexer.state).toMatchObject({
    errorAlarm: 'ClusterdRpcSilent',
    lastError: expect.stringContaining(new URL(second).host),
    headMs,
  })
  const facts = await lone.pool.query('SELECT FROM facts WHERE kind = 1')
  expect(facts.rowCount).toBe(1)
  isAway = false
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})

it('two of three nodes suffice', async () => {
  const away = 'http://127.0.0.1:9'
  const lone = await open({
    rpcUrls: [await node(async () => undefined), away, world.anvil.rpcUrl],
  })
  expect(await drive(lone, 40)).toEqual([])
  await lone.indexer.step()
  expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2, isCaughtUp: true })
})

it('a time of silence after which one node suffices is the operator’s to set, and never ends the first catch-up', async () => {
  let isAway = true
  const second = await node(async () => (isAway ? 'lost' : undefined))
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl, second], singleNodeAfter: 1 })
  await drive(lone, 40)
  expect(lone.indexer.state).toMatchObject({ trust: 'trusted', trustNodes: 1, isCaughtUp: false })
  isAway = false
  await world.test.mine({ blocks: 3 })
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  await lone.indexer.step()
  expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2, isCaughtUp: true })
})

/** A node with the state of its newest blocks alone. */
const pruned =
  (kept: number): OnCall =>
  async (method, body) => {
    if (method !== 'eth_call' && method !== 'eth_getCode') return undefined
    const { params } = JSON.parse(body) as { params: [unknown, string | { blockHash: Hex }] }
    const at = params[1]
    if (at === 'latest') return undefined
    const number = typeof at === 'string' ? Number(at) : (await world.public.getBlock(at)).number
    return Number(number) > (await head()) - kept
      ? undefined
      : failing(-32_000, `missing trie node for block ${number}`)
  }

describe('a first node that is on another fork', () => {
  const OTHER = `0x${'ab'.repeat(32)}`

  /** A node that gives a block another hash, in every answer. */
  const forked =
    (lie: { hash: string | null }): OnCall =>
    async (_, body) => {
      const { hash } = lie
      if (!hash) return undefined
      const headers = { 'content-type': 'application/json' }
      const asked = { method: 'POST', headers, body: body.replaceAll(OTHER, hash) }
      const given = await (await fetch(world.anvil.rpcUrl, asked)).text()
      return () => given.replaceAll(hash, OTHER)
    }

  const checkpoint = async ({ pool }: LoneIndexer): Promise<string> => {
    const { rows } = await pool.query(
      `SELECT next_block - 1 AS block, '0x' || encode(parent_hash, 'hex') AS hash FROM chains`,
    )
    const { hash } = await world.public.getBlock({ blockNumber: BigInt(rows[0].block) })
    return rows[0].hash === null || rows[0].hash === hash ? 'on the chain' : rows[0].hash
  }

  it.each([
    ['live', 3],
    ['in a catch-up', GAP],
  ])('decides nothing beside a node that contradicts it, however long, %s', async (_, blocks) => {
    const lie: { hash: string | null } = { hash: null }
    const url = await node(forked(lie))
    const lone = await open({ rpcUrls: [url, world.anvil.rpcUrl], singleNodeAfter: 1 })
    await drive(lone, 40)
    await world.bid(0, [`fork-${databases}`])
    await world.test.mine({ blocks })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 6)
    expect(await checkpoint(lone)).toBe('on the chain')
    expect(lone.indexer.state.lastError).toMatch(/contradict|another fork/)
    lie.hash = null
    const left = async () =>
      (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it.each([
    ['live', 3],
    ['in a catch-up', GAP],
  ])('does not hold up two others, %s', async (_, blocks) => {
    const lie: { hash: string | null } = { hash: null }
    const honest = await node(async () => undefined)
    const lone = await open({ rpcUrls: [await node(forked(lie)), honest, world.anvil.rpcUrl] })
    await drive(lone, 40)
    await world.bid(0, [`fork-${databases}`])
    await world.test.mine({ blocks })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 10)
    expect(lone.indexer.state.nextBlock).toBe((await confirmed()) + 1)
    expect(await checkpoint(lone)).toBe('on the chain')
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it('gives no checkpoint its hash where nodes have the newest state alone', async () => {
    const lie: { hash: string | null } = { hash: null }
    const keeps = pruned(1)
    const lies = forked(lie)
    const first = await node(
      async (method, body) =>
        (await keeps(method, body.replaceAll(OTHER, lie.hash ?? OTHER))) ?? lies(method, body),
    )
    const lone = await open({ rpcUrls: [first, await node(keeps)] })
    await drive(lone, 40)
    await world.test.mine({ blocks: 3 })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 4)
    expect(await checkpoint(lone)).toBe('on the chain')
  })
})

describe('a first node that moves a bid to the next block, where no node has old state', () => {
  /** A node that places all logs of a block in the next one, at the same time. */
  const mover =
    (lie: { block: number }): OnCall =>
    async (method, body) => {
      if (method !== 'eth_getLogs') return pruned(1)(method, body)
      const [filter] = (JSON.parse(body) as { params: [Record<string, Hex>] }).params
      if (lie.block < 0 || !filter.fromBlock) return undefined
      const { number, hash } = await world.public.getBlock({ blockNumber: BigInt(lie.block + 1) })
      const moved = (await logsTo(await head())).map((log) =>
        Number(log.blockNumber) === lie.block
          ? { ...log, blockNumber: toHex(number), blockHash: hash }
          : log,
      )
      const result = moved.filter(
        ({ blockNumber }) =>
          Number(blockNumber) >= Number(filter.fromBlock) &&
          Number(blockNumber) <= Number(filter.toBlock),
      )
      return answering(() => ({ result }))
    }

  it.each([
    ['beside one other', 1, 0],
    ['beside one other, behind the confirmed blocks', 1, 1],
    ['beside two others', 2, 0],
    ['beside two others, behind the confirmed blocks', 2, 1],
  ])('moves nothing, %s', async (_, others, isLast) => {
    const lie = { block: -1 }
    await world.test.mine({ blocks: GAP })
    await world.bid(1, [`moved-${databases}`])
    lie.block = await head()
    await world.test.mine({ blocks: isLast ? 2 : GAP })
    const urls = [await node(mover(lie))]
    for (let i = 0; i < others; i++) urls.push(await node(pruned(1)))
    const lone = await open({ rpcUrls: urls })
    await drive(lone, 3)
    expect(await journalled(lone)).toEqual(await onChain(lone.indexer.state.nextBlock - 1))
    if (others === 1) lie.block = -1
    const left = async () =>
      (await drive(lone, 6)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })
})

describe('nodes of other kinds', () => {
  it.each([
    ['128 blocks', 128],
    ['the newest block', 1],
  ])('a catch-up by nodes that keep the state of %s is proved near the head', async (_, kept) => {
    await world.bid(2, [`old-${databases}`])
    await world.test.mine({ blocks: 3 * GAP })
    await world.bid(2, [`new-${databases}`])
    await world.test.mine({ blocks: 4 })
    const lone = await open({ rpcUrls: [await node(pruned(kept)), await node(pruned(kept))] })
    expect(await drive(lone, 40)).toEqual([])
    await lone.indexer.step()
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2, isCaughtUp: true })
  })

  it('logs that a pruned node leaves out are discarded by the hash near the head, and read of the other', async () => {
    const hosts: string[] = []
    await world.bid(3, [`left-out-${databases}`])
    const block = await head()
    await world.test.mine({ blocks: 3 * GAP })
    const keeps = pruned(20)
    const lossy = await node(async (method, body) =>
      method === 'eth_getLogs'
        ? answering(({ result }) =>
            Array.isArray(result)
              ? { result: result.filter((log: RawLog) => Number(log.blockNumber) !== block) }
              : {},
          )
        : keeps(method, body),
    )
    hosts.push(new URL(lossy).host)
    const lone = await open({ rpcUrls: [lossy, await node(keeps)] })
    const errors = await drive(lone, 40)
    expect(errors[0]!.message).toContain("do not make its contracts' record")
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it('a node without EIP-1898 is asked by number', async () => {
    const old: OnCall = async (method, body) =>
      method === 'eth_call' && body.includes('blockHash')
        ? failing(-32_602, 'invalid argument 1: json: cannot unmarshal object')
        : undefined
    await world.bid(4, [`by-number-${databases}`])
    await world.test.mine({ blocks: 3 })
    const lone = await open({ rpcUrls: [await node(old)] })
    expect(await drive(lone, 40)).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 1 })
  })

  it('a node that gives neither old logs nor a record is never caught up, and named', async () => {
    const empty: OnCall = async (method, body) => {
      if (method === 'eth_getLogs') return answering(() => ({ result: [] }))
      return body.includes(RECORD_HASH) ? failing(-32_602, 'invalid argument 1') : undefined
    }
    const url = await node(empty)
    const lone = await open({ rpcUrls: [url] })
    await drive(lone, 10)
    expect(lone.indexer.state).toMatchObject({ isCaughtUp: false, trust: null })
    expect(lone.indexer.state.lastError).toContain('invalid argument')
    expect(await journalled(lone)).toEqual([])
  })

  it('a balancer whose backends differ in height leaves nothing out', async () => {
    let asked = 0
    const behind: OnCall = async (method, body) => {
      asked += 1
      if (method !== 'eth_getLogs' || asked % 2 === 0 || !body.includes('fromBlock'))
        return undefined
      return answering(() => ({ result: [] }))
    }
    const lone = await open({
      rpcUrls: [await node(behind)],
      watchOnly: { minimum: [], quotes: false },
      trust: 'trusted',
    })
    await drive(lone, 40)
    const before = (await journalled(lone)).length
    for (let i = 0; i < 6; i++) {
      await world.bid(i % 5, [`balanced-${i}-${databases}`])
      await world.test.mine({ blocks: 1 })
      await drive(lone, 10)
    }
    await world.test.mine({ blocks: 3 })
    await drive(lone, 10)
    expect((await journalled(lone)).length - before).toBe(6)
  })
})

it(
  `of ${RUNS} liars beside an honest node that falters none gets anything in (seed ${SEED})`,
  async () => {
    const random = sequence(SEED, 'falters')
    const lie = { block: -1, name: 'gift', isOn: false }
    let fault: string | null = null
    let count = 0
    const first = await node(forger(lie))
    const second = await node(async (method, body) =>
      fault !== null && random() < 0.7 ? FAULTS[fault]!(count++, method, body) : undefined,
    )
    const lone = await open({ rpcUrls: [first, second] })
    await drive(lone, 60)
    for (let run = 0; run < RUNS; run++) {
      await world.bid(run % 5, [`run-${run}`])
      lie.block = await head()
      lie.name = `gift-${run}`
      await world.test.mine({ blocks: random() < 0.3 ? GAP : between(random(), 1, 6) })
      if (random() < 0.2) await lone.restart()
      lie.isOn = true
      count = 0
      fault = pick(random(), Object.keys(FAULTS))
      await drive(lone, between(random(), 1, 4))
      const { nextBlock } = lone.indexer.state
      expect(await journalled(lone), `${fault}, run ${run}`).toEqual(await onChain(nextBlock - 1))
      lie.isOn = false
      fault = null
      const left = async () => {
        await drive(lone, 4)
        return (await confirmed()) + 1 - lone.indexer.state.nextBlock
      }
      await expect.poll(left, { timeout: 10_000 }).toBe(0)
    }
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2 })
  },
  60_000 + 3_000 * RUNS,
)
