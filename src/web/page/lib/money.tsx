import type { Answer } from '../../../client/types.js'
import { callApi } from './api.js'
import { moneyText, shortText, type MoneyUnit } from './format.js'
import { usePolled } from './net.js'
import type { Chain } from './types.js'

// this module reads symbols and decimals of coins and tokens, and shows amounts with them

/** An amount in base units. */
export interface Amount {
  /** Label of the chain, or `HUB_NETWORK`; null for a chain that is not served here. */
  network: string | null
  /** `native`, or the address of a token. */
  token: string
  amount: string
}

/** Value of `Amount.network` for amounts in the coin of the hub, such as bids. */
export const HUB_NETWORK = 'hub'
/** Value of `Amount.token` for amounts in the coin of a chain. */
export const NATIVE_TOKEN = 'native'

/** Responses that this tab has read, by network and path. Symbols and decimals do not change. */
const responseByNetworkAndPath = new Map<string, Promise<unknown>>()

/**
 * Reads a path of the API only once, so that all amounts share the answer. An error is not kept.
 * @throws ClusterdError
 */
function readOnce<T>(path: string, isTestnet: boolean): Promise<T> {
  const key = `${isTestnet} ${path}`
  const answer =
    (responseByNetworkAndPath.get(key) as Promise<T> | undefined) ?? callApi<T>(path, { isTestnet })
  responseByNetworkAndPath.set(key, answer)
  answer.catch(() => responseByNetworkAndPath.delete(key))
  return answer
}

/** The chains of the mainnet or the testnet. @throws ClusterdError */
export const readChains = async (isTestnet: boolean): Promise<Chain[]> =>
  (await readOnce<Chain[]>('/v1/networks', isTestnet)).filter(
    (chain) => chain.isTestnet === isTestnet,
  )

/** Reads the chains of the page's network. */
export const useChains = () => usePolled('', ({ isTestnet }) => readChains(isTestnet))

/**
 * Reads symbol and decimals of an amount's coin or token. Coins of a chain that is not served here count in base units.
 * @throws ClusterdError
 */
export async function fetchAmountUnit(
  { network, token }: Omit<Amount, 'amount'>,
  isTestnet: boolean,
): Promise<MoneyUnit> {
  if (token !== NATIVE_TOKEN) {
    const path = `/v1/tokens/${network}/${encodeURIComponent(token)}`
    const { symbol, decimals } = await readOnce<TokenUnit>(path, isTestnet)
    // anybody may give a token any symbol, so its address stays beside it
    return { symbol: `${symbol ?? 'of the token'} (${shortText(token)})`, decimals }
  }
  const chain = (await readChains(isTestnet)).find((chain) =>
    network === HUB_NETWORK ? chain.role === 'hub' : chain.network === network,
  )
  return chain?.gasToken ?? { symbol: 'base units', decimals: 0 }
}
type TokenUnit = Answer<'GET', '/v1/tokens/{network}/{token}'>

/** A price with its symbol, such as `0.01 ETH` or `5 USDC (0x1234…abcd)`. @throws ClusterdError */
export const priceText = async (price: Amount, isTestnet: boolean): Promise<string> =>
  moneyText(price.amount, await fetchAmountUnit(price, isTestnet))

/** The amount of a bid, within a sentence. @param amount wei of the hub */
export const BidAmount = ({ amount }: { amount: string }) => (
  <Money network={HUB_NETWORK} token={NATIVE_TOKEN} amount={amount} />
)

/** An amount within a sentence. */
export function Money({ network, token, amount }: Amount) {
  const { data } = usePolled(`${network} ${token} ${amount}`, ({ isTestnet }) =>
    priceText({ network, token, amount }, isTestnet),
  )
  return <span class="money">{data ?? '…'}</span>
}
