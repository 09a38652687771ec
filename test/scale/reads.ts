import {
  findAirdropWithoutClaimCounts,
  findClaimableAirdrops,
  findClaimedAccount,
  findClusterAllocations,
} from '../../src/db/airdrop/answers.js'
import { readAirdropProofs } from '../../src/db/airdrop/pages.js'
import { findApiKeyRate, listApiKeys } from '../../src/db/auth/apiKeys.js'
import { readBuckets } from '../../src/db/auth/limitBuckets.js'
import { findSession } from '../../src/db/auth/sessions.js'
import { findWalletShare } from '../../src/db/auth/shares.js'
import {
  findCreditOfDirectBids,
  findCreditsOfAddress,
  findCreditsOfReceipts,
} from '../../src/db/bridge/credits.js'
import { findMessagesOfTransaction } from '../../src/db/bridge/packets.js'
import { readHubState } from '../../src/db/chains/states.js'
import { findFirstEventSince, readClusterIds, readJournalRange } from '../../src/db/feed/feed.js'
import {
  findTransparencyLog,
  readTiles,
  readTransparencyLogState,
} from '../../src/db/feed/transparencyLog.js'
import { readAnswerVersions, readJournalHead } from '../../src/db/journal/head.js'
import { readNewestKnownCheckpoint } from '../../src/db/mirror/cosigned.js'
import { findPaidTokens, findPaymentsOwedToPayer } from '../../src/db/outbox/owed.js'
import {
  findCommunityPaymentsOfTransaction,
  findPaymentsOfTransaction,
} from '../../src/db/payments/ofTransaction.js'
import { findHeldCommunityPayments } from '../../src/db/payments/open.js'
import type { Queryable } from '../../src/db/pg/rows.js'
import {
  findClusterById,
  findClusterByName,
  findClusterIdByName,
  findClusterIdOfWallet,
  findInvitations,
  findKnownClusterId,
} from '../../src/db/registry/clusters.js'
import {
  findClusterNamesOfVerifiedWallet,
  findCommunities,
  findCommunityMembers,
  findCommunityNameRecords,
  findCommunityRules,
  findOwnedCommunityNames,
  readCallerRights,
  readCommunityNameAvailability,
} from '../../src/db/registry/communityNames.js'
import {
  findClusterNameRecords,
  findNamesBeginning,
  findNewestNames,
  findWalletOfEachChain,
} from '../../src/db/registry/directory.js'
import {
  findClusterWalletsOfTypes,
  findNamesByPrefix,
  findNamesOfAddresses,
  findWalletBundles,
  findWalletsByNames,
  readNameAvailability,
} from '../../src/db/registry/lookups.js'
import {
  findOwnedNames,
  findRegistrationSeq,
  findWinningBids,
} from '../../src/db/registry/owners.js'
import { findPublicWallets } from '../../src/db/registry/publicWallets.js'
import { findRankedClusters, findReferredBids } from '../../src/db/registry/ranking.js'
import {
  findJournalledBidsOfHubReceipts,
  findJournalledTxs,
  findUnconfirmedBidsOfReceipts,
  findUnconfirmedTx,
} from '../../src/db/transactions/bids.js'
import { findTrackedTx, readTxProgress } from '../../src/db/transactions/transactions.js'
import { STORED_ZERO_ADDRESS } from '../../src/registry/primitives/address.js'
import { deriveClusterId } from '../../src/registry/primitives/clusterId.js'
import { nameOf, shapeOf, strangerOf, txOf, walletOf } from '../support/scale/population.js'

/** Names; one owner has a hundredth of them, three clusters have 1,000 wallets, one community names below it. */
export const NAMES = 5_000
const OWNER = 1
const FULL = 2
export const COMMUNITY = 5
export const ORDINARY = 1_234
export const NETWORK = 'mainnet'

const page = { floor: 0, limit: 10, events: 10, from: null } as const
const LAST = 1_000_000
const price = { network: '1', token: 'native', recipient: 'r', amount: 1n }
const greatest = shapeOf(OWNER, NAMES).names

const receipt = { txHash: txOf(ORDINARY, 0), block: ORDINARY, logIndex: 1_000, bids: 2 }

const STRANGER = Buffer.alloc(32, 1)

/**
 * Queries by purpose, with the most rows that each may read: a few for each row of its page or its input. Where the
 * registry of this test has no rows (sessions, shares, messages, airdrops, logs), a query only shows that it uses an index.
 */
export const READS: readonly (readonly [string, number, (db: Queryable) => Promise<unknown>])[] = [
  ['the name of an address', 2, (db) => findNamesOfAddresses(db, NETWORK, [walletOf(ORDINARY)])],
  ['the name of an owner of many', 2, (db) => findNamesOfAddresses(db, NETWORK, [walletOf(OWNER)])],
  [
    'the name of a stranger with a community name',
    3,
    (db) => findNamesOfAddresses(db, NETWORK, [strangerOf(COMMUNITY, 0)]),
  ],
  [
    'the address of a name',
    2,
    (db) => findWalletsByNames(db, NETWORK, [{ cluster: nameOf(ORDINARY), wallet: null }]),
  ],
  [
    'the address of a wallet of a full cluster',
    8,
    (db) => findWalletsByNames(db, NETWORK, [{ cluster: nameOf(FULL), wallet: 'wallet-7' }]),
  ],
  [
    'availability',
    2,
    (db) => readNameAvailability(db, NETWORK, [nameOf(ORDINARY), 'nobody-has-this']),
  ],
  ['names that begin with a digit', 10, (db) => findNamesByPrefix(db, NETWORK, '1', 10)],
  ['the newest names, from the hundredth on', 110, (db) => findNewestNames(db, NETWORK, 100, 10)],
  [
    'names that begin with a digit, counted',
    700,
    (db) => findNamesBeginning(db, NETWORK, { cluster: '1', wallet: null }, 0, 10),
  ],
  [
    'names below a community that begin with a text',
    20,
    (db) => findNamesBeginning(db, NETWORK, { cluster: nameOf(COMMUNITY), wallet: 'f' }, 0, 10),
  ],
  [
    'records of names',
    8,
    (db) => findClusterNameRecords(db, NETWORK, [nameOf(ORDINARY), nameOf(OWNER, greatest - 1)]),
  ],
  [
    'records of names below a community',
    8,
    (db) => findCommunityNameRecords(db, NETWORK, nameOf(COMMUNITY), ['friend-0', 'friend-1']),
  ],
  ['the chains of clusters', 4, (db) => findWalletOfEachChain(db, NETWORK, [ORDINARY, FULL])],
  ['ranked clusters, from the hundredth on', 20, (db) => findRankedClusters(db, NETWORK, 100, 10)],
  ['bids with a referral', 1, (db) => findReferredBids(db, NETWORK, STRANGER)],
  [
    'a cluster by its id',
    60,
    (db) => findClusterById(db, NETWORK, deriveClusterId(NETWORK, walletOf(ORDINARY), 0)),
  ],
  ['a full cluster by its name', 3_010, (db) => findClusterByName(db, NETWORK, nameOf(FULL))],
  [
    'the cluster of an address',
    4,
    (db) => findClusterIdOfWallet(db, NETWORK, walletOf(OWNER), null),
  ],
  [
    'clusters that list an address without its proof',
    20,
    (db) => findInvitations(db, NETWORK, walletOf(OWNER), 20),
  ],
  [
    'wallets of clusters, up to a limit',
    12,
    (db) => findPublicWallets(db, NETWORK, [nameOf(FULL)], 10),
  ],
  [
    'names of the greatest owner',
    32,
    (db) => findOwnedNames(db, NETWORK, walletOf(OWNER), { after: 5, limit: 10 }),
  ],
  [
    'the place of a name',
    1,
    (db) => findRegistrationSeq(db, NETWORK, nameOf(OWNER, greatest - 1), null),
  ],
  [
    'names below communities',
    5,
    (db) => findOwnedCommunityNames(db, NETWORK, strangerOf(COMMUNITY, 0), { after: 0, limit: 10 }),
  ],
  ['communities, from one on', 10, (db) => findCommunities(db, NETWORK, { after: '', limit: 10 })],
  [
    'names below a community, from one on',
    10,
    (db) => findCommunityMembers(db, NETWORK, nameOf(COMMUNITY), 'a', 10),
  ],
  ['airdrops that may be claimed from', 0, (db) => findClaimableAirdrops(db, NETWORK, 0, 10)],
  ['rules of a community', 2, (db) => findCommunityRules(db, NETWORK, nameOf(COMMUNITY))],
  [
    'availability below a community',
    60,
    (db) =>
      readCommunityNameAvailability(db, NETWORK, { community: nameOf(COMMUNITY), name: 'free' }, [
        price,
      ]),
  ],
  [
    'membership in clusters',
    3,
    (db) =>
      findClusterNamesOfVerifiedWallet(db, NETWORK, walletOf(OWNER), [nameOf(OWNER), nameOf(FULL)]),
  ],
  ['bids of a transaction', 2, (db) => findJournalledTxs(db, NETWORK, [txOf(ORDINARY, 0)])],
  [
    'the first page of the feed',
    11,
    (db) => readJournalRange(db, NETWORK, { ...page, order: 'oldest', first: 1 }),
  ],
  [
    'a page in the middle',
    11,
    (db) => readJournalRange(db, NETWORK, { ...page, order: 'oldest', first: 15_000 }),
  ],
  [
    'the newest page',
    12,
    (db) => readJournalRange(db, NETWORK, { ...page, order: 'newest', first: null }),
  ],
  [
    'a page of an actor',
    10,
    (db) =>
      readJournalRange(db, NETWORK, { ...page, order: 'oldest', first: 1, from: walletOf(OWNER) }),
  ],
  [
    'a page of nobody',
    20,
    (db) =>
      readJournalRange(db, NETWORK, {
        ...page,
        order: 'newest',
        first: null,
        from: STORED_ZERO_ADDRESS,
      }),
  ],
  [
    'the events since a time',
    40,
    (db) => findFirstEventSince(db, NETWORK, Date.UTC(2026, 0, 1) + LAST / 2),
  ],
  ['ids of clusters', 2, (db) => readClusterIds(db, NETWORK, [1, ORDINARY], 1)],
  [
    'money that is owed',
    70,
    (db) => findPaymentsOwedToPayer(db, NETWORK, walletOf(ORDINARY), LAST),
  ],
  ['tokens that somebody paid in', 4, (db) => findPaidTokens(db, NETWORK, walletOf(ORDINARY))],
  ['payouts of a community', 21, (db) => findHeldCommunityPayments(db, NETWORK, nameOf(COMMUNITY))],
  ['credits of the hub', 1, (db) => findCreditsOfAddress(db, NETWORK, walletOf(ORDINARY))],
  ['a key of a wallet', 1, (db) => findApiKeyRate(db, STRANGER)],
  ['buckets of a client', 4, (db) => readBuckets(db, ['a', 'b'])],
  ['a session', 1, (db) => findSession(db, STRANGER)],
  [
    'a share of a wallet',
    4,
    (db) => findWalletShare(db, NETWORK, walletOf(ORDINARY), walletOf(OWNER)),
  ],
  [
    'the credit of a transaction',
    1,
    (db) => findCreditOfDirectBids(db, NETWORK, txOf(ORDINARY, 0)),
  ],
  ['credits of messages', 4, (db) => findCreditsOfReceipts(db, NETWORK, [receipt])],
  ['bids of messages', 8, (db) => findJournalledBidsOfHubReceipts(db, NETWORK, 1, [receipt])],
  [
    'unconfirmed bids of messages',
    4,
    (db) => findUnconfirmedBidsOfReceipts(db, NETWORK, 1, [receipt]),
  ],
  [
    'messages of a transaction',
    4,
    (db) => findMessagesOfTransaction(db, NETWORK, txOf(ORDINARY, 0)),
  ],
  [
    'payments of a transaction',
    4,
    (db) => findPaymentsOfTransaction(db, NETWORK, txOf(ORDINARY, 0)),
  ],
  [
    'names paid by a transaction',
    4,
    (db) => findCommunityPaymentsOfTransaction(db, NETWORK, txOf(ORDINARY, 0)),
  ],
  ['the tail of a transaction', 4, (db) => findUnconfirmedTx(db, NETWORK, 1, txOf(ORDINARY, 0))],
  ['a tracked transaction', 2, (db) => findTrackedTx(db, NETWORK, txOf(ORDINARY, 0))],
  ['the progress of transactions', 8, (db) => readTxProgress(db, NETWORK, [txOf(ORDINARY, 0)])],
  ['the state of a hub', 4, (db) => readHubState(db, NETWORK, '1')],
  ['the head', 1, (db) => readJournalHead(db, NETWORK)],
  ['the versions of answers', 4, (db) => readAnswerVersions(db, NETWORK)],
  ['the log that is followed', 4, (db) => readTransparencyLogState(db, NETWORK)],
  ['a log', 2, (db) => findTransparencyLog(db, NETWORK, 1)],
  ['the newest signed checkpoint', 4, (db) => readNewestKnownCheckpoint(db, NETWORK)],
  ['tiles of a log', 4, (db) => readTiles(db, NETWORK, 1, [{ level: 0, index: 0, width: 1 }])],
  [
    'the open airdrop of a community',
    2,
    (db) => findAirdropWithoutClaimCounts(db, NETWORK, nameOf(COMMUNITY)),
  ],
  [
    'allocations of a full bundle',
    1_010,
    (db) => findClusterAllocations(db, NETWORK, 1, walletOf(FULL)),
  ],
  ['proofs of an airdrop', 4, (db) => readAirdropProofs(db, NETWORK, 1, [0])],
  [
    'the claim of a bundle',
    8,
    (db) =>
      findClaimedAccount(db, {
        network: NETWORK,
        community: nameOf(COMMUNITY),
        clusterId: deriveClusterId(NETWORK, walletOf(ORDINARY), 0),
        caller: walletOf(ORDINARY),
      }),
  ],
  ['the id of a cluster by its name', 4, (db) => findClusterIdByName(db, NETWORK, nameOf(FULL))],
  [
    'whether a cluster exists',
    2,
    (db) => findKnownClusterId(db, NETWORK, deriveClusterId(NETWORK, walletOf(ORDINARY), 0)),
  ],
  [
    'the standing of a caller',
    60,
    (db) =>
      readCallerRights(db, NETWORK, {
        community: nameOf(COMMUNITY),
        name: 'free',
        caller: walletOf(ORDINARY),
        wallet: walletOf(OWNER),
      }),
  ],
  [
    'the bundle of an address',
    60,
    (db) => findWalletBundles(db, NETWORK, [walletOf(ORDINARY)], null),
  ],
  [
    'wallets of a type in a full cluster',
    1_010,
    (db) => findClusterWalletsOfTypes(db, NETWORK, [{ cluster: nameOf(FULL), stored: '^01' }]),
  ],
  ['winning bids', 4, (db) => findWinningBids(db, NETWORK, [nameOf(ORDINARY)])],
  ['keys of a wallet', 10, (db) => listApiKeys(db, walletOf(ORDINARY))],
]
