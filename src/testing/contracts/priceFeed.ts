import type { Address } from 'viem'
import {
  priceFeedAbi,
  priceFeedBytecode,
} from '../../../contracts/evm/artifacts/local/PriceFeed.js'
import {
  createLocalWalletClient,
  localChainClients,
  type RpcUrlAndChainId,
} from '../chains/localClients.js'
import { waitForReceipt } from '../chains/receipt.js'
import {
  contractCreationTransaction,
  type DeployerClients,
  sendTransactionsInOrder,
} from '../chains/send.js'
import { operatorAccount } from '../world.js'

const FEED_DECIMALS = 8
const FEED_UNITS_PER_DOLLAR = 10n ** BigInt(FEED_DECIMALS)

/** Initial price of one SOL in local worlds, in the feed's units of 10^-8 dollars. */
const INITIAL_SOL_USD = 150n * FEED_UNITS_PER_DOLLAR
/** Initial price of one ether in local worlds, in the feed's units of 10^-8 dollars. */
const INITIAL_ETH_USD = 3_000n * FEED_UNITS_PER_DOLLAR

/** Addresses of the price feeds for quotes in SOL. */
export interface PriceFeeds {
  solUsd: Address
  ethUsd: Address
}

/** Deploys the price feeds, with 150 dollars per SOL and 3,000 per ether. */
export async function deployPriceFeeds(client: DeployerClients): Promise<PriceFeeds> {
  const feed = (description: string, answer: bigint) => {
    const args = [description, FEED_DECIMALS, answer] as const
    const code = { abi: priceFeedAbi, bytecode: priceFeedBytecode, args }
    return contractCreationTransaction(`deploying the feed ${description}`, code)
  }
  const [solUsd, ethUsd] = await sendTransactionsInOrder(client, [
    feed('SOL / USD', INITIAL_SOL_USD),
    feed('ETH / USD', INITIAL_ETH_USD),
  ])
  return { solUsd: solUsd!.contractAddress!, ethUsd: ethUsd!.contractAddress! }
}

/** Sets the price of a feed, in units of 10^-8 dollars, and waits until the transaction is mined. */
export async function setPrice(at: RpcUrlAndChainId, feed: Address, answer: bigint): Promise<void> {
  const hash = await createLocalWalletClient(at, operatorAccount('deployer')).writeContract({
    address: feed,
    abi: priceFeedAbi,
    functionName: 'setAnswer',
    args: [answer],
  })
  await waitForReceipt(localChainClients(at).reader, hash)
}
