import {
  type RequirementInputs,
  requiredTokenKey,
  requiredTokensAndClusters,
} from '../registry/community/requirements.js'
import type { CommunityRequirement } from '../registry/community/rules.js'
import { familyOfLabel } from '../registry/families.js'
import { decodeWallet, type Wallet } from '../registry/primitives/address.js'
import { ChainUnavailableError, type CommunityPaymentPort, rethrowAsUnavailable } from './chain.js'
import type { RpcCall, RpcNodes } from './rpc/nodes.js'

/** Reads token balances on one chain. */
export type TokenBalancePort = Pick<CommunityPaymentPort, 'label' | 'tokenBalance'>

/**
 * Creates a reader of balances that may decide permanently who gets a name. Two nodes have to return equal balances where
 * two are configured. While they do not, nothing is decided: a registration gets an error, and a payment waits.
 */
export const createTokenBalancePort = (
  nodes: Pick<RpcNodes, 'label' | 'quorum'>,
  balanceOf: (call: RpcCall, token: string, wallet: string) => Promise<bigint>,
): TokenBalancePort => ({
  label: nodes.label,
  tokenBalance: (token, wallet) =>
    rethrowAsUnavailable(`chain "${nodes.label}"`, () =>
      nodes.quorum((call) => balanceOf(call, token, wallet)),
    ),
})

interface RequirementInputsQuery {
  /** Address of the name's future owner, in the stored form. */
  wallet: Buffer
  requirements: readonly CommunityRequirement[]
  /** Chains of the community's network. */
  ports: readonly TokenBalancePort[]
  /** Returns the names of the given clusters in which the wallet is verified. */
  verifiedIn(names: readonly string[]): Promise<ReadonlySet<string>>
}

/**
 * Reads the balances and cluster memberships of a wallet on which the requirements depend, as of now. Balances on
 * chains of another family than the wallet's are 0.
 * @throws ChainUnavailableError where a chain is unavailable or no longer configured
 */
export async function readRequirementInputs(
  question: RequirementInputsQuery,
): Promise<RequirementInputs> {
  const address = decodeWallet(question.wallet)
  const { tokens, clusters } = requiredTokensAndClusters(question.requirements)
  const [balances, verifiedIn] = await Promise.all([
    Promise.all(
      tokens.map(
        async (token) =>
          [
            requiredTokenKey(token),
            await readRequiredBalance(question.ports, token, address),
          ] as const,
      ),
    ),
    clusters.length > 0 ? question.verifiedIn(clusters) : new Set<string>(),
  ])
  return { address: address.text, balances: new Map(balances), verifiedIn }
}

async function readRequiredBalance(
  ports: readonly TokenBalancePort[],
  { network, token }: { network: string; token: string },
  wallet: Wallet,
): Promise<bigint> {
  if (wallet.type !== familyOfLabel(network).addressType) return 0n
  const port = ports.find(({ label }) => label === network)
  if (!port) throw new ChainUnavailableError(`chain "${network}" is not configured`)
  return port.tokenBalance(token, wallet.text)
}
