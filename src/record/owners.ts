import { encodeDeployData, type Hex } from 'viem'
import type { EvmChain } from '../chains/evm/chain.js'
import { ownersProbeAbi, ownersProbeBytecode } from '../chains/evm/contracts/index.js'
import type { Header } from '../chains/evm/logs.js'
import { BID_WORDS, bidNameWord, decodeBid } from '../registry/journal/bid.js'
import { actorText } from '../registry/journal/events.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'

/** Names that a hub is asked for at once: the answer is to be no longer than code may be (EIP-170). */
export const OWNERS_AT_ONCE = 700

/** Word of a name that the hub gave to nobody. */
const NOBODYS = Buffer.alloc(32)

/**
 * Holds registrations against the hub's own word, `ownerOf` as of a block (EIP-1898): of two nodes where two answer.
 * @param bodies of the bids that won the names, at most `OWNERS_AT_ONCE`
 * @throws Error that names the first that the hub gave to somebody else, or to nobody; ChainUnavailableError
 */
export async function assertOwners(
  hub: EvmChain,
  { hash, number }: Header,
  bodies: readonly Buffer[],
): Promise<void> {
  const names = bodies.map((body) => toHex(bidNameWord(body)))
  const question = {
    abi: ownersProbeAbi,
    bytecode: ownersProbeBytecode,
    args: [hub.config.contract, names] as const,
  }
  const data = encodeDeployData(question)
  const answer = await hub.rpc.quorum((call) =>
    call<Hex>('eth_call', [{ data }, { blockHash: hash }]),
  )
  const owners = fromHex(answer).subarray(1)
  for (const [i, body] of bodies.entries()) {
    const owner = owners.subarray(32 * i, 32 * i + 32)
    if (owner.equals(body.subarray(BID_WORDS.from, BID_WORDS.amount)) && !owner.equals(NOBODYS))
      continue
    const { wallet, name } = decodeBid(body)
    throw new Error(
      `the hub did not give "${name}" to ${actorText(wallet)}, as of its block ${number}`,
    )
  }
}
