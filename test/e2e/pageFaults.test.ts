import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/testing/until.js'
import { freshName, registerOn, world } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'

/** Pause between the presses of a slow double click, within which the first one's work is done. */
const SECOND_PRESS_MS = 400

/** The pages when the service is unavailable, slow or replaced by a proxy's page, and when visitors click too fast. */
describe.skipIf(findChromium() === null)('the pages in bad conditions', () => {
  const screen = narrowScreen()
  let page: Page
  const name = freshName('fault')
  const long = freshName('l').padEnd(32, 'w')

  beforeAll(async () => {
    page = screen.page
    for (const one of [name, long])
      await until.status(
        world(),
        await registerOn('1', screen.wallet.account, [{ name: one }]),
        'finalized',
      )
    await page.goto(`${world().api}/@account`)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('link', { name: `${name}/` }).waitFor()
  })

  const open = (path: string) => page.goto(`${world().api}${path}`)
  const answer = (paths: RegExp, status: number, body: string, contentType = 'text/html') =>
    page.route(paths, (route) => route.fulfill({ status, body, contentType }))
  const away = (paths: RegExp) =>
    answer(
      paths,
      503,
      '{"status":503,"error":"unavailable","message":"Not now."}',
      'application/json',
    )
  const main = () => page.locator('main').innerText()

  it('a second press on “Set the rules” sets the same rules again', async () => {
    await open('/@communities')
    const form = page.getByRole('form', { name: `Rules of ${name}` })
    await form.getByRole('button', { name: 'Add a price' }).click()
    await form.getByLabel('Price').fill('0.5')
    for (let press = 0; press < 2; press++) {
      await form.getByRole('button', { name: 'Set the rules' }).click()
      await page.locator('#message').filter({ hasText: 'for 0.5 ETH now' }).waitFor()
      await page.waitForTimeout(SECOND_PRESS_MS)
    }
    const community = await (await fetch(`${world().api}/v1/communities/${name}`)).json()
    expect(community).toMatchObject({ prices: [{ amount: '500000000000000000' }] })
  })

  it('the form begins with the current rules, and keeps rules that it does not show', async () => {
    const rulesOf = async () =>
      (await (await fetch(`${world().api}/v1/communities/${name}`)).json()) as {
        prices: { recipient: string }[]
      }
    const { prices } = await rulesOf()
    const requirements = [{ kind: 'allowlist', addresses: [prices[0]!.recipient] }]
    const session = await page.evaluate<string>("sessionStorage.getItem('clusterd.session')")
    const set = await fetch(`${world().api}/v1/communities/${name}`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${JSON.parse(session).token}`,
      },
      body: JSON.stringify({ prices, requirements }),
    })
    expect(set.status).toBe(200)
    await open('/@communities')
    const form = page.getByRole('form', { name: `Rules of ${name}` })
    await form.getByRole('button', { name: 'Set the rules' }).click()
    await page.locator('#message').filter({ hasText: 'for 0.5 ETH now' }).waitFor()
    expect(await rulesOf()).toMatchObject({ prices, requirements })
  })

  it('a URL that is not UTF-8 shows a page', async () => {
    await open('/address/%E0%A4%A')
    await page.getByText('%E0%A4%A').waitFor()
  })

  it('a text to copy is shown where the clipboard is refused', async () => {
    await open(`/${name}`)
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    let offered = ''
    page.once('dialog', (dialog) => {
      offered = dialog.defaultValue()
      void dialog.dismiss()
    })
    await page.getByRole('region', { name: 'Wallets' }).locator('button.copy').click()
    expect(offered).toMatch(/^0x[0-9a-f]{40}/)
  })

  it('the testnet shows no data of the mainnet while the testnet does not answer', async () => {
    await open('/@account')
    await page.getByRole('link', { name: `${name}/` }).waitFor()
    await away(/testnet=true/)
    await page.getByLabel('Network').selectOption('testnet')
    await page.locator('#message').filter({ hasText: 'Not now.' }).waitFor()
    expect(await main()).not.toContain(name)
  })

  it('a late response of the previous network is ignored', async () => {
    await page.route(/clusters\/id\/[^?]*$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      await route.continue().catch(() => {})
    })
    await open('/@account')
    await page.waitForRequest(/clusters\/id\//)
    await page.getByLabel('Network').selectOption('testnet')
    await page.waitForTimeout(2_500)
    expect(await main()).not.toContain(name)
  })

  it('a slow search does not leave a form that was opened meanwhile', async () => {
    await page.route(/clusters\/id\//, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await route.continue().catch(() => {})
    })
    await open('/@communities')
    const form = page.getByRole('form', { name: 'Register a name below a community' })
    await form.waitFor()
    await page
      .getByRole('combobox')
      .first()
      .fill(`0x${'ab'.repeat(32)}`)
    await page.getByRole('combobox').first().press('Enter')
    await page.getByRole('link', { name: 'My bundle' }).click()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByLabel('What it is for').fill('half a word')
    await page.waitForResponse(/clusters\/id\//)
    await page.waitForTimeout(1_000)
    expect(await page.getByLabel('What it is for').inputValue()).toBe('half a word')
  })

  it('chains that could not be read are not reported as missing', async () => {
    await away(/\/v1\/networks/)
    await open('/@register')
    await page.locator('#message').filter({ hasText: 'Not now.' }).waitFor()
    expect(await main()).not.toContain('No chain of this network')
  })

  it.each([
    '/',
    '/seedling',
    `/tx/0x${'ab'.repeat(32)}`,
    '/@account',
    '/@keys',
    '/@refunds',
    '/@register',
  ])('%s reports an unreachable service where only a proxy answers', async (path) => {
    await answer(/\/v1\//, 200, '<h1>Maintenance</h1>')
    await open(path)
    await page.getByText('The service cannot be reached now.').first().waitFor()
    expect(await main()).not.toContain('Too deep to be undone')
  })

  it.each([
    { path: `/${name}`, shown: 'Verified' },
    { path: '/@account', shown: `${name}/` },
    { path: '/@register', shown: 'local Ethereum' },
  ])('$path shows what it could not read once the service is back', async ({ path, shown }) => {
    await away(/\/v1\//)
    await open(path)
    await page.getByText('Not now.').first().waitFor()
    await page.unrouteAll()
    await page.locator('main').getByText(shown).first().waitFor({ state: 'attached' })
    // each part of a page asks again on its own
    await expect.poll(main).not.toContain('Not now.')
  })

  it('the id of a bundle leads to no transaction while the bundle cannot be read', async () => {
    const cluster = await fetch(`${world().api}/v1/clusters/name/${name}`)
    const { id } = (await cluster.json()) as { id: string }
    await away(/clusters\/id\//)
    await open(`/${id}`)
    await page.locator('main').getByText('Not now.').waitFor()
    await page.unrouteAll()
    await page.waitForURL(`${world().api}/${name}`)
  })

  it('an outage after a change does not hide that it was made', async () => {
    await open('/@account')
    const rename = page.getByRole('form', { name: /^Rename/ })
    await rename.getByRole('textbox').fill('outage')
    await away(/clusters\/address\//)
    await rename.getByRole('button', { name: 'Save' }).click()
    const message = page.locator('#message')
    await message.filter({ hasText: 'Renamed.' }).waitFor()
    await page.waitForTimeout(1_000)
    expect(await message.textContent()).toBe('Renamed.')
  })

  it('a message is in sight of the form that it answers, and ends with the next try', async () => {
    await open('/@account')
    const form = page.getByRole('form', { name: 'Add a wallet' })
    const message = page.locator('#message')
    await form.getByLabel('Name').fill(freshName('w'))
    await form.getByLabel('Address').fill('vitalik.eth')
    await form.getByRole('button').click()
    await message.filter({ hasText: 'no address of a known kind' }).waitFor()
    expect(
      await message.evaluate((line) => line.getBoundingClientRect().top),
    ).toBeGreaterThanOrEqual(0)
    await form.getByLabel('Address').fill(`0x${'5e'.repeat(20)}`)
    await form.getByRole('button').click()
    await message.filter({ hasText: 'no address of a known kind' }).waitFor({ state: 'detached' })
  })

  it('the start page reports when its data is out of date', async () => {
    await open('/')
    await page.locator('.chains li').first().waitFor()
    await page.route(/\/v1\//, (route) => route.abort())
    await page.getByText('The service cannot be reached now.').first().waitFor()
  })

  it('long names and long names of keys stay within a narrow screen', async () => {
    const width = () => page.evaluate('document.documentElement.scrollWidth')
    for (const path of ['/@account', `/${long}`]) {
      await open(path)
      await page
        .locator('.names')
        .getByRole('link', { name: `${long}/` })
        .waitFor()
      expect(await width(), path).toBeLessThanOrEqual(360)
    }
    await open('/@keys')
    await page.getByLabel('What it is for').fill('W'.repeat(64))
    await page.getByRole('button', { name: 'Make a key' }).click()
    await page.locator('.rows strong').waitFor()
    expect(await width()).toBeLessThanOrEqual(360)
  })
})
