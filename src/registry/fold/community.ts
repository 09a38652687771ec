import { rulesAtBlock, rulesAtTime } from '../community/history.js'
import { type CommunityPaymentDecision, decideCommunityPayment } from '../community/payment.js'
import { ANY_PAYMENT_PREFERENCE, decideRegistration } from '../community/registration.js'
import { requirementsHash } from '../community/requirements.js'
import { type CommunityRules, communityRulesJson } from '../community/rules.js'
import type { CommunityChange, CommunityNameRegistration } from '../journal/change.js'
import { encodeCommunityEffects } from '../journal/effects.js'
import type { PaymentContent } from '../journal/payment.js'
import { addressOfWord, addressToWord } from '../primitives/address.js'
import { mapKey } from '../primitives/bytes.js'
import { oldestPublicWallet } from './change.js'
import type { ChangeRefusal } from './refusal.js'
import {
  type AcceptedChange,
  type CommunityNameRow,
  communityAssignmentKey,
  communityNameKey,
  type JournalRow,
} from './rows.js'
import { type FoldState, requireLoadedCluster, setPublicEvents } from './work.js'

type ConfigurationChange = Extract<CommunityChange, { kind: 'configure_community' }>

/** Folds the configuration of a community. It has no effect where it is refused, or equals the rules in force. */
export function applyCommunityConfiguration(
  work: FoldState,
  row: JournalRow,
  change: ConfigurationChange,
): AcceptedChange | ChangeRefusal {
  const { actor, community, rules } = change
  const cluster = work.owners.get(community)
  if (cluster === undefined) return { code: 'not_found' }
  if (actor && work.verified.get(mapKey(actor))?.cluster !== cluster) return { code: 'forbidden' }
  const history = work.communities.get(community) ?? []
  const before = rulesAtTime(history, Number.POSITIVE_INFINITY)
  if (before && canonicalRulesText(before) === canonicalRulesText(rules))
    return { cluster, hasEffect: false }
  work.communities.set(community, [...history, { atMs: row.atMs, rules }])
  work.changes.communities.push({ name: community, seq: row.seq })
  row.actor = actor && publicActor(work, actor, cluster)
  setPublicEvents(row, cluster, [])
  return { cluster, hasEffect: true }
}

const canonicalRulesText = (rules: CommunityRules): string =>
  JSON.stringify(communityRulesJson(rules))

/**
 * Actor shown in public: the wallet itself, or for a private wallet the oldest public verified wallet of its cluster.
 * Null if there is none.
 */
function publicActor(work: FoldState, actor: Buffer, cluster: number): Buffer | null {
  return work.verified.get(mapKey(actor))?.isPrivate
    ? oldestPublicWallet(requireLoadedCluster(work, cluster))
    : actor
}

/** A registration with the data by which it is decided. */
type CommunityNameRequest = CommunityNameRegistration & {
  nowMs: number
  rules: CommunityRules | null
  /** The actor's cluster. */
  cluster: number | null
  /** Result of `claimAccountOfAssignment`. */
  claim: Buffer | null
}

/** Folds the registration of a name below a community. A refused registration has no effect. */
export function applyCommunityNameRegistration(
  work: FoldState,
  row: JournalRow,
  change: CommunityNameRegistration,
): AcceptedChange | ChangeRefusal {
  const { actor, community, name, wallet, isAssigned } = change
  const cluster = work.verified.get(mapKey(actor))?.cluster ?? null
  const rules = rulesAtTime(work.communities.get(community) ?? [], row.atMs)
  const assigned = isAssigned ? cluster : null
  const claim = claimAccountOfAssignment(change)
  const request = { ...change, nowMs: row.atMs, rules, cluster, claim }
  // a repeated assignment has no effect
  if (assigned !== null && work.assigned.get(communityAssignmentKey(community, assigned)) === name)
    return { cluster, hasEffect: false }
  const refusal = isAssigned ? checkAssignment(work, request) : checkFreeRegistration(work, request)
  if (refusal) return refusal
  for (const by of [assigned, claim])
    if (by !== null) work.assigned.set(communityAssignmentKey(community, by), name)
  const { isVerified, actor: shown } = publicActorOfRegistration(work, request)
  registerName(work, row, { community, name, address: wallet, isVerified, assigned, claim })
  row.actor = shown
  return { cluster, hasEffect: true }
}

function checkFreeRegistration(
  work: FoldState,
  request: CommunityNameRequest,
): ChangeRefusal | null {
  const { community, name, met, nowMs, rules, cluster } = request
  const decision = decideRegistration({
    rules,
    preference: ANY_PAYMENT_PREFERENCE,
    isNetworkKnown: true,
    nowMs,
    isOwner: work.owners.get(community) === cluster,
    beneficiary: isForOwnWallet(work, request) ? 'own' : 'other',
    isTaken: isCommunityNameTaken(work, community, name),
    isHeld: false,
    areRequirementsMet: rules && met?.equals(requirementsHash(rules.requirements)) ? true : null,
  })
  if (decision.outcome === 'refused') return { code: 'community', problem: decision.problem }
  return decision.outcome === 'free' ? null : { code: 'rules_changed' }
}

/** True if the name is for the actor, or for another wallet that is verified in the actor's cluster. */
const isForOwnWallet = (
  work: FoldState,
  { actor, wallet, cluster }: CommunityNameRequest,
): boolean => wallet.equals(actor) || work.verified.get(mapKey(wallet))?.cluster === cluster

/**
 * Stored address under which the fold keeps an account's airdrop claim. The journal has the account only as bytes32, so
 * the address is derived from the bytes32.
 */
export const storedAddressOfClaimAccount = (account: Buffer): Buffer =>
  addressOfWord(addressToWord(account))

/**
 * Stored address of the account whose airdrop claim gives the cluster its name. For an assignment, `met` is this
 * account as bytes32, null in older entries. Null for other registrations.
 */
export const claimAccountOfAssignment = ({
  isAssigned,
  met,
}: CommunityNameRegistration): Buffer | null => (isAssigned && met ? addressOfWord(met) : null)

/**
 * Returns the refusal of a name that is assigned after an airdrop claim, or null. In each community, a cluster gets one
 * assigned name and a claim gives one, even if the claim's account is verified in another cluster later. The name is
 * for a wallet verified in the cluster. Requirements do not matter.
 */
function checkAssignment(work: FoldState, request: CommunityNameRequest): ChangeRefusal | null {
  const { community, name, wallet, rules, cluster, claim } = request
  if (!rules) return { code: 'community', problem: 'not_found' }
  if (cluster === null) return { code: 'not_in_cluster', address: null }
  if (work.verified.get(mapKey(wallet))?.cluster !== cluster)
    return { code: 'not_in_cluster', address: wallet }
  for (const by of [cluster, claim])
    if (by !== null && work.assigned.has(communityAssignmentKey(community, by)))
      return { code: 'already_assigned' }
  return isCommunityNameTaken(work, community, name)
    ? { code: 'community', problem: 'not_available' }
    : null
}

/**
 * True if a name below a community is registered, or is the name of a public wallet of the community's cluster.
 * @param freed sequence number of a registration that does not count, because its payment was returned
 */
function isCommunityNameTaken(
  work: FoldState,
  community: string,
  name: string,
  freed?: number,
): boolean {
  const seq = work.communityNames.get(communityNameKey(community, name))
  if (seq !== undefined && seq !== freed) return true
  const cluster = work.owners.get(community)
  if (cluster === undefined) return false
  return [...requireLoadedCluster(work, cluster).wallets.values()].some(
    (row) => row.name === name && !row.isPrivate,
  )
}

/** Gives a community name to its owner. An earlier owner loses the name. */
export function setCommunityName(
  { changes, communityNames }: FoldState,
  row: CommunityNameRow,
): void {
  const { community, name, seq } = row
  if (communityNames.has(communityNameKey(community, name))) {
    changes.communityNames = changes.communityNames.filter(
      (one) => one.community !== community || one.name !== name,
    )
    changes.communityNamesFreed.push({ community, name })
  }
  communityNames.set(communityNameKey(community, name), seq)
  changes.communityNames.push(row)
}

type NewCommunityName = Omit<CommunityNameRow, 'seq'>

/** Registers a community name. The event names the cluster in which the owner is publicly verified, if there is one. */
function registerName(work: FoldState, row: JournalRow, registered: NewCommunityName): void {
  setCommunityName(work, { ...registered, seq: row.seq })
  const verified = work.verified.get(mapKey(registered.address))
  const cluster = verified && !verified.isPrivate ? verified.cluster : null
  row.effects = encodeCommunityEffects({ outcome: 'registered', cluster })
  row.publicCount = 1
}

/**
 * Returns the public actor of a registration. No private wallet is linked to its cluster. The owner is the wallet that
 * gets the name. A signer without a cluster is the actor, and `isVerified` is true. For other signers:
 *
 * | who signed                             | is the owner public in the signer's cluster? | actor   | `isVerified` |
 * | any wallet                             | yes                                          | signer* | true         |
 * | wallet of the community's cluster**    | no                                           | signer* | false        |
 * | any other wallet                       | no                                           | owner   | true         |
 *
 * *Instead of a private signer: the oldest public wallet of its cluster.
 * **Under `ownersOnly`, or for another wallet.
 */
function publicActorOfRegistration(
  work: FoldState,
  request: CommunityNameRequest,
): { actor: Buffer | null; isVerified: boolean } {
  const { actor, wallet, community, rules, cluster } = request
  if (cluster === null) return { actor, isVerified: true }
  const owner = work.verified.get(mapKey(wallet))
  const isKnown = owner?.cluster === cluster && !owner.isPrivate
  const actsAsOwner =
    work.owners.get(community) === cluster && (rules?.ownersOnly || !wallet.equals(actor))
  if (!isKnown && !actsAsOwner) return { actor: wallet, isVerified: true }
  return { actor: publicActor(work, actor, cluster), isVerified: isKnown }
}

/** Folds a payment for a name below a community. A payment that does not get the name is refunded. */
export function applyCommunityNamePayment(
  work: FoldState,
  row: JournalRow,
  content: PaymentContent,
): void {
  const { payment, community, name } = content
  row.actor = payment.payer
  const judgement = decidePayment(work, content)
  work.changes.payments.push({ seq: row.seq, judgement })
  const owned = { address: payment.payer, isVerified: true, assigned: null, claim: null }
  if (judgement.outcome !== 'registered') row.effects = encodeCommunityEffects(judgement)
  else registerName(work, row, { community: community!, name: name!, ...owned })
}

function decidePayment(
  work: FoldState,
  { payment, community, name }: PaymentContent,
): CommunityPaymentDecision {
  const history = (community !== null && work.communities.get(community)) || []
  const rules = rulesAtBlock(history, payment.blockMs)
  const inputs = {
    history,
    isTaken:
      community !== null &&
      name !== null &&
      isCommunityNameTaken(work, community, name, payment.freed),
    // `met` is also null for a refunded payment, which then registers nothing
    areRequirementsMet:
      rules !== null && payment.met?.equals(requirementsHash(rules.requirements)) === true,
  }
  return decideCommunityPayment({ ...payment, community, name }, inputs)
}
