import { useCallback, useEffect, useState } from 'preact/hooks'
import { loadTabItem, saveTabItem } from '../lib/tabStorage.js'
import type { SigningWalletKind } from '../lib/types.js'

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
  const keep = useCallback((next: Session | null): void => {
    saveTabItem(SESSION_ITEM, next)
    setSession(next)
  }, [])
  useEffect(() => {
    if (!tabs) return
    const openedMs = Date.now()
    // the listener stays when the visitor opens another page of this tab
    const post = (message: TabMessage) => tabs.postMessage(message)
    tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      const own = loadTabItem<Session>(SESSION_ITEM)
      if ('asks' in data && own) post({ gives: own })
      if ('gives' in data && !own && Date.now() - openedMs < HANDOVER_MS) keep(data.gives)
      if ('ended' in data && own?.token === data.ended) keep(null)
    }
    if (!loadTabItem(SESSION_ITEM)) post({ asks: true })
  }, [keep])
  return { session, keep }
}
