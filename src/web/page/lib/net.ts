import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { call } from './api.js'

/** The network that the address bar says, with paths and questions on it. */
export function useNet() {
  const { query, route } = useLocation()
  const isTestnet = query.testnet === 'true'
  const href = (path: string, testnet = isTestnet) =>
    testnet ? `${path}${path.includes('?') ? '&' : '?'}testnet=true` : path
  return {
    isTestnet,
    /** A path of ours on this network. */
    href,
    go: (path: string, replace = false) => route(href(path), replace),
    get: <T>(path: string, signal?: AbortSignal) => call<T>(path, { isTestnet, signal }),
  }
}

export interface Asked<T> {
  data?: T
  error?: Error
}

export interface Asking<T> {
  /** Pause before it is asked again; 0: once. */
  everyMs?: number
  /** Tells whether an answer is the last. */
  isLast?: (data: T) => boolean
}

/**
 * Asks whenever the key changes, and again after a pause while the page is open and seen.
 * @param key null for nothing yet
 * @param ask gets the key and what ends the question
 */
export function useAsked<T>(
  key: string | null,
  ask: (key: string, signal: AbortSignal) => Promise<T>,
  { everyMs = 0, isLast = () => everyMs === 0 }: Asking<T> = {},
): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({})
  const latest = useRef({ ask, isLast, everyMs })
  latest.current = { ask, isLast, everyMs }
  useEffect(() => {
    setAsked({})
    if (key === null) return
    const closed = new AbortController()
    const { signal } = closed
    void repeat(
      signal,
      () => latest.current.everyMs,
      async () => {
        try {
          const data = await latest.current.ask(key, signal)
          if (signal.aborted) return true
          setAsked({ data })
          return latest.current.isLast(data)
        } catch (error) {
          if (!signal.aborted) setAsked((known) => ({ ...known, error: error as Error }))
          return latest.current.everyMs === 0
        }
      },
    )
    return () => closed.abort()
  }, [key])
  return asked
}

/** Asks for a path's answer on the network. @param path null for nothing yet */
export function useAsk<T>(path: string | null, asking: Asking<T> = {}): Asked<T> {
  const { isTestnet } = useNet()
  const key = path === null ? null : `${isTestnet ? 't' : 'm'} ${path}`
  return useAsked<T>(key, (asked, signal) => call<T>(asked.slice(2), { isTestnet: asked[0] === 't', signal }), asking)
}

/** Works until that was all, each time after a pause; a hidden page waits. */
async function repeat(signal: AbortSignal, pauseMs: () => number, work: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden || pauseMs() === 0) if (await work()) return
    await new Promise((resolve) => setTimeout(resolve, pauseMs()))
  }
}

/** Sets the tab's title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'clusterd' : `${title} · clusterd`
  }, [title])
}
