import { createHash } from 'node:crypto'
import { type CommunityRequirement, communityRulesJson, type TokenRequirement } from './rules.js'

/**
 * Names requirements by what they ask, since what was found to be met counts only while the same is asked.
 * @returns SHA-256 of their canonical JSON, 32 bytes
 */
export function requirementsHash(requirements: readonly CommunityRequirement[]): Buffer {
  const { requirements: json } = communityRulesJson({ prices: [], ownersOnly: false, startsAtMs: null, requirements })
  return createHash('sha256').update(JSON.stringify(json)).digest()
}

/** What is known of the wallet that is to get a name, read before anything is judged. */
export interface RequirementInputs {
  /** The wallet, in its answer form (EVM in lower case, Solana in base58). */
  address: string
  /** Its balance of each token that is asked for, by `tokenKey`; 0 for a wallet that can't have any. */
  balances: ReadonlyMap<string, bigint>
  /**
   * The names of those clusters asked for in which it is verified in public. A private entry counts as none: whoever
   * gets a name is seen to meet what the community asks, so it would show where that wallet belongs.
   */
  verifiedIn: ReadonlySet<string>
}

export const tokenKey = ({ network, token }: Pick<TokenRequirement, 'network' | 'token'>): string =>
  `${network}/${token}`

/** What has to be read of a wallet before its requirements can be judged: balances of tokens, clusters by name. */
export const inputsNeeded = (requirements: readonly CommunityRequirement[]) => ({
  tokens: [
    ...new Map(requirements.filter((one) => one.kind === 'token').map((one) => [tokenKey(one), one] as const)).values(),
  ].map(({ network, token }) => ({ network, token })),
  clusters: [...new Set(requirements.filter((one) => one.kind === 'cluster').map(({ name }) => name))],
})

/** Whether a wallet meets all requirements. Throws RangeError when a balance that is needed was not read. */
export const areRequirementsMet = (requirements: readonly CommunityRequirement[], wallet: RequirementInputs): boolean =>
  requirements.every((requirement) => isMet(requirement, wallet))

function isMet(requirement: CommunityRequirement, wallet: RequirementInputs): boolean {
  switch (requirement.kind) {
    case 'token': {
      const balance = wallet.balances.get(tokenKey(requirement))
      if (balance === undefined) throw new RangeError(`the balance of ${tokenKey(requirement)} was not read`)
      return balance >= requirement.minimum
    }
    case 'allowlist':
      return requirement.addresses.includes(wallet.address)
    case 'cluster':
      return wallet.verifiedIn.has(requirement.name)
  }
}
