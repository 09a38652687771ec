import { queryOptions, skipToken } from '@tanstack/react-query'
import type { Client, QuoteRequest, TransactionStatus } from '../index.js'
import { isFinalStatus } from '../status.js'

/**
 * Age from which a cached quote is stale (TanStack Query's `staleTime`), because prices of the bridge and of gas tokens
 * change. A stale quote is requested again at the next trigger, such as a mount or window focus.
 */
const QUOTE_STALE_MS = 30_000

/** An argument that is not known yet, such as the address of a wallet that is not connected. The query waits. */
type Missing = null | undefined

type QueryKind = 'name' | 'address' | 'quote' | 'status'

/** Query key: `['clusterd', url, network, kind, argument]`. Keys of two services, or of two networks, differ. */
const keyOf = ({ url, network }: Client, kind: QueryKind, ...argument: unknown[]) =>
  ['clusterd', url, network, kind, ...argument] as const

/** TanStack Query does not retry, because the client already retries the requests that may be repeated. */
const retry = false

/** Query of `client.nameOf(address)`. */
export const nameQuery = (client: Client, address: string | Missing) =>
  queryOptions({
    queryKey: keyOf(client, 'name', address),
    queryFn: address ? ({ signal }) => client.nameOf(address, { signal }) : skipToken,
    retry,
  })

/** Query of `client.addressOf(name)`. */
export const addressQuery = (client: Client, name: string | Missing) =>
  queryOptions({
    queryKey: keyOf(client, 'address', name),
    queryFn: name ? ({ signal }) => client.addressOf(name, { signal }) : skipToken,
    retry,
  })

/** Query of `client.quote(request)`. */
export const quoteQuery = <N extends string>(client: Client, request: QuoteRequest<N> | Missing) =>
  queryOptions({
    queryKey: keyOf(client, 'quote', request),
    queryFn: request ? ({ signal }) => client.quote(request, { signal }) : skipToken,
    staleTime: QUOTE_STALE_MS,
    retry,
  })

/**
 * Query of `client.followStatus(tx)`. The data is the newest status, and the query fetches until the status is final.
 * Names, addresses and quotes are then fetched again.
 */
export const statusQuery = (client: Client, tx: string | Missing) =>
  queryOptions({
    queryKey: keyOf(client, 'status', tx),
    queryFn: tx
      ? async ({ client: cache, queryKey, signal }) => {
          let last: TransactionStatus | undefined
          for await (last of client.followStatus(tx, { signal })) cache.setQueryData(queryKey, last)
          for (const kind of ['name', 'address', 'quote'] as const)
            void cache.invalidateQueries({ queryKey: keyOf(client, kind) })
          return last!
        }
      : skipToken,
    staleTime: ({ state: { data } }) => (data && isFinalStatus(data) ? Infinity : 0),
    retry,
  })
