import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, toFunctionSelector, toHex } from 'viem'
import { afterEach } from 'vitest'
import { logFilterOfContracts } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import {
  extendRunningHashes,
  initialRunningHashes,
  runningHashInputs,
} from '../../src/chains/evm/runningHash/hashes.js'
import type { ChainConfig } from '../../src/config/index.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { indexerOver, type LoneIndexer } from '../faults/support.js'
import { startHubWorld } from '../support/hubWorld.js'
import { type OnCall, startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

export const RECORD_HASH = toFunctionSelector('recordHash()')

type Answer = { result?: unknown; error?: object }
export const answering = (change: (answer: Answer) => Answer) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), ...change(JSON.parse(text)) })
export const failing = (code: number, message: string) =>
  answering(() => ({ result: undefined, error: { code, message } }))

/** Logs with an invented bid after the last one of a block. */
function withForged(logs: RawLog[], block: number, name: string): RawLog[] {
  const last = logs.findLastIndex((log) => Number(log.blockNumber) === block)
  const log = logs[last]
  if (!log || log.data.length !== 2 + 3 * 64) return logs
  const data = `0x${'00'.repeat(12)}${'66'.repeat(20)}${log.data.slice(66, 130)}${toHex(nameToWord(name)).slice(2)}`
  const forged = { ...log, logIndex: '0xff' as Hex, data: data as Hex }
  return [...logs.slice(0, last + 1), forged, ...logs.slice(last + 1)]
}

/** A hub, additional nodes that lie or fail, and indexers that use them. All end with their test. */
export function useSilentNodes() {
  const world = useWorld(() => startHubWorld())
  const ends: (() => Promise<unknown>)[] = []
  let databases = 0
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

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

  /** Position, transaction and fields of each bid in the journal. */
  const journalled = async ({ pool }: LoneIndexer): Promise<string[]> => {
    const { rows } = await pool.query(
      `SELECT block || ' ' || log_index || ' ' || encode(body, 'hex') AS bid
       FROM journal JOIN journal_heads USING (network, generation) WHERE kind = 1 ORDER BY journal.seq`,
    )
    return rows.map(({ bid }) => bid)
  }

  async function logsTo(to: number): Promise<RawLog[]> {
    const { addresses, topics } = logFilterOfContracts(world.config)
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

  /** A node that returns an invented bid, and a record that matches it. */
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
      const words = runningHashInputs(
        world.config,
        logs,
        (log) => Number(log.blockTimestamp) * 1_000,
      )
      const [hash] = extendRunningHashes(initialRunningHashes(world.config), words)
      return answering(() => ({ result: `0x${hash!.toString('hex')}` }))
    }

  /** A node with only the state of its newest blocks. */
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

  return {
    world,
    node,
    open,
    drive,
    journalled,
    logsTo,
    onChain,
    head,
    confirmed,
    forger,
    pruned,
    /** Databases that were made so far: part of names that differ. */
    made: () => databases,
  }
}
