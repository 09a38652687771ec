import { type Hex, toFunctionSelector, toHex } from 'viem'
import { logFilterOfContracts } from '../../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../../src/chains/evm/logs.js'
import { contractsWithRunningHash } from '../../../src/chains/evm/runningHash/hashes.js'
import { mapInBatches } from '../../../src/chains/rpc/batches.js'
import type { ChainConfig } from '../../../src/config/index.js'

export const RECORD_HASH = toFunctionSelector('recordHash()')

/** A block as a node returns it, with the hashes of its transactions. */
export type RawBlock = Record<'number' | 'hash' | 'parentHash' | 'timestamp', Hex>

/** Answers of a real node about one chain, by the height at which it gave them. */
export interface Recording {
  config: ChainConfig
  /** By number. */
  blocks: readonly RawBlock[]
  /** All logs of our contracts, in order. */
  logs: readonly RawLog[]
  /** Answers to `recordHash()` as of each block, by contract. */
  records: ReadonlyMap<Hex, readonly Hex[]>
  codes: ReadonlyMap<Hex, Hex>
  receipts: ReadonlyMap<Hex, { blockNumber: Hex }>
}

/** Calls in parallel. */
const AT_ONCE = 32

type Ask = <T>(method: string, params: readonly unknown[]) => Promise<T>

/**
 * Records the answers to all calls that an indexer may make.
 * @param before recording of the same chain up to an earlier block, whose answers are reused
 */
export async function record(
  url: string,
  config: ChainConfig,
  before?: Recording,
): Promise<Recording> {
  const ask: Ask = async <T>(method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body })
    const { result, error } = (await response.json()) as { result: T; error?: object }
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }
  const from = before?.blocks.length ?? 0
  const head = Number(await ask<Hex>('eth_blockNumber', []))
  const numbers = Array.from({ length: head + 1 - from }, (_, i) => from + i)
  const blocks = await mapInBatches(numbers, AT_ONCE, (number) =>
    ask<RawBlock>('eth_getBlockByNumber', [toHex(number), false]),
  )

  const { addresses, topics } = logFilterOfContracts(config)
  const filter = { address: addresses, topics: [topics], fromBlock: toHex(from), toBlock: 'latest' }
  const logs = await ask<RawLog[]>('eth_getLogs', [filter])

  const records = new Map<Hex, Hex[]>()
  for (const { address } of contractsWithRunningHash(config)) {
    const hashes = await mapInBatches(numbers, AT_ONCE, (number) =>
      ask<Hex>('eth_call', [{ to: address, data: RECORD_HASH }, toHex(number)]),
    )
    records.set(address, [...(before?.records.get(address) ?? []), ...hashes])
  }
  const codes = await mapInBatches(
    addresses,
    AT_ONCE,
    async (address): Promise<[Hex, Hex]> => [
      address,
      await ask('eth_getCode', [address, 'latest']),
    ],
  )
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))]
  const receipts = await mapInBatches(
    hashes,
    AT_ONCE,
    async (hash): Promise<[Hex, { blockNumber: Hex }]> => [
      hash,
      await ask('eth_getTransactionReceipt', [hash]),
    ],
  )
  return {
    config,
    blocks: [...(before?.blocks ?? []), ...blocks],
    logs: [...(before?.logs ?? []), ...logs],
    records,
    codes: new Map(codes),
    receipts: new Map([...(before?.receipts ?? []), ...receipts]),
  }
}
