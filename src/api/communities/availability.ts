import { ChainUnavailableError } from '../../chains/chain.js'
import { type BalancePort, readRequirementInputs } from '../../chains/requirementInputs.js'
import { communityNameAvailability, verifiedInClusters } from '../../db/registry/communityNames.js'
import { withTimeout } from '../../ops/notify.js'
import { areRequirementsMet, inputsNeeded } from '../../registry/community/requirements.js'
import type { CommunityRules } from '../../registry/community/rules.js'
import { type Context, chainsOf } from '../http/context.js'
import { requireCurrent } from '../http/freshness.js'
import { availabilityAnswer } from '../names/names.js'
import { type CommunityName, requireRules } from './communities.js'

/** Time for what payers own: one whose chain says nothing may get the name, and no answer waits for it. */
const PAYERS_MS = 3_000

/** Availability of a name below a community. @throws ApiError not_found, catching_up */
export async function availabilityOf(context: Context, asked: CommunityName) {
  const rules = await requireRules(context, asked.community)
  await requireCurrent(context)
  return availabilityAnswer(
    `${asked.community}/${asked.name}`,
    await availabilityUnder(context, asked, rules),
  )
}

/**
 * The same under rules. A payment keeps a name from others only where its payer may get it: who does not meet the
 * requirements gets the money back, and would lock a name for the price of a transaction.
 */
export async function availabilityUnder(
  context: Context,
  asked: CommunityName,
  rules: CommunityRules | null,
): Promise<'free' | 'taken' | 'pending'> {
  const { isTaken, payers } = await communityNameAvailability(
    context.pool,
    context.network,
    asked,
    rules?.prices ?? [],
  )
  if (isTaken) return 'taken'
  const mayGet = payers.map(async (payer) =>
    meetsRequirements(context, rules!, payer, recentPorts(context)).catch((error: unknown) => {
      if (error instanceof ChainUnavailableError) return true
      throw error
    }),
  )
  const isKept = Promise.all(mayGet).then((each) => each.includes(true))
  return (await withTimeout(PAYERS_MS, isKept, true)) ? 'pending' : 'free'
}

/** Ports that may answer with balances of some seconds ago. */
export const recentPorts = (context: Context): readonly BalancePort[] =>
  chainsOf(context).map(({ label, recentBalance, tokenBalance }) => {
    return { label, tokenBalance: recentBalance ?? tokenBalance }
  })

/**
 * True if a wallet (a stored address) meets the requirements of rules. Each balance is a unit of its caller's.
 * @throws ChainUnavailableError
 */
export async function meetsRequirements(
  context: Context,
  { requirements }: CommunityRules,
  wallet: Buffer,
  ports: readonly BalancePort[] = chainsOf(context),
): Promise<boolean> {
  context.caller?.owe(inputsNeeded(requirements).tokens.length)
  const inputs = await readRequirementInputs({
    wallet,
    requirements,
    ports,
    verifiedIn: (names) => verifiedInClusters(context.pool, context.network, wallet, names),
  })
  return areRequirementsMet(requirements, inputs)
}
