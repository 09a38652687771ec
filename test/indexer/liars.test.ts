import { randomInt } from 'node:crypto'
import { type Hex, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELD_EVENT_TOPIC } from '../../src/chains/evm/community/logs.js'
import { logFilterOfContracts } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import type { ChainConfig } from '../../src/config/index.js'
import { deployCommunityPayments } from '../../src/testing/contracts/deploy.js'
import { account, chainAt, HUB_CHAIN_ID } from '../support/bridgeContracts.js'
import { startHubWorld } from '../support/hubWorld.js'
import { seededRandomSequence } from '../support/random.js'
import { waitForReceipt } from '../support/receipt.js'
import { type OnCall, startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

/** Number of lies, one run each: `LIES=1000` makes a long test, `LIES_SEED` repeats one. */
const RUNS = Number(process.env.LIES ?? 28)
const SEED = Number(process.env.LIES_SEED ?? randomInt(2 ** 31))
/** Blocks of a run that is read as a catch-up: more than are followed one by one. */
const GAP = 70

const changed = (word: string, by: number): string =>
  `0x${(BigInt(word) ^ BigInt(Math.floor(by))).toString(16).padStart(64, '0')}`

const MOVED = 'moves to another transaction'
/** Lies about logs. Each changes every answer of a run. */
const LIES: Record<string, (logs: RawLog[], random: () => number) => RawLog[]> = {
  'leaves out one': (logs, random) =>
    logs.filter((_, i) => i !== Math.floor(random() * logs.length)),
  'leaves out all': () => [],
  'invents one': (logs) =>
    logs.flatMap((log, i) =>
      i === 0
        ? [
            log,
            {
              ...log,
              logIndex: '0xffff',
              data: `${log.data.slice(0, 130)}${'6c'.repeat(32)}` as never,
            },
          ]
        : [log],
    ),
  'alters a bidder': (logs) =>
    logs.map((log, i) =>
      i > 0
        ? log
        : { ...log, data: (changed(log.data.slice(0, 66), 7) + log.data.slice(66)) as never },
    ),
  reorders: (logs) => {
    const [one, two] = logs
    if (!one || !two || one.blockNumber !== two.blockNumber) return []
    return [
      { ...one, logIndex: two.logIndex },
      { ...two, logIndex: one.logIndex },
      ...logs.slice(2),
    ]
  },
  [MOVED]: (logs, random) =>
    logs.map((log) => ({
      ...log,
      transactionHash: changed(log.transactionHash, 1 + random() * 99) as never,
    })),
  're-times': (logs) =>
    logs.map((log) => ({
      ...log,
      blockTimestamp: `0x${(Number(log.blockTimestamp) - 86_400).toString(16)}`,
    })),
}
const KINDS = Object.keys(LIES)

const world = useWorld(() => startHubWorld())
const payer = (index: number) => account(index).address
const clients = () => chainAt(world.anvil.rpcUrl, HUB_CHAIN_ID)
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
let communityPayments: Hex
let lie: ((logs: RawLog[]) => RawLog[]) | null = null
/** Other lies of the first node. */
let say: OnCall = async () => undefined
/** An honest node with only the state of its newest block. */
let pruned: typeof proxy
const answering = (change: (answer: { result?: unknown }) => object) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), ...change(JSON.parse(text)) })
const noState = answering(() => ({
  result: undefined,
  error: { code: -32_000, message: 'missing trie node' },
}))

beforeAll(async () => {
  const publicClient = world.public
  const roles = { owner: payer(9), relayer: payer(9), pauser: payer(9) }
  const payments = await deployCommunityPayments({
    ...roles,
    publicClient,
    walletClient: clients().walletClient(9),
  })
  communityPayments = payments.toLowerCase() as Hex
  proxy = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
    const chosen = lie
    if (method !== 'eth_getLogs' || chosen === null) return say(method, body)
    return answering(({ result }) => (result ? { result: chosen(result as RawLog[]) } : {}))
  })
  pruned = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
    const { hash } = await world.public.getBlock()
    return method === 'eth_call' && !body.includes(hash) ? noState : undefined
  })
})
afterAll(async () => {
  await proxy?.stop()
  await pruned?.stop()
})

test(
  `none of ${RUNS} lies of the first of two nodes enters the journal, and the other node’s logs do (seed ${SEED})`,
  async () => {
    const random = seededRandomSequence(SEED, 'lies')
    for (let run = 0; run < RUNS; run++) {
      const kind = KINDS[run % KINDS.length]!
      const isCatchUp = random() < 0.3
      const isAlone = kind !== MOVED && random() < 0.2
      const config = {
        rpcUrls: isAlone ? [proxy.url] : [proxy.url, world.anvil.rpcUrl],
        communityPayments,
      }
      const indexer = await world.restart({ config })
      lie = (logs) => LIES[kind]!(logs, random)
      await world.bid(
        run % 5,
        Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => `name-${run}-${i}`),
      )
      if (random() < 0.5) await world.bid((run + 1) % 5, [`name-${run}-0`])
      if (random() < 0.5) await pay(config, run)
      await world.test.mine({ blocks: isCatchUp ? GAP : 3 })
      const end = await confirmed()
      const drive = async (): Promise<number> => {
        for (let i = 0; i < 20 && indexer.state.nextBlock <= end; i++) await indexer.step()
        return indexer.state.nextBlock
      }
      const reached = await drive().catch(() => 0)
      // the record does not cover the positions of logs, so two nodes contradict each other about the positions until
      // the lie ends
      if (!isAlone && kind !== MOVED) expect(reached, `${kind}, run ${run}`).toBe(end + 1)
      lie = null
      await expect.poll(() => drive().catch(() => 0), { timeout: 30_000 }).toBe(end + 1)
      expect(await causesInJournal(), `${kind}, run ${run}`).toEqual(await causesOnChain(end))
      expect(await paymentsStored(), `${kind}, run ${run}`).toEqual(await paymentsOnChain(end))
    }
  },
  60_000 + 2_000 * RUNS,
)

const RECORD_HASH = toFunctionSelector('recordHash()')
const recordHash = async () => (await world.public.call({ to: world.hub, data: RECORD_HASH })).data
const confirmed = async () => Number(await world.public.getBlockNumber({ cacheTime: 0 })) - 2

test.each<[string, (before: unknown) => OnCall]>([
  [
    'forges a record for logs that it leaves out',
    (before) => async (method) =>
      method === 'eth_call' ? answering(() => ({ result: before })) : undefined,
  ],
  [
    'returns no record either',
    () => async (method) => (method === 'eth_call' ? noState : undefined),
  ],
])(
  'a first node that %s is refuted beside an honest one without old state',
  async (how, chosen) => {
    const indexer = await world.restart({ config: { rpcUrls: [proxy.url, pruned.url] } })
    while ((await indexer.step()).kind !== 'idle');
    const hash = await recordHash()
    lie = () => []
    say = chosen(hash)
    await world.bid(0, [`lost-${how.split(' ')[0]}`])
    await world.test.mine({ blocks: 3 })
    for (let i = 0; i < 5; i++) await indexer.step().catch(() => {})
    lie = null
    say = async () => undefined
    const next = async () => (await indexer.step().catch(() => null)) && indexer.state.nextBlock
    await expect.poll(next, { timeout: 30_000 }).toBe((await confirmed()) + 1)
    expect(await causesInJournal()).toEqual(await causesOnChain(await confirmed()))
  },
)

test('a first node whose newest header has another parent, or that calls it finalized, decides nothing', async () => {
  const confirmation = { kind: 'tag', tag: 'finalized' } as const
  const config = { rpcUrls: [proxy.url, world.anvil.rpcUrl], confirmation }
  const indexer = await world.restart({ config })
  while ((await indexer.step()).kind !== 'idle');
  const journalled = await causesInJournal()
  const { nextBlock } = indexer.state
  const withOtherParent = answering(({ result }) => ({
    result: { ...(result as object), parentHash: `0x${'5e'.repeat(32)}` },
  }))
  say = async (method, body) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    if (body.includes('"finalized"')) return { body: body.replace('"finalized"', '"latest"') }
    return body.includes('"latest"') ? withOtherParent : undefined
  }
  await world.bid(0, ['early'])
  await world.test.mine({ blocks: 3 })
  for (let i = 0; i < 5; i++) await indexer.step().catch(() => {})
  say = async () => undefined
  expect(indexer.state.tailBlock).toBe((await confirmed()) + 2)
  expect(indexer.state.nextBlock - nextBlock).toBeLessThan(10)
  expect(await causesInJournal()).toEqual(journalled)
})

test('a single node without some logs and without the state of confirmed blocks is refuted by the state of its newest block', async () => {
  const indexer = await world.restart({ config: { rpcUrls: [proxy.url] } })
  while ((await indexer.step()).kind !== 'idle');
  const { nextBlock } = indexer.state
  lie = () => []
  await world.bid(0, ['lost'])
  await world.test.mine({ blocks: 3 })
  const { hash } = await world.public.getBlock()
  say = async (method, body) =>
    method === 'eth_call' && !body.includes(hash) ? noState : undefined
  for (let i = 0; i < 3; i++)
    await expect(indexer.step()).rejects.toThrow("do not produce its contracts' running hashes")
  expect(indexer.state.nextBlock).toBe(nextBlock)
  lie = null
  say = async () => undefined
  while ((await indexer.step()).kind !== 'idle');
  expect(await causesInJournal()).toEqual(await causesOnChain(await confirmed()))
})

/** Logs of some addresses and topics up to a block, as the honest node gives them, and their times, ms. */
async function logsTo(block: number, address: readonly Hex[], topics: readonly Hex[]) {
  const filter = { address, topics: [topics], fromBlock: '0x0', toBlock: `0x${block.toString(16)}` }
  const logs = (await world.public.request({
    method: 'eth_getLogs',
    params: [filter] as never,
  })) as unknown as RawLog[]
  return logs.map((log) => ({
    ...log,
    block: Number(log.blockNumber),
    ms: Number(log.blockTimestamp) * 1_000,
  }))
}

const rowsOf = async (text: string) =>
  (await world.pool.query({ text, rowMode: 'array' })).rows.map((row) => row.join())

/** Bids and minima: position, transaction and fields, time. */
const causesInJournal = () =>
  rowsOf(
    "SELECT block, log_index, encode(body, 'hex'), at_ms FROM journal WHERE block IS NOT NULL ORDER BY seq",
  )

async function causesOnChain(to: number) {
  const { addresses, topics } = logFilterOfContracts(world.config)
  const logs = await logsTo(to, addresses, topics)
  // a lost bid's credit is not an entry
  const causes = logs.filter((log) => log.topics.length === 1)
  const hashOf = ({ data, transactionHash }: RawLog) =>
    data.length === 2 + 64 ? '' : transactionHash.slice(2)
  return causes.map(
    (log) => `${log.block},${Number(log.logIndex)},${hashOf(log)}${log.data.slice(2)},${log.ms}`,
  )
}

const paymentsStored = () =>
  rowsOf("SELECT encode(id, 'hex'), block, paid_ms FROM payments WHERE state > 0 ORDER BY block")

const paymentsOnChain = async (to: number) =>
  (await logsTo(to, [communityPayments], [HELD_EVENT_TOPIC])).map(
    ({ topics, block, ms }) => `${topics[1]!.slice(2)},${block},${ms}`,
  )

/** Pays for a name below a community, on the hub's chain. */
async function pay(config: Partial<ChainConfig>, run: number): Promise<void> {
  const { chain } = await world.open({ ...config, rpcUrls: [world.anvil.rpcUrl] })
  const { to, data, value } = await chain.communityPayment({
    community: 'club',
    name: `paid-${run}`,
    payer: payer(run % 5).toLowerCase(),
    referral: null,
    price: { network: '1', token: 'native', amount: 1_000n, recipient: payer(8).toLowerCase() },
  })
  const hash = await clients()
    .walletClient(run % 5)
    .sendTransaction({ to, data, value, gas: 500_000n })
  await waitForReceipt(world.public, hash)
}
