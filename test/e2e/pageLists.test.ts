import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/testing/until.js'
import { memberOf } from '../api/members.js'
import { freshName, registerOn, world } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { apiOf } from './sharedApi.js'

const WAIT_MS = 20_000

/** An owner of more names than a page shows at first. */
describe.skipIf(findChromium() === null)('long lists in the pages', () => {
  const screen = narrowScreen()
  let page: Page
  let address: string
  const prefix = freshName('many').slice(0, 20)
  const names = Array.from({ length: 103 }, (_, i) => `${prefix}-${String(i).padStart(3, '0')}`)

  beforeAll(async () => {
    page = screen.page
    const { account } = screen.wallet
    address = account.address.toLowerCase()
    for (const part of [names.slice(0, 100), names.slice(100)]) {
      const tx = await registerOn(
        '1',
        account,
        part.map((name) => ({ name })),
      )
      await until.status(world(), tx, 'finalized')
    }
  })

  const open = (path: string) => page.goto(`${world().api}${path}`)
  const shown = async (part: string) =>
    (await page.getByRole('region', { name: part }).locator('.names a').allTextContents()).length
  const more = (part: string) =>
    page.getByRole('region', { name: part }).getByRole('button', { name: 'Show more' })

  it.each([
    { path: '/@account', part: 'Your bundle', suffix: () => '' },
    { path: '/address/', part: 'Names', suffix: () => address },
    { path: '/', part: 'Names', suffix: () => names[0]! },
  ])(
    '$path shows a part of the names, says that there are more, and goes on',
    async ({ path, part, suffix }) => {
      await open(`${path}${suffix()}`)
      if (path === '/@account') await page.getByRole('button', { name: 'Test Wallet' }).click()
      await more(part).waitFor()
      expect(await shown(part)).toBe(100)
      await more(part).press('Enter')
      await page
        .getByRole('region', { name: part })
        .getByRole('link', { name: `${names[102]}/` })
        .waitFor()
      expect(await shown(part)).toBe(103)
      expect(await more(part).count()).toBe(0)
      // a keyboard user's focus stays at the list
      expect(await page.evaluate('document.activeElement.textContent')).toBe('That is all.')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    },
  )

  it('an address shows its names once, not again when its cluster is known', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.route(/clusters\/address\//, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue()
    })
    await open(`/address/${address}`)
    await page.getByRole('region', { name: 'Wallets' }).getByRole('link').waitFor()
    await more('Names').waitFor()
    expect(asked.filter((path) => path.startsWith('/v1/names/owner/address/')).length).toBe(1)
  })

  it('the history can be continued too', async () => {
    await open(`/${names[0]}`)
    const history = page.getByRole('region', { name: 'History' })
    await more('History').waitFor()
    expect(await history.locator('.events li').count()).toBe(25)
    await more('History').click()
    await expect
      .poll(() => history.locator('.events li').count(), { timeout: WAIT_MS })
      .toBeGreaterThan(25)
    await history
      .getByRole('button', { name: 'Show more' })
      .or(history.getByText('That is all.'))
      .waitFor()
  })

  it('more of one’s own names reads the next ones alone, and a change reads what was shown', async () => {
    await open('/@account')
    await more('Your bundle').waitFor()
    const asked: string[] = []
    const note = (request: Request) => asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    await more('Your bundle').click()
    await expect.poll(() => shown('Your bundle')).toBe(names.length)
    const owned = `/v1/names/owner/address/${address}`
    expect(asked.filter((path) => path.startsWith('/v1/'))).toEqual([owned])
    const rename = page.getByRole('form', { name: /^Rename/ })
    await rename.getByRole('textbox').fill('other')
    await rename.getByRole('button', { name: 'Save' }).click()
    await page.locator('#message').filter({ hasText: 'Renamed.' }).waitFor()
    page.off('request', note)
    expect(await shown('Your bundle')).toBe(names.length)
    expect(asked.filter((path) => path === owned).length).toBe(3)
  })

  it('an owner of many names is asked which one should become a community', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await open('/@communities')
    await page.getByRole('form', { name: `Rules of ${names[0]}` }).waitFor()
    expect(asked.filter((path) => path.startsWith('/v1/communities/')).length).toBeLessThanOrEqual(
      10,
    )
    await page.getByRole('button', { name: 'Show more' }).last().click()
    await page
      .locator(`select[name=own] option[value="${names[102]}"]`)
      .waitFor({ state: 'attached' })
    await page.locator('select[name=own]').selectOption(names[102]!)
    await page.getByRole('form', { name: `Rules of ${names[102]}` }).waitFor()
    // on the other network the name may belong to somebody else
    await page.getByLabel('Network').selectOption('testnet')
    await page.getByRole('form', { name: `Rules of ${names[0]}` }).waitFor({ state: 'detached' })
    expect(await page.getByRole('form', { name: `Rules of ${names[102]}` }).count()).toBe(0)
  })

  it('a history that is cut is not labelled as complete', async () => {
    const event = (i: number) => ({
      id: `m-1-${i}`,
      type: 'BACKUP_WALLET',
      from: address,
      isTestnet: false,
      timestamp: 1e12 + i,
      data: { address, cluster_id: `0x${'ab'.repeat(32)}` },
    })
    await page.route(/\/v1\/events\?from=/, (route) => {
      const limit = Number(new URL(route.request().url()).searchParams.get('limit'))
      const items = Array.from({ length: Math.min(limit, 1_000) }, (_, i) => event(2_000 - i))
      return route.fulfill({ json: { items } })
    })
    await open(`/${names[0]}`)
    const history = page.getByRole('region', { name: 'History' })
    for (let shown = 25; shown < 1_000; shown = Math.min(shown + 100, 1_000)) {
      await expect
        .poll(() => history.locator('.events li').count(), { timeout: 20_000 })
        .toBe(shown)
      await more('History').click()
    }
    await history.getByText('What is older is in the feed of events alone.').waitFor()
    expect(await history.getByText('That is all.').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.textContent')).toContain('What is older')
  })

  it('a late response of the previous network does not shorten the list', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const wallet = { address, name: 'main', isVerified: true }
    const cluster = {
      id: `0x${'ab'.repeat(32)}`,
      createdAt: '2026-01-01T00:00:00.000Z',
      wallets: [wallet],
    }
    await page.route(/\/v1\/names\/register\/check/, (route) =>
      route.fulfill({ json: [{ name: names[0], isAvailable: false }] }),
    )
    await page.route(/\/v1\/clusters\/name\//, (route) => route.fulfill({ json: cluster }))
    await page.route(/\/v1\/names\/owner\/address\//, async (route) => {
      const { searchParams } = new URL(route.request().url())
      const isFirst = !searchParams.has('after')
      if (!isFirst && searchParams.get('testnet') !== 'true') await gate
      const json = (isFirst ? names.slice(0, 101) : names.slice(100)).map((name) => ({ name }))
      await route.fulfill({ json }).catch(() => {})
    })
    await open(`/${names[0]}`)
    await more('Names').click()
    await page.getByLabel('Network').selectOption('testnet')
    await page.waitForURL(/testnet=true/)
    await more('Names').click()
    await expect.poll(() => shown('Names')).toBe(103)
    // the page has cancelled the request, and ignores an answer that comes all the same
    release()
    await page.waitForTimeout(500)
    expect(await shown('Names')).toBe(103)
  })

  it('a wallet that leaves its bundle is shown the names that move along', async () => {
    const host = await memberOf(apiOf(world()))
    const id = await host.create()
    await open('/@account')
    await page.getByLabel('Name or id of the bundle').fill(id)
    await page.getByRole('button', { name: 'Join', exact: true }).click()
    await page.locator('dialog').getByRole('button', { name: 'Join' }).click()
    await page.locator('dialog').getByText('Move your names too?').waitFor()
    const text = (await page.locator('dialog').textContent())!
    expect(text).toContain(`${names[99]}/ and others`)
    expect(text).not.toContain(names[100])
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click()
  })
})
