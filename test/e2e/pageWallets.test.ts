import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { SIGNERS } from '../support/signers.js'
import { freshWallet, world } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { handsOf } from './hands.js'

const LONG = 'W'.repeat(200)
/** Pause before a wallet adds itself to the page. */
const LATE_MS = 700
/** Wallets that only sign, one of each kind. */
const SIGN_ONLY = Object.values(SIGNERS).flatMap((signers) =>
  'inBrowser' in signers ? [{ accounts: signers.accounts, ...signers.inBrowser }] : [],
)

/** Wallets that violate their standards, and keys that expire while a visitor types. */
describe.skipIf(findChromium() === null)('the pages with odd wallets and old keys', () => {
  const screen = narrowScreen()
  const { press, expectMessage, confirm } = handsOf(screen)
  let page: Page

  beforeAll(async () => {
    page = screen.page
    for (const [i, { accounts, place, script }] of SIGN_ONLY.entries()) {
      const { address, sign } = (await accounts(randomBytes(32)))[place]!
      await screen.context.exposeFunction(`sign${i}`, sign)
      await screen.context.addInitScript({ content: script(address, `window.sign${i}`) })
    }
    await screen.context.addInitScript({
      content: `{
        const announce = (info, request) =>
          window.addEventListener('eip6963:requestProvider', () =>
            window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request } } })))
        announce({ uuid: 'twin', name: 'Twin', icon: 'https://example.com/icon.png', rdns: 'example.test' }, () => { throw new Error('Twin throws.') })
        announce({ uuid: 'none', name: 'None', rdns: 'none.test' }, async () => null)
        announce({ uuid: 'long', name: '${LONG}', icon: 'data:text/html,x', rdns: 'long.test' }, async () => [])
        const broken = { version: '1.0.0', name: 'Broken', icon: '', accounts: [], get chains() { throw new Error('broken') }, features: {} }
        window.addEventListener('wallet-standard:app-ready', ({ detail }) => {
          detail.register(broken)
          detail.register({ version: '1.0.0', name: 'Half', accounts: [], features: {} })
          const connect = () => { throw new Error('Late throws.') }
          const features = { 'standard:connect': { connect }, 'solana:signMessage': {} }
          detail.register({ version: '1.0.0', name: 'Late', icon: '', accounts: [], chains: ['solana:mainnet'], features })
        })
      }`,
    })
    await page.goto(`${world().api}/@account`)
  })

  const wallet = (name: string) => page.locator('.wallets').getByRole('button', { name })
  const readToken = async (): Promise<string> =>
    JSON.parse(await page.evaluate<string>("sessionStorage.getItem('clusterd.session')")).token
  const revoke = async (token?: string) => {
    const headers = { authorization: `Bearer ${token ?? (await readToken())}` }
    await fetch(`${world().api}/v1/auth/token`, { method: 'DELETE', headers })
  }

  it('shows every usable wallet, also two with one id, within a narrow screen', async () => {
    await wallet('Late').waitFor()
    const shown = await page.locator('.wallets li span').allTextContents()
    const others = SIGN_ONLY.map(({ name }) => name)
    expect(shown.sort()).toEqual(['Late', 'None', 'Test Wallet', 'Twin', LONG, ...others].sort())
    expect(await page.locator('.wallets img').count()).toBe(1)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  })

  it('finds wallets that announce themselves late', async () => {
    const context = await screen.context.browser()!.newContext()
    const late = await context.newPage()
    await late.goto(`${world().api}/@account`)
    await late.getByText('No wallet was found').waitFor()
    for (const { accounts, place, script, name } of SIGN_ONLY) {
      const { address } = (await accounts(randomBytes(32)))[place]!
      await late.waitForTimeout(LATE_MS)
      await late.evaluate(script(address, 'null'))
      await late.locator('.wallets').getByRole('button', { name }).waitFor()
    }
    await context.close()
  })

  it('shows a wallet’s refusal, thrown synchronously or not', async () => {
    for (const [name, text] of [
      ['Twin', 'Twin throws.'],
      ['Late', 'Late throws.'],
      ['None', 'None gave no account.'],
      [LONG, 'gave no account.'],
    ] as const) {
      await wallet(name).click()
      await expectMessage(text)
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(
        360,
      )
    }
  })

  it.each(SIGN_ONLY)('signs in with $name', async ({ name }) => {
    await wallet(name).click()
    await expectMessage('Signed in.')
    await press('Sign out')
    await expectMessage('Signed out.')
  })

  it('signs in with a wallet outside the browser, by a typed signature', async () => {
    const bitcoin = (await SIGNERS.bitcoin.accounts(randomBytes(32)))[2]!
    await page.getByText('A wallet that signs elsewhere').click()
    await page.getByLabel('Its address').fill(bitcoin.address)
    await page.getByLabel('Its kind').selectOption('bitcoin')
    await press('Get the message')
    const message = await page.locator('#to-sign').textContent()
    expect(await page.locator('#to-sign code').innerText(), 'its lines are shown').toBe(message)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await page.getByLabel('The signature').fill(await bitcoin.sign(message!))
    await confirm('Go on')
    await expectMessage('Signed in.')
    await press('Sign out')
    await expectMessage('Signed out.')
  })

  it('signs in again when a key has ended, and keeps typed text', async () => {
    await wallet('Test Wallet').click()
    await press('Create a bundle')
    await page.locator('dialog').getByRole('button', { name: 'Create it' }).click()
    await expectMessage('The bundle is created.')
    await page.getByLabel('Address', { exact: true }).fill(`0x${'f7'.repeat(20)}`)
    await page.getByLabel('Name', { exact: true }).fill('typed')
    await revoke()
    await press('Add')
    await expectMessage('sign in again')
    expect(await page.evaluate("sessionStorage.getItem('clusterd.session')")).toBeNull()
    await wallet('Test Wallet').click()
    await expectMessage('Signed in.')
    expect(await page.locator('.wallets').count()).toBe(0)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('typed')
    await press('Add')
    await expectMessage('Added; only members see it.')
  })

  it('keeps no data of the previous wallet when another one signs in', async () => {
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByLabel('What it is for').fill('typed before')
    await revoke()
    await press('Make a key')
    await expectMessage('sign in again')
    screen.wallet.account = await freshWallet()
    await wallet('Test Wallet').click()
    await expectMessage('Signed in.')
    expect(await page.getByLabel('What it is for').inputValue()).toBe('')
  })

  it('a page that opens with an expired key asks to sign in', async () => {
    const token = await readToken()
    // the page that has signed in may still read its data, and forgets a key that is refused
    const url = page.url()
    await page.goto('about:blank')
    await revoke(token)
    await page.goto(url)
    await expectMessage('sign in again')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    expect(await page.getByRole('form').count()).toBe(0)
  })
})
