import { type Address, encodeDeployData, type Hex } from 'viem'
import {
  priceFeedAbi,
  priceFeedBytecode,
} from '../../../contracts/evm/artifacts/local/PriceFeed.js'
import { localClients, walletOf } from '../chains/localClients.js'
import { receiptOf } from '../chains/receipt.js'
import { type DeployClient, sendInOrder } from '../chains/send.js'
import { operatorAccount } from '../world.js'

const FEED_DECIMALS = 8
const DOLLAR = 10n ** BigInt(FEED_DECIMALS)

/** Initial prices of local worlds. */
const SOL_USD = 150n * DOLLAR
const ETH_USD = 3_000n * DOLLAR

/** Price feeds behind quotes in SOL. */
export interface PriceFeeds {
  solUsd: Address
  ethUsd: Address
}

/** 150 dollars per SOL and 3,000 per ether. */
export async function deployPriceFeeds(client: DeployClient): Promise<PriceFeeds> {
  const creation = (description: string, answer: bigint) => {
    const args = [description, FEED_DECIMALS, answer] as const
    const data = encodeDeployData({ abi: priceFeedAbi, bytecode: priceFeedBytecode, args })
    return { label: `deploying the feed ${description}`, data }
  }
  const [solUsd, ethUsd] = await sendInOrder(client, [
    creation('SOL / USD', SOL_USD),
    creation('ETH / USD', ETH_USD),
  ])
  return { solUsd: solUsd!.contractAddress!, ethUsd: ethUsd!.contractAddress! }
}

export interface PriceChange {
  feed: Address
  /** Units of 10^-8 dollars. */
  answer: bigint
}

/** Waits until mined. @returns the transaction */
export async function setPrice(
  at: { rpcUrl: string; chainId: number },
  { feed, answer }: PriceChange,
): Promise<Hex> {
  const wallet = walletOf(at, at.chainId, operatorAccount('deployer'))
  const write = {
    address: feed,
    abi: priceFeedAbi,
    functionName: 'setAnswer',
    args: [answer],
  } as const
  const hash = await wallet.writeContract(write)
  await receiptOf(localClients(at, at.chainId).reader, hash)
  return hash
}
