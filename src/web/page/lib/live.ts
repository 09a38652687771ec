import { call } from './api.js'
import { useAsk, useAsked, useNet } from './net.js'
import type { FeedEvent, Status, TxStatus } from './types.js'

/** What moves by itself: the one place that knows how. */

const FEED_PAUSE_MS = 2_000
const STATUS_PAUSE_MS = 1_000
/** Time for which the service holds a question whose status has not changed: confirmations are to move too. */
const WAIT_SECONDS = 3
const FINAL: ReadonlySet<Status> = new Set(['finalized', 'lost_bid', 'invalid'])

const isFinal = ({ status }: TxStatus): boolean => FINAL.has(status)

/** The newest events, and those that come. */
export const useNewest = (count: number) =>
  useAsk<{ items: FeedEvent[] }>(`/v1/events?orderBy=newest&limit=${count}`, { everyMs: FEED_PAUSE_MS })

const ask = (tx: string, isTestnet: boolean, before?: TxStatus, signal?: AbortSignal) => {
  const since = before ? `?wait=${WAIT_SECONDS}&since=${before.status}` : ''
  const path = `/v1/names/register/tx/${encodeURIComponent(tx)}${since}`
  return call<TxStatus>(path, { isTestnet, ...(signal && { signal }) })
}

/** A transaction's status, until it is final. */
export function useStatus(tx: string) {
  const { isTestnet } = useNet()
  return useAsked<TxStatus>(
    `${isTestnet ? 't' : 'm'} ${tx}`,
    (key, signal, before) => ask(key.slice(2), key[0] === 't', before, signal),
    { everyMs: STATUS_PAUSE_MS, isLast: isFinal },
  )
}

/** Follows a transaction until its status is final. @param show gets each status */
export async function follow(tx: string, isTestnet: boolean, show: (status: TxStatus) => void): Promise<TxStatus> {
  let before: TxStatus | undefined
  for (;;) {
    before = (await ask(tx, isTestnet, before).catch(() => undefined)) ?? before
    if (before) show(before)
    if (before && isFinal(before)) return before
    await new Promise((resolve) => setTimeout(resolve, STATUS_PAUSE_MS))
  }
}
