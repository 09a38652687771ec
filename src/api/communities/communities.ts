import type { CommunityPaymentPort } from '../../chains/chain.js'
import { findCommunityRules } from '../../db/registry/communityNames.js'
import {
  type CommunityRules,
  communityRulesJson,
  findChainProblemsOfRules,
  NATIVE_COIN,
} from '../../registry/community/rules.js'
import {
  appendChangesOrThrow,
  type ChangeAuthor,
  communityRegistrationError,
} from '../clusters/changes.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { ApiError, type ErrorDetail } from '../http/errors.js'
import { requireName, requireNewNames } from '../names/names.js'

/** The rules of a community, as the response shows them. @throws ApiError invalid_name, not_found */
export async function communityByName(context: Context, input: string) {
  const name = requireName(input)
  return { name, ...communityRulesJson(await requireCommunityRules(context, name)) }
}

/**
 * Makes a name of the caller's cluster a community, or replaces the rules of one.
 * @throws ApiError invalid_name, invalid_request with details, not_found, forbidden; also as `appendChangesOrThrow`
 * @throws ChainUnavailableError where a token's chain does not answer
 */
export async function configureCommunity(
  context: Context,
  author: ChangeAuthor,
  { name, rules }: { name: string; rules: CommunityRules },
) {
  const community = requireName(name)
  const ports = chainsOfNetwork(context)
  const details = findChainProblemsOfRules(rules, ports)
  if (details.length > 0) throw refusedRulesError(details)
  await requireTokens(ports, rules)
  await appendChangesOrThrow(context, author, {
    changes: [{ kind: 'configure_community', actor: author.wallet, community, rules }],
  })
  return { name: community, ...communityRulesJson(rules) }
}

const refusedRulesError = (details: readonly ErrorDetail[]) =>
  new ApiError('invalid_request', 'These rules of a community can not be taken.', { details })

/**
 * Refuses rules with an address that is no token on its chain. Chains without `isToken` accept any address.
 * @throws ApiError invalid_request, ChainUnavailableError
 */
async function requireTokens(
  ports: readonly Pick<CommunityPaymentPort, 'label' | 'isToken'>[],
  { prices, requirements }: CommunityRules,
): Promise<void> {
  const named = [
    ...requirements.flatMap((one, i) =>
      one.kind === 'token' ? [{ ...one, path: `requirements[${i}].token` }] : [],
    ),
    ...prices.flatMap((one, i) =>
      one.token === NATIVE_COIN ? [] : [{ ...one, path: `prices[${i}].token` }],
    ),
  ]
  const lookups = named.map(({ network, token }) =>
    ports.find(({ label }) => label === network)?.isToken?.(token),
  )
  const answers = await Promise.all(lookups)
  const details = named.flatMap(({ path }, i) =>
    answers[i] === false ? [{ path, message: 'is no mint there' }] : [],
  )
  if (details.length > 0) throw refusedRulesError(details)
}

export interface NameBelowCommunity {
  community: string
  name: string
}

/** Canonical form of a name below a community. @throws ApiError invalid_name */
export function requireNameBelowCommunity(community: string, name: string): NameBelowCommunity {
  const [newName] = requireNewNames([name], () => 'name')
  return { community: requireName(community), name: newName! }
}

/** The rules of a community. @throws ApiError not_found */
export async function requireCommunityRules(
  context: Context,
  community: string,
): Promise<CommunityRules> {
  const rules = await findCommunityRules(context.pool, context.network, community)
  if (!rules) throw communityRegistrationError('not_found')
  return rules
}
