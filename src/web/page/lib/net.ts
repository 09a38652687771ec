import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { pause } from '../../../client/time.js'
import { callApi, outagePauseMs } from './api.js'
import { serviceInfo } from './service.js'

/**
 * The network (mainnet or testnet) in the address bar, with functions for its paths and requests. It is the testnet
 * where the service has no mainnet.
 */
export function useNetwork() {
  const { query, route } = useLocation()
  const isTestnet = query.testnet === 'true' || !serviceInfo.networks.includes('mainnet')
  const href = (path: string, testnet = isTestnet) =>
    testnet ? `${path}${path.includes('?') ? '&' : '?'}testnet=true` : path
  return {
    isTestnet,
    /** A path of these pages with the network in its query; default: the page's network. */
    href,
    go: (path: string, { replace = false, isTestnet: testnet = isTestnet } = {}) =>
      route(href(path, testnet), replace),
  }
}

/** Context of a page's request: its network, and the signal that cancels it. */
export interface PageRequestContext {
  isTestnet: boolean
  signal: AbortSignal
  /** Reads a path of the API. */
  get: <T>(path: string) => Promise<T>
}

export interface ApiState<T> {
  data?: T
  error?: Error
}

/** Pause before a hidden page checks again whether it is visible, ms. Only for requests without `everyMs`. */
const HIDDEN_PAUSE_MS = 1_000

export interface PollOptions<T> {
  /** Pause before the next request, ms; 0 for a single request. Default: 0. */
  everyMs?: number
  /** True if the answer is final, so that polling ends. Default: the first answer without `everyMs`, else none. */
  isLast?: (data: T) => boolean
  /** A value whose change sends the request again. The earlier answer is shown until the next one comes. */
  again?: unknown
}

/**
 * Sends a request whenever the subject, the network or `again` changes. With `everyMs` it is repeated after each pause
 * while the page is open and visible. After an outage it is repeated even if `everyMs` is 0.
 * @param subject what is asked about; null while there is nothing to ask
 * @returns the state, and `refresh`, which sends the request again and resolves once it has ended
 */
export function usePolled<T>(
  subject: string | null,
  ask: (context: PageRequestContext) => Promise<T>,
  { everyMs = 0, isLast = () => everyMs === 0, again }: PollOptions<T> = {},
): ApiState<T> & { refresh(): Promise<void> } {
  const { isTestnet } = useNetwork()
  const key = subject === null ? null : `${isTestnet} ${subject}`
  const [state, setState] = useState<ApiState<T>>({})
  const [round, setRound] = useState(0)
  const asking = useRef(new AbortController())
  /** Functions that resolve the promises of `refresh` once the request has ended. */
  const refreshes = useRef<(() => void)[]>([])
  const settle = () => {
    for (const done of refreshes.current.splice(0)) done()
  }
  const shown = useRef(key)
  const latest = useRef({ ask, isLast, everyMs, isTestnet })
  latest.current = { ask, isLast, everyMs, isTestnet }
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks again when `again` or `round` changes
  useEffect(() => {
    if (shown.current !== key) setState({})
    shown.current = key
    if (key === null) return settle()
    const closed = new AbortController()
    asking.current = closed
    const { signal } = closed
    const askAgain = async (isFirst = false) => {
      const { ask, isLast, everyMs, isTestnet } = latest.current
      const of = { isTestnet, signal }
      let pauseMs: number | null = everyMs || null
      // do not poll while the page is hidden
      if (!document.hidden || isFirst)
        try {
          const data = await ask({ ...of, get: (path) => callApi(path, of) })
          if (signal.aborted) return
          setState({ data })
          if (isLast(data)) pauseMs = null
        } catch (error) {
          if (signal.aborted) return
          setState((known) => ({ ...known, error: error as Error }))
          pauseMs ??= outagePauseMs(error)
        }
      else pauseMs ??= HIDDEN_PAUSE_MS
      settle()
      if (pauseMs === null) return
      await pause(pauseMs)
      if (!signal.aborted) void askAgain()
    }
    void askAgain(true)
    return () => closed.abort()
  }, [key, again, round])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the component is unmounted
  useEffect(() => settle, [])
  const refresh = () =>
    new Promise<void>((done) => {
      // the end of an earlier request must not end this refresh
      asking.current.abort()
      refreshes.current.push(done)
      setRound((last) => last + 1)
    })
  return { ...state, refresh }
}

/** Reads a path of the API, and polls it as `usePolled` does. @param path null while there is nothing to ask */
export function useApi<T>(path: string | null, asking: PollOptions<T> = {}) {
  return usePolled<T>(path, ({ get }) => get<T>(path!), asking)
}

/** Sets the tab's title to the page's; to the service's name for an empty title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'clusterd' : `${title} · clusterd`
  }, [title])
}
