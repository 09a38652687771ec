import type { Browser, BrowserContext, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshName, freshWallet, registerOn, world } from '../support/world.js'
import { axeFaults, closeTabs, findChromium, launch, noteFaults, screenshot } from './browser.js'

const WAIT_MS = 60_000
/** Compressed files of a page at its first load, without the test wallet. */
const PAGE_BYTES = 30_000
const FIRST_PAINT_MS = 1_000
/** Page loads, of which the fastest counts, because other tests use the processor too. */
const LOADS = 5

/** The explorer in a browser without a wallet. */
describe.skipIf(findChromium() === null)('the explorer', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const faults: string[] = []
  const seed = () => world().seeds.mainnet!

  beforeAll(async () => {
    browser = await launch(findChromium()!)
    context = await browser.newContext({
      viewport: { width: 1_200, height: 900 },
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(WAIT_MS)
    page = await context.newPage()
    noteFaults(page, faults)
  })
  afterAll(closeTabs)

  const open = (path: string) => page.goto(`${world().api}${path}`)
  const heading = (text: string | RegExp) =>
    page.getByRole('heading', { level: 1, name: text }).waitFor()
  const card = (title: string) => page.getByRole('region', { name: title })
  async function search(text: string): Promise<void> {
    await page.getByRole('combobox', { name: 'Search for a name' }).first().fill(text)
    await page.keyboard.press('Enter')
  }
  async function look(name: string): Promise<void> {
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await screenshot(page, `explorer-${name}`)
    expect(await axeFaults(page)).toEqual([])
  }

  it('shows new events automatically', async () => {
    const refused: string[] = []
    page.on('response', (answer) => answer.status() >= 400 && refused.push(answer.url()))
    await open('/')
    await card('Totals').getByText('bundles').waitFor()
    const before = Number(await card('Totals').locator('dd').first().textContent())
    // the list shows only the newest events, so a burst of other tests' events can hide one
    const isShown = async () => {
      const name = freshName('live')
      const link = card('Happening now').getByRole('link', { name: `${name}/` })
      const shown = link.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      )
      await registerOn('1', await freshWallet(), [{ name }])
      return shown
    }
    await expect.poll(isShown, { timeout: WAIT_MS }).toBe(true)
    await expect
      .poll(async () => Number(await card('Totals').locator('dd').first().textContent()), {
        timeout: WAIT_MS,
      })
      .toBeGreaterThan(before)
    await card('Chains').getByText('Ethereum').waitFor()
    await look('home')
    expect(refused).toEqual([])
  })

  it('finds a name, an address and a transaction with one search box', async () => {
    const { name, owner, tx } = seed()
    await search(name)
    await heading(`${name}/`)
    await card('Wallets').getByText('verified').first().waitFor()
    await card('History').getByText('registered').first().waitFor()
    expect(new URL(page.url()).pathname).toBe(`/${name}`)
    await look('name')
    await search(owner)
    await heading(owner)
    await card('Names')
      .getByRole('link', { name: `${name}/` })
      .waitFor()
    await search(tx.finalized)
    await heading('Registered')
    await page.getByText(/in block [\d,]+ of the hub/).waitFor()
    const facts = card('Transaction')
    await facts.getByText('local Ethereum').waitFor()
    await facts.getByText('0.01 ETH').waitFor()
    await facts.getByRole('link', { name: `${owner.slice(0, 6)}…` }).waitFor()
    await look('finalized')
    await page.goBack()
    await heading(owner)
    await search(freshName('nobody'))
    await page.getByText('Nobody holds this name').waitFor()
    await page.getByText('It costs 0.01 ETH on local Ethereum and gas.').waitFor()
    await look('free')
  })

  it('shows a community, a name below it, and the name’s owner', async () => {
    const { communities } = seed()
    if (!communities) return
    await open(`/${communities.paid.name}`)
    await page.getByText('Anybody may have a name here for').waitFor()
    await look('community')
    await search(`${communities.open.name}/${freshName()}`.slice(0, 30))
    await page.getByText('Nobody has this name.').waitFor()
    await page.getByRole('link', { name: 'Get the name' }).waitFor()
  })

  it('offers no name below a name that is no community', async () => {
    const { name } = seed()
    await open(`/${name}/nobody`)
    await page.getByText(`and ${name}/ is no community`).waitFor()
    expect(await page.getByRole('link', { name: 'Get the name' }).count()).toBe(0)
    await page.getByRole('link', { name: `Look up ${name}/` }).click()
    await heading(`${name}/`)
  })

  it('puts no expected look-up into the browser’s console as a 404', async () => {
    const { name } = seed()
    const refused: string[] = []
    const note = (answer: Response) => {
      if (answer.status() >= 400) refused.push(answer.url())
    }
    page.on('response', note)
    const nobody = `0x${'0'.repeat(38)}aa`
    for (const [path, text] of [
      [`/${freshName('free')}`, 'Nobody holds this name'],
      [`/${name}`, 'registered'],
      [`/${name}/nobody`, 'is no community'],
      [`/address/${nobody}`, 'It has no name in public.'],
      ['/address/nobody', 'is no community'],
    ] as const) {
      await open(path)
      await page.getByText(text).first().waitFor()
      await page.waitForLoadState('networkidle')
    }
    page.off('response', note)
    expect(refused).toEqual([])
  })

  it('says what a page is for before the visitor signs in', async () => {
    for (const [path, text] of [
      ['/@communities', 'Get a name below a community'],
      ['/@airdrops', 'See which communities give tokens'],
    ] as const) {
      await open(path)
      await page.getByText(text).waitFor()
    }
  })

  it('shows each kind of transaction, and the money that is owed', async () => {
    const { tx } = seed()
    await open(`/tx/${tx.lost}`)
    await heading('Somebody else was first')
    await card('Refund').getByText('ETH').waitFor()
    await look('lost')
    await open(`/tx/${tx.pending}`)
    await heading('Waiting for confirmations')
    if (!tx.bridging) return
    await open(`/tx/${tx.bridging}`)
    await heading('On its way to the hub')
    await page.getByText('Over the bridge').waitFor()
    await look('bridging')
  })

  it('updates a transaction over the bridge while its page is open', async () => {
    const spoke = world().networks.mainnet.spokes[0]!
    const hash = await registerOn(spoke.network, await freshWallet(), [
      { name: freshName('moves') },
    ])
    await open(`/tx/${hash}`)
    const seen = new Set<string>()
    await expect
      .poll(
        async () => {
          seen.add((await page.locator('h1').textContent()) ?? '')
          return [...seen].at(-1)
        },
        { timeout: 2 * WAIT_MS, interval: 50 },
      )
      .toBe('Registered')
    expect(seen.size).toBeGreaterThan(1)
    await page.getByText('Hub transaction').waitFor()
  })

  it('reports a missing page, and stays on the testnet', async () => {
    await open('/a/b/c')
    await heading('There is no such page')
    await page.getByLabel('Network').selectOption('testnet')
    await page.getByRole('link', { name: 'clusterd' }).click()
    await card('Chains').getByText('Sepolia').waitFor()
    await look('testnet')
    expect(new URL(page.url()).search).toBe('?testnet=true')
  })

  it.each([
    ['/?q=docs', '/?q=docs&testnet=true'],
    ['/@register?name=wanted', '/@register?name=wanted&testnet=true'],
    ['/@communities?community=a&name=b', '/@communities?community=a&name=b&testnet=true'],
    // the other network has no bundle with this id
    [`/@account?join=0x${'ab'.repeat(32)}`, '/@account?testnet=true'],
  ])('another network keeps what the page %s is about', async (mainnet, testnet) => {
    await open(mainnet)
    const network = page.getByLabel('Network')
    await network.selectOption('testnet')
    expect(page.url()).toBe(`${world().api}${testnet}`)
    await network.selectOption('mainnet')
    expect(page.url()).toBe(`${world().api}${mainnet.replace(/\?join=.*/, '')}`)
  })

  it.each([
    ['/Bad%20Name!', 'Bad Name!'],
    ['/@nothing', '@nothing'],
    ['/%', '%'],
    ['/tx/a%20b', 'tx/a b'],
    ['/address/nowhere.', 'nowhere.'],
    [`/${'1'.repeat(40)}`, '1'.repeat(40)],
  ])(
    'says at %s that there is no page, with nothing broken and nothing unfinished',
    async (path, text) => {
      await open(path)
      await heading('There is no such page')
      await page.getByText(`“${text}” is no address that is known here`).waitFor()
      expect(await page.locator('.skeleton').count()).toBe(0)
      expect(await page.locator('main img').count()).toBe(0)
      expect(await axeFaults(page)).toEqual([])
      await screenshot(page, `nowhere-${text.replaceAll(/\W/g, '')}`)
    },
  )

  it('redirects from a hash or an address in the place of a name', async () => {
    const { owner, tx } = seed()
    await open(`/${tx.finalized}`)
    await page.waitForURL(`**/tx/${tx.finalized}`)
    await heading('Registered')
    await open(`/${owner}`)
    await page.waitForURL(`**/address/${owner}`)
  })

  it('offers the name that a malformed name contains', async () => {
    const { name } = seed()
    await open(`/${name}.elsewhere.eth`)
    await page.getByRole('link', { name: `Look up ${name}/` }).click()
    await heading(`${name}/`)
  })

  it('is small, and painted within a second', async () => {
    const { hostname } = new URL(world().api)
    const paints: number[] = []
    for (let i = 0; i < LOADS; i++) {
      const fresh = await browser.newContext()
      const tab = await fresh.newPage()
      await tab.goto(`${world().api}/`, { waitUntil: 'load' })
      await tab.getByRole('combobox').first().waitFor()
      await tab.waitForFunction(`performance.getEntriesByType('paint').length > 0`)
      const { bytes, paint } = (await tab.evaluate(`({
        bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
          .filter(({ name }) => new URL(name).hostname === '${hostname}' && !/test-wallet[.]js$|[/]v1[/]/.test(name)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      })`)) as { bytes: number; paint: number }
      expect(bytes).toBeLessThanOrEqual(PAGE_BYTES)
      paints.push(paint)
      await fresh.close()
    }
    expect(Math.min(...paints)).toBeLessThanOrEqual(FIRST_PAINT_MS)
  })

  it('is readable in dark mode and on a narrow screen, without horizontal scrolling', async () => {
    const dark = await browser.newContext({
      colorScheme: 'dark',
      viewport: { width: 360, height: 740 },
      reducedMotion: 'reduce',
    })
    page = await dark.newPage()
    const { name, tx } = seed()
    for (const [shot, path] of Object.entries({
      home: '/',
      name: `/${name}`,
      tx: `/tx/${tx.bridging ?? tx.lost}`,
    })) {
      await open(path)
      await page.getByRole('region').first().waitFor()
      await look(`dark-narrow-${shot}`)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
        360,
      )
    }
  })

  it('never violates its content security policy', () => {
    expect(faults).toEqual([])
  })
})
