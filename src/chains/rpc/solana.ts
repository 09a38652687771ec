import PQueue from 'p-queue'
import type { SolanaConfig } from '../../config/index.js'
import { SOLANA } from '../../registry/families.js'
import type { ErrorRow } from './errorTable.js'
import { createJsonRpcCaller } from './evm.js'
import { type RpcCall, type RpcNodes, RpcPool, type RpcPoolOptions } from './nodes.js'

/** Commitment level of a block (`confirmed`: two thirds of the stake voted for it; `finalized`: irreversible). */
export type Commitment = 'confirmed' | 'finalized'

/** RPC nodes of one Solana cluster. Its genesis hash is a base58 string. */
export type SolanaRpc = RpcNodes

const TIMEOUT_MS = 20_000
/** Timeout of `LIGHT_METHODS`, ms. Short, so that a hanging node is noticed soon. */
const LIGHT_TIMEOUT_MS = 3_000
/** Methods that a healthy node answers from memory. */
const LIGHT_METHODS: ReadonlySet<string> = new Set([
  'getAccountInfo',
  'getBlockTime',
  'getFirstAvailableBlock',
  'getGenesisHash',
  'getSlot',
])
/** Number of slots by which the heads of honest nodes may differ: 20 s. Slots are shorter than other chains' blocks. */
const BEHIND_SLOTS = 50
/** Maximum number of concurrent calls to a node, besides `LIGHT_METHODS`. Callers may start hundreds together. */
const MAX_CONCURRENT_CALLS = 16

export function createSolanaRpc(
  { rpcUrls: urls, genesisHash }: Pick<SolanaConfig, 'rpcUrls' | 'genesisHash'>,
  onFault?: RpcPoolOptions<string>['onFault'],
): SolanaRpc {
  return new RpcPool({
    label: SOLANA.label,
    urls,
    genesisHash,
    onFault,
    connect: createSolanaRpcCaller,
    readGenesis: (_, call) => call<string>('getGenesisHash', []),
    headOf: async (call) => {
      const height = await call<number>('getSlot', [{ commitment: 'confirmed' }])
      // a node may not know the time of its newest slot
      const timeS = await call<number | null>('getBlockTime', [height]).catch(() => null)
      return { height, timeMs: timeS === null ? null : timeS * 1_000 }
    },
    behindBlocks: BEHIND_SLOTS,
  })
}

/** Codes with which Agave's nodes refuse a transaction that they are given. */
const REFUSED_TRANSACTION_CODES = [-32_602, -32_002, -32_003, -32_006, -32_013]

/**
 * Errors of Agave's nodes (`rpc-client-api`, custom_error.rs) by code, because the errors' texts resemble texts of EVM
 * nodes that mean other things. Callers recognize answers that are errors by the code: an address that is no mint
 * (tokens.ts), a transaction of another version (reads.ts), an unknown signature at which a list ends
 * (indexer/solana/list.ts).
 */
const SOLANA_ERROR_TABLE: readonly ErrorRow[] = [
  { source: 'Agave', fault: 'refused', reason: 'code', codes: REFUSED_TRANSACTION_CODES },
  {
    source: 'Agave',
    fault: 'transient',
    reason: 'code',
    codes: [
      ...REFUSED_TRANSACTION_CODES,
      ...[-32_001, -32_004, -32_005, -32_007, -32_008, -32_009, -32_010, -32_011],
      ...[-32_012, -32_014, -32_015, -32_016],
    ],
  },
]

/**
 * Creates a caller of a Solana node with a limit of concurrent calls. Calls in `LIGHT_METHODS` skip the queue.
 * @param limitMs timeout of each call, if shorter than usual
 */
export function createSolanaRpcCaller(url: string, limitMs = TIMEOUT_MS): RpcCall {
  const queue = new PQueue({ concurrency: MAX_CONCURRENT_CALLS })
  const call = createJsonRpcCaller(url, {
    timeoutOf: (method) =>
      Math.min(LIGHT_METHODS.has(method) ? LIGHT_TIMEOUT_MS : TIMEOUT_MS, limitMs),
    familyTable: SOLANA_ERROR_TABLE,
  })
  return <T>(method: string, params: readonly unknown[]) =>
    LIGHT_METHODS.has(method)
      ? call<T>(method, params)
      : (queue.add(() => call<T>(method, params)) as Promise<T>)
}
