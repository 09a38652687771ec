import type { RequestListener } from 'node:http'
import { QueryClient, QueryClientProvider, QueryObserver } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveInTest } from '../../../test/support/httpServer.js'
import { Client } from '../index.js'
import {
  ClusterdProvider,
  nameQuery,
  quoteQuery,
  statusQuery,
  useAddress,
  useName,
  useRegistration,
  useStatus,
} from './index.js'

/**
 * The queries on TanStack Query's own client, and the hooks on React's server renderer. test/e2e/example.test.ts has
 * the hooks in a browser.
 */

const TX = `0x${'ab'.repeat(32)}`
const ADDRESS = `0x${'0a'.repeat(20)}`

/** A client of a service that answers as a test requires, and the paths that it is asked for. */
async function clientOf(answer: (path: string) => unknown) {
  const asked: string[] = []
  const handler: RequestListener = (req, res) => {
    asked.push(req.url!)
    const body = answer(req.url!)
    if (body === undefined) return
    const { status = 200 } = body as { status?: number | string }
    res
      .writeHead(typeof status === 'number' ? status : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  }
  const client = new Client({ url: await serveInTest(handler), retries: 0 })
  const cache = new QueryClient()
  onTestFinished(() => cache.clear())
  return { client, cache, asked }
}

describe('the queries', () => {
  it('have keys by service, network, kind and argument', () => {
    const options = { url: 'https://names.example' }
    const keyOf = (client: Client) => nameQuery(client, ADDRESS).queryKey
    expect(keyOf(new Client(options))).toEqual([
      'clusterd',
      'https://names.example',
      'mainnet',
      'name',
      ADDRESS,
    ])
    expect(keyOf(new Client({ ...options, testnet: true }))[2]).toBe('testnet')
  })

  it('ask nothing without an argument, and are not repeated by TanStack Query too', async () => {
    const { client, cache, asked } = await clientOf(() => ({ status: 503, error: 'unavailable' }))
    for (const query of [nameQuery(client, null), statusQuery(client, undefined)]) {
      const observer = new QueryObserver(cache, query as never)
      onTestFinished(observer.subscribe(() => {}))
      expect(observer.getCurrentResult().fetchStatus).toBe('idle')
    }
    expect(asked).toEqual([])
    const failed = cache.fetchQuery(nameQuery(client, ADDRESS))
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' })
    expect(asked).toHaveLength(1)
  })

  it('show each status while they follow a transaction, and read names again at its end', async () => {
    const statuses = ['pending', 'bridging', 'finalized']
    const { client, cache, asked } = await clientOf((path) =>
      path.includes('/tx/')
        ? { tx: TX, status: statuses.shift() }
        : { address: ADDRESS, clusterName: statuses.length > 0 ? null : 'alice' },
    )
    const name = new QueryObserver(cache, nameQuery(client, ADDRESS))
    onTestFinished(name.subscribe(() => {}))
    await expect.poll(() => name.getCurrentResult().isSuccess).toBe(true)
    const seen: unknown[] = []
    const observer = new QueryObserver(cache, statusQuery(client, TX))
    onTestFinished(
      observer.subscribe(({ data, fetchStatus }) => {
        if (data) seen.push(`${data.status} ${fetchStatus}`)
      }),
    )
    await expect.poll(() => observer.getCurrentResult().fetchStatus).toBe('idle')
    expect(seen).toEqual(expect.arrayContaining(['pending fetching', 'bridging fetching']))
    expect(seen.at(-1)).toBe('finalized idle')
    await expect.poll(() => name.getCurrentResult().data?.clusterName).toBe('alice')
    // a status that never changes is not asked for again
    const before = asked.length
    onTestFinished(new QueryObserver(cache, statusQuery(client, TX)).subscribe(() => {}))
    expect(asked).toHaveLength(before)
  })

  it('end the long poll of a transaction that nobody shows, and keep its last status', async () => {
    let isLeft = false
    const { client, cache } = await clientOf((path) =>
      path.includes('since') ? undefined : { tx: TX, status: 'pending' },
    )
    const leave = new QueryObserver(cache, statusQuery(client, TX)).subscribe(() => {})
    await expect.poll(() => cache.getQueryData(statusQuery(client, TX).queryKey)).toBeTruthy()
    const query = cache.getQueryCache().find({ queryKey: statusQuery(client, TX).queryKey })!
    void query.promise?.catch(() => {
      isLeft = true
    })
    leave()
    await expect.poll(() => isLeft).toBe(true)
    expect(query.state).toMatchObject({ fetchStatus: 'idle', data: { status: 'pending' } })
  })

  it('give a quote that is on the screen to the payment, and a fresh one after 30 s', async () => {
    const { client, cache, asked } = await clientOf(() => ({ type: 'evm', registrationFee: '1' }))
    const query = quoteQuery(client, { network: '1', sender: ADDRESS, names: [{ name: 'alice' }] })
    await cache.fetchQuery(query)
    await cache.fetchQuery(query)
    expect(asked).toHaveLength(1)
    cache.setQueryData(query.queryKey, (quote) => quote, { updatedAt: Date.now() - 31_000 })
    await cache.fetchQuery(query)
    expect(asked).toHaveLength(2)
  })
})

describe('the hooks', () => {
  const All = () => {
    const name = useName(ADDRESS)
    const address = useAddress('alice')
    const status = useStatus(TX)
    const { quote, register, tx } = useRegistration(null, { send: async () => TX, tx: TX })
    const states = [name, address, status, quote].map((result) => result.status)
    return createElement('p', null, [...states, register.status, tx].join(' '))
  }

  it('render on a server, and fetch nothing there', async () => {
    const { client, cache, asked } = await clientOf(() => null)
    const provided = createElement(ClusterdProvider, { client }, createElement(All))
    const html = renderToString(createElement(QueryClientProvider, { client: cache }, provided))
    expect(html).toBe(`<p>pending pending pending pending idle ${TX}</p>`)
    expect(asked).toEqual([])
  })

  it('render what was prefetched', async () => {
    const { client, cache } = await clientOf(() => ({ address: ADDRESS, clusterName: 'alice' }))
    await cache.prefetchQuery(nameQuery(client, ADDRESS))
    const provided = createElement(ClusterdProvider, { client }, createElement(All))
    const html = renderToString(createElement(QueryClientProvider, { client: cache }, provided))
    expect(html).toContain('<p>success pending')
  })

  it('follow the transaction that replaced the one of the wallet', async () => {
    const { client, cache } = await clientOf(() => null)
    const other = `0x${'cd'.repeat(32)}`
    const replaced = { tx: TX, status: 'invalid', reason: 'replaced', replacedBy: other } as const
    cache.setQueryData(statusQuery(client, TX).queryKey, replaced)
    const provided = createElement(ClusterdProvider, { client }, createElement(All))
    const html = renderToString(createElement(QueryClientProvider, { client: cache }, provided))
    expect(html).toContain(other)
  })

  it('pay once for two clicks, also where the second one comes after the wallet has sent', async () => {
    const { client, cache } = await clientOf(() => ({ type: 'evm', registrationFee: '1' }))
    const request = { network: '1', sender: ADDRESS, names: [{ name: 'alice' }] }
    const sent: unknown[] = []
    const send = async (quote: unknown) => {
      if (sent.push(quote) === 1) throw new Error('The wallet refuses.')
      return TX
    }
    let press = async (): Promise<string> => ''
    const Paying = () => {
      const { register } = useRegistration(request, { send })
      press = register.mutateAsync
      return null
    }
    const provided = createElement(ClusterdProvider, { client }, createElement(Paying))
    renderToString(createElement(QueryClientProvider, { client: cache }, provided))
    await expect(press()).rejects.toThrow('The wallet refuses.')
    expect(await Promise.all([press(), press()])).toEqual([TX, TX])
    expect(await press()).toBe(TX)
    expect(sent).toHaveLength(2)
  })

  it('name the provider that is missing', () => {
    const bare = createElement(
      QueryClientProvider,
      { client: new QueryClient() },
      createElement(All),
    )
    expect(() => renderToString(bare)).toThrow('<ClusterdProvider client={client}>')
  })
})
