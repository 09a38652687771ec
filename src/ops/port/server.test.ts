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
