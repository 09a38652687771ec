import { createTabState, SESSION_ITEM_NAME } from '../lib/tabStorage.js'
import type { SigningWalletKind } from '../lib/types.js'
import { forgetSentTransactions } from './followed.js'

/** A signed-in wallet. */
export interface Session {
  /** Session key. */
  token: string
  type: SigningWalletKind
  address: string
  /** Id of the wallet that signed; null for a wallet outside this browser. */
  walletId: string | null
  /** EIP-155 id of the chain of a smart wallet outside this browser. */
  chainId?: number | undefined
  /** True once the service has refused the key, so the wallet has to sign in again. */
  isEnded?: true
}

/**
 * The signed-in wallet of this tab; null while no wallet is signed in. A session whose key has ended does not survive a
 * reload.
 */
export const sessionState = createTabState<Session | null>(SESSION_ITEM_NAME, null, (session) =>
  session?.isEnded ? null : session,
)

/**
 * Channel on which signed-in tabs of this site hand their session to a new tab. Only open tabs have the session key, so
 * it is forgotten when the last of them closes. Null where the browser has no such channel.
 */
export const tabChannel =
  'BroadcastChannel' in globalThis ? new BroadcastChannel(SESSION_ITEM_NAME) : null
/** Time after its question for which a tab accepts a session from another tab, ms. */
const HANDOVER_MS = 1_000
/** A tab asks when its account pages open. Another tab gives its session, or reports a key that was signed out. */
type TabMessage = { asks: true } | { gives: Session } | { ended: string | undefined }

/** Forgets the session in this tab, and in every other tab that has the same key. Does not revoke the key. */
export function endSession(token = sessionState.get()?.token): void {
  clearTabSession()
  endedToken = token
  tabChannel?.postMessage({ ended: token } satisfies TabMessage)
}

/** Clears the session and the sent transactions of this tab only. */
function clearTabSession(): void {
  sessionState.set(null)
  forgetSentTransactions()
}

/** Unix time at which this tab last asked for a session, ms. */
let askedMs = 0

/** Asks other tabs for their session, where this one has none. */
export function requestSessionFromTabs(): void {
  if (sessionState.get()) return
  askedMs = Date.now()
  tabChannel?.postMessage({ asks: true } satisfies TabMessage)
}

/** Key of the session that was ended last, in this tab or another. */
let endedToken: string | undefined
if (tabChannel)
  tabChannel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const session = sessionState.get()
    if ('asks' in data && session && !session.isEnded)
      tabChannel.postMessage({ gives: session } satisfies TabMessage)
    if ('ended' in data) endedToken = data.ended
    const isNew = !session && Date.now() - askedMs < HANDOVER_MS
    // a slow tab may give the session after another one has ended it
    if ('gives' in data && isNew && data.gives.token !== endedToken) sessionState.set(data.gives)
    if ('ended' in data && session && session.token === data.ended) clearTabSession()
  }
