import { expect, it } from 'vitest'
import { REMEDIES } from '../../src/ops/generated/remedies.js'
import { world } from '../support/world.js'
import { findChromium, launch, screenshot } from './browser.js'

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
  expect(text).toMatch(
    /<td data-name="network">mainnet<td data-name="chain">8453<td data-name="state">.+?<td data-name="head">\d+<td/,
  )
  expect(text).toContain('<td data-name="loop">the webhooks<td')
  expect(text).toMatch(
    /<td data-name="account"><code>0x\w{40}<\/code><td data-name="balance">\d+(\.\d+)?<td data-name="signed today">[\de.-]+<td/,
  )
  expect(text).toContain('(<code>ClusterdJobsParked</code>, seeded by the local world)<br>To do: ')
  expect(text).toContain('<code>clusterd outbox resume &lt;id&gt;</code>')
  expect(text).not.toContain('undefined')
  // column heads are words, not identifiers
  const heads = [...text.matchAll(/<th>([^<]*)/g)].map(([, head]) => head)
  expect(heads).toContain('blocks behind')
  expect(heads.filter((head) => /[a-z][A-Z]/.test(head!))).toEqual([])
  // a local world has no `deployment` to compare
  expect(text).not.toContain('clusterd contracts status')
})

it('a fresh world has an alarm for its parked packet on each network, with its remedy, and marked', {
  timeout: 70_000,
}, async () => {
  const alarmOf = (network: string) => ({
    alarm: 'ClusterdJobsParked',
    text: `${network}: parked jobs of the kind execute: 1`,
    remedy: REMEDIES.ClusterdJobsParked,
    see: 'docs/run/alarms.md#clusterdjobsparked',
    isSeeded: true,
  })
  const alarms = async () => (JSON.parse(await page('/status')) as { alarms: object[] }).alarms
  const seeded = [alarmOf('mainnet'), alarmOf('testnet')]
  await expect.poll(alarms, DEADLINE).toEqual(expect.arrayContaining(seeded))
  expect(JSON.stringify(await alarms())).not.toContain('ClusterdPacketsStuck')
})

it.each([360, 390, 768])(
  'the operator’s page is no wider than a screen of %i px',
  {
    timeout: 70_000,
  },
  async (width) => {
    const browser = await launch(findChromium()!)
    const isMobile = width < 768
    const context = await browser.newContext({ viewport: { width, height: 740 }, isMobile })
    const tab = await context.newPage()
    await tab.goto(`${world().ops}/`)
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    // no table scrolls sideways, and each cell is on the screen
    const rights = (await tab.evaluate(
      '[...document.querySelectorAll("td")].map((cell) => cell.getBoundingClientRect().right)',
    )) as number[]
    expect(rights.length).toBeGreaterThan(20)
    expect(Math.max(...rights)).toBeLessThanOrEqual(width)
    await screenshot(tab, `operator-${width}`)
    await context.close()
  },
)
