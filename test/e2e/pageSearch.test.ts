import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshName, freshWallet, registerOn, world } from '../support/world.js'
import { axeFaults, closeTabs, findChromium, launch, noteFaults, screenshot } from './browser.js'

const WAIT_MS = 30_000

/** Typing into the search box. */
describe.skipIf(findChromium() === null)('the search box', () => {
  let page: Page
  const faults: string[] = []
  const prefix = freshName('seek')
  const names = [prefix, `${prefix}-a`, `${prefix}-b`]

  beforeAll(async () => {
    const browser = await launch(findChromium()!)
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 800 },
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(WAIT_MS)
    page = await context.newPage()
    noteFaults(page, faults)
    const wallet = await freshWallet()
    await registerOn(
      '1',
      wallet,
      names.map((name) => ({ name })),
    )
  })
  afterAll(closeTabs)

  const box = () => page.getByRole('combobox', { name: 'Search for a name' }).first()
  /** Options of the search box only, because the choice of the network has options too. */
  const suggestions = () => page.getByRole('search').first().getByRole('option')
  const options = () => suggestions().allTextContents()
  const open = async (path = '/') => {
    await page.goto(`${world().api}${path}`)
    await box().focus()
  }
  const type = async (text: string) => {
    await box().pressSequentially(text)
    await suggestions().first().waitFor()
  }
  /** Text of the option that a screen reader reads; null in the box itself. */
  const spoken = () =>
    page.evaluate<string | null>(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? null`,
    )

  it('suggests registered names while typing, and opens one by keyboard', async () => {
    const status = async () => (await fetch(`${world().api}/v1/clusters/name/${names[2]}`)).status
    await expect.poll(status, { timeout: WAIT_MS }).toBe(200)
    await open()
    expect(await box().getAttribute('aria-expanded')).toBe('false')
    await type(prefix)
    expect(await options()).toEqual(names.map((name) => `${name}/registered`))
    expect(await box().getAttribute('aria-expanded')).toBe('true')
    expect(await page.getByRole('status').first().textContent()).toBe('3 names below the box')
    expect(await spoken()).toBeNull()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await spoken()).toBe(`${names[1]}/registered`)
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'search-registered', false)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${names[1]}`)
    expect(await suggestions().count()).toBe(0)
  })

  it('moves through the list and back into the box', async () => {
    await open()
    await type(prefix)
    await page.keyboard.press('ArrowUp')
    expect(await spoken()).toBe(`${names[2]}/registered`)
    await page.keyboard.press('ArrowDown')
    expect(await spoken()).toBeNull()
    await page.keyboard.press('Escape')
    expect(await suggestions().count()).toBe(0)
    expect(await box().inputValue()).toBe(prefix)
    await page.keyboard.press('ArrowDown')
    await suggestions().first().waitFor()
  })

  it('shows the price of a free name, and opens its page by a click', async () => {
    const free = freshName('free')
    await open(`/${names[0]}`)
    await type(free)
    expect(await options()).toEqual([`${free}/free, 0.01 ETH`])
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'search-free', false)
    await suggestions().click()
    await page.waitForURL(`**/${free}`)
    await page.getByText('Nobody holds this name').waitFor()
  })

  it('suggests nothing for one letter and for other texts than names, and still finds the typed text', async () => {
    const { owner, name } = world().seeds.mainnet!
    await open()
    for (const text of ['a', owner, 'a b']) {
      await box().fill(text)
      await page.waitForTimeout(600)
      expect(await suggestions().count()).toBe(0)
    }
    await box().fill(`${name}.local.eth`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${name}`)
    await open()
    await box().fill(`cold.${name}.local-testnet.eth`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${name}/cold?testnet=true`)
    await open()
    await box().fill('hello world')
    await page.keyboard.press('Enter')
    await page.getByText('“hello world” is no address that is known here').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'One name for all your wallets' }).waitFor()
  })

  it('a bid has the coin of the hub, in suggestions, in the feed and before a registration', async () => {
    await page.route(/\/v1\/networks/, async (route) => {
      const chains = (await (await route.fetch()).json()) as { role: string }[]
      const gasToken = { symbol: 'HUBC', decimals: 18 }
      const json = chains.map((chain) => ({ ...chain, ...(chain.role === 'hub' && { gasToken }) }))
      await route.fulfill({ json })
    })
    await open(`/${prefix}`)
    await page.locator('.events').getByText('for 0.01 HUBC').first().waitFor()
    await type(`${prefix}-z`)
    expect(await options()).toEqual([`${prefix}-z/free, 0.01 HUBC`])
    await open(`/${prefix}-z`)
    await page.getByText('It costs 0.01 HUBC on').waitFor()
    await page.unrouteAll()
  })

  it('shows the price and the duration of a registration before sign-in', async () => {
    const free = freshName('ahead')
    await page.goto(`${world().api}/@register?name=${free}`)
    const terms = page.getByRole('region', { name: 'Register a name' })
    await terms
      .getByText(`${free}/ is free. It costs 0.01 ETH on local Ethereum and gas.`)
      .waitFor()
    await terms.getByText(/It is yours about \d+ s after you pay\./).waitFor()
    await terms.getByLabel('Name', { exact: true }).fill(names[0]!)
    await terms.getByText(`${names[0]} is taken.`).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await terms.getByLabel('Name', { exact: true }).fill(free)
    await terms.getByText(`${free}/ is free.`).waitFor()
    for (const [width, colorScheme] of [
      [1_280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 844 })
      await page.emulateMedia({ colorScheme })
      expect(await axeFaults(page)).toEqual([])
      await screenshot(page, `terms-${width}`)
    }
  })

  it.each([
    ['light', 1_280],
    ['dark', 1_280],
    ['light', 390],
    ['dark', 390],
  ] as const)('can be read in %s at %d px', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await open()
    await type(prefix)
    await page.keyboard.press('ArrowDown')
    expect(await axeFaults(page)).toEqual([])
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0)
    await screenshot(page, `search-${colorScheme}-${width}`, false)
    await open(`/${names[0]}`)
    const { height } = (await page.locator('header.top').boundingBox())!
    expect(height).toBeLessThanOrEqual(90)
    await type(prefix)
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, `search-header-${colorScheme}-${width}`, false)
    expect(faults).toEqual([])
  })
})
