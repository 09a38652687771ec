import { ChainUnavailableError } from '../../chains/chain.js'
import { readRequirementInputs, type TokenBalancePort } from '../../chains/requirementInputs.js'
import {
  findClusterNamesOfVerifiedWallet,
  readCommunityNameAvailability,
} from '../../db/registry/communityNames.js'
import { withTimeout } from '../../ops/waiting.js'
import {
  areRequirementsMet,
  requiredTokensAndClusters,
} from '../../registry/community/requirements.js'
import type { CommunityRules } from '../../registry/community/rules.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { requireCaughtUp } from '../http/freshness.js'
import { availabilityJson } from '../names/names.js'
import { type NameBelowCommunity, requireCommunityRules } from './communities.js'

/**
 * Time limit for reading the token balances of payers. A payer whose chain does not answer in time is assumed to meet
 * the requirements.
 */
const PAYERS_TIMEOUT_MS = 3_000

/** Availability of a name below a community, as responses show it. @throws ApiError not_found, catching_up */
export async function availabilityOfCommunityName(context: Context, member: NameBelowCommunity) {
  const rules = await requireCommunityRules(context, member.community)
  await requireCaughtUp(context)
  return availabilityJson(
    `${member.community}/${member.name}`,
    await nameAvailabilityUnderRules(context, member, rules),
  )
}

/**
 * Availability of a name below a community under given rules. A payment reserves a name only if its payer meets the
 * requirements. Other payers get their money back, and must not block a name for the price of a transaction.
 * @param rules null for a name that is no community
 * @returns `pending` where a payment reserves the name
 */
export async function nameAvailabilityUnderRules(
  context: Context,
  member: NameBelowCommunity,
  rules: CommunityRules | null,
): Promise<'free' | 'taken' | 'pending'> {
  const { isTaken, payers } = await readCommunityNameAvailability(
    context.pool,
    context.network,
    member,
    rules?.prices ?? [],
  )
  if (isTaken) return 'taken'
  const payerChecks = payers.map(async (payer) =>
    walletMeetsRequirements(context, rules!, payer, chainsWithCachedBalances(context)).catch(
      (error: unknown) => {
        if (error instanceof ChainUnavailableError) return true
        throw error
      },
    ),
  )
  const isReserved = Promise.all(payerChecks).then((each) => each.includes(true))
  return (await withTimeout(PAYERS_TIMEOUT_MS, isReserved, true)) ? 'pending' : 'free'
}

/** The network's chains, with look-ups of balances that may be some seconds old. */
export const chainsWithCachedBalances = (context: Context): readonly TokenBalancePort[] =>
  chainsOfNetwork(context).map(({ label, recentBalance, tokenBalance }) => {
    return { label, tokenBalance: recentBalance ?? tokenBalance }
  })

/**
 * True if a wallet (a stored address) meets the requirements of rules. Each balance look-up costs the caller one
 * rate-limit unit.
 * @throws ChainUnavailableError
 */
export async function walletMeetsRequirements(
  context: Context,
  { requirements }: CommunityRules,
  wallet: Buffer,
  ports: readonly TokenBalancePort[] = chainsOfNetwork(context),
): Promise<boolean> {
  context.caller?.meter.owe(requiredTokensAndClusters(requirements).tokens.length)
  const inputs = await readRequirementInputs({
    wallet,
    requirements,
    ports,
    verifiedIn: (names) =>
      findClusterNamesOfVerifiedWallet(context.pool, context.network, wallet, names),
  })
  return areRequirementsMet(requirements, inputs)
}
