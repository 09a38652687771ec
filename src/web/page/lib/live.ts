import { call } from './api.js'
import { type Asked, useAsk, useAsked, useNet } from './net.js'
import type { FeedEvent, Status, TxStatus } from './types.js'

/** Moving parts: the one place that knows how. */

/** Pause between two looks at the feed. */
const FEED_PAUSE_MS = 2_000
const STATUS_PAUSE_MS = 1_000
/** Time for which the service holds a question whose status has not changed: confirmations are to move too. */
const WAIT_SECONDS = 3
const FINAL: ReadonlySet<Status> = new Set(['finalized', 'lost_bid', 'invalid'])

export const isFinal = ({ status }: TxStatus): boolean => FINAL.has(status)

/** Number of an event in its feed. */
export const numberOf = ({ id }: FeedEvent): number => Number(id.slice(id.lastIndexOf('-') + 1))

/** The newest events, asked for again and again. */
export function useNewest(count: number): Asked<readonly FeedEvent[]> {
  const path = `/v1/events?orderBy=newest&limit=${count}`
  const { data, ...asked } = useAsk<{ items: FeedEvent[] }>(path, { everyMs: FEED_PAUSE_MS })
  return { ...asked, ...(data && { data: data.items }) }
}

const ask = (tx: string, isTestnet: boolean, before?: TxStatus, signal?: AbortSignal) => {
  const since = before ? `?wait=${WAIT_SECONDS}&since=${before.status}` : ''
  const path = `/v1/names/register/tx/${encodeURIComponent(tx)}${since}`
  return call<TxStatus>(path, { isTestnet, signal })
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

/** Questions of `follow` at once: the service holds each, and a browser has few connections to one service. */
const LANES = 3
const lanes = Array.from({ length: LANES }, (): Promise<unknown> => Promise.resolve())
let turns = 0

/** Work that waits for what its lane does before. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const lane = turns++ % LANES
  const done = lanes[lane]!.then(work)
  lanes[lane] = done.catch(() => {})
  return done
}

/** Follows a transaction until its status is final. @param show gets each status @returns null once called off */
export async function follow(
  tx: string,
  isTestnet: boolean,
  show: (status: TxStatus) => void,
  signal: AbortSignal,
): Promise<TxStatus | null> {
  let before: TxStatus | undefined
  for (;;) {
    before = (await inTurn(() => ask(tx, isTestnet, before, signal)).catch(() => undefined)) ?? before
    if (signal.aborted) return null
    if (before) show(before)
    if (before && isFinal(before)) return before
    await new Promise((resolve) => setTimeout(resolve, STATUS_PAUSE_MS))
  }
}
