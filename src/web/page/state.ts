import { type Api, type ChainInfo, type Cluster, createApi } from './api.js'
import type { BrowserWallet, ConnectedAccount } from './wallets.js'

/** Who is signed in. */
export interface Session {
  token: string
  type: 'evm' | 'solana'
  address: string
  /** The wallet it signed with. */
  walletId: string
}

export interface State {
  isTestnet: boolean
  session: Session | null
  /** undefined while it is not known, null where the wallet is in none. */
  cluster: Cluster | null | undefined
  /** The names that the wallet holds, those below communities as `community/name`. */
  names: string[]
  chains: ChainInfo[]
  wallets: Map<string, BrowserWallet>
  /** The account that signed in, as long as this page is open. */
  account: ConnectedAccount | null
}

const SESSION_ITEM = 'clusterd.session'

export const state: State = {
  isTestnet: new URLSearchParams(location.search).get('testnet') === 'true',
  session: storedSession(),
  ...{ cluster: undefined, names: [], chains: [], wallets: new Map(), account: null },
}

export const api: Api = createApi(() => ({ token: state.session?.token ?? null, isTestnet: state.isTestnet }))

/** The key lives as long as the tab. */
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

/** The account that is signed in, asked for again after a reload. @throws where the wallet shows another one */
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

/** The signed-in wallet's own entry in its cluster. */
export const ownEntry = () => state.cluster?.wallets.find(({ address }) => address === state.session?.address)

/** The names that the wallet's cluster holds. */
export const ownNames = (): string[] => state.names.filter((name) => !name.includes('/'))
