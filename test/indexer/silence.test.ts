import { describe, expect, it } from 'vitest'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { integerBetween, pickElement } from '../../src/testing/faultProxy/random.js'
import { seededRandomSequence } from '../support/random.js'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, failing, RECORD_HASH, useSilentNodes } from './silentNodes.js'

/** One node of two, while the other does not answer, must not change anything in a hub's journal. */

/** More than are followed one by one. */
const GAP = 70
/** Number of runs of a liar beside a node with faults: `FALTERS=2000` makes a long test, `FALTER_SEED` repeats one. */
const RUNS = Number(process.env.FALTERS ?? 6)
const SEED = Number(process.env.FALTER_SEED ?? 22)

const { world, node, open, drive, journalled, onChain, head, confirmed, forger, pruned, made } =
  useSilentNodes()

const rangeOf = (body: string): number => {
  const [{ fromBlock, toBlock }] = (JSON.parse(body) as { params: [Record<string, string>] }).params
  return fromBlock ? Number(toBlock) - Number(fromBlock) : 0
}

/** Failures of a second node, in the wordings of several vendors. @param count number of the call, from 0 */
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
      const lie = { block: -1, name: `gift-${made()}`, isOn: false }
      let count: number | null = null
      const second = await node(async (method, body) =>
        count === null ? undefined : FAULTS[fault]!(count++, method, body),
      )
      const lone = await open({ rpcUrls: [await node(forger(lie)), second] })
      await drive(lone, 40)
      await world.bid(0, [`true-${made()}`])
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

it('an unavailable node of two is reported, and new blocks are shown as unconfirmed meanwhile', async () => {
  let isAway = false
  const second = await node(async () => (isAway ? 'lost' : undefined))
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl, second] })
  await drive(lone, 40)
  await lone.indexer.step()
  const { headMs } = lone.indexer.state
  isAway = true
  await world.bid(1, [`waits-${made()}`])
  await world.test.mine({ blocks: 3 })
  const errors = await drive(lone, 3)
  expect(errors[0]).toMatchObject({ name: 'NodesSilentError' })
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

describe('nodes with limitations', () => {
  it.each([
    ['128 blocks', 128],
    ['the newest block', 1],
  ])('a catch-up by nodes that keep the state of %s is proved near the head', async (_, kept) => {
    await world.bid(2, [`old-${made()}`])
    await world.test.mine({ blocks: 3 * GAP })
    await world.bid(2, [`new-${made()}`])
    await world.test.mine({ blocks: 4 })
    const lone = await open({ rpcUrls: [await node(pruned(kept)), await node(pruned(kept))] })
    expect(await drive(lone, 40)).toEqual([])
    await lone.indexer.step()
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2, isCaughtUp: true })
  })

  it('a range with logs that a pruned node leaves out is refuted by the hash near the head, and read from the other node', async () => {
    const hosts: string[] = []
    await world.bid(3, [`left-out-${made()}`])
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
    // which node is asked first decides how the gap is found: by the record, or by the other node
    expect(errors[0]!.message).toMatch(
      /do not produce its contracts' running hashes|contradict each other/,
    )
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it('a node without EIP-1898 is asked by number', async () => {
    const old: OnCall = async (method, body) =>
      method === 'eth_call' && body.includes('blockHash')
        ? failing(-32_602, 'invalid argument 1: json: cannot unmarshal object')
        : undefined
    await world.bid(4, [`by-number-${made()}`])
    await world.test.mine({ blocks: 3 })
    const lone = await open({ rpcUrls: [await node(old)] })
    expect(await drive(lone, 40)).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 1 })
  })

  it('with a node without old logs and record the chain never catches up, and the node is reported', async () => {
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

  it('a load balancer with backends of different heights loses nothing', async () => {
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
      await world.bid(i % 5, [`balanced-${i}-${made()}`])
      await world.test.mine({ blocks: 1 })
      await drive(lone, 10)
    }
    await world.test.mine({ blocks: 3 })
    await drive(lone, 10)
    expect((await journalled(lone)).length - before).toBe(6)
  })
})

it(
  `no lie of ${RUNS} liars beside an honest node with faults is indexed (seed ${SEED})`,
  async () => {
    const random = seededRandomSequence(SEED, 'falters')
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
      await world.test.mine({ blocks: random() < 0.3 ? GAP : integerBetween(random(), 1, 6) })
      if (random() < 0.2) await lone.restart()
      lie.isOn = true
      count = 0
      fault = pickElement(random(), Object.keys(FAULTS))
      await drive(lone, integerBetween(random(), 1, 4))
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
