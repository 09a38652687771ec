import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/testing/until.js'
import { freshName, freshWallet, hubOf, registerOn, world } from '../support/world.js'
import { addEvmWallet, findChromium, launch } from './browser.js'

const WAIT_MS = 20_000

/** An owner of more names than a page shows at once. */
describe.skipIf(findChromium() === null)('long lists in the pages', () => {
  let browser: Browser
  let page: Page
  let address: string
  const prefix = freshName('many').slice(0, 20)
  const names = Array.from({ length: 103 }, (_, i) => `${prefix}-${String(i).padStart(3, '0')}`)

  beforeAll(async () => {
    browser = await launch(findChromium()!)
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
    context.setDefaultTimeout(WAIT_MS)
    const account = await freshWallet()
    address = account.address.toLowerCase()
    await addEvmWallet(context, account, hubOf())
    for (const part of [names.slice(0, 100), names.slice(100)]) {
      const tx = await registerOn(
        '1',
        account,
        part.map((name) => ({ name })),
      )
      await until.status(world(), tx, 'finalized')
    }
    page = await context.newPage()
  })
  afterAll(async () => {
    await browser?.close()
  })

  const open = (path: string) => page.goto(`${world().api}${path}`)
  const shown = async (part: string) =>
    (await page.getByRole('region', { name: part }).locator('.names a').allTextContents()).length
  const more = (part: string) => page.getByRole('region', { name: part }).getByRole('button', { name: 'Show more' })

  it.each([
    ['/@account', 'Your bundle'],
    ['/address/', 'Names'],
    ['/', 'Names'],
  ])('%s shows a part of the names, says that there are more, and goes on', async (path, part) => {
    await open(path === '/address/' ? `/address/${address}` : path === '/' ? `/${names[0]}` : path)
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
    // who goes by keyboard stays at the list
    expect(await page.evaluate('document.activeElement.textContent')).toBe('That is all.')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  })

  it('the history goes on too', async () => {
    await open(`/${names[0]}`)
    const history = page.getByRole('region', { name: 'History' })
    await more('History').waitFor()
    expect(await history.locator('.events li').count()).toBe(25)
    await more('History').click()
    await expect.poll(() => history.locator('.events li').count(), { timeout: WAIT_MS }).toBeGreaterThan(25)
    await history.getByRole('button', { name: 'Show more' }).or(history.getByText('That is all.')).waitFor()
  })

  it('an owner of many names is asked which one is to be a community', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await open('/@communities')
    await page.getByRole('form', { name: `Rules of ${names[0]}` }).waitFor()
    expect(asked.filter((path) => path.startsWith('/v1/communities/')).length).toBeLessThanOrEqual(10)
    await page.getByLabel('Another of your names').fill(names[102]!)
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.getByRole('form', { name: `Rules of ${names[102]}` }).waitFor()
  })

  it('a wallet that leaves names some of those that go along', async () => {
    await open('/@account')
    await page.getByLabel('Id of the cluster').fill(`0x${'ab'.repeat(32)}`)
    await page.getByRole('button', { name: 'Verify my wallet there' }).click()
    const text = (await page.locator('dialog').textContent())!
    expect(text).toContain(`${names[9]} and others`)
    expect(text).not.toContain(names[10])
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click()
  })
})
