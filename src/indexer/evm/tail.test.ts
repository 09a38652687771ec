import { afterEach, expect, it, vi } from 'vitest'
import type { Hex } from '../../chains/chain.js'
import type { EvmChain } from '../../chains/evm/chain.js'
import type { DecodedBlock } from '../../chains/evm/decodeLogs.js'
import { type RpcCall, RpcPool } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/chains/chains.js'
import { LoopStageTimer } from '../../ops/stages.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { readNewBlocks } from './tail.js'

/** Number of unconfirmed blocks: a quarter of an hour of a chain with a block a second. */
const TAIL = 900
const MS_A_CALL = 2_000
/** A longer step ends the lead of the whole network (src/ops/worker.ts). */
const STEP_LIMIT_MS = 5 * 60_000

afterEach(() => void vi.useRealTimers())

/** Hash of a block: its fork and its number. */
const hashOf = (fork: number, block: number): Hex =>
  `0x${fork.toString(16).padStart(2, '0')}${block.toString(16).padStart(62, '0')}`
const numberOf = (hash: Hex): number => Number.parseInt(hash.slice(4), 16)
const header = (fork: number, block: number) => ({
  number: `0x${block.toString(16)}`,
  hash: hashOf(fork, block),
  parentHash: hashOf(fork, block - 1),
  timestamp: '0x1',
})

/** A node that has one fork, and takes some time for each answer. */
const nodeOf =
  (fork: number, msPerCall: number): RpcCall =>
  async <T>(method: string, [what]: readonly unknown[]): Promise<T> => {
    vi.advanceTimersByTime(msPerCall)
    if (method === 'eth_getLogs') return [] as T
    const block = method === 'eth_getBlockByHash' ? numberOf(what as Hex) : Number(what)
    const isOwn = method !== 'eth_getBlockByHash' || what === hashOf(fork, block)
    return (isOwn ? header(fork, block) : null) as T
  }

it('a slow node that invents a fork of all unconfirmed blocks does not take the time limit of a step', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const nodes = [nodeOf(0xff, MS_A_CALL), nodeOf(1, 0)]
  const rpc = new RpcPool<Hex>({
    label: '1',
    urls: ['http://0', 'http://1'],
    behindBlocks: 3,
    connect: (url) => nodes[Number(url.at(-1))]!,
    readGenesis: async () => hashOf(0, 0),
    headOf: async () => ({ height: TAIL + 1, timeMs: null }),
  })
  const tail = Array.from({ length: TAIL }, (_, i) => ({
    block: i + 1,
    hash: fromHex(hashOf(1, i + 1)),
  }))
  const config = { role: 'hub', contract: `0x${'11'.repeat(20)}`, startBlock: 1 }
  const known = {
    chain: { rpc, config, chain: 1, stages: new LoopStageTimer() } as unknown as EvmChain,
    row: { nextBlock: 1, parentHash: null } as ChainRow,
    tail: tail as unknown as DecodedBlock[],
  }
  const { hash, parentHash } = header(0xff, TAIL + 1)
  const latest = { number: TAIL + 1, hash, parentHash, timestampMs: 1_000 }
  const startedMs = performance.now()
  const change = await readNewBlocks(known, latest, 64)
  expect(performance.now() - startedMs).toBeLessThan(STEP_LIMIT_MS)
  expect(change?.dropFrom).toBe(TAIL + 1)
  expect(change?.blocks.map((block) => block.hash)).toEqual([fromHex(hashOf(1, TAIL + 1))])
})
