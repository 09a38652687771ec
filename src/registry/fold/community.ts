import { rulesAt, rulesAtBlock } from '../community/history.js'
import { decideCommunityPayment, type PaymentJudgement } from '../community/payment.js'
import { decideRegistration } from '../community/registration.js'
import { requirementsHash } from '../community/requirements.js'
import { type CommunityRules, communityRulesJson } from '../community/rules.js'
import type { CommunityChange, RegisterCommunityName } from '../journal/change.js'
import { encodeChangeEffects, encodeCommunityEffects } from '../journal/effects.js'
import type { PaymentContent } from '../journal/payment.js'
import { keyOf } from '../primitives/bytes.js'
import { oldestPublic } from './change.js'
import type { ChangeRefusal } from './refusal.js'
import { assignmentOf, type CommunityNameRow, fullName, type JournalRow } from './rows.js'
import { setRules, type Work, wholeCluster } from './work.js'

/** Folds the configuration of a community. As a change of a cluster, it is made whole or left without effect. */
export function configureCommunity(work: Work, row: JournalRow, change: Configuration): void {
  settle(work, row, configure(work, row, change))
}
type Configuration = Extract<CommunityChange, { kind: 'configure_community' }>

/** Folds the registration of a community name, whole or without effect. */
export function registerCommunityName(work: Work, row: JournalRow, change: RegisterCommunityName): void {
  settle(work, row, register(work, row, change))
}

function settle({ changes: { outcomes } }: Work, { seq }: JournalRow, decision: Made | ChangeRefusal): void {
  if ('code' in decision) outcomes.push({ seq, refusal: decision, hasEffect: false, cluster: null })
  else outcomes.push({ seq, refusal: null, hasEffect: decision.hasEffect, cluster: decision.cluster })
}

/** A change that holds: the cluster it was made in, if any. */
interface Made {
  cluster: number | null
  hasEffect: boolean
}

function configure(work: Work, row: JournalRow, { actor, community, rules }: Configuration): Made | ChangeRefusal {
  const cluster = work.owners.get(community)
  if (cluster === undefined) return { code: 'not_found' }
  if (actor && work.verified.get(keyOf(actor))?.cluster !== cluster) return { code: 'forbidden' }
  const before = rulesAt(work.communities.get(community) ?? [], Number.POSITIVE_INFINITY)
  if (before && textOf(before) === textOf(rules)) return { cluster, hasEffect: false }
  setRules(work, community, { atMs: row.atMs, rules })
  work.changes.communities.push({ name: community, seq: row.seq })
  row.actor = actor && publicActor(work, actor, cluster)
  row.effects = encodeChangeEffects({ cluster, events: [] })
  return { cluster, hasEffect: true }
}

const textOf = (rules: CommunityRules): string => JSON.stringify(communityRulesJson(rules))

/** A member as the public may know it: itself, or who stands in for a private one. */
function publicActor(work: Work, actor: Buffer, cluster: number): Buffer | null {
  return work.verified.get(keyOf(actor))?.isPrivate ? oldestPublic(wholeCluster(work, cluster)) : actor
}

function register(work: Work, row: JournalRow, change: RegisterCommunityName): Made | ChangeRefusal {
  const { actor, community, name, wallet } = change
  const home = work.verified.get(keyOf(actor))?.cluster ?? null
  const rules = rulesAt(work.communities.get(community) ?? [], row.atMs)
  const assigned = change.isAssigned ? home : null
  // asked for again: it stands as asked
  if (assigned !== null && work.assigned.get(assignmentOf(community, assigned)) === name)
    return { cluster: home, hasEffect: false }
  const refusal = change.isAssigned
    ? checkAssignment(work, change, rules, home)
    : checkFree(work, change, rules, { nowMs: row.atMs, home })
  if (refusal) return refusal
  if (assigned !== null) work.assigned.set(assignmentOf(community, assigned), name)
  const shown = shownOf(work, change, rules?.ownersOnly ?? false, home)
  give(work, row, { community, name, address: wallet, isVerified: shown.isVerified, assigned })
  row.actor = shown.actor
  return { cluster: home, hasEffect: true }
}

function checkFree(
  work: Work,
  change: RegisterCommunityName,
  rules: CommunityRules | null,
  { nowMs, home }: { nowMs: number; home: number | null },
): ChangeRefusal | null {
  const { community, name, met } = change
  const decision = decideRegistration({
    isServed: true,
    rules,
    network: null,
    nowMs,
    isOwner: home !== null && work.owners.get(community) === home,
    beneficiary: isOwn(work, change, home) ? 'own' : 'other',
    isTaken: isTaken(work, community, name),
    areRequirementsMet: rules && met?.equals(requirementsHash(rules.requirements)) ? true : null,
  })
  if (decision.outcome === 'refused') return { code: 'community', problem: decision.problem }
  return decision.outcome === 'free' ? null : { code: 'rules_changed' }
}

/** Whether the name goes to the actor itself, or to another wallet that is verified in its cluster. */
const isOwn = (work: Work, { actor, wallet }: RegisterCommunityName, home: number | null): boolean =>
  wallet.equals(actor) || (home !== null && work.verified.get(keyOf(wallet))?.cluster === home)

/** After a claim a cluster gets one name, for a wallet that is verified there, whatever the rules ask. */
function checkAssignment(
  work: Work,
  { community, name, wallet }: RegisterCommunityName,
  rules: CommunityRules | null,
  home: number | null,
): ChangeRefusal | null {
  if (!rules) return { code: 'community', problem: 'not_found' }
  if (home === null) return { code: 'not_in_cluster', address: null }
  if (work.verified.get(keyOf(wallet))?.cluster !== home) return { code: 'not_in_cluster', address: wallet }
  if (work.assigned.has(assignmentOf(community, home))) return { code: 'already_assigned' }
  return isTaken(work, community, name) ? { code: 'community', problem: 'not_available' } : null
}

/** Somebody has the name, or it is a public wallet name of the cluster that holds the community. */
function isTaken(work: Work, community: string, name: string): boolean {
  if (work.communityNames.has(fullName(community, name))) return true
  const cluster = work.owners.get(community)
  if (cluster === undefined) return false
  for (const entry of wholeCluster(work, cluster).wallets.values()) {
    if (entry.name === name && !entry.isPrivate) return true
  }
  return false
}

type Registered = Omit<CommunityNameRow, 'seq'>

/**
 * Gives a name to a wallet, and tells so in public. The owner's cluster is told only where the public sees the owner in
 * it.
 */
function give(work: Work, row: JournalRow, taken: Registered): void {
  work.communityNames.add(fullName(taken.community, taken.name))
  work.changes.communityNames.push({ ...taken, seq: row.seq })
  const verified = work.verified.get(keyOf(taken.address))
  const cluster = verified && !verified.isPrivate ? verified.cluster : null
  row.effects = encodeCommunityEffects({ outcome: 'registered', cluster })
  row.publicCount = 1
}

/**
 * What the public is told of a registration: who made it, and whether the name's owner had a hand in it. Nothing may
 * link a private entry to its cluster. So an owner that the public doesn't know as one of the actor's cluster stands
 * for itself, as a wallet that registers for itself does, whoever of its cluster signed; unless only owners of the
 * community could sign for that: then it is to look like anybody for whom they do, and an actor who is private has a
 * stand-in.
 */
function shownOf(
  work: Work,
  { actor, wallet, community }: RegisterCommunityName,
  ownersOnly: boolean,
  home: number | null,
): { actor: Buffer | null; isVerified: boolean } {
  if (home === null) return { actor, isVerified: true }
  const owner = work.verified.get(keyOf(wallet))
  const isKnown = owner?.cluster === home && !owner.isPrivate
  const actsAsOwner = work.owners.get(community) === home && (ownersOnly || !wallet.equals(actor))
  if (!isKnown && !actsAsOwner) return { actor: wallet, isVerified: true }
  return { actor: publicActor(work, actor, home), isVerified: isKnown }
}

/** Folds a confirmed payment: whether it buys the name. */
export function applyPayment(work: Work, row: JournalRow, content: PaymentContent): void {
  const { payment, community, name } = content
  const { payer } = payment
  row.actor = payer
  const judgement = decidePayment(work, content)
  work.changes.payments.push({ seq: row.seq, judgement })
  if (judgement.outcome !== 'registered') row.effects = encodeCommunityEffects(judgement)
  else give(work, row, { community: community!, name: name!, address: payer, isVerified: true, assigned: null })
}

function decidePayment(work: Work, { payment, community, name }: PaymentContent): PaymentJudgement {
  const history = (community !== null && work.communities.get(community)) || []
  const rules = rulesAtBlock(history, payment.blockMs)
  const { network, token, amount, recipient, blockMs, met } = payment
  return decideCommunityPayment(
    { network, token, amount, recipient, blockMs, community, name },
    {
      history,
      isTaken: community !== null && name !== null && isTaken(work, community, name),
      // null too for a payment that has been refunded: whatever else is so now, it buys nothing
      areRequirementsMet: rules !== null && met?.equals(requirementsHash(rules.requirements)) === true,
    },
  )
}
