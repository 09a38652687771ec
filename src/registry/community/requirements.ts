import { sha256 } from '../primitives/sha256.js'
import { type CommunityRequirement, communityRulesJson, type TokenRequirement } from './rules.js'

/**
 * Identifies requirements by content, so that a stored check is not used for changed requirements.
 * @returns SHA-256 of their canonical JSON, 32 bytes
 */
export function requirementsHash(requirements: readonly CommunityRequirement[]): Buffer {
  const { requirements: json } = communityRulesJson({
    prices: [],
    ownersOnly: false,
    startsAtMs: null,
    requirements,
  })
  return sha256(Buffer.from(JSON.stringify(json)))
}

/** State of the wallet that is to get a name, read before the requirements are checked. */
export interface RequirementInputs {
  /** Address as responses show it. */
  address: string
  /** Balances of the required tokens, by `<network>/<token>`; 0 where the wallet can have none. */
  balances: ReadonlyMap<string, bigint>
  /**
   * Required cluster names in which the wallet is verified in public. A private wallet row does not count, because a
   * met requirement would reveal the row.
   */
  verifiedIn: ReadonlySet<string>
}

export const requiredTokenKey = ({
  network,
  token,
}: Pick<TokenRequirement, 'network' | 'token'>): string => `${network}/${token}`

/** The tokens and cluster names of requirements, without duplicates. */
export const requiredTokensAndClusters = (requirements: readonly CommunityRequirement[]) => ({
  tokens: [
    ...new Map(
      requirements
        .filter((one) => one.kind === 'token')
        .map((one) => [requiredTokenKey(one), one] as const),
    ).values(),
  ].map(({ network, token }) => ({ network, token })),
  clusters: [
    ...new Set(requirements.filter((one) => one.kind === 'cluster').map(({ name }) => name)),
  ],
})

/** Whether a wallet meets all requirements. @throws RangeError when a needed balance was not read */
export const areRequirementsMet = (
  requirements: readonly CommunityRequirement[],
  wallet: RequirementInputs,
): boolean => requirements.every((requirement) => isRequirementMet(requirement, wallet))

function isRequirementMet(requirement: CommunityRequirement, wallet: RequirementInputs): boolean {
  switch (requirement.kind) {
    case 'token': {
      const balance = wallet.balances.get(requiredTokenKey(requirement))
      if (balance === undefined)
        throw new RangeError(`the balance of ${requiredTokenKey(requirement)} was not read`)
      return balance >= requirement.minimum
    }
    case 'allowlist':
      return requirement.addresses.includes(wallet.address)
    case 'cluster':
      return wallet.verifiedIn.has(requirement.name)
  }
}
