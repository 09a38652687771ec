/** Answers of the API, as far as the pages read them (docs/openapi.json has them whole). */

export interface Wallet {
  address: string
  name: string
  isVerified: boolean
  isPrivate: boolean
  isBackedUp: boolean
}

export interface Cluster {
  id: string
  createdBy: string
  createdAt: string
  wallets: Wallet[]
}

/** A chain that takes registrations. */
export interface Chain {
  network: string
  chainId: number | null
  role: 'hub' | 'spoke'
  isTestnet: boolean
  gasToken: { symbol: string; decimals: number }
  canRegister: boolean
}

export interface Overview {
  counts: Record<'names' | 'communities' | 'communityNames' | 'clusters' | 'events', number>
  chains: {
    network: string
    block: number | null
    confirmed: number | null
    behindSeconds: number | null
    isHealthy: boolean
  }[]
  days: { day: string; registrations: number }[]
}

export interface FeedEvent {
  id: string
  type: string
  from: string
  data: Readonly<Record<string, string | boolean | null>>
  timestamp: number
}

export interface NameRecord {
  address: string
  type: string | null
  clusterName: string | null
  walletName: string | null
  isVerified?: boolean
}

export interface OwnedName {
  name: string
  owner: string
  totalWeiAmount: string
  createdAt: string
}

export type Status = 'not_found' | 'pending' | 'bridging' | 'invalid' | 'lost_bid' | 'finalized'

export interface TxStatus {
  tx: string
  status: Status
  step?: 'leading' | 'behind' | 'delivery_failed'
  reason?: string
  confirmations?: { have: number; need: number }
  names?: { name: string; outcome: string; winner?: { amountWei: string; tx: string } }[]
  hubTx?: string
  refund?: 'held' | 'refused' | 'reclaim' | 'reclaimed' | 'released'
  reclaimAfter?: string
  payout?: string
  credit?: { eid: number; amountWei: string; owner: string }
  replacedBy?: string
  updatedAt?: string
}

/** Price of a name below a community. */
export interface Price {
  network: string
  /** `native`, or a token's address or mint. */
  token: string
  amount: string
  recipient: string
}

export interface Community {
  name: string
  prices: Price[]
  ownersOnly: boolean
}
