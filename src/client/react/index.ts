'use client'
/**
 * `clusterd-client/react`: hooks that return results of TanStack Query. An argument that is null or undefined, such as
 * the address of a wallet that is not connected, makes a hook wait. On a server the hooks fetch nothing.
 */
import { hashKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, createElement, type ReactNode, useContext, useEffect, useRef } from 'react'
import type { Client, QuoteOn, QuoteRequest } from '../index.js'
import { addressQuery, nameQuery, quoteQuery, statusQuery } from './queries.js'

export { addressQuery, nameQuery, quoteQuery, statusQuery }

const ClientContext = createContext<Client | null>(null)

/**
 * Provides the client for the hooks in the components below it. The provider has to be inside of a
 * `QueryClientProvider`.
 */
export const ClusterdProvider = ({ client, children }: { client: Client; children?: ReactNode }) =>
  createElement(ClientContext.Provider, { value: client }, children)

/** The client of the `ClusterdProvider`. @throws Error without a provider */
export function useClient(): Client {
  const client = useContext(ClientContext)
  if (!client) throw new Error('The hooks of clusterd need a <ClusterdProvider client={client}>.')
  return client
}

type Missing = null | undefined

/** The name of an address; null for an address without a public name. */
export const useName = (address: string | Missing) => useQuery(nameQuery(useClient(), address))

/** The address behind `name` or `name/wallet`; null where the name resolves to nothing. */
export const useAddress = (name: string | Missing) => useQuery(addressQuery(useClient(), name))

/** The status of a transaction, followed until the status is final (`fetchStatus` is then `idle`). */
export const useStatus = (tx: string | Missing) => useQuery(statusQuery(useClient(), tx))

export interface RegistrationOptions<N extends string> {
  /** Sends the quote's transaction with the caller's wallet. @returns its hash or signature */
  send(quote: QuoteOn<N>): Promise<string>
  /** Transaction of an earlier visit. The hook follows this transaction until another one is sent. */
  tx?: string | Missing
}

/**
 * Registers names: requests a quote, sends the quote's transaction with the caller's wallet, and follows the
 * transaction to its end.
 * @returns `quote`: the price, or an error such as `names_unavailable`. `register`: a mutation that sends the quote, or
 * a new quote after 30 s. `tx`: the transaction that is followed, which is the sent transaction or its replacement.
 * `status`: as `useStatus`
 */
export function useRegistration<N extends string>(
  request: QuoteRequest<N> | Missing,
  { send, tx: earlier }: RegistrationOptions<N>,
) {
  const client = useClient()
  const cache = useQueryClient()
  const sending = useRef<Promise<string> | null>(null)
  /** Sent transactions by the hash key of their request. */
  const paid = useRef(new Map<string, string>())
  const pay = async () => {
    if (!request) throw new Error('There is nothing to register yet.')
    const quoting = quoteQuery(client, request)
    const key = hashKey(quoting.queryKey)
    // the wallet has sent the transaction: another click must not ask the wallet to pay twice
    const earlierTx = paid.current.get(key)
    if (earlierTx !== undefined) return earlierTx
    const hash = await send(await cache.fetchQuery(quoting))
    paid.current.set(key, hash)
    return hash
  }
  const register = useMutation<string, Error, void>({
    retry: false,
    // while the wallet is asked, a second click waits for the same transaction
    mutationFn: () => {
      sending.current ??= pay().finally(() => {
        sending.current = null
      })
      return sending.current
    },
  })
  const sent = register.data ?? earlier ?? undefined
  // a wallet replaces a transaction to speed it up
  const tx = useStatus(sent).data?.replacedBy ?? sent
  const quote = useQuery({ ...quoteQuery(client, request), enabled: register.data === undefined })
  const status = useStatus(tx)
  const lost = status.data?.status === 'invalid' ? register.data : undefined
  useEffect(() => {
    for (const [key, hash] of paid.current) if (hash === lost) paid.current.delete(key)
  }, [lost])
  const reset = () => {
    paid.current.clear()
    register.reset()
  }
  return { quote, register: { ...register, reset }, tx, status }
}
