import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { freshName } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { handsOf } from './hands.js'

/** Time for a page to do something that it must not do; it polls every second. */
const MOMENT_MS = 2_500
/** Pause between the two clicks of a double click. */
const SECOND_CLICK_MS = 150
/** Transactions that survive a reload, whatever their status. */
const KEPT = 20

/** What the pages store and show about money. */
describe.skipIf(findChromium() === null)('the pages and what is paid', () => {
  const screen = narrowScreen()
  const { press, expectMessage, message, confirm, question, typed, signIn } = handsOf(screen)
  let page: Page

  beforeAll(() => {
    page = screen.page
  })

  const item = (name: string) =>
    page.evaluate<string | null>(`sessionStorage.getItem('clusterd.${name}')`)
  /** Sets the wallet's answer to payments. */
  const walletAnswers = (answer: string) =>
    page.evaluate(`{
      const ask = window.askTestWallet
      window.askTestWallet = (method, params) => method === 'eth_sendTransaction' ? ${answer} : ask(method, params)
    }`)

  it('a payment that a wallet has not answered survives a reload, until its visitor signs out', async () => {
    await signIn('/@register')
    const name = freshName('asked')
    await walletAnswers('new Promise(() => {})')
    await typed(name)
    await question(`Register ${name}?`)
    expect(await page.locator('dialog').textContent()).not.toContain('before')
    await confirm('Pay')
    await expectMessage('Waiting for your wallet')
    await page.reload()
    await typed(name)
    await question('Your wallet was asked to pay for it before')
    await confirm('Cancel')
    await press('Sign out')
    await expectMessage('Signed out.')
    expect(await item('followed')).toBeNull()
  })

  it('a payment that a wallet refused is shown as refused, also after a reload', async () => {
    await signIn('/@register')
    const name = freshName('refused')
    await walletAnswers('Promise.reject(new Error("Declined."))')
    await typed(name)
    await confirm('Pay')
    await expectMessage('Declined.')
    await page.reload()
    await typed(name)
    await question(`Register ${name}?`)
    expect(await page.locator('dialog').textContent()).not.toContain('before')
    await confirm('Cancel')
  })

  it('an empty answer of a wallet does not count as a payment', async () => {
    await signIn('/@register')
    await walletAnswers('Promise.resolve(null)')
    await typed(freshName('nothing'))
    await confirm('Pay')
    await expectMessage('has not sent the transaction')
    expect(await item('followed')).toBeNull()
  })

  it('a pending payment survives, however many came after it', async () => {
    const payer = (await signIn('/@register')).address.toLowerCase()
    const sent = (i: number, status: string | null) => {
      const tx = `0x${String(i).padStart(64, '0')}`
      return { title: `sent-${i}`, tx, payer, isTestnet: false, status: status && { tx, status } }
    }
    const all = [...Array.from({ length: KEPT }, (_, i) => sent(i, 'finalized')), sent(KEPT, null)]
    await page.evaluate(
      `sessionStorage.setItem('clusterd.followed', ${JSON.stringify(JSON.stringify(all))})`,
    )
    const asked = page.waitForResponse(/register\/tx\//)
    await page.reload()
    await asked
    await page.waitForTimeout(MOMENT_MS)
    await page.reload()
    await page
      .locator('.followed li[data-status=not_found]')
      .filter({ hasText: `sent-${KEPT}` })
      .waitFor()
  })

  it('a refund counts as taken once its chain responds without it, whatever else changes', async () => {
    const owed = (amount: string) => ({
      owedBy: 'payments',
      network: '1',
      token: 'native',
      amount,
      transaction: { type: 'evm', to: `0x${'fe'.repeat(20)}`, data: '0x', value: '0' },
    })
    let now: object = {
      refunds: [owed('1000000000000000'), owed('2000000000000000')],
      unavailable: [],
    }
    await page.route(/\/v1\/refunds\//, (route) =>
      route.fulfill({ json: { truncated: false, ...now } }),
    )
    await signIn('/@refunds')
    const taking = page
      .locator('.rows li')
      .filter({ hasText: '0.002 ETH' })
      .getByRole('button', { name: 'Take it' })
    await taking.click()
    await expectMessage('Sent.')
    const others = {
      'another refund is gone': { refunds: [owed('2000000000000000')], unavailable: [] },
      'the chain is away': { refunds: [], unavailable: ['1'] },
    }
    for (const [name, answer] of Object.entries(others)) {
      now = answer
      await page.waitForTimeout(MOMENT_MS)
      expect(await message(), name).toContain('Sent.')
    }
    now = { refunds: [], unavailable: [] }
    await expectMessage('It is yours again.')
  })

  it('a screen reader reads a question with its text', async () => {
    await signIn('/@account')
    await press('Create a bundle')
    await question('Create a bundle?')
    const words =
      "document.getElementById(document.querySelector('dialog').getAttribute('aria-describedby'))?.textContent"
    expect(await page.evaluate(words)).toContain('it cannot be made private later')
    await confirm('Cancel')
  })

  it('a double click that opens a question does not answer it', async () => {
    await signIn('/@account')
    await press('Create a bundle')
    await question('Create a bundle?')
    const yes = (await page
      .locator('dialog')
      .getByRole('button', { name: 'Create it' })
      .boundingBox())!
    await confirm('Cancel')
    await page.waitForTimeout(MOMENT_MS)
    const x = yes.x + yes.width / 2
    const y = yes.y + yes.height / 2
    await page.evaluate(`{
      const { style } = [...document.querySelectorAll('main button')].find((one) => one.textContent === 'Create a bundle')
      Object.assign(style, { position: 'fixed', left: '${x - 20}px', top: '${y - 20}px' })
    }`)
    // both clicks by the page's own timers, because on a busy machine they would be too far apart
    const click = `document.elementFromPoint(${x}, ${y}).click()`
    await page.evaluate(`${click}; setTimeout(() => ${click}, ${SECOND_CLICK_MS})`)
    await page.waitForTimeout(MOMENT_MS)
    expect(await page.locator('dialog').textContent()).toContain('Create a bundle?')
    await confirm('Create it')
    await expectMessage('The bundle is created.')
  })
})
