import http from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMetrics } from '../metrics.js'
import { type Html, html } from './html.js'
import { startOpsServer } from './server.js'

const acted: (string | null)[] = []
let ops: Awaited<ReturnType<typeof startOpsServer>>
beforeAll(async () => {
  const answers = { '/health': () => ({ isGood: true }) }
  const page = {
    title: 'A <page>',
    show: async (token: Html) => html`<p>${'<script>'}</p><form>${token}</form>`,
    act: async (form: URLSearchParams) => void acted.push(form.get('id')),
  }
  const pages = { '/page': page }
  ops = await startOpsServer({ port: 0, host: '127.0.0.1', metrics: createMetrics(() => {}), answers, pages })
})
afterAll(() => ops.close())

const statusFor = (host: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ops.port, path, headers: { host }, agent: false }
    http.get(options, (res) => resolve(res.resume().statusCode!)).on('error', reject)
  })

it('the operator’s port answers on loopback addresses and localhost alone, so that no page of another site reads it', async () => {
  const own = ['127.0.0.1', '[::1]', '10.1.2.3', 'localhost', 'LOCALHOST']
  const foreign = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example.', 'x:y']
  for (const path of ['/health', '/metrics'])
    for (const port of ['', `:${ops.port}`]) {
      for (const name of own) expect(await statusFor(name + port, path), name).toBe(200)
      for (const name of foreign) expect(await statusFor(name + port, path), name).toBe(421)
    }
})

it('pages show texts as texts, and take their own forms alone', async () => {
  const url = `http://127.0.0.1:${ops.port}/page`
  const shown = await fetch(url)
  const text = await shown.text()
  expect(text).toContain('<title>A &lt;page&gt;</title>')
  expect(text).toContain('<p>&lt;script&gt;</p>')
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  const token = /name="token" value="(\w+)"/.exec(text)![1]!
  const post = (fields: Record<string, string>, headers = {}) =>
    fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers }).then(
      ({ status }) => status,
    )
  expect(await post({ id: '1' })).toBe(403)
  expect(await post({ id: '1', token: token.replace(/./, 'x') })).toBe(403)
  expect(await post({ id: '1', token, long: 'x'.repeat(5_000) })).toBe(403)
  expect(await post({ id: '1', token }, { 'sec-fetch-site': 'cross-site' })).toBe(403)
  const json = { method: 'POST', body: JSON.stringify({ token }), headers: { 'content-type': 'application/json' } }
  expect((await fetch(url, json)).status).toBe(403)
  expect(acted).toEqual([])
  expect(await post({ id: '1', token }, { 'sec-fetch-site': 'same-origin' })).toBe(303)
  expect(acted).toEqual(['1'])
})

it('pages on other addresses than loopback are closed without a secret, and open to who shows it', async () => {
  const secret = 'a long secret of the operator'
  const page = {
    title: 'Page',
    show: async (token: Html) => html`<form>${token}</form>`,
    act: async () => void acted.push('x'),
  }
  const start = (options: { host: string; secret?: string }) =>
    startOpsServer({ port: 0, metrics: createMetrics(() => {}), answers: {}, pages: { '/': page }, ...options })
  const closed = await start({ host: '0.0.0.0' })
  const open = await start({ host: '0.0.0.0', secret })
  const url = (port: number) => `http://127.0.0.1:${port}/`
  expect((await fetch(url(closed.port))).status).toBe(403)
  acted.length = 0
  const asked = await fetch(url(open.port))
  expect(asked.status).toBe(401)
  const token = /name="token" value="(\w+)"/.exec(await asked.text())![1]!
  const post = (fields: Record<string, string>, headers = {}) =>
    fetch(url(open.port), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ token, ...fields }),
      headers,
    })
  expect((await post({})).status).toBe(401)
  expect((await post({ secret: 'wrong' })).status).toBe(401)
  const signedIn = await post({ secret })
  const cookie = signedIn.headers.get('set-cookie')!
  expect([signedIn.status, cookie]).toEqual([303, expect.stringContaining('HttpOnly; SameSite=Strict')])
  expect(acted).toEqual([])
  const value = cookie.split(';')[0]!
  const ask = async (headers: Record<string, string>) => (await fetch(url(open.port), { headers })).status
  expect(await ask({ cookie: `a=b; ${value}` })).toBe(200)
  expect(await ask({ cookie: value.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)) })).toBe(401)
  expect(await ask({ authorization: `Bearer ${secret}` })).toBe(200)
  expect(await ask({ authorization: 'Bearer wrong' })).toBe(401)
  expect((await post({}, { cookie: value })).status).toBe(303)
  expect(acted).toEqual(['x'])
  await Promise.all([closed.close(), open.close()])
})
