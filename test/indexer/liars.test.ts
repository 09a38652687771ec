import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterOf } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { sequence } from '../../src/testing/faultProxy/random.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

/** Lies of one run each: `LIES=1000` for a long one, `LIES_SEED` for the same again. */
const RUNS = Number(process.env.LIES ?? 40)
const SEED = Number(process.env.LIES_SEED ?? randomInt(2 ** 31))
/** Blocks of a run that is read as a catch-up: more than are followed one by one. */
const GAP = 70

type Random = () => number

const changed = (word: string, by: number): string =>
  `0x${(BigInt(word) ^ BigInt(Math.floor(by))).toString(16).padStart(64, '0')}`

const MOVED = 'moves to another transaction'
/** Lies about logs, each told in every answer of a run. */
const LIES: Record<string, (logs: RawLog[], random: Random) => RawLog[]> = {
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
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
let lie: ((logs: RawLog[]) => RawLog[]) | null = null

beforeAll(async () => {
  world = await startHubWorld()
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
      const rpcUrls = isAlone ? [proxy.url] : [proxy.url, world.anvil.rpcUrl]
      const indexer = await world.restart({ config: { rpcUrls } })
      lie = (logs) => LIES[kind]!(logs, random)
      await world.bid(
        run % 5,
        Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => `name-${run}-${i}`),
      )
      if (random() < 0.5) await world.bid((run + 1) % 5, [`name-${run}-0`])
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
    }
  },
  60_000 + 2_000 * RUNS,
)

/** Bids and minima of the journal: place, words, time. */
async function causesInJournal() {
  const { rows } = await world.pool.query(`SELECT block, log_index, encode(body, 'hex') AS body, at_ms FROM journal
    WHERE block IS NOT NULL ORDER BY seq`)
  return rows.map((row) => `${row.block}/${row.log_index} ${row.body} ${row.at_ms}`)
}

/** The same of the chain, up to a block. */
async function causesOnChain(to: number) {
  const { addresses, topics } = filterOf(world.config)
  const filter = { address: addresses, topics: [topics], fromBlock: '0x0', toBlock: `0x${to.toString(16)}` }
  const logs = (await world.public.request({ method: 'eth_getLogs', params: [filter] as never })) as unknown as RawLog[]
  // a lost bid's credit is no entry
  return logs
    .filter(({ topics: all }) => all.length === 1)
    .map((log) => {
      const hash = log.data.length === 2 + 64 ? '' : log.transactionHash.slice(2)
      const time = Number(log.blockTimestamp) * 1_000
      return `${Number(log.blockNumber)}/${Number(log.logIndex)} ${hash + log.data.slice(2)} ${time}`
    })
}
