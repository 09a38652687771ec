import type { Answer, QuoteFamily, QuoteOfFamily, Schemas } from '../../../client/types.js'

export type { FeedEvent } from '../../../client/types.js'

// this module gives short names to the API's response types, which come from the routes' schemas

export type Wallet = Schemas['Wallet']
/** Kind of a wallet that can sign in. */
export type SigningWalletKind = Schemas['Proof']['type']
export type Cluster = Schemas['Cluster']
/** Id of the cluster in which an address is verified. With `invitations=true` also clusters that list it unverified. */
export type ClusterOfAddress = Answer<'GET', '/v1/clusters/address/{address}'>
/** A cluster that lists a wallet in public, though the wallet is not verified there. */
export type Invitation = NonNullable<ClusterOfAddress['invitations']>[number]
/** A chain, and whether names can be registered on it. */
export type Chain = Schemas['Network']
/** What the home page shows of a network: totals, chains, and the default bid. */
export type Overview = Answer<'GET', '/v1/overview'>
export type NameAvailabilityResponse = Schemas['Availability']
/** An address with the names by which the service shows it. */
export type NameRecord = Schemas['NameRecord']
export type OwnedName = Schemas['OwnerRecord']
export type TxStatus = Schemas['TransactionStatus']
export type Community = Schemas['Community']
/** Money that a wallet is owed. */
export type Refund = Schemas['Refund']
export type Refunds = Answer<'GET', '/v1/refunds/{address}'>
/** Number and sum of the winning bids that name a referral. */
export type ReferredBids = Schemas['Referrals']
/** An API key without its secret text. */
export type ApiKey = Schemas['ApiKey']
/** A generated wallet, with shares of its key. */
export type GeneratedWallet = Answer<'POST', '/v1/clusters/generate/wallet'>
/** Price of a registration, and the transactions to sign for it. */
export type Quote = QuoteOfFamily<QuoteFamily>
export type AirdropClaims = Schemas['AirdropClaims']
/** Result of a registration below a community: done, or a payment to make. */
export type CommunityRegistration = Answer<'POST', '/v1/names/community/{communityName}/register'>
/** A name below a community, with its owner. */
export type CommunityMember = Answer<'GET', '/v1/communities/{name}/members'>[number]
export type Airdrop = Answer<'GET', '/v1/airdrops'>[number]
/** Transactions that make a name an address's primary one in ENS. */
export type PrimaryNameTransactions = Answer<'GET', '/v1/names/{name}/primary/{address}'>
/** Earnings of a community that a recipient has not taken yet. */
export type CommunityPayout = Answer<'GET', '/v1/communities/{name}/payouts'>['payouts'][number]
