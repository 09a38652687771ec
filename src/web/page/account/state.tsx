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

/** State that the pages of a signed-in wallet share. */

/** Calls the API with the wallet's key. @throws ClusterdError */
type Send = <T>(path: string, call?: Pick<ApiCallOptions, 'method' | 'body'>) => Promise<T>

/** Data about the signed-in wallet. */
interface AccountData {
  /** Null for a wallet without a cluster. */
  cluster: Cluster | null
  /**
   * Names of the wallet's cluster, as far as they were read. Names below communities have the form `community/name`.
   */
  owned: ListPart<{ name: string }>
  /** Bundles that list the wallet in public, though it has not joined them, newest first. */
  invitations: readonly Invitation[]
  /** Whether older invitations are not in the list. */
  moreInvitations: boolean
}

/** A transaction that the pages ask a wallet for. */
export interface Transaction {
  /** Name that the transaction pays for; where `isOffer`, the offer's key. */
  title: string
  isOffer?: true
  /** undefined for a chain that is not served here. */
  chain: ChainToSendOn | undefined
  /** Transactions that are sent in this order. The last one is the payment, the ones before it are approvals. */
  transactions: readonly (EvmTransaction | string | undefined)[]
  /** Question to confirm first. It is shown with a warning about earlier payments for the same title. */
  ask?: ConfirmationQuestion
  /** Message once the transaction is sent. */
  said: string
}

export type Account = ReturnType<typeof useWallet>

const Context = createContext<Account | null>(null)

/** The account of this page. Only for components inside AccountProvider. */
export const useAccount = (): Account => useContext(Context)!

/** Reads the cluster of the wallet, and at least `count` of its names, where it has so many. */
async function readAccount({ address }: Session, count: number, send: Send): Promise<AccountData> {
  const {
    clusterId,
    invitations = [],
    moreInvitations = false,
  } = await send<ClusterOfAddress>(`/v1/clusters/address/${address}?orNull=true&invitations=true`)
  const cluster = clusterId ? await send<Cluster>(`/v1/clusters/id/${clusterId}`) : null
  const owner = ownerOf(cluster, address)
  let owned: AccountData['owned'] = owner ? NOTHING : await readPrivateNames(address, send)
  if (owner)
    do owned = await readNextNames(owner, owned.items, send)
    while (owned.isMore && owned.items.length < count)
  return { cluster, invitations, moreInvitations, owned }
}
const NOTHING: AccountData['owned'] = { items: [], isMore: false }

/** Reads the first names of a wallet's bundle in which no public wallet is verified. */
async function readPrivateNames(address: string, send: Send): Promise<AccountData['owned']> {
  const path = `/v1/clusters/address/${address}?names=true`
  const { names = [], moreNames = false } = await send<ClusterOfAddress>(path)
  return { items: names.map((name) => ({ name })), isMore: moreNames }
}

/** Address by which everybody can read the names of the wallet's bundle; undefined if every member is private. */
function ownerOf(cluster: Cluster | null, address: string): string | undefined {
  const isShown = ({ isVerified, isPrivate }: Wallet) => isVerified && !isPrivate
  const wallet = cluster?.wallets.find((one) => one.address === address)
  return wallet?.isPrivate ? cluster!.wallets.find(isShown)?.address : address
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

/** A wallet outside this browser, with the chain of a smart wallet. */
type AccountElsewhere = Pick<Session, 'type' | 'address' | 'chainId'>

/**
 * Question for the signature of a wallet outside this browser. The service takes a request for a key for five minutes.
 */
const SIGN_ELSEWHERE: ConfirmationQuestion = {
  title: 'Sign with your wallet',
  text: 'Sign this text there, to the letter, and bring the signature within five minutes.',
  yes: 'Go on',
}

/** The service refuses the key, because the key has expired or was revoked. */
const KEY_ENDED = 'Your key is not valid any more: sign in again.'

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

/** Provides the account to the pages below. Its state is discarded when the wallet or the network changes. */
export function AccountProvider({ children }: { children: ComponentChildren }) {
  const shared = useShared()
  return (
    <OfWallet key={`${shared.session?.address} ${shared.isTestnet}`} shared={shared}>
      {children}
    </OfWallet>
  )
}

const OfWallet = ({ shared, children }: { shared: Shared; children: ComponentChildren }) => (
  <Context.Provider value={useWallet(shared)}>{children}</Context.Provider>
)

/** Creates the function that sends requests with the wallet's key. It signs the wallet out once the key has ended. */
const sendAs =
  ({ session, isTestnet }: Shared, left: AbortSignal): Send =>
  async (path, options = {}) => {
    try {
      return await callApi(path, { ...options, isTestnet, token: session?.token })
    } catch (error) {
      if (!session || !isRefused(error)) throw error
      // some routes return 401 for a wrong proof in the body, so ask whether the key itself has ended
      const validated = callApi('/v1/auth/validate', { isTestnet, token: session.token })
      const isOver = isRefused(await validated.catch((refused: unknown) => refused))
      // a late response must not sign out a wallet that has signed in since
      if (!isOver || left.aborted || sessionState.get()?.token !== session.token) throw error
      sessionState.set({ ...session, isEnded: true })
      throw new Error(KEY_ENDED)
    }
  }

/** Reads the data about the wallet, when the wallet signs in and after each change. */
function useKnown({ session, error, talk }: Shared, send: Send, say: ShowMessage) {
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
  const owned = more?.of === data && more ? more.owned : (data?.owned ?? NOTHING)
  shown.current = owned.items.length
  const owner = data && session ? ownerOf(data.cluster, session.address) : undefined
  const readMore = async () => {
    const next = await readNextNames(owner!, owned.items, send)
    setMore({ of: data!, owned: next })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the session or its data changes
  useEffect(() => {
    // sign out only if no data is shown yet; otherwise the page keeps its data and asks to sign in again
    if (!session?.isEnded || !isUnknown) return
    sessionState.set(null)
    talk.say(KEY_ENDED, 'error')
  }, [session, isUnknown])
  return {
    /** Why the data or the chains could not be read; undefined once they are. */
    problem: (state.error ?? error)?.message,
    /** `cluster` is undefined while it is loading. */
    known: { cluster: undefined, invitations: [], moreInvitations: false, ...data, owned },
    /** Reads the account again. @param done message about the change that was made */
    async reload(done?: string): Promise<void> {
      if (session) await refresh()
      if (done) say(done)
    },
    /**
     * Reads the next names. Undefined where every member of the bundle is private: only the first names are available
     * then.
     */
    moreNames:
      owner === undefined
        ? undefined
        : () => readMore().catch((error: unknown) => say(sentenceOf(error), 'error')),
  }
}

/** Connects the signed-in wallet, or one that signs in. */
function useConnection({ session, wallets, talk }: Shared, left: AbortSignal) {
  const connected = useRef<ConnectedAccount | null>(null)
  const confirmed = async (question: ConfirmationQuestion, more?: () => string) =>
    (await talk.ask(question, left, more)) !== null
  /** Account of a wallet outside this browser: the visitor takes each message there, and types its signature. */
  const accountElsewhere = ({ type, address, chainId }: AccountElsewhere): ConnectedAccount => ({
    type,
    address,
    async sign(message) {
      const signature = await talk.ask({ ...SIGN_ELSEWHERE, toSign: message }, left)
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
  /** The connected account. @throws Error where the wallet offers another account */
  const account = async (): Promise<ConnectedAccount> => {
    if (!session) throw new Error('Sign in first.')
    // a session that an earlier build stored has ''
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
    // the pressed button goes, and the focus with it
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
function useWalletActions(shared: Shared, { send, say, left, reload }: Actions) {
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
      await from.send(chain, approval).catch(withoutPayment)
    return from.send(chain, transactions.at(-1)!)
  }
  /** Runs work and shows its error. @returns whether it succeeded; false also for cancelled work */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    say('') // remove the message about earlier work
    try {
      return (await work()) !== false
    } catch (error) {
      say(sentenceOf(error), 'error')
      return false
    }
  }
  return {
    sent,
    attempt,
    /** Changes with each status of a registration: prices, refunds and payouts may then differ. */
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
    async transact({ title, isOffer, chain, transactions, ask, said }: Transaction) {
      if (!chain) throw new Error('This chain is not served here.')
      if (ask && !(await confirmed(ask, () => earlierPaymentWarning(payer, title)))) return false
      const steps = transactions.filter((one) => one !== undefined)
      await follow({ title, ...(isOffer && { isOffer }) }, pay(chain, steps), said)
      return true
    },
  }
}

interface Actions {
  send: Send
  /** Shows a message as long as the wallet is signed in. */
  say: ShowMessage
  left: AbortSignal
  reload: (done?: string) => Promise<void>
}

/** The account of one wallet on one network. */
function useWallet(shared: Shared) {
  const { isTestnet, session, wallets, chains, talk, wanted, setWanted } = shared
  const [leaving] = useState(() => new AbortController())
  useLayoutEffect(() => () => leaving.abort(), [leaving])
  const left = leaving.signal

  const say: ShowMessage = (...said) => {
    if (!left.aborted) talk.say(...said)
  }
  const send = sendAs(shared, left)
  const { known, ...reading } = useKnown(shared, send, say)
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
