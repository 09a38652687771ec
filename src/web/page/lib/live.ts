import { isFinalStatus } from '../../../client/status.js'
import { callApi } from './api.js'
import { useApi } from './net.js'
import type { FeedEvent, TxStatus } from './types.js'

/** Polling of events and of a transaction's status. */

/** Pause between two reads of the feed. */
const FEED_PAUSE_MS = 2_000
const STATUS_PAUSE_MS = 1_000

/** Number of an event in its feed. */
export const eventNumber = ({ id }: FeedEvent): number => Number(id.slice(id.lastIndexOf('-') + 1))

/** The newest events, polled. */
export const useNewestEvents = (count: number) =>
  useApi<{ items: FeedEvent[] }>(`/v1/events?orderBy=newest&limit=${count}`, {
    everyMs: FEED_PAUSE_MS,
  })

const statusPath = (tx: string): string => `/v1/names/register/tx/${encodeURIComponent(tx)}`

/** A transaction's status, polled until it is final. */
export const useTxStatus = (tx: string) =>
  useApi<TxStatus>(statusPath(tx), { everyMs: STATUS_PAUSE_MS, isLast: isFinalStatus })

/** Reads a transaction's status once. */
export const readTxStatus = (
  tx: string,
  isTestnet: boolean,
  signal: AbortSignal,
): Promise<TxStatus> => callApi<TxStatus>(statusPath(tx), { isTestnet, signal })
