import type { RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeTabs, findChromium, launch } from '../e2e/browser.js'
import { serve } from '../support/httpServer.js'

/** `useRegistration` in a browser, with the effects and the double rendering of React's strict mode. */

const executable = findChromium()
if (!executable) console.log('useRegistration is not tried in a browser: no Chromium')

/** Source of a page whose wallet sends each payment at once: `window.sent` counts them. */
const APP = `
  import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
  import { createElement, StrictMode, useState } from 'react'
  import { createRoot } from 'react-dom/client'
  import { Client } from '../index.js'
  import { ClusterdProvider, useRegistration } from './index.js'

  const hashOf = (n) => '0x' + String(n).repeat(64)
  const earlier = new URLSearchParams(location.search).get('tx') ?? undefined
  window.sent = 0
  const send = async () => hashOf(++window.sent)
  function App() {
    const [name, setName] = useState('alice')
    const request = { network: '1', sender: '0x' + '0a'.repeat(20), names: [{ name }] }
    const { register, tx, status } = useRegistration(request, { send, tx: earlier })
    const button = (text, onClick) => createElement('button', { onClick }, text)
    return createElement('main', null,
      button('Pay', () => register.mutate()),
      button('Pay twice', () => { register.mutate(); register.mutate() }),
      button('Reset', () => register.reset()),
      button('alice', () => setName('alice')),
      button('bob', () => setName('bob')),
      createElement('output', null, [register.status, tx?.slice(0, 3), status.data?.status].join(' ')))
  }
  const client = new Client({ url: location.origin })
  const app = createElement(ClusterdProvider, { client }, createElement(App))
  createRoot(document.body).render(createElement(StrictMode, null,
    createElement(QueryClientProvider, { client: new QueryClient() }, app)))
`

describe.runIf(executable)('useRegistration', () => {
  /** Status of each transaction, by the first digit of its hash; default: pending. */
  const statuses = new Map<string, string>()
  /** Long polls that wait for a status to change. */
  let held: { digit: string; res: ServerResponse }[] = []
  let script: string
  let service: Awaited<ReturnType<typeof serve>>
  let page: Page

  const answer = (res: ServerResponse, body: object) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const answerStatus = (res: ServerResponse, digit: string) => {
    const status = statuses.get(digit) ?? 'pending'
    const reason = status === 'invalid' ? { reason: 'reverted' } : {}
    answer(res, { tx: `0x${digit.repeat(64)}`, status, ...reason })
  }
  const serviceOf: RequestListener = (req, res) => {
    const url = req.url!
    const digit = /\/tx\/0x(.)/.exec(url)?.[1]
    if (url.startsWith('/?'))
      res.end('<!doctype html><body><script type="module" src="/app.js"></script>')
    else if (url === '/app.js')
      res.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    else if (!digit) answer(res, { type: 'evm', registrationFee: '1' })
    else if (
      new URL(url, service.url).searchParams.get('since') === (statuses.get(digit) ?? 'pending')
    )
      held.push({ digit, res })
    else answerStatus(res, digit)
  }
  const setStatus = (digit: string, status: string) => {
    statuses.set(digit, status)
    const ready = held.filter((one) => one.digit === digit)
    held = held.filter((one) => one.digit !== digit)
    for (const { res } of ready) answerStatus(res, digit)
  }

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: APP, resolveDir: join(import.meta.dirname, '../../src/client/react') },
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'process.env.NODE_ENV': '"development"' },
    })
    script = outputFiles[0]!.text
    service = await serve(serviceOf)
    const browser = await launch(executable!)
    page = await browser.newPage()
  }, 60_000)
  afterEach(() => {
    statuses.clear()
    held = []
  })
  afterAll(async () => {
    await closeTabs()
    await service.stop()
  })

  const open = (query = '') => page.goto(`${service.url}/?${query}`)
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
  /** Waits for the state that the page shows. @returns how many transactions the wallet has sent */
  const sentAt = async (state: string) => {
    await page.getByText(state, { exact: true }).waitFor({ timeout: 10_000 })
    return page.evaluate('window.sent')
  }

  it('pays once for two clicks at once, and for a click after the wallet has sent', async () => {
    await open()
    await click('Pay twice')
    expect(await sentAt('success 0x1 pending')).toBe(1)
    await click('Pay')
    await page.waitForTimeout(200)
    expect(await sentAt('success 0x1 pending')).toBe(1)
  })

  it('pays again once the transaction is invalid', async () => {
    await open()
    await click('Pay')
    expect(await sentAt('success 0x1 pending')).toBe(1)
    setStatus('1', 'invalid')
    expect(await sentAt('success 0x1 invalid')).toBe(1)
    await click('Pay')
    expect(await sentAt('success 0x2 pending')).toBe(2)
    await click('Pay')
    await page.waitForTimeout(200)
    expect(await sentAt('success 0x2 pending')).toBe(2)
  })

  it('pays again after a reset', async () => {
    await open()
    await click('Pay')
    expect(await sentAt('success 0x1 pending')).toBe(1)
    await click('Reset')
    await click('Pay')
    expect(await sentAt('success 0x2 pending')).toBe(2)
  })

  it('pays once each for two requests, also when the first one comes back', async () => {
    await open()
    await click('Pay')
    expect(await sentAt('success 0x1 pending')).toBe(1)
    await click('bob')
    await click('Pay')
    expect(await sentAt('success 0x2 pending')).toBe(2)
    await click('alice')
    await click('Pay')
    expect(await sentAt('success 0x1 pending')).toBe(2)
  })

  it('follows the transaction of an earlier visit, and pays anew once where that is invalid', async () => {
    statuses.set('9', 'invalid')
    await open(`tx=0x${'9'.repeat(64)}`)
    expect(await sentAt('idle 0x9 invalid')).toBe(0)
    await click('Pay')
    expect(await sentAt('success 0x1 pending')).toBe(1)
    await click('Pay')
    await page.waitForTimeout(200)
    expect(await sentAt('success 0x1 pending')).toBe(1)
  })
})
