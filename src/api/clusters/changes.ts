import {
  appendSignedChanges,
  type SignedChanges,
  type SignedChangesResult,
} from '../../db/journal/appendSignedChanges.js'
import { walletKindOf } from '../../registry/auth/kinds.js'
import type { RegistrationProblem } from '../../registry/community/registration.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import type { ClusterChange } from '../../registry/journal/change.js'
import { NEWEST_RULESET } from '../../registry/journal/ruleset.js'
import { parseWallet, type Wallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { invalidKeyError } from '../auth/session.js'
import { ADDRESS_PROBLEM_TEXT } from '../http/address.js'
import type { Context } from '../http/context.js'
import { ApiError, type ErrorDetail } from '../http/errors.js'
import type { Session } from '../http/route.js'
import { limitsOfChange } from '../limits/changes.js'
import { sharedLimitError } from '../limits/shared.js'
import { requireNewNames } from '../names/names.js'

/**
 * Caller of a signed change. A change with a `keyHash` is written only while the session of that key is live. Without
 * `keyHash` no session is checked.
 */
export type ChangeAuthor = Pick<Session, 'wallet'> & Partial<Pick<Session, 'keyHash'>>

/** Wallet to add, as in the body of a request. */
export interface AddWalletInput {
  address: string
  name: string
  /** Visibility. Undefined keeps the visibility of a wallet of the cluster, and makes a new wallet public. */
  isPrivate?: boolean | undefined
  /** Expected type of the address, checked where it is given. */
  type?: string | undefined
}

export type RenameWalletInput = Pick<AddWalletInput, 'address' | 'name'>

/**
 * Removes, renames and adds wallets of one cluster, in this order, all or none.
 * @param within the cluster's id, which is also returned
 * @throws ApiError as `removeWalletsChange`, `renameWalletsChange` and `addWalletsChange`, and forbidden where the
 * caller isn't verified in the cluster
 */
export function updateWallets(
  context: Context,
  author: ChangeAuthor,
  {
    remove,
    update,
    add,
  }: {
    remove: readonly string[]
    update: readonly RenameWalletInput[]
    add: readonly AddWalletInput[]
  },
  within: Buffer,
): Promise<Buffer> {
  const { wallet } = author
  const removing = removeWalletsChange(wallet, remove, (i) => `remove[${i}]`)
  const rest = [
    renameWalletsChange(wallet, update, (i) => `update[${i}]`),
    addWalletsChange(wallet, add, (i) => `add[${i}]`),
  ]
  // the renaming is included even if empty: a caller who has just removed itself is refused there. Otherwise `add`
  // would create a new cluster for this caller
  const changes = update.length + add.length > 0 ? [removing, ...rest] : [removing]
  return appendChangesOrThrow(context, author, { changes, within })
}

/** Path of the i-th element in the request body, for error details. */
type PathOf = (index: number) => string
/** Path of an element where the body is the list itself. */
const pathInList: PathOf = (i) => `[${i}]`
/** Path of an element that is the whole body. */
export const wholeBodyPath: PathOf = () => ''
const fieldPath = (path: string, field: string): string =>
  path === '' ? field : `${path}.${field}`

/**
 * The change that adds wallets to the caller's cluster, all or none. A caller without a cluster gets a new one.
 * @throws ApiError unsupported_address, invalid_name, invalid_request. When the change is appended, it may be refused
 * with wallet_exists, wallet_name_taken, already_public or wallet_limit
 */
export function addWalletsChange(
  actor: Buffer,
  input: readonly AddWalletInput[],
  pathOf = pathInList,
): ClusterChange {
  const wallets = parseWalletsWithNames(input, pathOf)
  return {
    kind: 'add_wallets',
    actor,
    wallets: wallets.map((w, i) => ({ ...w, isPrivate: input[i]!.isPrivate ?? null })),
  }
}

/**
 * The change that renames wallets of the caller's cluster, all or none.
 * @throws ApiError unsupported_address, invalid_name, invalid_request. When the change is appended, it may be refused
 * with not_in_cluster or wallet_name_taken
 */
export function renameWalletsChange(
  actor: Buffer,
  input: readonly RenameWalletInput[],
  pathOf = pathInList,
): ClusterChange {
  return { kind: 'rename_wallets', actor, wallets: parseWalletsWithNames(input, pathOf) }
}

/**
 * The change that removes wallets. A wallet that is not in the caller's cluster counts as removed.
 * @throws ApiError unsupported_address, invalid_request. When the change is appended, it may be refused with
 * last_verified_wallet, or with not_in_cluster for a caller without a cluster
 */
export function removeWalletsChange(
  actor: Buffer,
  input: readonly string[],
  pathOf = pathInList,
): ClusterChange {
  return {
    kind: 'remove_wallets',
    actor,
    addresses: requireDistinctWallets(input, pathOf).map(({ bytes }) => bytes),
  }
}

/**
 * Parses the addresses and names of wallets in a request, and checks the types that are given with the addresses.
 * @throws ApiError unsupported_address, invalid_name, invalid_request
 */
function parseWalletsWithNames(
  input: readonly (RenameWalletInput & { type?: string | undefined })[],
  pathOf: PathOf,
) {
  const read = requireDistinctWallets(
    input.map(({ address }) => address),
    (i) => fieldPath(pathOf(i), 'address'),
  )
  input.forEach(({ type }, i) => {
    const actualType = read[i]!.type
    if (type === undefined || type === actualType || type === walletKindOf(actualType)) return
    const details = [
      { path: fieldPath(pathOf(i), 'type'), message: `The address is of type ${actualType}.` },
    ]
    throw new ApiError(
      'unsupported_address',
      'An address is not of the type that is named with it.',
      { details },
    )
  })
  const names = requireNewNames(
    input.map(({ name }) => name),
    (i) => fieldPath(pathOf(i), 'name'),
  )
  return read.map(({ bytes }, i) => ({ address: bytes, name: names[i]! }))
}

const MAX_ERROR_DETAILS = 20

/** Parses the addresses of a request. @throws ApiError unsupported_address; invalid_request for repeated addresses */
function requireDistinctWallets(input: readonly string[], pathOf: PathOf): Wallet[] {
  const details: ErrorDetail[] = []
  const read: Wallet[] = []
  input.forEach((text, i) => {
    const address = parseWallet(text)
    if (typeof address === 'string')
      details.push({ path: pathOf(i), message: ADDRESS_PROBLEM_TEXT[address] })
    else read.push(address)
  })
  if (details.length > 0)
    throw new ApiError('unsupported_address', 'An address can not be read.', {
      details: details.slice(0, MAX_ERROR_DETAILS),
    })
  const seen = new Set<string>()
  read.forEach(({ text, type }, i) => {
    const key = `${type} ${text}`
    if (seen.has(key)) {
      const repeated = [{ path: pathOf(i), message: 'This address stands there more than once.' }]
      throw new ApiError('invalid_request', 'An address is named more than once.', {
        details: repeated,
      })
    }
    seen.add(key)
  })
  return read
}

/** Changes to append. `appendChangesThroughQueue` adds the network, the session and the limits. */
type ChangeRequest = Pick<SignedChanges, 'changes' | 'within' | 'alongside'>

/**
 * Appends signed changes of one cluster or community to the journal, all or none.
 * @returns id of the last change's cluster
 * @throws ApiError of the refusal (`refusalError`); also as `appendChangesThroughQueue`
 */
export async function appendChangesOrThrow(
  context: Context,
  author: ChangeAuthor,
  request: ChangeRequest,
): Promise<Buffer> {
  const made = await appendChangesThroughQueue(context, author, request)
  if (made.kind === 'refused') throw refusalError(made.refusal)
  // Only a wallet that registers a community name may have no cluster, unless the name is assigned. That route calls
  // `appendChangesThroughQueue`.
  return made.clusterId!
}

/**
 * Makes a change of a wallet once it reaches the head of the network's queue of changes. If its caller has disconnected
 * by then, or its deadline has passed, it is dropped before it takes a connection.
 * @throws QueueFullError; the reason of `patience.signal`; errors of `make`
 */
export const makeInChangeQueue = <T>(
  { changes, network, caller, patience }: Context,
  wallet: Buffer,
  make: () => Promise<T>,
): Promise<T> => {
  const makeIfAwaited = () => {
    patience?.signal.throwIfAborted()
    return make()
  }
  return changes[network].run(caller?.address ?? '', makeIfAwaited, toHex(wallet))
}

/**
 * Appends signed changes to the journal once they reach the head of the queue of changes. Changes are dropped if their
 * caller has disconnected by then, and refused if their key has been revoked by then.
 * @returns the accepted changes, or the refusal by the registry's rules
 * @throws ApiError catching_up, unauthorized, unavailable, rate_limited; QueueFullError; ClockError; the reason of
 * `patience.signal`
 */
export async function appendChangesThroughQueue(
  context: Context,
  { wallet, keyHash }: ChangeAuthor,
  request: ChangeRequest,
): Promise<Extract<SignedChangesResult, { kind: 'made' | 'refused' }>> {
  const { pool, network, patience, caller } = context
  const first = request.changes[0]!
  const limits = limitsOfChange(context.limits, {
    network,
    wallet,
    community: first.kind === 'configure_community' ? first.community : null,
    address: caller && !caller.meter.isRaised ? caller.address : null,
  })
  const made = await makeInChangeQueue(context, wallet, () =>
    appendSignedChanges(pool, { ...request, network, keyHash, limits, patience }),
  )
  if (made.kind === 'session_ended') throw invalidKeyError()
  if (made.kind === 'limited') throw sharedLimitError(made.reached)
  if (made.kind !== 'catching_up') return made
  const message =
    'This network is being indexed for the first time: changes are taken once that is done.'
  throw new ApiError('catching_up', message)
}

const MESSAGE_OF_REFUSAL_CODE: Record<Exclude<ChangeRefusal['code'], 'community'>, string> = {
  not_found: 'There is no such cluster.',
  not_invited:
    'That cluster does not list this wallet: one of its verified wallets has to add it first.',
  not_in_cluster: 'The address is not listed in the cluster of this wallet.',
  wallet_exists: 'The address is listed in the cluster already, under another name: rename it.',
  wallet_name_taken:
    'Another wallet of the cluster has this name, or it is registered below a community of the cluster.',
  already_public: 'A wallet that is public can not be made private: remove it first.',
  last_verified_wallet: 'The cluster holds names, so one of its verified wallets has to stay.',
  names_would_reveal:
    'Names that move along show where a private wallet belongs: make its entry public first.',
  names_moving:
    'Names are still moving from or to one of these clusters: try again when its last ones have moved.',
  wallet_limit: `A cluster has at most ${NEWEST_RULESET.maxClusterWallets} wallets.`,
  forbidden: 'This wallet is not verified in that cluster.',
  rules_changed: 'The rules of the community have changed: ask again.',
  already_assigned: 'The bundle, or whoever claimed in it, got a name of this community already.',
}

/** Error of a refused change. After a change of a community's rules it is `unavailable`: the caller may try again. */
export function refusalError(refusal: ChangeRefusal): ApiError {
  if (refusal.code === 'community') return communityRegistrationError(refusal.problem)
  if (refusal.code === 'not_in_cluster' && refusal.address === null)
    return new ApiError('not_in_cluster', 'This wallet is verified in no cluster.')
  const code = refusal.code === 'rules_changed' ? 'unavailable' : refusal.code
  return new ApiError(code, MESSAGE_OF_REFUSAL_CODE[refusal.code])
}

const MESSAGE_OF_REGISTRATION_PROBLEM: Record<RegistrationProblem, string> = {
  not_found: 'This name is no community.',
  invalid_chain_id: 'The community has no price on this network.',
  not_active: 'Sign-ups for this community have not started.',
  not_verified:
    'Only owners of the community register names for others, or at all where it says so.',
  no_walletAddress_found:
    'Sign-ups are restricted to owners: say in walletAddress who gets the name.',
  not_available: 'The name is taken.',
  requirements_not_met: 'The wallet for the name does not meet the requirements of the community.',
}

export const communityRegistrationError = (problem: RegistrationProblem): ApiError =>
  new ApiError(problem, MESSAGE_OF_REGISTRATION_PROBLEM[problem])
