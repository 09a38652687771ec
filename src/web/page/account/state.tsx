import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ClusterdError } from '../../../client/error.js'
import { pause } from '../../../client/time.js'
import { familyOfLabel } from '../../../registry/families.js'
import { type ApiCallOptions, callApi, outagePauseMs } from '../lib/api.js'
import { type ListPart, readNextNames } from '../lib/lists.js'
import { useNetwork, usePolled } from '../lib/net.js'
import { saveTabItem as keepItem, loadTabItem } from '../lib/tabStorage.js'
import type { Chain, Cluster, OwnedName, SigningWalletKind } from '../lib/types.js'
import { forgetFollowedPayments, useFollowedPayments } from './followed.js'
import type {
  BrowserWallet,
  ChainToSendOn,
  ConnectedAccount,
  EvmTransaction,
} from './wallets/kind.js'
import { discoverWallets } from './wallets/kinds.js'

/** State that the pages of a signed-in wallet share. */

interface Session {
  token: string
  type: SigningWalletKind
  address: string
  /** Id of the wallet that signed. */
  walletId: string
}

/** A question to confirm before an irreversible action. */
export interface ConfirmationQuestion {
  title: string
  /** Text of the question. A function is called when the question is shown, which may be after an earlier question. */
  text: string | (() => string)
  yes: string
  /** Warns that the action is irreversible. */
  isGrave?: true
}

type Message = { text: string; kind: 'note' | 'error' }
/** A question that is being shown. */
type Asked = ConfirmationQuestion & { text: string; answer(isYes: boolean): void }
/** Shows a message about the wallet's work. It does nothing once another wallet is signed in. */
export type ShowMessage = (text: string, kind?: Message['kind']) => void
/** Calls the API with the wallet's key. @throws ClusterdError */
type Send = <T>(path: string, call?: Pick<ApiCallOptions, 'method' | 'body'>) => Promise<T>

/** Data about the signed-in wallet. */
interface Known {
  /** undefined while it is loading, null for a wallet without a cluster. */
  cluster: Cluster | null | undefined
  /** Names that the wallet owns, as far as they were read. Names below communities have the form `community/name`. */
  owned: ListPart<OwnedName>
}

export type Account = ReturnType<typeof useWallet>

const Context = createContext<Account | null>(null)

/** The account of this page. Only for components inside AccountProvider. */
export const useAccount = (): Account => useContext(Context)!

const SESSION_ITEM = 'clusterd.session'

/**
 * A wallet's proof: the service's message with its signature. The message is bound to the wallet, so that signatures
 * of smart wallets are valid too.
 * @param more `recover`: the generated wallet whose key the message requests
 */
export async function walletProofOf(
  { type, address, sign }: ConnectedAccount,
  more: Record<string, string> = {},
) {
  const query = new URLSearchParams({ type, wallet: address, ...more })
  const path = `/v1/auth/message?${query}`
  const { message, signingDate } = await callApi<{ message: string; signingDate: string }>(path, {
    isTestnet: false,
  })
  return { signature: await sign(message), signingDate }
}

/** Reads the cluster of the wallet, and its names. */
async function readAccount({ address }: Session, send: Send): Promise<Known> {
  const { clusterId } = await send<{ clusterId: string | null }>(
    `/v1/clusters/address/${address}?orNull=true`,
  )
  const cluster = clusterId ? await send<Cluster>(`/v1/clusters/id/${clusterId}`) : null
  return { cluster, owned: await readNextNames(address, [], send) }
}

const isRefused = (error: unknown): boolean =>
  error instanceof ClusterdError && error.status === 401

function sentenceOf(error: unknown): string {
  // wallets reject with plain objects
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' && message !== '' ? message : 'That did not work.'
}

/** Drops the late answer that a wallet may still give to an approval, because it must not count as the payment. */
const withoutPayment = (error: unknown): never => {
  throw new Error(sentenceOf(error))
}

const UNKNOWN: Known = { cluster: undefined, owned: { items: [], isMore: false } }

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

/** Pause before the next question, ms, so that a double click does not answer that question too. */
const DOUBLE_CLICK_MS = 500

/** State of the page's message line and question. */
function useTalk() {
  const [message, setMessage] = useState<Message>({ text: '', kind: 'note' })
  const [question, setQuestion] = useState<Asked | null>(null)
  const before = useRef<Promise<unknown>>(Promise.resolve())
  const say: ShowMessage = (text, kind = 'note') => setMessage({ text, kind })
  return {
    message,
    question,
    say,
    /** Shows the question once the previous one is answered. @returns whether the answer was yes */
    confirmed(asked: ConfirmationQuestion, left: AbortSignal): Promise<boolean> {
      const ask = () =>
        new Promise<boolean>((resolve) => {
          if (left.aborted) return resolve(false)
          const answer = (isYes: boolean) => {
            setQuestion(null)
            resolve(isYes)
          }
          const text = typeof asked.text === 'string' ? asked.text : asked.text()
          setQuestion({ ...asked, text, answer })
          // withdraw the question when the wallet that it is for signs out; otherwise it would block the questions of
          // the next wallet
          left.addEventListener('abort', () => answer(false))
        })
      const answered = before.current.then(ask)
      before.current = answered.then(() => pause(DOUBLE_CLICK_MS))
      return answered
    },
  }
}

type Shared = ReturnType<typeof useShared>

/** State that all wallets of the page share. */
function useShared() {
  const { isTestnet } = useNetwork()
  const { query } = useLocation()
  const [session, setSession] = useState(() => loadTabItem<Session>(SESSION_ITEM))
  const [wanted, setWanted] = useState(query.name ?? '')
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>([])
  const talk = useTalk()
  const say = useRef(talk.say)
  useEffect(() => {
    const found = (wallet: BrowserWallet) => setWallets((known) => withWallet(known, wallet))
    discoverWallets(found)
  }, [])
  const { data: chains = [], error } = usePolled('networks', (signal) =>
    callApi<Chain[]>('/v1/networks', { isTestnet: false, signal }),
  )
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
    keep(next: Session | null): void {
      keepItem(SESSION_ITEM, next)
      setSession(next)
    },
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
      keepItem(SESSION_ITEM, null)
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
      const owned = await readNextNames(session?.address ?? '', known.owned.items, send)
      // keep a newer answer that is shown by now
      setKnown((shown) => (shown === known ? { ...shown, owned } : shown))
    },
  }
}

/** Actions of the wallet: it signs in and pays. */
function walletActions(
  { session, keep, wallets, talk }: Shared,
  { send, say, attempt }: { send: Send } & ReturnType<typeof useOutcome>,
) {
  /** The connected account. @throws Error where the wallet offers another account */
  const account = async (): Promise<ConnectedAccount> => {
    if (!session) throw new Error('Sign in first.')
    const wallet = wallets.find(({ id }) => id === session.walletId)
    if (!wallet) throw new Error('The wallet you signed in with is not there any more.')
    const found = await wallet.connect()
    if (found.address !== session.address)
      throw new Error(`The wallet shows ${found.address}, you are signed in as ${session.address}.`)
    return found
  }
  return {
    account,
    async signIn(wallet: BrowserWallet) {
      talk.say(`Waiting for ${wallet.name}…`)
      const found = await wallet.connect()
      const { type, address } = found
      const body = { ...(await walletProofOf(found)), type, wallet: address }
      const { token } = await callApi<{ token: string }>('/v1/auth/token', {
        isTestnet: false,
        body,
      })
      keep({ token, type, address, walletId: wallet.id })
      talk.say('Signed in.')
    },
    async signOut(everywhere = false) {
      const path = everywhere ? '/v1/auth/token?everywhere=true' : '/v1/auth/token'
      const isRevoked = await attempt(() => send(path, { method: 'DELETE' }))
      if (everywhere && !isRevoked) return
      // forget the key here even if the server can't revoke it now
      keep(null)
      forgetFollowedPayments()
      talk.say(everywhere ? 'Signed out, wherever you were signed in.' : 'Signed out.')
    },
    /** Pays on a chain. @returns the transaction's hash or signature */
    async pay(
      chain: ChainToSendOn,
      transaction: EvmTransaction | string,
      ...approvals: (EvmTransaction | undefined)[]
    ) {
      const from = await account()
      say('Waiting for your wallet…')
      // a wallet sends in order, so the payment is included after its approvals
      for (const approval of approvals)
        if (approval) await from.send(chain, approval).catch(withoutPayment)
      return from.send(chain, transaction)
    },
  }
}

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
  const followed = useFollowedPayments(
    { payer: session?.address ?? '', isTestnet },
    say,
    reloadNewest,
  )
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
    /** Asks before an irreversible action. @returns whether the answer was yes */
    confirmed: (asked: ConfirmationQuestion) => talk.confirmed(asked, left),
    /** Whether the key was refused, so that the wallet has to sign in again. */
    isEnded,
    ...followed,
    ...walletActions(shared, { ...outcome, send }),
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
