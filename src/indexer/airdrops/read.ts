import { CLAIMED_TOPIC, decodeClaimed } from '../../chains/evm/airdrop/distributor.js'
import type { EvmChain } from '../../chains/evm/chain.js'
import { getLogRange, type Header, type LogFilter, type RawLog } from '../../chains/evm/logs.js'
import { readCheckedLogs } from '../../chains/evm/rangeCheck.js'
import type { Call } from '../../chains/rpc/evm.js'
import type { SeenClaim, WatchedAirdrop } from '../../db/airdrop/claims.js'
import { addressOfWord } from '../../registry/primitives/address.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'

/** Newest confirmed blocks, whose headers are read: a node that is late with its logs is late near its head. */
const CHECKED_BLOCKS = 64

/** Claims of an airdrop in a range of blocks, from one node. */
export interface ClaimRange {
  claims: SeenClaim[]
  last: Header
  /** Hash of the block below the first, as the first states it. */
  parentHash: string
}

/**
 * Reads the claims of confirmed blocks, checked against their headers near `confirmed` and against another node below.
 * @throws RpcError
 */
export async function readConfirmed(
  call: Call,
  chain: EvmChain,
  watched: WatchedAirdrop,
  { from, to, confirmed }: { from: number; to: number; confirmed: number },
): Promise<ClaimRange> {
  const range = { from, to, checkFrom: confirmed - CHECKED_BLOCKS }
  const { logs, first, last } = await readCheckedLogs(chain.rpc, call, filterOf(watched), range)
  return { claims: claimsOf(logs, watched), last, parentHash: first.parentHash }
}

/** Reads the claims of unconfirmed blocks from one node. @throws RpcError */
export async function readUnconfirmed(
  call: Call,
  watched: WatchedAirdrop,
  from: number,
  to: number,
): Promise<SeenClaim[]> {
  const { logs } = await getLogRange(call, filterOf(watched), from, to)
  return claimsOf(logs, watched)
}

const filterOf = ({ distributor }: WatchedAirdrop): LogFilter => ({
  addresses: [toHex(distributor)],
  topics: [CLAIMED_TOPIC],
})

/** Claims by leaf: a distributor pays each leaf of its tree once. Logs that it can't have emitted are ignored. */
function claimsOf(logs: readonly RawLog[], { leafCount }: WatchedAirdrop): SeenClaim[] {
  const claims = new Map<number, SeenClaim>()
  for (const log of logs) {
    const claimed = decodeClaimed(log)
    if (!claimed || claimed.index >= BigInt(leafCount)) continue
    const index = Number(claimed.index)
    claims.set(index, {
      index,
      receiver: addressOfWord(Buffer.concat([Buffer.alloc(12), claimed.to])),
      block: Number(log.blockNumber),
      blockHash: fromHex(log.blockHash),
      logIndex: Number(log.logIndex),
      txHash: fromHex(log.transactionHash),
    })
  }
  return [...claims.values()]
}
