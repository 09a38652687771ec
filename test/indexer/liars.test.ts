import { randomInt } from 'node:crypto'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELD_TOPIC } from '../../src/chains/evm/community/logs.js'
import { filterOf } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import type { ChainConfig } from '../../src/config/index.js'
import { receiptOf } from '../../src/testing/chains/receipt.js'
import { deployCommunityPayments } from '../../src/testing/contracts/deploy.js'
import { sequence } from '../../src/testing/faultProxy/random.js'
import { account, chainAt, HUB_CHAIN_ID } from '../support/bridgeContracts.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

/** Lies of one run each: `LIES=1000` for a long one, `LIES_SEED` for the same again. */
const RUNS = Number(process.env.LIES ?? 40)
const SEED = Number(process.env.LIES_SEED ?? randomInt(2 ** 31))
/** Blocks of a run that is read as a catch-up: more than are followed one by one. */
const GAP = 70

const changed = (word: string, by: number): string =>
  `0x${(BigInt(word) ^ BigInt(Math.floor(by))).toString(16).padStart(64, '0')}`

const MOVED = 'moves to another transaction'
/** Lies about logs, each told in every answer of a run. */
const LIES: Record<string, (logs: RawLog[], random: () => number) => RawLog[]> = {
  'leaves out one': (logs, random) => logs.filter((_, i) => i !== Math.floor(random() * logs.length)),
  'leaves out all': () => [],
  'invents one': (logs) =>
    logs.flatMap((log, i) =>
      i === 0
        ? [log, { ...log, logIndex: '0xffff', data: `${log.data.slice(0, 130)}${'6c'.repeat(32)}` as never }]
        : [log],
    ),
  'alters a bidder': (logs) =>
    logs.map((log, i) =>
      i > 0 ? log : { ...log, data: (changed(log.data.slice(0, 66), 7) + log.data.slice(66)) as never },
    ),
  reorders: (logs) => {
    const [one, two] = logs
    if (!one || !two || one.blockNumber !== two.blockNumber) return []
    return [{ ...one, logIndex: two.logIndex }, { ...two, logIndex: one.logIndex }, ...logs.slice(2)]
  },
  [MOVED]: (logs, random) =>
    logs.map((log) => ({ ...log, transactionHash: changed(log.transactionHash, 1 + random() * 99) as never })),
  're-times': (logs) =>
    logs.map((log) => ({ ...log, blockTimestamp: `0x${(Number(log.blockTimestamp) - 86_400).toString(16)}` })),
}
const KINDS = Object.keys(LIES)

let world: HubWorld
const payer = (index: number) => account(index).address
const clients = () => chainAt(world.anvil.rpcUrl, HUB_CHAIN_ID)
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
let communityPayments: Hex
let lie: ((logs: RawLog[]) => RawLog[]) | null = null

beforeAll(async () => {
  world = await startHubWorld()
  const [publicClient, roles] = [world.public, { owner: payer(9), relayer: payer(9), pauser: payer(9) }]
  const { payments } = await deployCommunityPayments({
    ...roles,
    publicClient,
    walletClient: clients().walletClient(9),
  })
  communityPayments = payments.toLowerCase() as Hex
  proxy = await startRpcProxy(world.anvil.rpcUrl, async (method) => {
    const told = lie
    if (method !== 'eth_getLogs' || told === null) return undefined
    return (text) => {
      const answer = JSON.parse(text) as { result?: RawLog[] }
      return JSON.stringify(answer.result ? { ...answer, result: told(answer.result) } : answer)
    }
  })
})
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})

test(
  `of ${RUNS} lies of the first of two nodes none enters the journal, and the other node is believed (seed ${SEED})`,
  async () => {
    const random = sequence(SEED, 'lies')
    for (let run = 0; run < RUNS; run++) {
      const kind = KINDS[run % KINDS.length]!
      const isCatchUp = random() < 0.3
      const isAlone = kind !== MOVED && random() < 0.2
      const config = { rpcUrls: isAlone ? [proxy.url] : [proxy.url, world.anvil.rpcUrl], communityPayments }
      const indexer = await world.restart({ config })
      lie = (logs) => LIES[kind]!(logs, random)
      await world.bid(
        run % 5,
        Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => `name-${run}-${i}`),
      )
      if (random() < 0.5) await world.bid((run + 1) % 5, [`name-${run}-0`])
      if (random() < 0.5) await pay(config, run)
      await world.test.mine({ blocks: isCatchUp ? GAP : 3 })
      const confirmed = Number(await world.public.getBlockNumber({ cacheTime: 0 })) - 2
      const drive = async (): Promise<number> => {
        for (let i = 0; i < 20 && indexer.state.nextBlock <= confirmed; i++) await indexer.step()
        return indexer.state.nextBlock
      }
      const reached = await drive().catch(() => 0)
      // no record holds the places of logs: there the two contradict each other until the lie ends
      if (!isAlone && kind !== MOVED) expect(reached, `${kind}, run ${run}`).toBe(confirmed + 1)
      lie = null
      await expect.poll(() => drive().catch(() => 0), { timeout: 30_000 }).toBe(confirmed + 1)
      expect(await causesInJournal(), `${kind}, run ${run}`).toEqual(await causesOnChain(confirmed))
      expect(await paymentsStored(), `${kind}, run ${run}`).toEqual(await paymentsOnChain(confirmed))
    }
  },
  60_000 + 2_000 * RUNS,
)

/** Logs of some addresses and topics up to a block, as the honest node gives them, and their times, ms. */
async function logsTo(block: number, address: readonly Hex[], topics: readonly Hex[]) {
  const filter = { address, topics: [topics], fromBlock: '0x0', toBlock: `0x${block.toString(16)}` }
  const logs = (await world.public.request({ method: 'eth_getLogs', params: [filter] as never })) as unknown as RawLog[]
  return logs.map((log) => ({ ...log, block: Number(log.blockNumber), ms: Number(log.blockTimestamp) * 1_000 }))
}

const rowsOf = async (text: string) =>
  (await world.pool.query({ text, rowMode: 'array' })).rows.map((row) => row.join())

/** Bids and minima: place, transaction and words, time. */
const causesInJournal = () =>
  rowsOf("SELECT block, log_index, encode(body, 'hex'), at_ms FROM journal WHERE block IS NOT NULL ORDER BY seq")

async function causesOnChain(to: number) {
  const { addresses, topics } = filterOf(world.config)
  const logs = await logsTo(to, addresses, topics)
  // a lost bid's credit is no entry
  const causes = logs.filter((log) => log.topics.length === 1)
  const hashOf = ({ data, transactionHash }: RawLog) => (data.length === 2 + 64 ? '' : transactionHash.slice(2))
  return causes.map((log) => `${log.block},${Number(log.logIndex)},${hashOf(log)}${log.data.slice(2)},${log.ms}`)
}

const paymentsStored = () =>
  rowsOf("SELECT encode(id, 'hex'), block, paid_ms FROM payments WHERE state > 0 ORDER BY block")

const paymentsOnChain = async (to: number) =>
  (await logsTo(to, [communityPayments], [HELD_TOPIC])).map(
    ({ topics, block, ms }) => `${topics[1]!.slice(2)},${block},${ms}`,
  )

/** Pays for a name below a community, on the hub's chain. */
async function pay(config: Partial<ChainConfig>, run: number): Promise<void> {
  const { chain } = await world.open({ ...config, rpcUrls: [world.anvil.rpcUrl] })
  const { to, data, value } = await chain.communityPayment({
    ...{ community: 'club', name: `paid-${run}`, payer: payer(run % 5).toLowerCase(), referral: null },
    price: { network: '1', token: 'native', amount: 1_000n, recipient: payer(8).toLowerCase() },
  })
  const hash = await clients()
    .walletClient(run % 5)
    .sendTransaction({ to, data, value, gas: 500_000n })
  await receiptOf(world.public, hash)
}
