import { encodeDeployData, type Hex } from 'viem'
import { BID_OFFSETS, bidNameWord, decodeBid } from '../../registry/journal/bid.js'
import { actorText } from '../../registry/journal/eventForms.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import type { EvmChain } from './chain.js'
import { ownersProbeAbi, ownersProbeBytecode } from './contracts/index.js'
import type { BlockHeader } from './logs.js'
import { readAtBlock } from './runningHash/hashes.js'

/**
 * Maximum number of names whose owners one call reads from the hub. OwnersProbe.sol returns the owners as contract
 * code, whose length is limited (EIP-170).
 */
export const MAX_OWNERS_PER_CALL = 700

/** Owner that the hub returns for a name that nobody has. */
const NO_OWNER = Buffer.alloc(32)

/**
 * Compares registrations with `ownerOf` on the hub as of a block, read from two nodes where two are configured.
 * @param bodies entry bodies of the bids that won the names, at most `MAX_OWNERS_PER_CALL`
 * @throws Error that names the first name whose owner on the hub is not the bidder that won it; ChainUnavailableError,
 * RpcError
 */
export async function assertOwnersOnHub(
  hub: EvmChain,
  block: BlockHeader,
  bodies: readonly Buffer[],
): Promise<void> {
  const names = bodies.map((body) => toHex(bidNameWord(body)))
  const question = {
    abi: ownersProbeAbi,
    bytecode: ownersProbeBytecode,
    args: [hub.config.contract, names] as const,
  }
  const data = encodeDeployData(question)
  const answer = await hub.rpc.quorum((call) => readAtBlock<Hex>(call, 'eth_call', { data }, block))
  // the answer begins with a zero byte, since no code may begin with 0xef (EIP-3541)
  const owners = fromHex(answer).subarray(1)
  for (const [i, body] of bodies.entries()) {
    const owner = owners.subarray(32 * i, 32 * i + 32)
    if (
      owner.equals(body.subarray(BID_OFFSETS.from, BID_OFFSETS.amount)) &&
      !owner.equals(NO_OWNER)
    )
      continue
    const { wallet, name } = decodeBid(body)
    throw new Error(
      `the hub did not give "${name}" to ${actorText(wallet)}, as of its block ${block.number}`,
    )
  }
}
