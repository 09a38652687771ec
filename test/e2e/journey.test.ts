import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { NAME_RULES_TEXT } from '../../src/registry/primitives/nameRule.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { until } from '../../src/testing/until.js'
import { operatorAccount } from '../../src/testing/world.js'
import { loadRows, payBy } from '../support/airdrop.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { ensClients } from '../support/ens.js'
import { freshName, freshWallet, hubOf, registerOn, world } from '../support/world.js'
import { axeFaults, closeTabs, findChromium, launch, noteFaults, screenshot } from './browser.js'
import { endAtFirstFailure } from './steps.js'

const WAIT_MS = 60_000
const POLLING = { timeout: WAIT_MS, interval: 200 }
/** The world's account that makes the journey; another one is chosen at first. */
const ACCOUNT = 3

/** The first steps of a new user in the local world, with its built-in wallet. */
describe.skipIf(findChromium() === null)('a journey with the test wallet', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let daemon: ClusterdProcess
  const faults: string[] = []
  const own = () => world().accounts.evm[ACCOUNT]!.address
  const names = { hub: freshName('hub'), spoke: freshName('spoke'), solana: freshName('sol') }

  beforeAll(async () => {
    daemon = await startClusterd({
      ...LOCAL_SECRET_KEYS,
      CLUSTERD_TEST_WALLET: 'true',
      ROLES: 'api',
      LIMITS: 'off',
      DATABASE_URL: world().databaseUrl,
      CLUSTERD_CHAINS: join(inject('home'), 'chains.json'),
      AIRDROP_OPERATOR_PRIVATE_KEY: operatorAccount('airdropOperator').privateKey,
    })
    await daemon.ready()
    browser = await launch(findChromium()!)
    context = await browser.newContext({
      viewport: { width: 1_200, height: 900 },
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(WAIT_MS)
    page = await open(context)
  })
  afterAll(async () => {
    await closeTabs()
    await daemon?.end()
  })
  endAtFirstFailure()

  async function open(of: BrowserContext, path = '/'): Promise<Page> {
    const tab = await of.newPage()
    noteFaults(tab, faults)
    await tab.goto(`${daemon.api}${path}`)
    return tab
  }
  const expectMessage = (text: string | RegExp) =>
    page.locator('#message').filter({ hasText: text }).waitFor()
  const confirm = (button: string) =>
    page.locator('dialog').getByRole('button', { name: button }).click()
  const goTo = (title: string) =>
    page.getByRole('navigation', { name: 'Your wallet' }).getByText(title, { exact: true }).click()
  const followed = (title: string) =>
    page.locator('.followed li').filter({ hasText: title }).first()
  const ended = (title: string, status: string) =>
    page.locator(`.followed li[data-status=${status}]`).filter({ hasText: title }).first().waitFor()
  async function look(name: string, of = page): Promise<void> {
    await screenshot(of, `journey-${name}`)
    expect(await axeFaults(of)).toEqual([])
  }
  async function ask(name: string, chain?: string): Promise<void> {
    await page.getByLabel('Name', { exact: true }).fill(name)
    if (chain) await page.getByLabel('Pay on').selectOption(chain)
    await page.getByText(`${name}/ is free.`).waitFor()
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.locator('dialog').filter({ hasText: 'It costs' }).waitFor()
  }

  it('begins with the built-in wallet, whose account is selected on the page', async () => {
    await page.getByRole('region', { name: 'Totals' }).getByText('bundles').waitFor()
    await look('home')
    await page.getByRole('link', { name: 'Register', exact: true }).click()
    await page.getByRole('button', { name: 'Local test wallet Ethereum' }).waitFor()
    await page.locator('test-wallet select[name=evm]').selectOption(own())
    await look('sign-in')
    await page.getByRole('button', { name: 'Local test wallet Ethereum' }).click()
    await expectMessage('Signed in')
    expect(await page.locator('#who code').getAttribute('title')).toBe(own())
  })

  it('registers on the hub, with the price shown before the signature', async () => {
    await ask(names.hub, '1')
    await look('price')
    await confirm('Pay')
    await ended(names.hub, 'finalized')
    await expectMessage(`${names.hub} is yours.`)
    await look('registered')
  })

  it('registers from a spoke, over the bridge', async () => {
    await ask(names.spoke, '8453')
    expect(await page.locator('dialog').textContent()).toContain('for the bridge')
    await confirm('Pay')
    // a visitor who opens the progress page and comes back still finds the transaction
    await followed(names.spoke).getByRole('link', { name: 'Progress' }).click()
    await page.getByRole('heading', { name: 'Register' }).waitFor({ state: 'detached' })
    await page.goBack()
    await ended(names.spoke, 'finalized')
    await page.reload()
    await ended(names.spoke, 'finalized')
  })

  it('loses a race, sees who won, and takes the money back', async () => {
    const name = freshName('race')
    await ask(name, '1')
    // the rival is confirmed while the question is open
    await until.status(world(), await registerOn('1', await freshWallet(), [{ name }]), 'finalized')
    await confirm('Pay')
    await ended(name, 'lost_bid')
    await followed(name).getByRole('link', { name: 'Progress' }).click()
    await page.getByRole('heading', { name: 'Somebody else was first' }).waitFor()
    await page.getByText('won by a bid of 0.01 ETH').waitFor()
    await look('lost')
    await page.getByRole('link', { name: 'Sign in with that wallet to take it' }).click()
    await page.getByText('0.01 ETH').first().waitFor()
    await look('refunds')
    await page.getByRole('button', { name: 'Take it' }).click()
    await page.getByText('Nothing is owed to your wallet.').waitFor()
  })

  it('makes a name its primary one in ENS', async () => {
    const { hub, ens } = world().networks.mainnet
    const { viem, ethers } = ensClients(hub, ens)
    ethers.destroy()
    const ensName = `${names.hub}.${ens.parent}`
    await goTo('Bundle')
    await page.locator('select[name=primary]').selectOption(names.hub)
    await look('primary')
    await page.getByRole('button', { name: `Set ${ensName}` }).click()
    await expectMessage('Sent.')
    await expectMessage(`${ensName} is your primary name now.`)
    await expect.poll(() => viem.getEnsName({ address: own() }), POLLING).toBe(ensName)
    await page.getByText(`${ensName} is set.`).waitFor()
    await page.reload()
    await page.getByText(`${ensName} is set.`).waitFor()
    await page.locator('select[name=primary]').selectOption(names.hub)
    expect(await page.getByRole('button', { name: `Set ${ensName}` }).count()).toBe(0)
  })

  it('adds a wallet, and shows that the wallet has not confirmed it', async () => {
    const form = page.getByRole('form', { name: 'Add a wallet' })
    const name = form.getByLabel('Name', { exact: true })
    await name.fill('Cold Storage')
    await form.getByLabel('Address').fill(`0x${'cd'.repeat(20)}`)
    await form.getByRole('checkbox').uncheck()
    await form.getByRole('button', { name: 'Add' }).click()
    expect(await page.locator('input:invalid:focus').getAttribute('title')).toBe(NAME_RULES_TEXT)
    await name.fill('cold')
    await form.getByRole('button', { name: 'Add' }).click()
    await expectMessage('Added; everybody sees it.')
    await page.goto(`${world().api}/${names.hub}/cold`)
    await page.getByText(`${names.hub}/ says that this wallet belongs to it.`).waitFor()
    await look('unverified')
    await page.goBack()
  })

  it('joins a community', async () => {
    const member = freshName('j').slice(0, 12)
    await goTo('Communities')
    await page.getByLabel('Community', { exact: true }).fill('club')
    await page.getByLabel('Your name there').fill(member)
    await page.getByRole('button', { name: 'Get the name' }).click()
    await expectMessage(`club/${member} is yours.`)
    await page.locator('select[name=own]').selectOption(names.hub)
    const rules = page.getByRole('form', { name: `Rules of ${names.hub}` })
    await rules.getByLabel('Who may register').selectOption('owners')
    await rules.getByRole('button', { name: 'Set the rules' }).click()
    await expectMessage(`Your bundle registers names below ${names.hub}.`)
    await look('communities')
  })

  it('claims an airdrop, and gets a name for it', async () => {
    const pool = createPool({ url: world().databaseUrl, max: 1, applicationName: 'journey' })
    const { rpcUrl, chainId, reader } = hubOf()
    const client = {
      walletClient: createLocalWalletClient({ rpcUrl, chainId }, await freshWallet()),
      publicClient: reader,
    }
    const rows = [
      { address: own(), amount: 1_500n },
      { address: `0x${'ab'.repeat(20)}`, amount: 7n },
    ]
    await payBy(pool, client, await loadRows(pool, rows, { community: names.hub }))
    await pool.end()
    // without answering the question for a name
    await goTo('Airdrops')
    await page.getByText('0.0000000000000015 LOCAL').first().waitFor()
    await page.getByRole('button', { name: 'Claim', exact: true }).click()
    await confirm('Claim')
    await expectMessage('It is claimed.')
    await page.getByLabel('Your name below').fill('winner')
    await page.getByRole('button', { name: 'Get the name' }).click()
    await expectMessage(`${names.hub}/winner is yours.`)
    await look('airdrop')
  })

  it('registers from Solana with the built-in Solana wallet', async () => {
    if (!world().networks.mainnet.solana) return
    await goTo('Bundle')
    await page.getByRole('link', { name: `${names.hub}/`, exact: true }).waitFor()
    await look('bundle')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Local test wallet Solana' }).click()
    await expectMessage('Signed in')
    await goTo('Register')
    await ask(names.solana)
    await confirm('Pay')
    await ended(names.solana, 'finalized')
    // ENS has primary names for senders of EVM transactions
    await page.getByRole('link', { name: 'See its page' }).waitFor()
    expect(await page.getByText('Make it your primary name').count()).toBe(0)
    await goTo('Bundle')
    await page.getByRole('link', { name: `${names.solana}/`, exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Primary name' }).count()).toBe(0)
  })

  it('is readable in dark mode on a phone', async () => {
    const dark = await browser.newContext({
      colorScheme: 'dark',
      viewport: { width: 360, height: 740 },
      reducedMotion: 'reduce',
    })
    dark.setDefaultTimeout(WAIT_MS)
    const tab = await open(dark, '/@register')
    await tab.locator('test-wallet select[name=evm]').selectOption(own())
    await tab.getByRole('button', { name: 'Local test wallet Ethereum' }).click()
    for (const title of ['Register', 'Bundle', 'Communities', 'Airdrops', 'Refunds', 'API keys']) {
      await tab
        .getByRole('navigation', { name: 'Your wallet' })
        .getByText(title, { exact: true })
        .click()
      await tab.getByRole('heading', { level: 1, name: title }).waitFor()
      await tab.locator('.skeleton').first().waitFor({ state: 'detached' })
      if (title === 'Bundle') await tab.locator('tbody tr').first().waitFor()
      await look(`dark-narrow-${title.toLowerCase().replace(' ', '-')}`, tab)
      expect(await tab.evaluate('document.documentElement.scrollWidth'), title).toBeLessThanOrEqual(
        360,
      )
    }
  })

  it('never violates the content security policy', () => {
    expect(faults).toEqual([])
  })
})
