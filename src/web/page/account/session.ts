import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { loadTabItem, saveTabItem } from '../lib/tabStorage.js'
import type { SigningWalletKind } from '../lib/types.js'
import { forgetSentTransactions } from './followed.js'

export interface Session {
  token: string
  type: SigningWalletKind
  address: string
  /** Id of the wallet that signed. */
  walletId: string
}

const SESSION_ITEM = 'clusterd.session'

/** Forgets the session, so that a reload of the tab and new tabs do not find it. */
export const forgetSession = () => saveTabItem(SESSION_ITEM, null)

/**
 * Signed-in tabs of this site hand their session to a new one. So the key is kept in open tabs alone, and ends with the
 * last of them. Null where the browser has no such channel.
 */
export const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(SESSION_ITEM) : null
/** Time in which a new tab takes a session that another tab hands over. */
const HANDOVER_MS = 1_000
/** A new tab asks; another one gives its session, or says which key was signed out. */
type TabMessage = { asks: true } | { gives: Session } | { ended: string }

/** Keeps the session in this tab, and hands it to new tabs. */
export function useSession() {
  const [session, setSession] = useState(() => loadTabItem<Session>(SESSION_ITEM))
  const shown = useRef(session)
  shown.current = session
  const keep = useCallback((next: Session | null): void => {
    saveTabItem(SESSION_ITEM, next)
    setSession(next)
  }, [])
  useEffect(() => {
    if (!tabs) return
    const openedMs = Date.now()
    let endedToken: string | undefined
    // the listener stays when the visitor opens another page of this tab
    const post = (message: TabMessage) => tabs.postMessage(message)
    tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      const own = loadTabItem<Session>(SESSION_ITEM)
      if ('asks' in data && own) post({ gives: own })
      if ('ended' in data) endedToken = data.ended
      const isNew = !own && Date.now() - openedMs < HANDOVER_MS
      // a slow tab may give the session after another one has ended it
      if ('gives' in data && isNew && data.gives.token !== endedToken) keep(data.gives)
      // a tab whose key was just refused has forgotten the session, but still shows it
      if ('ended' in data && (own ?? shown.current)?.token === data.ended) {
        keep(null)
        forgetSentTransactions()
      }
    }
    if (!loadTabItem(SESSION_ITEM)) post({ asks: true })
  }, [keep])
  return { session, keep }
}
