import { createTabState, SESSION_ITEM } from '../lib/tabStorage.js'
import type { SigningWalletKind } from '../lib/types.js'
import { forgetSentTransactions } from './followed.js'

export interface Session {
  token: string
  type: SigningWalletKind
  address: string
  /** Id of the wallet that signed. */
  walletId: string
  /** The service refuses the key, so the wallet has to sign in again. */
  isEnded?: true
}

/** The signed-in wallet of this tab. A key that has ended is not stored. */
export const signedIn = createTabState<Session | null>(SESSION_ITEM, null, (session) =>
  session?.isEnded ? null : session,
)

/**
 * Channel on which signed-in tabs of this site hand their session to a new tab. So the key is kept only in open tabs,
 * and ends with the last of them. Null where the browser has no such channel.
 */
export const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(SESSION_ITEM) : null
/** Time in which a tab that asked takes a session that another tab hands over. */
const HANDOVER_MS = 1_000
/** A tab asks when its account pages open; another one gives its session, or says which key was signed out. */
type TabMessage = { asks: true } | { gives: Session } | { ended: string | undefined }

/** Forgets a wallet that signs out, in every tab that has the same key. */
export function endSession(token = signedIn.get()?.token): void {
  forget()
  endedToken = token
  tabs?.postMessage({ ended: token } satisfies TabMessage)
}

function forget(): void {
  signedIn.set(null)
  forgetSentTransactions()
}

let askedMs = 0

/** Asks other tabs for their session, where this one has none. */
export function askTabs(): void {
  if (signedIn.get()) return
  askedMs = Date.now()
  tabs?.postMessage({ asks: true } satisfies TabMessage)
}

let endedToken: string | undefined
if (tabs)
  tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const session = signedIn.get()
    if ('asks' in data && session && !session.isEnded)
      tabs.postMessage({ gives: session } satisfies TabMessage)
    if ('ended' in data) endedToken = data.ended
    const isNew = !session && Date.now() - askedMs < HANDOVER_MS
    // a slow tab may give the session after another one has ended it
    if ('gives' in data && isNew && data.gives.token !== endedToken) signedIn.set(data.gives)
    if ('ended' in data && session && session.token === data.ended) forget()
  }
