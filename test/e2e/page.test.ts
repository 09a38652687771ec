import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solanaAccount } from '../api/wallets.js'
import { freshName, freshWallet, hubOf, world } from '../support/world.js'
import {
  addEvmWallet,
  addSolanaWallet,
  closeTabs,
  type EvmTestWallet,
  findChromium,
  launch,
  noteFaults,
  screenshot,
} from './browser.js'
import { endAtFirstFailure } from './steps.js'

const WAIT_MS = 20_000

describe.skipIf(findChromium() === null)('the page', () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let wallet: EvmTestWallet
  const faults: string[] = []
  const solana = solanaAccount()
  const friend = '0x00000000000000000000000000000000000000f1'
  const secret = '0x00000000000000000000000000000000000000f2'

  beforeAll(async () => {
    browser = await launch(findChromium()!)
    context = await browser.newContext({ viewport: { width: 1_000, height: 800 } })
    context.setDefaultTimeout(WAIT_MS)
    wallet = await addEvmWallet(context, await freshWallet(), hubOf())
    await addSolanaWallet(context, solana)
    page = await open(context)
  })
  afterAll(closeTabs)
  endAtFirstFailure()

  /** Opens a tab, and records its errors and refused loads. */
  async function open(of: BrowserContext): Promise<Page> {
    const tab = await of.newPage()
    noteFaults(tab, faults)
    await tab.goto(`${world().api}/@account`)
    return tab
  }

  /** Opens a page of the signed-in wallet. */
  const goTo = (title: string) =>
    page.getByRole('navigation', { name: 'Your wallet' }).getByText(title, { exact: true }).click()
  const rules = (name: string) => page.getByRole('form', { name: `Rules of ${name}` })
  const followed = (status: string, title: string) =>
    page.locator(`.followed li[data-status=${status}]`).filter({ hasText: title }).first()
  const expectMessage = (text: string | RegExp) =>
    page.locator('#message').filter({ hasText: text }).waitFor()
  const confirm = (button: string) =>
    page.locator('dialog').getByRole('button', { name: button }).click()
  const row = (text: string) => page.locator('tbody tr').filter({ hasText: text })
  const stateOf = (text: string) => row(text).locator('.badge').allTextContents()
  const sessionKey = () =>
    page.evaluate<string>(`JSON.parse(sessionStorage.getItem('clusterd.session')).token`)
  const validated = (key: string) =>
    fetch(`${world().api}/v1/auth/validate`, { headers: { 'x-auth-key': key } })
  const shortOf = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`

  it('shows the wallets of the browser, and calls none of them', async () => {
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
    await page.getByRole('button', { name: 'Test Solana' }).waitFor()
    expect(wallet.asked).toEqual([])
    await screenshot(page, '1-sign-in')
  })

  it('signs in by keyboard only', async () => {
    await page.locator('body').press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    for (let i = 0; i < 20; i++) {
      await page.keyboard.press('Tab')
      if (
        String(await page.evaluate('document.activeElement.textContent')).startsWith('Test Wallet')
      )
        break
    }
    await page.keyboard.press('Enter')
    await expectMessage('Signed in')
    expect(wallet.asked).toEqual(['eth_requestAccounts', 'eth_chainId', 'personal_sign'])
    await page.getByText('Your wallet is verified in no bundle yet.').waitFor()
  })

  it('creates a cluster after a warning that it is public', async () => {
    await page.getByRole('button', { name: 'Create a bundle' }).click()
    expect(await page.locator('dialog').textContent()).toContain('Everybody can see that entry')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await page.locator('tbody tr').count()).toBe(0)
    await page.getByRole('button', { name: 'Create a bundle' }).click()
    await confirm('Create it')
    await expectMessage('The bundle is created.')
    expect(await stateOf('you')).toEqual(['verified'])
  })

  it('adds wallets, private by default, and marks a private one', async () => {
    const add = async (address: string, name: string, isPrivate: boolean) => {
      await page.getByLabel('Address', { exact: true }).fill(address)
      await page.getByLabel('Name', { exact: true }).fill(name)
      const box = page.getByRole('form', { name: 'Add a wallet' }).getByRole('checkbox')
      expect(await box.isChecked()).toBe(true)
      if (!isPrivate) await box.uncheck()
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await expectMessage(isPrivate ? 'only members see it' : 'everybody sees it')
    }
    await add(friend, 'friend', false)
    await add(secret, 'secret', true)
    expect(await stateOf(shortOf(friend))).toEqual(['unverified'])
    expect(await stateOf(shortOf(secret))).toEqual(['unverified', 'private'])
    await page.getByText('1 private, for members only').waitFor()
    await screenshot(page, '2-cluster')
  })

  it('renames with Enter, and shows a conflict', async () => {
    const name = row(shortOf(friend)).locator('input')
    await page.getByLabel('Address', { exact: true }).fill('half an addr')
    await name.fill('main')
    await name.press('Enter')
    await page.locator('#message[data-kind=error]').waitFor()
    await name.fill('pal')
    await name.press('Enter')
    await expectMessage('Renamed.')
    expect(await name.inputValue()).toBe('pal')
    // input elsewhere on the page, and the focus, are kept
    expect(await page.getByLabel('Address', { exact: true }).inputValue()).toBe('half an addr')
    expect(await name.evaluate((input) => input.matches(':focus'))).toBe(true)
    await page.getByLabel('Address', { exact: true }).fill('')
  })

  it('asks before a private wallet becomes public, and before one is removed', async () => {
    await row(shortOf(secret)).getByRole('button', { name: 'Make public' }).click()
    const warning = page.locator('dialog')
    expect(await warning.textContent()).toContain(
      `Everybody will see that ${secret} belongs to your bundle`,
    )
    await screenshot(page, '3-warning', false)
    await confirm('Cancel')
    expect(await stateOf(shortOf(secret))).toEqual(['unverified', 'private'])
    await row(shortOf(secret)).getByRole('button', { name: 'Make public' }).click()
    await confirm('Make it public')
    await expectMessage('is public now')
    expect(await stateOf(shortOf(secret))).toEqual(['unverified'])
    await row(shortOf(secret)).getByRole('button', { name: 'Remove' }).click()
    await confirm('Remove it')
    await expectMessage('is removed')
    expect(await row(shortOf(secret)).count()).toBe(0)
  })

  it('registers a name on the selected chain, and follows it until it is final', async () => {
    const name = freshName('page')
    await goTo('Register')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByText(`${name}/ is free. It costs 0.01 ETH and gas.`).waitFor()
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.locator('dialog').waitFor()
    expect(await page.locator('dialog').textContent()).toContain('It costs 0.01 ETH and gas.')
    await confirm('Pay')
    await followed('finalized', name).waitFor()
    expect(wallet.chainId).toBe(hubOf().chainId)
    await expectMessage(`${name} is yours.`)
    const arrival = page.getByRole('region', { name: `${name}/ is yours` })
    await arrival.getByText(`${name}.local.eth`).waitFor()
    expect(await arrival.getByRole('link', { name: 'See its page' }).getAttribute('href')).toBe(
      `/${name}`,
    )
    await screenshot(page, '4-registered')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.locator('.price').filter({ hasText: 'The name is yours.' }).waitFor()
    await goTo('Bundle')
    await page.getByRole('link', { name: `${name}/` }).waitFor()
  })

  it('gets a name below a free community at once, and pays below a paid community', async () => {
    const ask = async (community: string, member: string) => {
      await page.getByLabel('Community', { exact: true }).fill(community)
      await page.getByLabel('Your name there').fill(member)
      await page.getByRole('button', { name: 'Get the name' }).click()
    }
    const member = freshName('m')
    await goTo('Communities')
    await ask('club', member)
    await expectMessage(`club/${member} is yours.`)
    await ask('guild', member)
    await page
      .locator('dialog')
      .filter({ hasText: 'It costs 0.001 ETH and gas, paid on local Ethereum (ETH)' })
      .waitFor()
    await screenshot(page, '7-paid-community', false)
    await confirm('Pay')
    await followed('finalized', `guild/${member}`).waitFor()
    await screenshot(page, '8-communities')
  })

  it('makes a name a community, sets a price, and registers for somebody', async () => {
    const name = await page.locator('select[name=own]').inputValue()
    await rules(name).getByText('Not a community yet').waitFor()
    const gift = page.getByRole('form', { name: `Register for somebody below ${name}` })
    expect(await gift.count()).toBe(0)
    await rules(name).getByRole('button', { name: 'Set the rules' }).click()
    await expectMessage(`Names below ${name} are free now.`)
    await gift.waitFor()
    await rules(name).getByRole('button', { name: 'Add a price' }).click()
    await rules(name).getByLabel('Price').fill('much')
    await rules(name).getByRole('button', { name: 'Set the rules' }).click()
    await expectMessage('is no amount')
    await rules(name).getByLabel('Price').fill('0.5')
    await rules(name).getByRole('button', { name: 'Set the rules' }).click()
    await expectMessage(`Names below ${name} are for 0.5 ETH now.`)
    const answer = await fetch(`${world().api}/v1/communities/${name}`)
    expect(await answer.json()).toMatchObject({
      prices: [{ network: '1', amount: '500000000000000000' }],
    })
    await gift.getByLabel('Name for somebody else').fill('guest')
    await gift.getByLabel('Wallet').fill(secret)
    await gift.getByRole('button', { name: 'Give the name' }).click()
    await expectMessage(`${name}/guest belongs to`)
    await screenshot(page, '9-rules')
  })

  it('makes an API key, shows it once, renames and revokes it', async () => {
    await goTo('API keys')
    await page.getByLabel('What it is for').fill('my site')
    await page.getByRole('button', { name: 'Make a key' }).click()
    await expectMessage('The key is made')
    expect(await page.locator('.secret code').textContent()).toMatch(/^ck_/)
    await page.getByLabel('New name').fill('shop')
    await page.getByRole('button', { name: 'Rename' }).click()
    await expectMessage('The key has its new name.')
    await page.getByRole('button', { name: 'Revoke: shop' }).click()
    await confirm('Revoke')
    await expectMessage('shop is revoked.')
  })

  it('generates a wallet, shows its shares once, and recovers the key with one', async () => {
    await goTo('Bundle')
    await page.getByLabel('Name of the new wallet').fill('made')
    await page.getByRole('button', { name: 'Generate' }).click()
    await expectMessage('The wallet is made')
    const share = await page.locator('.secret code').first().textContent()
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await expectMessage('It is marked as backed up.')
    expect(await page.locator('.secret').count()).toBe(0)
    const made = page.locator('tbody tr').filter({ hasText: 'backed up' })
    await page.getByText('Recover a key').click()
    await page
      .getByLabel('Address of the wallet')
      .fill((await made.locator('code').getAttribute('title'))!)
    await page.getByLabel('A share of its key').fill(share!)
    await page.getByRole('button', { name: 'Sign and recover' }).click()
    expect(await page.locator('.secret code').textContent()).toMatch(/^0x[0-9a-f]{64}$/)
  })

  it('stays signed in after a reload, refuses to pay from another account, and signs out for good', async () => {
    await goTo('Register')
    await page.reload()
    const key = await sessionKey()
    const own = wallet.account
    wallet.account = await freshWallet()
    await page.getByLabel('Name', { exact: true }).fill(freshName('page'))
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await confirm('Pay')
    await expectMessage('you are signed in as')
    wallet.account = own
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expectMessage('Signed out.')
    expect(await page.getByRole('button', { name: 'Register', exact: true }).count()).toBe(0)
    expect((await validated(key)).status).toBe(401)
  })

  it('signs out everywhere', async () => {
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await goTo('API keys')
    const key = await sessionKey()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await expectMessage('Signed out, wherever you were signed in.')
    expect((await validated(key)).status).toBe(401)
  })

  it('signs in a private wallet, and warns it before its registration makes it public', async () => {
    const hidden = await freshWallet()
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await goTo('Bundle')
    const id = (await page.locator('.card-head code').first().getAttribute('title'))!
    await page.getByLabel('Address', { exact: true }).fill(hidden.address)
    await page.getByLabel('Name', { exact: true }).fill('hidden')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expectMessage('only members see it')
    await page.getByRole('button', { name: 'Sign out' }).click()
    wallet.account = hidden
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByLabel('Name or id of the bundle').fill(id)
    await page.getByRole('button', { name: 'Join', exact: true }).click()
    await confirm('Join')
    await expectMessage('verified there now')
    expect(await stateOf('you')).toEqual(['verified', 'private'])

    const member = freshName('m')
    await goTo('Communities')
    await page.getByLabel('Community', { exact: true }).fill('club')
    await page.getByLabel('Your name there').fill(member)
    await page.getByRole('button', { name: 'Get the name' }).click()
    const question = page.locator('dialog').filter({ hasText: 'Everybody sees your address' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Your name there').inputValue()).toBe(member)
    await page.getByRole('button', { name: 'Get the name' }).click()
    await confirm('Get it all the same')
    await expectMessage(`club/${member} is yours.`)
    await goTo('Bundle')
    expect(await stateOf('you')).toEqual(['verified', 'private'])

    const name = freshName('page')
    await goTo('Register')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    const warning = page.locator('dialog').filter({ hasText: 'Your wallet becomes public' })
    await warning.waitFor()
    await screenshot(page, '5-becomes-public', false)
    await warning.getByRole('button', { name: 'Cancel' }).click()
    await warning.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(name)
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await confirm('Register all the same')
    await confirm('Pay')
    await followed('finalized', name).waitFor()
    await goTo('Bundle')
    await row('you').filter({ hasNotText: 'private' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expectMessage('Signed out.')
  })

  it('signs a Solana wallet in', async () => {
    await page.getByRole('button', { name: 'Test Solana' }).click()
    await expectMessage('Signed in')
    await page.getByText('Your wallet is verified in no bundle yet.').waitFor()
    expect(await page.locator('#who code').getAttribute('title')).toBe(solana.address)
  })

  it('is readable in dark mode and on a narrow screen, without horizontal scrolling', async () => {
    const dark = await browser.newContext({
      colorScheme: 'dark',
      viewport: { width: 360, height: 740 },
    })
    dark.setDefaultTimeout(WAIT_MS)
    const own = await addEvmWallet(dark, wallet.account, hubOf())
    const tab = await open(dark)
    await tab.getByRole('button', { name: 'Test Wallet' }).click()
    await tab.locator('tbody tr').first().waitFor()
    expect(own.asked).toContain('personal_sign')
    await screenshot(tab, '6-dark-narrow')
    const width = await tab.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
  })

  it('never violates its content security policy', () => {
    expect(faults).toEqual([])
  })
})
