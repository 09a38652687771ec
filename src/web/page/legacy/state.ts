import { type ApiKey, type ChainInfo, type Cluster, createApi, type Refunds, type Transaction } from './api.js'
import { say } from './dom.js'
import type { BrowserWallet, ConnectedAccount } from './wallets.js'

/** The signed-in wallet. */
interface Session {
  token: string
  type: 'evm' | 'solana'
  address: string
  /** Wallet that signed. */
  walletId: string
}

interface State {
  isTestnet: boolean
  session: Session | null
  /** undefined while unknown, null for a wallet without cluster. */
  cluster: Cluster | null | undefined
  /** Names held by the wallet, those below communities as `community/name`. */
  names: string[]
  /** API keys of the wallet. */
  keys: ApiKey[]
  /** What the wallet is owed; null while unknown. */
  refunds: Refunds | null
  chains: ChainInfo[]
  wallets: Map<string, BrowserWallet>
  /** Connected account, as long as the page is open. */
  account: ConnectedAccount | null
  /** Reads the cluster of the signed-in wallet and draws all sections. */
  reload(): Promise<void>
  /** The same after signing in or out: clears everything from before. */
  start(): Promise<void>
}

const SESSION_ITEM = 'clusterd.session'

export const state: State = {
  isTestnet: new URLSearchParams(location.search).get('testnet') === 'true',
  session: storedSession(),
  ...{ cluster: undefined, names: [], keys: [], refunds: null, chains: [], wallets: new Map(), account: null },
  // main.ts sets both, which draw every section
  ...{ reload: async () => {}, start: async () => {} },
}

export const api = createApi(() => ({ token: state.session?.token ?? null, isTestnet: state.isTestnet }))

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

/**
 * The signed-in account, as it pays on a chain: an EVM transaction, or one of Solana in base64.
 * @throws Error where the wallet is of another type, or offers another account
 */
export async function payerOn({ network, chainId }: ChainInfo) {
  const account = await signedInAccount()
  const { type, address } = account
  if ((type === 'solana') !== (network === 'solana') || (type === 'evm' && chainId === null))
    throw new Error('This chain takes no payment from your wallet.')
  const send = (transaction: Transaction | string): Promise<string> =>
    account.type === 'evm'
      ? account.send({ chainId: chainId!, ...(transaction as Transaction) })
      : account.send(
          Uint8Array.from(atob(transaction as string), (letter) => letter.charCodeAt(0)),
          state.isTestnet,
        )
  return {
    ...{ type, address },
    /** Sends a transaction, an EVM chain's after its approvals. @returns its hash or signature */
    async pay(transaction: Transaction | string, ...approvals: (Transaction | undefined)[]): Promise<string> {
      say('Waiting for your wallet…')
      // wallets send in order, so the payment lands after its approvals
      for (const approval of approvals) if (approval) await send(approval)
      return send(transaction)
    },
  }
}

/** The signed-in account, reconnected after a reload. @throws Error where the wallet offers another one */
async function signedInAccount(): Promise<ConnectedAccount> {
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
