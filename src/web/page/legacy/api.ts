/** Client of the service's API, as far as the page uses it. */

export interface ClusterWallet {
  address: string
  name: string
  isVerified: boolean
  isPrivate: boolean
}

export interface Cluster {
  id: string
  createdBy: string
  createdAt: string
  wallets: ClusterWallet[]
}

/** A chain that takes registrations. */
export interface ChainInfo {
  network: string
  chainId: number | null
  isTestnet: boolean
  gasToken: { symbol: string; decimals: number }
  canRegister: boolean
}

/** Transaction on an EVM chain; `value` in wei. */
export interface Transaction {
  to: string
  data: string
  value: string
}

export interface Quote {
  /** Of EVM; of Solana, unsigned transactions in base64, one per name. */
  transactionData: Transaction | string[]
  registrationFee: string
  bridgeFee: string
}

/** Price of a name below a community. */
export interface Price {
  network: string
  /** `native`, or a token's address or mint. */
  token: string
  amount: string
  recipient: string
}

/** Rules of a community. */
export interface Community {
  prices: Price[]
  ownersOnly: boolean
}

/** A name below a community: registered, or to be paid. */
export interface CommunityRegistration {
  clusterName: string
  owner: string
  price?: Price
  transactionInfo?:
    | { type: 'evm'; transaction: Transaction; approval?: Transaction; approvalReset?: Transaction }
    | { type: 'solana'; transaction: { data: string } }
}

/** Money that the wallet is owed. */
export interface Refund {
  owedBy: 'hub' | 'payments'
  network: string | null
  /** `native`, or a token's address or mint. */
  token: string
  amount: string
  /** Of a hub's credit: 0 for the hub's own. */
  eid?: number
  payments?: { tx: string; name: string }[]
  reclaimAfter?: string
  transaction?: ({ type: 'evm' } & Transaction) | { type: 'solana'; data: string }
  needsReceiver?: true
}

export interface Refunds {
  refunds: Refund[]
  /** Labels of chains that did not answer. */
  unavailable: string[]
  truncated: boolean
}

export interface ApiKey {
  id: string
  name: string
  createdAt: string
}

export interface TxStatus {
  status: 'not_found' | 'pending' | 'bridging' | 'invalid' | 'lost_bid' | 'finalized'
  confirmations?: { have: number; need: number }
}

/** Error answer of the API. */
export class ApiError extends Error {
  override name = 'ApiError'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Creates a client that reads the key and the network at each call. */
export function createApi(settings: () => { token: string | null; isTestnet: boolean }) {
  async function call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<T> {
    const { token, isTestnet } = settings()
    const headers: Record<string, string> = { accept: 'application/json' }
    if (token) headers.authorization = `Bearer ${token}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    const url = isTestnet ? `${path}${path.includes('?') ? '&' : '?'}testnet=true` : path
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(url, init).catch(() => {
      throw new ApiError(0, 'unreachable', 'The service can not be reached now.')
    })
    const answer = await response.json()
    if (!response.ok) throw new ApiError(response.status, answer.error ?? '', answer.message ?? response.statusText)
    return answer as T
  }
  return { get: <T>(path: string) => call<T>('GET', path), send: call }
}
