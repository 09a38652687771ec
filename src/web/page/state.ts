import { type Api, type ChainInfo, type Cluster, createApi } from './api.js'
import type { BrowserWallet, ConnectedAccount } from './wallets.js'

/** The signed-in wallet. */
export interface Session {
  token: string
  type: 'evm' | 'solana'
  address: string
  /** Wallet that signed. */
  walletId: string
}

export interface State {
  isTestnet: boolean
  session: Session | null
  /** undefined while unknown, null for a wallet without cluster. */
  cluster: Cluster | null | undefined
  /** Names held by the wallet, those below communities as `community/name`. */
  names: string[]
  chains: ChainInfo[]
  wallets: Map<string, BrowserWallet>
  /** Connected account, as long as the page is open. */
  account: ConnectedAccount | null
}

const SESSION_ITEM = 'clusterd.session'

export const state: State = {
  isTestnet: new URLSearchParams(location.search).get('testnet') === 'true',
  session: storedSession(),
  ...{ cluster: undefined, names: [], chains: [], wallets: new Map(), account: null },
}

export const api: Api = createApi(() => ({ token: state.session?.token ?? null, isTestnet: state.isTestnet }))

/** Stores the key for the lifetime of the tab. */
export function setSession(session: Session | null): void {
  state.session = session
  if (session) sessionStorage.setItem(SESSION_ITEM, JSON.stringify(session))
  else sessionStorage.removeItem(SESSION_ITEM)
}

function storedSession(): Session | null {
  try {
    return JSON.parse(sessionStorage.getItem(SESSION_ITEM) ?? 'null')
  } catch {
    return null
  }
}

/** The signed-in account, reconnected after a reload. @throws Error where the wallet offers another one */
export async function signedInAccount(): Promise<ConnectedAccount> {
  const { session } = state
  if (!session) throw new Error('Sign in first.')
  const wallet = state.wallets.get(session.walletId)
  if (!state.account && !wallet) throw new Error('The wallet you signed in with is not there any more.')
  const account = state.account ?? (await wallet!.connect())
  if (account.address !== session.address)
    throw new Error(`The wallet shows ${account.address}, you are signed in as ${session.address}.`)
  state.account = account
  return account
}

/** The signed-in wallet's entry in its cluster. */
export const ownEntry = () => state.cluster?.wallets.find(({ address }) => address === state.session?.address)

/** Names held by the wallet's cluster. */
export const ownNames = (): string[] => state.names.filter((name) => !name.includes('/'))
