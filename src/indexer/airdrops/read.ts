import { CLAIMED_TOPIC, decodeClaimed } from '../../chains/evm/airdrop/distributor.js'
import { type Header, type LogFilter, type RawLog, readLogs } from '../../chains/evm/logs.js'
import type { Call } from '../../chains/rpc/evm.js'
import type { SeenClaim, WatchedAirdrop } from '../../db/airdrop/claims.js'
import { addressOfWord } from '../../registry/primitives/address.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'

/** Claims of an airdrop in a range of blocks, from one node. */
export interface ClaimRange {
  claims: SeenClaim[]
  last: Header
  /** Hash of the block below the first, as the first states it. */
  parentHash: string
}

/** Reads the claims in blocks from a node. @throws RpcError */
export async function readClaims(call: Call, watched: WatchedAirdrop, from: number, to: number): Promise<ClaimRange> {
  const { logs, first, last } = await readLogs(call, filterOf(watched), { from, to })
  return { claims: claimsOf(logs, watched), last, parentHash: first.parentHash }
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
