import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ClusterdError } from '../../../client/error.js'
import { SIGNATURE_NOT_KEPT_TEXT } from '../../../client/membership.js'
import { familyOfLabel } from '../../../registry/families.js'
import { type ApiCallOptions, callApi } from '../lib/api.js'
import { type ListPart, readNextNames } from '../lib/lists.js'
import { useChains } from '../lib/money.js'
import { useNetwork, usePolled } from '../lib/net.js'
import { useTabState } from '../lib/tabStorage.js'
import type { Chain, Cluster, ClusterOfAddress, Invitation, Wallet } from '../lib/types.js'
import { earlierPaymentWarning, useSentTransactions } from './followed.js'
import { createSessionKey, signMembershipWith } from './proof.js'
import { endSession, requestSessionFromTabs, type Session, sessionState } from './session.js'
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

/** Calls the API with the wallet's key. @throws ClusterdError; Error with `KEY_ENDED_TEXT` once the key has ended */
type Send = <T>(path: string, call?: Pick<ApiCallOptions, 'method' | 'body'>) => Promise<T>

/** Data about the signed-in wallet. */
interface AccountData {
  /** Null for a wallet without a cluster. */
  cluster: Cluster | null
  /** Names of the wallet's cluster, as far as they were read. Those below communities are `community/name`. */
  owned: ListPart<{ name: string }>
  /** Bundles that list the wallet in public, though it has not joined them, newest first. */
  invitations: readonly Invitation[]
  /** Whether older invitations are not in the list. */
  moreInvitations: boolean
}

/** A transaction that the pages ask a wallet for. */
export interface RequestedTransaction {
  /** Name that the transaction pays for; where `isOffer`, the offer's key. */
  title: string
  isOffer?: true
  /** undefined for a chain that is not served here. */
  chain: ChainToSendOn | undefined
  /** In the order of sending, where undefined is skipped. The last transaction pays, earlier transactions approve. */
  transactions: readonly (EvmTransaction | string | undefined)[]
  /** Question to confirm first. It is shown with a warning about earlier payments for the same title. */
  ask?: ConfirmationQuestion
  /** Message once the transaction is sent. */
  said: string
}

/** What components in `AccountProvider` share: session, cluster, owned names, chains, and the wallet's actions. */
export type AccountState = ReturnType<typeof useAccountState>

const AccountContext = createContext<AccountState | null>(null)

/** The shared state of the account pages. Only for components inside `AccountProvider`. */
export const useAccount = (): AccountState => useContext(AccountContext)!

/** Reads the wallet's cluster, and at least `count` of its names; only the first page if only members can read them. */
async function readAccount({ address }: Session, count: number, send: Send): Promise<AccountData> {
  const {
    clusterId,
    invitations = [],
    moreInvitations = false,
  } = await send<ClusterOfAddress>(`/v1/clusters/address/${address}?orNull=true&invitations=true`)
  const cluster = clusterId ? await send<Cluster>(`/v1/clusters/id/${clusterId}`) : null
  const owner = publicOwnerAddress(cluster, address)
  let owned: AccountData['owned'] = owner ? NO_NAMES : await readPrivateNames(address, send)
  if (owner)
    do owned = await readNextNames(owner, owned.items, send)
    while (owned.isMore && owned.items.length < count)
  return { cluster, invitations, moreInvitations, owned }
}
const NO_NAMES: AccountData['owned'] = { items: [], isMore: false }

/** Reads the first names of the wallet's bundle by the wallet's key, for a bundle without a public verified wallet. */
async function readPrivateNames(address: string, send: Send): Promise<AccountData['owned']> {
  const path = `/v1/clusters/address/${address}?names=true`
  const { names = [], moreNames = false } = await send<ClusterOfAddress>(path)
  return { items: names.map((name) => ({ name })), isMore: moreNames }
}

/**
 * Address by which everybody can read the wallet's names: its own, but for a private wallet that of a public, verified
 * wallet of its bundle. Undefined if the bundle has none.
 */
function publicOwnerAddress(cluster: Cluster | null, address: string): string | undefined {
  const isShown = ({ isVerified, isPrivate }: Wallet) => isVerified && !isPrivate
  const wallet = cluster?.wallets.find((one) => one.address === address)
  return wallet?.isPrivate ? cluster!.wallets.find(isShown)?.address : address
}

const isUnauthorized = (error: unknown): boolean =>
  error instanceof ClusterdError && error.status === 401

function errorText(error: unknown): string {
  const refusal = refusalText(error)
  if (refusal) return refusal
  // wallets reject with plain objects
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' && message !== '' ? message : 'That did not work.'
}

/** Throws an approval's error without `UnansweredError.sent`, whose late transaction id is not the payment's. */
const throwWithoutLateAnswer = (error: unknown): never => {
  throw new Error(errorText(error))
}

/** A wallet outside this browser, with the chain of a smart wallet. */
type AccountElsewhere = Pick<Session, 'type' | 'address' | 'chainId'>

/** Question for a signature by a wallet outside this browser. The service accepts a signature for five minutes. */
const SIGN_ELSEWHERE_QUESTION: ConfirmationQuestion = {
  title: 'Sign with your wallet',
  text: 'Sign this text there, to the letter, and bring the signature within five minutes.',
  yes: 'Go on',
}

/** Message once the service refuses the key, because the key has expired or was revoked. */
const KEY_ENDED_TEXT = 'Your key is not valid any more: sign in again.'

/** Adds a wallet that is not in the list yet. If another wallet has its id, the added wallet gets a new id. */
function withWallet(
  known: readonly BrowserWallet[],
  wallet: BrowserWallet,
): readonly BrowserWallet[] {
  if (known.some(({ source }) => source === wallet.source)) return known
  const twins = known.filter(({ id }) => id === wallet.id || id.startsWith(`${wallet.id} `)).length
  return [...known, twins === 0 ? wallet : { ...wallet, id: `${wallet.id} ${twins + 1}` }]
}

type SharedState = ReturnType<typeof useSharedState>

/** State that outlives a change of the signed-in wallet. */
function useSharedState() {
  const { isTestnet } = useNetwork()
  const { query, url } = useLocation()
  const session = useTabState(sessionState)
  const [wanted, setWanted] = useState(query.name ?? '')
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>([])
  const talk = useTalk()
  useEffect(requestSessionFromTabs, [])
  // A message is about the page at which it was shown. A later effect could remove a message of the next page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the address changes
  useLayoutEffect(() => talk.say(''), [url])
  useEffect(() => {
    const addWallet = (wallet: BrowserWallet) => setWallets((known) => withWallet(known, wallet))
    discoverWallets(addWallet)
  }, [])
  const { data: chains = [], error } = useChains()
  return {
    isTestnet,
    session,
    wallets,
    chains,
    /** Why the chains are not known. */
    error,
    talk,
    /** Name that the visitor typed to register, kept across signing in. */
    wanted,
    setWanted,
  }
}

/** Provides `AccountState` to the components inside. The state is discarded when the wallet or the network changes. */
export function AccountProvider({ children }: { children: ComponentChildren }) {
  const shared = useSharedState()
  return (
    <WalletProvider key={`${shared.session?.address} ${shared.isTestnet}`} shared={shared}>
      {children}
    </WalletProvider>
  )
}

const WalletProvider = ({
  shared,
  children,
}: {
  shared: SharedState
  children: ComponentChildren
}) => <AccountContext.Provider value={useAccountState(shared)}>{children}</AccountContext.Provider>

/** Creates the function that calls the API with the wallet's key. It marks a session whose key has ended. */
const createSend =
  ({ session, isTestnet }: SharedState, left: AbortSignal): Send =>
  async (path, options = {}) => {
    try {
      return await callApi(path, { ...options, isTestnet, token: session?.token })
    } catch (error) {
      if (!session || !isUnauthorized(error)) throw error
      // some routes return 401 for a wrong proof in the body, so ask whether the key itself has ended
      const validated = callApi('/v1/auth/validate', { isTestnet, token: session.token })
      const isOver = isUnauthorized(await validated.catch((refused: unknown) => refused))
      // a late response must not sign out a wallet that has signed in since
      if (!isOver || left.aborted || sessionState.get()?.token !== session.token) throw error
      sessionState.set({ ...session, isEnded: true })
      throw new Error(KEY_ENDED_TEXT)
    }
  }

/** Reads the data about the wallet when it signs in, and again with `reload`. */
function useAccountData({ session, error, talk }: SharedState, send: Send, say: ShowMessage) {
  const [more, setMore] = useState<{ of: AccountData; owned: AccountData['owned'] } | null>(null)
  const shown = useRef(0)
  const state = usePolled<AccountData>(
    session?.address ?? null,
    async () => {
      await send('/v1/auth/validate')
      return readAccount(session!, shown.current, send)
    },
    // forms keep their inputs when the same wallet signs in again
    { again: session?.token },
  )
  const { data, refresh } = state
  const isUnknown = data === undefined
  // drop names that were read after an earlier answer: they may have changed
  const owned = more?.of === data && more ? more.owned : (data?.owned ?? NO_NAMES)
  shown.current = owned.items.length
  const owner = data && session ? publicOwnerAddress(data.cluster, session.address) : undefined
  const readMore = async () => {
    const next = await readNextNames(owner!, owned.items, send)
    setMore({ of: data!, owned: next })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the session or its data changes
  useEffect(() => {
    // sign out only if no data is shown yet; otherwise the page keeps its data and asks to sign in again
    if (!session?.isEnded || !isUnknown) return
    sessionState.set(null)
    talk.say(KEY_ENDED_TEXT, 'error')
  }, [session, isUnknown])
  return {
    /** Why the data or the chains could not be read; undefined once they are. */
    problem: (state.error ?? error)?.message,
    /** `cluster` is undefined while it is loading. */
    known: { cluster: undefined, invitations: [], moreInvitations: false, ...data, owned },
    /** Reads the account's data again. @param done message about the change that was made, shown afterwards */
    async reload(done?: string): Promise<void> {
      if (session) await refresh()
      if (done) say(done)
    },
    /** Reads the next names. Undefined while loading, and where only members can read the names. */
    moreNames:
      owner === undefined
        ? undefined
        : () => readMore().catch((error: unknown) => say(errorText(error), 'error')),
  }
}

/**
 * Functions that connect a wallet, sign in, ask the visitor to confirm, and read whether a transaction was executed.
 */
function useConnection({ session, wallets, talk }: SharedState, left: AbortSignal) {
  const connected = useRef<ConnectedAccount | null>(null)
  const confirmed = async (question: ConfirmationQuestion, more?: () => string) =>
    (await talk.ask(question, left, more)) !== null
  /** Account of a wallet outside this browser: the visitor takes each message there, and types its signature. */
  const accountElsewhere = ({ type, address, chainId }: AccountElsewhere): ConnectedAccount => ({
    type,
    address,
    async sign(message) {
      const signature = await talk.ask({ ...SIGN_ELSEWHERE_QUESTION, toSign: message }, left)
      if (signature === null) throw new Error('Nothing was signed.')
      return signature
    },
    async send() {
      throw new Error(
        'A wallet outside this browser sends nothing from here. Sign in with one that pays.',
      )
    },
    ...(chainId !== undefined && { chainId: async () => chainId }),
  })
  /** Connects the signed-in wallet's account. @throws Error, such as where the wallet has another account */
  const account = async (): Promise<ConnectedAccount> => {
    if (!session) throw new Error('Sign in first.')
    // a session that an earlier build stored may have '' as `walletId`
    if (!session.walletId) return accountElsewhere(session)
    const wallet = wallets.find(({ id }) => id === session.walletId)
    if (!wallet) throw new Error('The wallet you signed in with is not there any more.')
    const connectedAccount = await wallet.connect()
    if (connectedAccount.address !== session.address)
      throw new Error(
        `The wallet shows ${connectedAccount.address}, you are signed in as ${session.address}.`,
      )
    connected.current = connectedAccount
    return connectedAccount
  }
  const openSession = async (
    from: ConnectedAccount,
    { walletId, chainId }: Pick<Session, 'walletId' | 'chainId'>,
  ) => {
    const { type, address } = from
    sessionState.set({ token: await createSessionKey(from), type, address, walletId, chainId })
    // signing in removes the pressed button, and the focus would be lost with it
    document.getElementById('main')?.focus({ preventScroll: true })
    talk.say('Signed in.')
  }
  return {
    confirmed,
    account,
    async signIn(wallet: BrowserWallet) {
      talk.say(`Waiting for ${wallet.name}…`)
      await openSession(await wallet.connect(), { walletId: wallet.id })
    },
    signInElsewhere: (of: AccountElsewhere) =>
      openSession(accountElsewhere(of), { walletId: null, chainId: of.chainId }),
    /** Whether the chain has executed a transaction; undefined where that is not known. @throws RevertedError */
    isExecuted: (tx: string) =>
      connected.current?.isExecuted?.(tx).catch((error: unknown) => {
        if (error instanceof RevertedError) throw error
        return undefined
      }),
  }
}

/** Actions of the wallet: signing in and out, signing a membership, sending transactions. */
function useWalletActions(shared: SharedState, { send, say, left, reload }: WalletActionContext) {
  const { session, talk, isTestnet } = shared
  const { confirmed, account, ...connection } = useConnection(shared, left)
  const payer = { payer: session?.address ?? '', isTestnet }
  const { sent, forget, follow } = useSentTransactions(payer, say, reload)
  const pay = async (
    chain: ChainToSendOn,
    transactions: readonly (EvmTransaction | string)[],
  ): Promise<string> => {
    const from = await account()
    say('Waiting for your wallet…')
    // a wallet sends in order, so the payment is included after its approvals
    for (const approval of transactions.slice(0, -1))
      await from.send(chain, approval).catch(throwWithoutLateAnswer)
    return from.send(chain, transactions.at(-1)!)
  }
  /** Runs work and shows its error. @returns whether it succeeded; false also for cancelled work */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    say('') // remove the message about earlier work
    try {
      return (await work()) !== false
    } catch (error) {
      say(errorText(error), 'error')
      return false
    }
  }
  return {
    sent,
    attempt,
    /** Text that changes with each status of a registration: prices, refunds and payouts may then differ. */
    outcomes: sent.map(({ tx, status }) => `${tx} ${status?.status}`).join(),
    forget,
    ...connection,
    confirmed,
    account,
    /**
     * Verifies the wallet in a cluster that lists it, by a signature that will be public.
     * @param isPrivate whether the cluster lists it in private
     */
    async signMembership(cluster: string, isPrivate: boolean): Promise<void> {
      const connectedAccount = await account()
      say('Waiting for your wallet…')
      const signed = await signMembershipWith(connectedAccount, cluster, isTestnet)
      if (!signed) {
        await reload()
        throw new Error(SIGNATURE_NOT_KEPT_TEXT)
      }
      const when = isPrivate ? 'once the wallet is' : 'in some 12 minutes'
      await reload(`Signed. The signature is public ${when}.`)
    },
    async signOut(everywhere = false) {
      const path = everywhere ? '/v1/auth/token?everywhere=true' : '/v1/auth/token'
      const isRevoked = await attempt(() => send(path, { method: 'DELETE' }))
      if (everywhere && !isRevoked) return
      // forget the key here even if the server can't revoke it now
      endSession()
      talk.say(everywhere ? 'Signed out, wherever you were signed in.' : 'Signed out.')
    },
    /** Sends a transaction on a chain. @returns false where the visitor declined */
    async transact({ title, isOffer, chain, transactions, ask, said }: RequestedTransaction) {
      if (!chain) throw new Error('This chain is not served here.')
      if (ask && !(await confirmed(ask, () => earlierPaymentWarning(payer, title)))) return false
      const steps = transactions.filter((one) => one !== undefined)
      await follow({ title, ...(isOffer && { isOffer }) }, pay(chain, steps), said)
      return true
    },
  }
}

interface WalletActionContext {
  send: Send
  /** Shows a message; does nothing once `left` is aborted. */
  say: ShowMessage
  /** Aborted when the wallet or the network changes. */
  left: AbortSignal
  reload: (done?: string) => Promise<void>
}

/** State of the account pages for one wallet, or for none, on one network. */
function useAccountState(shared: SharedState) {
  const { isTestnet, session, wallets, chains, talk, wanted, setWanted } = shared
  const [leaving] = useState(() => new AbortController())
  useLayoutEffect(() => () => leaving.abort(), [leaving])
  const left = leaving.signal

  const say: ShowMessage = (...said) => {
    if (!left.aborted) talk.say(...said)
  }
  const send = createSend(shared, left)
  const { known, ...reading } = useAccountData(shared, send, say)
  const actions = useWalletActions(shared, { send, say, left, reload: reading.reload })
  return {
    session,
    wallets,
    chains,
    wanted,
    setWanted,
    ...known,
    isTestnet,
    say,
    send,
    ...reading,
    /** Makes a change, reads the account again and shows the message `done`. */
    async change(done: string, ...request: Parameters<Send>): Promise<void> {
      await send(...request)
      await reading.reload(done)
    },
    message: talk.message,
    question: talk.question,
    /** Whether the key was refused, so that the wallet has to sign in again. */
    isEnded: session?.isEnded === true,
    ...actions,
  }
}

/** Chains on which the signed-in wallet can pay for names; while no wallet is signed in, those for EVM wallets. */
export const payableChains = ({ chains, session }: AccountState): readonly Chain[] =>
  chains.filter(
    ({ canRegister, network }) =>
      canRegister && familyOfLabel(network).addressType === (session?.type ?? 'evm'),
  )

/** The signed-in wallet as its cluster lists it; undefined where it has no cluster, or the cluster is loading. */
export const walletOfSession = ({ cluster, session }: AccountState) =>
  cluster?.wallets.find(({ address }) => address === session?.address)

/** Names of the wallet's cluster, as far as they were read, without names below communities. */
export const namesOfCluster = ({ owned }: AccountState): string[] =>
  owned.items.map(({ name }) => name).filter((name) => !name.includes('/'))
