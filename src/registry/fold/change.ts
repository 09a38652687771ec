import type { ClusterChange } from '../journal/change.js'
import type { PublicEvent } from '../journal/eventTypes.js'
import { mapKey } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME, firstFreeName } from '../primitives/name.js'
import { publicWalletRow } from './bid.js'
import { beginNameMove, isBlockedByNameMove } from './moves.js'
import type { ChangeRefusal } from './refusal.js'
import type { AcceptedChange, ClusterState, JournalRow, WalletRow } from './rows.js'
import {
  createCluster,
  type FoldState,
  isNameTakenBelowCommunity,
  removeWallet,
  requireLoadedCluster,
  setPublicEvents,
  setWallet,
} from './work.js'

/** Accepted change with its public events, in order. */
interface AcceptedChangeWithEvents extends AcceptedChange {
  cluster: number
  events: PublicEvent[]
}

type ChangeDecision = AcceptedChangeWithEvents | ChangeRefusal
type ClusterChangeOf<Kind extends ClusterChange['kind']> = Extract<ClusterChange, { kind: Kind }>

/**
 * Folds a change by a signed-in wallet. The change takes effect as a whole or not at all. A refused change is not
 * appended (`appendSignedChanges`), but after a rewind an appended change may become invalid.
 */
export function applyClusterChange(
  work: FoldState,
  row: JournalRow,
  change: ClusterChange,
): ChangeDecision {
  const key = mapKey(change.actor)
  const before = work.verified.get(key)
  const pseudonym = before ? oldestPublicWallet(requireLoadedCluster(work, before.cluster)) : null
  const decision = decideChange(work, row.seq, change, key)
  if ('code' in decision || !decision.hasEffect) return decision
  const { cluster, events } = decision
  const after = work.verified.get(key)
  const isPublic = (before && !before.isPrivate) || (after && !after.isPrivate)
  row.actor = isPublic ? change.actor : pseudonym
  setPublicEvents(row, cluster, events)
  return decision
}

function decideChange(
  work: FoldState,
  seq: number,
  change: ClusterChange,
  key: string,
): ChangeDecision {
  const actorCluster = work.verified.get(key)?.cluster
  switch (change.kind) {
    case 'create_cluster':
      return actorCluster === undefined
        ? createClusterOfActor(work, seq, change.actor, key, DEFAULT_WALLET_NAME)
        : decisionWithoutEffect(actorCluster)
    case 'add_wallets':
      return actorCluster === undefined
        ? addWalletsToNewCluster(work, seq, change, key)
        : addWallets(work, seq, change, actorCluster)
    case 'verify_wallet':
      return verifyWallet(work, seq, change, key)
  }
  if (actorCluster === undefined) return { code: 'not_in_cluster', address: null }
  switch (change.kind) {
    case 'rename_wallets':
      return renameWallets(work, seq, change, actorCluster)
    case 'remove_wallets':
      return removeWallets(work, change, actorCluster)
    case 'confirm_backup':
      return confirmBackup(work, seq, change, actorCluster)
    case 'sign_membership':
      return signMembership(work, seq, change, actorCluster)
  }
}

const decisionWithoutEffect = (cluster: number): AcceptedChangeWithEvents => ({
  cluster,
  hasEffect: false,
  events: [],
})

/** Actor shown in public for a private wallet of the cluster: the oldest public verified wallet, else null. */
export function oldestPublicWallet({ wallets }: ClusterState): Buffer | null {
  const shown = [...wallets.values()].filter(
    ({ isVerified, isPrivate }) => isVerified && !isPrivate,
  )
  const [oldest] = shown.sort(
    (a, b) => a.createdSeq - b.createdSeq || Buffer.compare(a.address, b.address),
  )
  return oldest?.address ?? null
}

const addWalletEvent = (row: WalletRow): PublicEvent => ({
  type: 'ADD_WALLET',
  cluster: row.cluster,
  name: row.name,
  wallet: row.address,
  isVerified: row.isVerified,
  isBackedUp: row.isBackedUp,
})

/** Creates a cluster for a wallet. @returns the events of the new cluster and its wallet */
function createClusterOfActor(
  work: FoldState,
  seq: number,
  actor: Buffer,
  key: string,
  name: string,
): AcceptedChangeWithEvents {
  const cluster = createCluster(work, seq, actor, key, name)
  const creator = requireLoadedCluster(work, cluster).wallets.get(key)!
  return {
    cluster,
    hasEffect: true,
    events: [{ type: 'CREATE_CLUSTER', cluster }, addWalletEvent(creator)],
  }
}

function addWalletsToNewCluster(
  work: FoldState,
  seq: number,
  change: ClusterChangeOf<'add_wallets'>,
  key: string,
): ChangeDecision {
  const creatorWallet = change.wallets.find((wallet) => wallet.address.equals(change.actor))
  const given = new Set(
    change.wallets.filter((wallet) => !wallet.isPrivate).map((wallet) => wallet.name),
  )
  const name =
    creatorWallet?.name ?? firstFreeName(DEFAULT_WALLET_NAME, (candidate) => given.has(candidate))
  // the creator's wallet is always public, because the cluster's id reveals it
  const wallets = new Map([
    [key, { ...CREATOR_WALLET_FIELDS, cluster: 0, address: change.actor, name }],
  ])
  const decided = decideAdd(work, seq, change, 0, { wallets, names: [] })
  if ('code' in decided) return decided
  const made = createClusterOfActor(work, seq, change.actor, key, name)
  const rest = addWallets(work, seq, change, made.cluster)
  return 'code' in rest ? rest : { ...made, events: [...made.events, ...rest.events] }
}

/**
 * Fields of a wallet that creates a cluster, while the change is checked. `decideAdd` replaces `isVerified` and the
 * sequence numbers for the wallets that a change adds.
 */
const CREATOR_WALLET_FIELDS = {
  isVerified: true,
  isPrivate: false,
  isBackedUp: false,
  createdSeq: 0,
  updatedSeq: 0,
  evidenceSeq: null,
}

function addWallets(
  work: FoldState,
  seq: number,
  change: ClusterChangeOf<'add_wallets'>,
  cluster: number,
): ChangeDecision {
  const decided = decideAdd(work, seq, change, cluster, requireLoadedCluster(work, cluster))
  return 'code' in decided ? decided : setWallets(work, cluster, decided.rows, addWalletEvent)
}

/** Writes wallets of a cluster. Each public wallet gives an event. */
function setWallets(
  work: FoldState,
  cluster: number,
  rows: WalletRow[],
  eventOf: (row: WalletRow) => PublicEvent,
): AcceptedChangeWithEvents {
  for (const row of rows) setWallet(work, row)
  return {
    cluster,
    hasEffect: rows.length > 0,
    events: rows.filter((row) => !row.isPrivate).map(eventOf),
  }
}

/** Decides which wallets an `add_wallets` change adds, and which listed wallets it makes public. */
function decideAdd(
  work: FoldState,
  seq: number,
  change: ClusterChangeOf<'add_wallets'>,
  cluster: number,
  state: ClusterState,
): { rows: WalletRow[] } | ChangeRefusal {
  const { wallets } = state
  const rows: WalletRow[] = []
  for (const { address, name, isPrivate: requestedPrivacy } of change.wallets) {
    const walletRow = wallets.get(mapKey(address))
    // a private wallet becomes public only by an explicit request
    const isPrivate = requestedPrivacy ?? walletRow?.isPrivate ?? false
    if (!walletRow) {
      rows.push({
        ...CREATOR_WALLET_FIELDS,
        isVerified: false,
        createdSeq: seq,
        updatedSeq: seq,
        cluster,
        address,
        name,
        isPrivate,
      })
    } else if (!walletRow.isPrivate && isPrivate) return { code: 'already_public', address }
    else if (walletRow.isPrivate && !isPrivate) rows.push(publicWalletRow(walletRow, name, seq))
    else if (walletRow.name !== name) return { code: 'wallet_exists', address }
  }
  const refusal = checkNames(work, state, rows)
  if (refusal) return refusal
  const size = wallets.size + rows.filter((row) => !wallets.has(mapKey(row.address))).length
  return size > work.rules.maxClusterWallets ? { code: 'wallet_limit' } : { rows }
}

/**
 * Returns the refusal for the first wallet name that is taken, or null. A public wallet's name must differ from those
 * of other public wallets and of names below the cluster's communities, so a private wallet reserves no name. A private
 * wallet's name must differ from those of all other wallets of the cluster.
 */
function checkNames(
  work: FoldState,
  state: ClusterState,
  rows: readonly WalletRow[],
): ChangeRefusal | null {
  const { wallets } = state
  const after = new Map(wallets)
  for (const row of rows) after.set(mapKey(row.address), row)
  const all = new Map<string, number>()
  const inPublic = new Map<string, number>()
  for (const { name, isPrivate } of after.values()) {
    all.set(name, (all.get(name) ?? 0) + 1)
    if (!isPrivate) inPublic.set(name, (inPublic.get(name) ?? 0) + 1)
  }
  const duplicate = rows.find(({ name, isPrivate }) => {
    return (
      (isPrivate ? all : inPublic).get(name)! > 1 ||
      (!isPrivate && isNameTakenBelowCommunity(work, state, name))
    )
  })
  return duplicate ? { code: 'wallet_name_taken', name: duplicate.name } : null
}

function renameWallets(
  work: FoldState,
  seq: number,
  change: ClusterChangeOf<'rename_wallets'>,
  cluster: number,
): ChangeDecision {
  const state = requireLoadedCluster(work, cluster)
  const { wallets } = state
  const rows: WalletRow[] = []
  for (const { address, name } of change.wallets) {
    const walletRow = wallets.get(mapKey(address))
    if (!walletRow) return { code: 'not_in_cluster', address }
    if (walletRow.name !== name) rows.push({ ...walletRow, name, updatedSeq: seq })
  }
  const eventOf = ({ name, address: wallet, isVerified }: WalletRow): PublicEvent => {
    return { type: 'UPDATE_WALLET_NAME', cluster, name, wallet, isVerified }
  }
  return checkNames(work, state, rows) ?? setWallets(work, cluster, rows, eventOf)
}

function removeWallets(
  work: FoldState,
  change: ClusterChangeOf<'remove_wallets'>,
  cluster: number,
): ChangeDecision {
  const { wallets, names } = requireLoadedCluster(work, cluster)
  const rows = change.addresses.flatMap((address) => wallets.get(mapKey(address)) ?? [])
  if (names.length > 0 && leavesNoneVerified(wallets, rows)) return { code: 'last_verified_wallet' }
  for (const row of rows) removeWallet(work, cluster, mapKey(row.address))
  return {
    cluster,
    hasEffect: rows.length > 0,
    events: rows.filter((row) => !row.isPrivate).map(removeWalletEvent),
  }
}

const removeWalletEvent = ({ cluster, address }: WalletRow): PublicEvent => ({
  type: 'REMOVE_WALLET',
  cluster,
  wallet: address,
})

/** True if no verified wallet would remain without the `leaving` wallets. */
function leavesNoneVerified(
  wallets: ReadonlyMap<string, WalletRow>,
  leaving: readonly WalletRow[],
): boolean {
  const keys = new Set(leaving.map((row) => mapKey(row.address)))
  return [...wallets].every(([key, row]) => !row.isVerified || keys.has(key))
}

function verifyWallet(
  work: FoldState,
  seq: number,
  change: ClusterChangeOf<'verify_wallet'>,
  key: string,
): ChangeDecision {
  const cluster = work.clusterSerials.get(mapKey(change.clusterId))
  if (cluster === undefined) return { code: 'not_found' }
  const target = requireLoadedCluster(work, cluster)
  const walletRow = target.wallets.get(key)
  if (!walletRow) return { code: 'not_invited' }
  if (walletRow.isVerified) return decisionWithoutEffect(cluster)
  // While its names move away, a cluster verifies no wallet (moves.ts, 2): names that such a wallet registers would be
  // moved by the next part, too.
  if (work.moves.has(cluster)) return { code: 'names_moving' }
  const verified = work.verified.get(key)
  const events = verified ? leaveCluster(work, seq, verified.cluster, walletRow, key) : []
  if ('code' in events) return events
  const set = setWallets(
    work,
    cluster,
    [{ ...walletRow, isVerified: true, updatedSeq: seq }],
    ({ name }) => {
      return { type: 'VERIFY_WALLET', cluster, name, wallet: change.actor, isVerified: true }
    },
  )
  return { ...set, events: [...events, ...set.events] }
}

/**
 * Removes a wallet from the cluster `from`, because the wallet becomes verified in another cluster. If no verified
 * wallet remains in `from`, its names move to the other cluster. This move is public, so it is refused if the wallet is
 * private in one of the two clusters.
 * @returns the events, or the refusal
 * @param targetRow the wallet's row in the other cluster
 * @param key map key of the wallet's address
 */
function leaveCluster(
  work: FoldState,
  seq: number,
  from: number,
  targetRow: WalletRow,
  key: string,
): PublicEvent[] | ChangeRefusal {
  const old = requireLoadedCluster(work, from)
  const row = old.wallets.get(key)!
  const moving = leavesNoneVerified(old.wallets, [row]) ? old.names : []
  if (moving.length > 0 && (targetRow.isPrivate || row.isPrivate))
    return { code: 'names_would_reveal' }
  if (isBlockedByNameMove(work, from, targetRow.cluster, moving)) return { code: 'names_moving' }
  removeWallet(work, from, key)
  const events = row.isPrivate ? [] : [removeWalletEvent(row)]
  if (moving.length === 0) return events
  return [
    ...events,
    ...beginNameMove(work, { source: from, target: targetRow.cluster, seq, actor: row.address }),
  ]
}

/**
 * Stores in a wallet's row that this entry has the wallet's newest evidence. The feed has no event for evidence,
 * because the evidence log shows it (auth/evidence.ts).
 */
function signMembership(
  work: FoldState,
  seq: number,
  { actor, clusterId }: ClusterChangeOf<'sign_membership'>,
  cluster: number,
): ChangeDecision {
  if (work.clusterSerials.get(mapKey(clusterId)) !== cluster) return { code: 'forbidden' }
  const walletRow = requireLoadedCluster(work, cluster).wallets.get(mapKey(actor))!
  setWallet(work, { ...walletRow, evidenceSeq: seq })
  return { cluster, hasEffect: true, events: [] }
}

function confirmBackup(
  work: FoldState,
  seq: number,
  { address }: ClusterChangeOf<'confirm_backup'>,
  cluster: number,
): ChangeDecision {
  const walletRow = requireLoadedCluster(work, cluster).wallets.get(mapKey(address))
  if (!walletRow) return { code: 'not_in_cluster', address }
  const rows = walletRow.isBackedUp ? [] : [{ ...walletRow, isBackedUp: true, updatedSeq: seq }]
  return setWallets(work, cluster, rows, () => ({
    type: 'BACKUP_WALLET',
    cluster,
    wallet: address,
  }))
}
