import { factsNeeded, tokenKey, type WalletFacts } from '../registry/community/requirements.js'
import type { CommunityRequirement } from '../registry/community/rules.js'
import { type Address, decodeAddress } from '../registry/primitives/address.js'
import { ChainUnavailableError, type CommunityPort } from './chain.js'

/** The label of a network whose tokens only wallets on Solana have; every other's only EVM wallets have. */
const SOLANA = 'solana'

/** Where balances are asked for, a chain each. */
export type BalancePort = Pick<CommunityPort<unknown>, 'label' | 'tokenBalance'>

export interface WalletFactsQuestion {
  /** Who is to get a name, in the stored form. */
  wallet: Buffer
  requirements: readonly CommunityRequirement[]
  /** The chains of the community's network. */
  ports: readonly BalancePort[]
  /** Which of these clusters, by name, the wallet is verified in. */
  verifiedIn(names: readonly string[]): Promise<ReadonlySet<string>>
}

/**
 * Reads what has to be known of a wallet before its requirements can be judged, as of now. A wallet has no tokens on chains of
 * another kind; nothing is asked where nothing is needed.
 * @throws ChainUnavailableError where a chain can't be asked, or is not configured any more
 */
export async function readWalletFacts(question: WalletFactsQuestion): Promise<WalletFacts> {
  const address = decodeAddress(question.wallet)
  const { tokens, clusters } = factsNeeded(question.requirements)
  const [balances, verifiedIn] = await Promise.all([
    Promise.all(
      tokens.map(async (token) => [tokenKey(token), await balanceOf(question.ports, token, address)] as const),
    ),
    clusters.length > 0 ? question.verifiedIn(clusters) : new Set<string>(),
  ])
  return { address: address.text, balances: new Map(balances), verifiedIn }
}

async function balanceOf(
  ports: readonly BalancePort[],
  { network, token }: { network: string; token: string },
  wallet: Address,
): Promise<bigint> {
  if (wallet.type !== (network === SOLANA ? 'solana' : 'evm')) return 0n
  const port = ports.find(({ label }) => label === network)
  if (!port) throw new ChainUnavailableError(`chain "${network}" is not configured`)
  return port.tokenBalance(token, wallet.text)
}
