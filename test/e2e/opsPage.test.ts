import { expect, it } from 'vitest'
import { REMEDIES } from '../../src/ops/generated/remedies.js'
import { world } from '../support/world.js'
import { findChromium, launch } from './browser.js'

const DEADLINE = { timeout: 60_000, interval: 500 }
const page = async (path: string) => (await fetch(`${world().ops}${path}`)).text()
/** Problem of the world's packet whose delivery would cost too much. */
const PARKED = 'mainnet: parked jobs of the kind execute: 1'

it('the operator’s page shows chains, leaders, balances, nodes and loops of a world, and remedies', {
  timeout: 70_000,
}, async () => {
  const shown = await fetch(`${world().ops}/`)
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
  // facts that only the outbox's leader knows; on a slow machine the leader may just change
  await expect.poll(() => page('/'), DEADLINE).toContain(PARKED)
  const text = await page('/')
  for (const heading of ['To check', 'Chains', 'Leaders', 'Balances', 'Outbox', 'Nodes', 'Loops'])
    expect(text, heading).toContain(`<h2>${heading}</h2>`)
  expect(text).toMatch(/<td>mainnet<td>8453<td>.+?<td>\d+<td>/)
  expect(text).toContain('<td>the webhooks<td>')
  expect(text).toMatch(/<td>mainnet<td>1<td><code>0x\w{40}<\/code><td>\d+(\.\d+)?<td>[\de.-]+<td>/)
  expect(text).toContain('(<code>ClusterdJobsParked</code>)<br>To do: ')
  expect(text).toContain('<code>clusterd outbox resume &lt;id&gt;</code>')
  expect(text).not.toContain('undefined')
  // column heads are words, not identifiers
  const heads = [...text.matchAll(/<th>([^<]*)/g)].map(([, head]) => head)
  expect(heads).toContain('blocks behind')
  expect(heads.filter((head) => /[a-z][A-Z]/.test(head!))).toEqual([])
  // a local world has no `deployment` to compare
  expect(text).not.toContain('clusterd contracts status')
})

it('`/status` has the remedy of an alarm', { timeout: 70_000 }, async () => {
  const remedy = REMEDIES.ClusterdJobsParked
  const expected = {
    alarm: 'ClusterdJobsParked',
    text: PARKED,
    remedy,
    see: 'docs/run/alarms.md#clusterdjobsparked',
  }
  const alarms = async () => (JSON.parse(await page('/status')) as { alarms: object[] }).alarms
  await expect.poll(alarms, DEADLINE).toContainEqual(expected)
})

it('the operator’s page is no wider than a phone', { timeout: 70_000 }, async () => {
  const browser = await launch(findChromium()!)
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
  const tab = await context.newPage()
  await tab.goto(`${world().ops}/`)
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await context.close()
})
