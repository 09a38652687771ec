import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ClusterdError } from '../../../client/error.js'
import { pause } from '../../../client/time.js'
import { familyOfLabel } from '../../../registry/families.js'
import { type ApiCallOptions, callApi, outagePauseMs } from '../lib/api.js'
import { type ListPart, readNextNames } from '../lib/lists.js'
import { useApi, useNetwork } from '../lib/net.js'
import type { Chain, Cluster, ClusterOfAddress, Invitation, OwnedName } from '../lib/types.js'
import { earlierPaymentWarning, forgetSentTransactions, useSentTransactions } from './followed.js'
import { forgetSession, type Session, tabs, useSession } from './session.js'
import { type ConfirmationQuestion, type ShowMessage, useTalk } from './talk.js'
import {
  type BrowserWallet,
  type ChainToSendOn,
  type ConnectedAccount,
  type EvmTransaction,
  RevertedError,
  refusalText,
} from './wallets/kind.js'
import { discoverWallets } from './wallets/kinds.js'

/** State that the pages of a signed-in wallet share. */

/** Calls the API with the wallet's key. @throws ClusterdError */
type Send = <T>(path: string, call?: Pick<ApiCallOptions, 'method' | 'body'>) => Promise<T>

/** Data about the signed-in wallet. */
interface Known {
  /** undefined while it is loading, null for a wallet without a cluster. */
  cluster: Cluster | null | undefined
  /** Names that the wallet owns, as far as they were read. Names below communities have the form `community/name`. */
  owned: ListPart<OwnedName>
  /** Bundles that list the wallet in public, though it has not joined them, newest first. */
  invitations: readonly Invitation[]
  /** Whether older invitations are not in the list. */
  moreInvitations: boolean
}

/** A transaction that the pages ask a wallet for. */
export interface Transaction {
  /** The name that it pays for, or the key of the offer that it takes. */
  title: string
  isOffer?: true
  /** undefined for a chain that is not served here. */
  chain: ChainToSendOn | undefined
  /** Sent one after the other; the last one counts, and the ones before it are approvals. */
  transactions: readonly (EvmTransaction | string | undefined)[]
  /** Asked first, with a warning about earlier payments for the same title. */
  ask?: ConfirmationQuestion
  /** Message once it is sent. */
  said: string
}

export type Account = ReturnType<typeof useWallet>

const Context = createContext<Account | null>(null)

/** The account of this page. Only for components inside AccountProvider. */
export const useAccount = (): Account => useContext(Context)!

/**
 * A wallet's proof: the service's message with its signature. The message is bound to the wallet, so that signatures
 * of smart wallets are valid too.
 * @param more `recover`: the generated wallet whose key the message requests; `cluster`: the cluster to which the wallet
 * says that it belongs, of the testnet if `isTestnet`
 */
export async function walletProofOf(
  { type, address, sign }: ConnectedAccount,
  more: { recover?: string; cluster?: string } = {},
  isTestnet = false,
) {
  const query = new URLSearchParams({ type, wallet: address, ...more })
  const path = `/v1/auth/message?${query}`
  const { message, signingDate } = await callApi<{ message: string; signingDate: string }>(path, {
    isTestnet,
  })
  return { signature: await sign(message), signingDate }
}

/** The key of a new session of the wallet. @param more of the message that it signs */
async function keyOf(
  account: ConnectedAccount,
  more: { cluster?: string } = {},
  isTestnet = false,
): Promise<string> {
  const proof = await walletProofOf(account, more, isTestnet)
  const body = { ...proof, ...more, type: account.type, wallet: account.address }
  return (await callApi<{ token: string }>('/v1/auth/token', { isTestnet, body })).token
}

/** Reads the cluster of the wallet, and its names. */
async function readAccount({ address }: Session, send: Send): Promise<Known> {
  const {
    clusterId,
    invitations = [],
    moreInvitations = false,
  } = await send<ClusterOfAddress>(`/v1/clusters/address/${address}?orNull=true&invitations=true`)
  const cluster = clusterId ? await send<Cluster>(`/v1/clusters/id/${clusterId}`) : null
  const owned = await readNextNames(ownerOf(cluster, address), [], send)
  return { cluster, invitations, moreInvitations, owned }
}

/** Address by which everybody can read the names of the wallet's bundle: a private wallet owns none in public. */
function ownerOf(cluster: Cluster | null | undefined, address: string): string {
  const own = cluster?.wallets.find((one) => one.address === address)
  const shown = cluster?.wallets.find(({ isVerified, isPrivate }) => isVerified && !isPrivate)
  return own?.isPrivate && shown ? shown.address : address
}

const isRefused = (error: unknown): boolean =>
  error instanceof ClusterdError && error.status === 401

function sentenceOf(error: unknown): string {
  const refusal = refusalText(error)
  if (refusal) return refusal
  // wallets reject with plain objects
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' && message !== '' ? message : 'That did not work.'
}

/** Drops the late answer that a wallet may still give to an approval, because it must not count as the payment. */
const withoutPayment = (error: unknown): never => {
  throw new Error(sentenceOf(error))
}

const UNKNOWN: Known = {
  cluster: undefined,
  owned: { items: [], isMore: false },
  invitations: [],
  moreInvitations: false,
}

/** The service refuses the key, because the key has expired or was revoked. */
class KeyEnded extends Error {
  override message = 'Your key is not valid any more: sign in again.'
}

/** Adds a wallet that is not in the list yet. If another wallet has its id, the added wallet gets a new id. */
function withWallet(
  known: readonly BrowserWallet[],
  wallet: BrowserWallet,
): readonly BrowserWallet[] {
  if (known.some(({ source }) => source === wallet.source)) return known
  const twins = known.filter(({ id }) => id === wallet.id || id.startsWith(`${wallet.id} `)).length
  return [...known, twins === 0 ? wallet : { ...wallet, id: `${wallet.id} ${twins + 1}` }]
}

type Shared = ReturnType<typeof useShared>

/** State that all wallets of the page share. */
function useShared() {
  const { isTestnet } = useNetwork()
  const { query } = useLocation()
  const { session, keep } = useSession()
  const [wanted, setWanted] = useState(query.name ?? '')
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>([])
  const talk = useTalk()
  const say = useRef(talk.say)
  useEffect(() => {
    const found = (wallet: BrowserWallet) => setWallets((known) => withWallet(known, wallet))
    discoverWallets(found)
  }, [])
  const { data: chains = [], error } = useApi<Chain[]>('/v1/networks')
  useEffect(() => {
    if (error) say.current(sentenceOf(error), 'error')
  }, [error])
  return {
    isTestnet,
    session,
    wallets,
    /** Chains of the network. */
    chains: chains.filter((chain) => chain.isTestnet === isTestnet),
    talk,
    /** Name that the visitor typed to register, kept across signing in. */
    wanted,
    setWanted,
    keep,
  }
}

/** Provides the account to the pages below. Its state is discarded when the wallet or the network changes. */
export function AccountProvider({ children }: { children: ComponentChildren }) {
  const shared = useShared()
  return (
    <OfWallet key={`${shared.session?.address} ${shared.isTestnet}`} shared={shared}>
      {children}
    </OfWallet>
  )
}

/** Sends requests with the wallet's key, until a response shows that the key has ended. */
function useSend({ session, isTestnet }: Shared, left: AbortSignal) {
  const [endedKey, setEndedKey] = useState<string>()
  const latest = useRef(session)
  latest.current = session
  const send: Send = async <T,>(
    path: string,
    asked: Pick<ApiCallOptions, 'method' | 'body'> = {},
  ): Promise<T> => {
    try {
      return await callApi<T>(path, { ...asked, isTestnet, token: session?.token })
    } catch (error) {
      if (!session || !isRefused(error)) throw error
      // some routes return 401 for a wrong proof in the body, so ask whether the key itself has ended
      const validated = callApi('/v1/auth/validate', { isTestnet, token: session.token })
      const isOver = isRefused(await validated.catch((refused: unknown) => refused))
      // a late response must not sign out a wallet that has signed in since
      if (!isOver || left.aborted || latest.current?.token !== session.token) throw error
      forgetSession()
      setEndedKey(session.token)
      throw new KeyEnded()
    }
  }
  return { send, isEnded: session !== null && session.token === endedKey }
}

const OfWallet = ({ shared, children }: { shared: Shared; children: ComponentChildren }) => (
  <Context.Provider value={useWallet(shared)}>{children}</Context.Provider>
)

/** Shows messages and errors of the wallet's actions, as long as the wallet is signed in. */
function useOutcome(talk: Shared['talk'], left: AbortSignal) {
  const say: ShowMessage = (...said) => {
    if (!left.aborted) talk.say(...said)
  }
  return {
    say,
    /** Runs work and shows its error. @returns whether it succeeded; false also for cancelled work */
    async attempt(work: () => Promise<unknown>): Promise<boolean> {
      say('') // remove the message about earlier work
      try {
        return (await work()) !== false
      } catch (error) {
        say(sentenceOf(error), 'error')
        return false
      }
    },
  }
}

/** Data about the wallet, read when it is shown and after each change. */
function useKnown({ session, keep }: Shared, send: Send, say: ShowMessage) {
  const [known, setKnown] = useState<Known>(UNKNOWN)
  /** Pause before the account is read again; null unless the newest reading met an outage. */
  const outageMs = useRef<number | null>(null)
  /** Reads the account again. @param done message about the change that was made */
  const reload = async (done?: string): Promise<void> => {
    if (!session) return
    try {
      await send('/v1/auth/validate')
      setKnown(await readAccount(session, send))
      if (outageMs.current !== null) say('')
      outageMs.current = null
    } catch (error) {
      say(sentenceOf(error), 'error')
      outageMs.current = outagePauseMs(error)
      // sign out silently if nothing was shown yet
      if (error instanceof KeyEnded && known.cluster === undefined) keep(null)
    }
    if (done) say(done)
  }
  const newest = useRef(reload)
  newest.current = reload
  const token = session?.token
  useEffect(() => {
    if (!token) return
    const closed = new AbortController()
    const readAgain = async (): Promise<void> => {
      await newest.current()
      if (outageMs.current === null) return
      await pause(outageMs.current)
      if (!closed.signal.aborted) void readAgain()
    }
    void readAgain()
    return () => closed.abort()
  }, [token])
  return {
    known,
    reload,
    reloadNewest: () => newest.current(),
    async moreNames(): Promise<void> {
      const owned = await readNextNames(
        ownerOf(known.cluster, session?.address ?? ''),
        known.owned.items,
        send,
      )
      // keep a newer answer that is shown by now
      setKnown((shown) => (shown === known ? { ...shown, owned } : shown))
    },
  }
}

/** Actions of the wallet: it signs in and sends transactions. */
function useWalletActions(
  { session, keep, wallets, talk, isTestnet }: Shared,
  { send, say, attempt, left, reloadNewest }: Actions,
) {
  const payer = { payer: session?.address ?? '', isTestnet }
  const { sent, forget, follow } = useSentTransactions(payer, say, reloadNewest)
  const connected = useRef<ConnectedAccount | null>(null)
  const confirmed = (asked: ConfirmationQuestion, more?: () => string) =>
    talk.confirmed(asked, left, more)
  /** The connected account. @throws Error where the wallet offers another account */
  const account = async (): Promise<ConnectedAccount> => {
    if (!session) throw new Error('Sign in first.')
    const wallet = wallets.find(({ id }) => id === session.walletId)
    if (!wallet) throw new Error('The wallet you signed in with is not there any more.')
    const found = await wallet.connect()
    if (found.address !== session.address)
      throw new Error(`The wallet shows ${found.address}, you are signed in as ${session.address}.`)
    connected.current = found
    return found
  }
  const pay = async (
    chain: ChainToSendOn,
    transactions: readonly (EvmTransaction | string)[],
  ): Promise<string> => {
    const from = await account()
    say('Waiting for your wallet…')
    // a wallet sends in order, so the payment is included after its approvals
    for (const approval of transactions.slice(0, -1))
      await from.send(chain, approval).catch(withoutPayment)
    return from.send(chain, transactions.at(-1)!)
  }
  return {
    sent,
    /** Changes whenever a registration does: what is offered then may differ. */
    outcomes: sent.map(({ tx, status }) => `${tx} ${status?.status}`).join(),
    forget,
    confirmed,
    account,
    async signIn(wallet: BrowserWallet) {
      talk.say(`Waiting for ${wallet.name}…`)
      const found = await wallet.connect()
      const { type, address } = found
      keep({ token: await keyOf(found), type, address, walletId: wallet.id })
      // the pressed button goes, and the focus with it
      document.getElementById('main')?.focus({ preventScroll: true })
      talk.say('Signed in.')
    },
    /** Verifies the wallet in a cluster that lists it, by a signature that will be public. */
    async signMembership(cluster: string): Promise<void> {
      const found = await account()
      say('Waiting for your wallet…')
      const token = await keyOf(found, { cluster }, isTestnet)
      await callApi(`/v1/clusters/verify/${cluster}`, { method: 'POST', isTestnet, token })
      await reloadNewest()
      say('Signed. The signature is public in some 12 minutes.')
    },
    async signOut(everywhere = false) {
      const path = everywhere ? '/v1/auth/token?everywhere=true' : '/v1/auth/token'
      const isRevoked = await attempt(() => send(path, { method: 'DELETE' }))
      if (everywhere && !isRevoked) return
      // forget the key here even if the server can't revoke it now
      keep(null)
      tabs?.postMessage({ ended: session?.token })
      forgetSentTransactions()
      talk.say(everywhere ? 'Signed out, wherever you were signed in.' : 'Signed out.')
    },
    /** Sends a transaction on a chain. @returns false where the visitor declined */
    async transact({ title, isOffer, chain, transactions, ask, said }: Transaction) {
      if (!chain) throw new Error('This chain is not served here.')
      if (ask && !(await confirmed(ask, () => earlierPaymentWarning(payer, title)))) return false
      const steps = transactions.filter((one) => one !== undefined)
      await follow({ title, ...(isOffer && { isOffer }) }, pay(chain, steps), said)
      return true
    },
    /** Whether the chain has executed a transaction; undefined where that is not known. @throws RevertedError */
    isExecuted: (tx: string) =>
      connected.current?.isExecuted?.(tx).catch((error: unknown) => {
        if (error instanceof RevertedError) throw error
        return undefined
      }),
  }
}

type Actions = { send: Send; left: AbortSignal; reloadNewest: () => Promise<void> } & ReturnType<
  typeof useOutcome
>

/** The account of one wallet on one network. */
function useWallet(shared: Shared) {
  const { isTestnet, session, wallets, chains, talk, wanted, setWanted } = shared
  const [leaving] = useState(() => new AbortController())
  useLayoutEffect(() => () => leaving.abort(), [leaving])
  const left = leaving.signal

  const outcome = useOutcome(talk, left)
  const { say, attempt } = outcome
  const { send, isEnded } = useSend(shared, left)
  const { known, reload, reloadNewest, moreNames } = useKnown(shared, send, say)
  const actions = useWalletActions(shared, { ...outcome, send, left, reloadNewest })
  return {
    session,
    wallets,
    chains,
    wanted,
    setWanted,
    ...known,
    isTestnet,
    say,
    attempt,
    send,
    reload,
    moreNames,
    /** Makes a change, reads the account again and shows the message `done`. */
    async change(done: string, ...asked: Parameters<Send>): Promise<void> {
      await send(...asked)
      await reload(done)
    },
    message: talk.message,
    question: talk.question,
    /** Whether the key was refused, so that the wallet has to sign in again. */
    isEnded,
    ...actions,
  }
}

/** Chains that the signed-in wallet can send on. */
export const payableChains = ({ chains, session }: Account): readonly Chain[] =>
  chains.filter(
    ({ canRegister, network }) =>
      canRegister && familyOfLabel(network).addressType === (session?.type ?? 'evm'),
  )

/** The signed-in wallet's entry in its cluster. */
export const walletOfSession = ({ cluster, session }: Account) =>
  cluster?.wallets.find(({ address }) => address === session?.address)

/** Names held by the wallet's cluster. */
export const namesOfCluster = ({ owned }: Account): string[] =>
  owned.items.map(({ name }) => name).filter((name) => !name.includes('/'))
