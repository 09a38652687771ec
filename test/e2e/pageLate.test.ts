import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/testing/until.js'
import {
  freshName,
  freshWallet,
  hubOf,
  quoteOn,
  registerOn,
  sendQuoted,
  world,
} from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { handsOf } from './hands.js'

/** Time for a page to do something that it must not do. */
const MOMENT_MS = 1_000
/** Longer than the time limit of a wallet's answer. */
const PATIENCE_MS = 121_000

/** Responses that arrive when their wallet, page or form is gone. */
describe.skipIf(findChromium() === null)('the pages where something comes late', () => {
  const screen = narrowScreen()
  const { open, press, expectMessage, message, confirm, question, offered, typed, signIn } =
    handsOf(screen)
  let page: Page

  beforeAll(() => {
    page = screen.page
  })

  const session = () => page.evaluate<string | null>("sessionStorage.getItem('clusterd.session')")
  const followed = (status: string, name: string) =>
    page.locator(`.followed li[data-status=${status}]`).filter({ hasText: name }).first().waitFor()
  async function signInOther() {
    await press('Sign out')
    await expectMessage('Signed out.')
    screen.wallet.account = await freshWallet()
    await press('Test Wallet Ethereum')
    await expectMessage('Signed in.')
  }
  async function leaveAndReturn(title: string) {
    await page.getByRole('link', { name: 'clusterd' }).first().click()
    await page.locator('.chains li').first().waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  }
  /** Holds matching requests. @returns function that releases them */
  async function held(paths: RegExp, asked = 'POST'): Promise<() => void> {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(paths, async (route) => {
      if (route.request().method() !== asked) return route.continue()
      await gate
      await route.continue()
    })
    return release
  }
  /** Makes the wallet hold payments. @returns function that releases them */
  function slowToSign(): () => void {
    const { account } = screen.wallet
    let sign = () => {}
    const pressed = new Promise<void>((resolve) => {
      sign = resolve
    })
    const signTransaction = (async (...asked: Parameters<typeof account.signTransaction>) => {
      await pressed
      return account.signTransaction(...asked)
    }) as typeof account.signTransaction
    screen.wallet.account = { ...account, signTransaction }
    return sign
  }

  it.each([
    ['on its page', false],
    ['whose page was left', true],
  ])(
    'a response for the previous wallet, %s, does not affect the next one or its key',
    async (_, isLeft) => {
      await signIn('/@keys')
      const release = await held(/\/v1\/keys$/)
      await page.getByLabel('What it is for').fill('of the first')
      await press('Make a key')
      if (isLeft) await leaveAndReturn('API keys')
      await signInOther()
      const validated = page.waitForResponse(/auth\/validate/)
      release()
      await validated
      await page.waitForTimeout(MOMENT_MS)
      expect(await message()).toBe('Signed in.')
      expect(await session()).not.toBeNull()
    },
  )

  it('the end of a payment is not shown to another wallet', async () => {
    const first = await signIn('/@register')
    const name = freshName('other')
    const tx = await registerOn('1', first, [{ name }])
    await until.status(world(), tx, 'finalized')
    const sent = {
      title: name,
      tx,
      payer: first.address.toLowerCase(),
      isTestnet: false,
      status: null,
    }
    await signInOther()
    await page.evaluate(
      `sessionStorage.setItem('clusterd.followed', ${JSON.stringify(JSON.stringify([sent]))})`,
    )
    const asked = page.waitForResponse(/register\/tx\//)
    await page.reload()
    await asked
    await page.waitForTimeout(MOMENT_MS)
    expect(await page.locator('main').textContent()).not.toContain(name)
  })

  it('a payment that its wallet sends after its page was left is followed on the next page', async () => {
    await signIn('/@register')
    const name = freshName('left')
    const sign = slowToSign()
    await typed(name)
    await confirm('Pay')
    await expectMessage('Waiting for your wallet')
    await leaveAndReturn('Register')
    sign()
    await followed('finalized', name)
    await expectMessage(`${name} is yours.`)
    expect(await page.evaluate<string>("sessionStorage.getItem('clusterd.followed')")).toContain(
      name,
    )
  })

  it('a payment warns when another one for the same name is pending', async () => {
    const first = await signIn('/@register')
    const name = freshName('again')
    const payer = first.address.toLowerCase()
    const sent = (title: string, byte: string) => ({
      title,
      tx: `0x${byte.repeat(32)}`,
      payer,
      isTestnet: false,
    })
    const all = JSON.stringify([sent(name, 'ab'), sent(`guild/${name}`, 'ac')])
    await page.evaluate(`sessionStorage.setItem('clusterd.followed', ${JSON.stringify(all)})`)
    await page.reload()
    await followed('not_found', name)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.locator('.price').filter({ hasText: 'no chain has it yet' }).waitFor()
    await press('Register')
    await page.locator('dialog').waitFor()
    expect(await page.locator('dialog').textContent()).toContain('You have paid for it already')
    await confirm('Cancel')
    await page.getByLabel('Name', { exact: true }).fill('')
    await typed(freshName('fresh'))
    await page.locator('dialog').waitFor()
    expect(await page.locator('dialog').textContent()).not.toContain('already')
    await confirm('Cancel')
    await page.getByRole('link', { name: 'Communities' }).click()
    await page.getByLabel('Community', { exact: true }).fill('guild')
    await page.getByLabel('Your name there').fill(name)
    await press('Get the name')
    await page.locator('dialog').filter({ hasText: 'You have paid for it already' }).waitFor()
    await confirm('Cancel')
  })

  it('many pending payments do not use up the browser’s connections', async () => {
    const first = await signIn('/@register')
    const payer = first.address.toLowerCase()
    // a browser has six connections to a service; each payment takes a pause and an answer of 200 ms
    const many = 7
    const all = Array.from({ length: many }, (_, i) => ({
      title: `stuck-${i}`,
      tx: `0x${String(i).padStart(64, '0')}`,
      payer,
      isTestnet: false,
      status: null,
    }))
    await page.evaluate(
      `sessionStorage.setItem('clusterd.followed', ${JSON.stringify(JSON.stringify(all))})`,
    )
    let asked = 0
    let most = 0
    const seen = new Set<string>()
    await page.route(/register\/tx\//, async (route) => {
      most = Math.max(most, ++asked)
      await new Promise((resolve) => setTimeout(resolve, 200))
      asked--
      const tx = /0x\w{64}/.exec(route.request().url())![0]
      seen.add(tx)
      await route.fulfill({ json: { tx, status: 'not_found' } }).catch(() => {})
    })
    await page.reload()
    await expect.poll(() => seen.size, { timeout: 20_000 }).toBe(many)
    expect(most).toBeLessThanOrEqual(3)
  })

  it('a question of the previous wallet is not shown to the next one', async () => {
    await signIn('/@register')
    const name = freshName('asked')
    await offered(name)
    const release = await held(/register\/check$/)
    await press('Register')
    await signInOther()
    const quoted = page.waitForResponse(/names\/register\/evm$/)
    release()
    await quoted
    await page.waitForTimeout(MOMENT_MS)
    expect(await page.locator('dialog').count()).toBe(0)
  })

  it('a question waits until the previous one is answered', async () => {
    await signIn('/@register')
    const name = freshName('second')
    await offered(name)
    const release = await held(/register\/check$/)
    await press('Register')
    await page.locator('.tabs').getByRole('link', { name: 'Bundle' }).click()
    await press('Create a bundle')
    await question('Create a bundle?')
    const quoted = page.waitForResponse(/names\/register\/evm$/)
    release()
    await quoted
    await page.waitForTimeout(MOMENT_MS)
    expect(await page.locator('dialog').textContent()).toContain('Create a bundle?')
    await page.keyboard.press('Escape')
    await question(`Register ${name}?`)
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await press('Create a bundle')
    await question('Create a bundle?')
    await confirm('Cancel')
  })

  it('a question ends with its wallet’s session, and does not block the next wallet’s', async () => {
    await signIn('/@register')
    const name = freshName('gone')
    await offered(name)
    const quote = await held(/register\/check$/)
    const end = await held(/auth\/token$/, 'DELETE')
    await press('Register')
    await press('Sign out')
    quote()
    await question(`Register ${name}?`)
    end()
    await expectMessage('Signed out.')
    await page.locator('dialog').waitFor({ state: 'detached' })
    screen.wallet.account = await freshWallet()
    await press('Test Wallet Ethereum')
    await expectMessage('Signed in.')
    await page.locator('.tabs').getByRole('link', { name: 'Bundle' }).click()
    await press('Create a bundle')
    await question('Create a bundle?')
    await confirm('Cancel')
  })

  it('a question that waited includes payments made meanwhile, and a second click does not answer it', async () => {
    await signIn('/@register')
    const name = freshName('twice')
    const sign = slowToSign()
    const release = await held(/register\/check$/)
    const payments = () =>
      screen.wallet.asked.filter((method) => method === 'eth_sendTransaction').length
    const before = payments()
    for (let asked = 0; asked < 3; asked++) {
      await page.getByLabel('Name', { exact: true }).fill(name)
      await press('Register')
      await page.locator('.tabs').getByRole('link', { name: 'Bundle' }).click()
      await page.getByRole('heading', { name: 'Bundle', level: 1 }).waitFor()
      await page.locator('.tabs').getByRole('link', { name: 'Register' }).click()
    }
    release()
    await question(`Register ${name}?`)
    await page.waitForTimeout(MOMENT_MS)
    // both clicks by the page's own timers, because on a busy machine they would be too far apart
    const pay = `[...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'Pay')?.click()`
    await page.evaluate(`${pay}; setTimeout(() => ${pay}, 120)`)
    for (let later = 0; later < 2; later++) {
      await question('Your wallet was asked to pay for it before')
      await confirm('Cancel')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    sign()
    await followed('finalized', name)
    expect(payments()).toBe(before + 1)
  })

  it('a payment that a slow wallet finally refuses is reported, and leaves the list', async () => {
    await page.clock.install()
    await signIn('/@register')
    const name = freshName('owed')
    const quote = await quoteOn('1', screen.wallet.account.address, [{ name }])
    const hash = await registerOn('1', await freshWallet(), [{ name }])
    await hubOf().reader.waitForTransactionReceipt({ hash })
    await sendQuoted('1', screen.wallet.account, quote)
    await open('/@refunds')
    await expect
      .poll(async () => {
        await page.reload()
        await page.locator('.empty, .rows li').first().waitFor()
        return page.locator('main').textContent()
      })
      .toContain('for bids that came too late')
    const sign = slowToSign()
    await press('Take it')
    await expectMessage('Waiting for your wallet')
    await page.clock.fastForward(PATIENCE_MS)
    await expectMessage('Your wallet has not answered')
    sign()
    await expectMessage('Sent.')
    await page.getByText('Nothing is owed to your wallet.').waitFor()
    await expectMessage('It is yours again.')
  })

  it('a wallet that does not answer keeps no button busy, and its late payment is followed', async () => {
    await page.clock.install()
    await signIn('/@register')
    const name = freshName('slow')
    const sign = slowToSign()
    await typed(name)
    await confirm('Pay')
    await expectMessage('Waiting for your wallet')
    await page.clock.fastForward(PATIENCE_MS)
    await expectMessage('Your wallet has not answered')
    await press('Register')
    await question('Your wallet was asked to pay for it before')
    await confirm('Cancel')
    await leaveAndReturn('Register')
    await typed(name)
    await question('Your wallet was asked to pay for it before')
    await confirm('Cancel')
    sign()
    await followed('finalized', name)
    await expectMessage(`${name} is yours.`)
  })

  it('after the wallet’s window was closed, sign-in can be pressed again', async () => {
    await page.clock.install()
    screen.wallet.account = await freshWallet()
    const { account } = screen.wallet
    await open('/@account')
    await page.evaluate('sessionStorage.clear()')
    await open('/@account')
    screen.wallet.account = { ...account, signMessage: () => new Promise(() => {}) }
    await press('Test Wallet Ethereum')
    await expect.poll(() => screen.wallet.asked.at(-1)).toBe('personal_sign')
    await page.clock.fastForward(PATIENCE_MS)
    await expectMessage('Your wallet has not answered')
    screen.wallet.account = account
    await press('Test Wallet Ethereum')
    await expectMessage('Signed in.')
  })

  it('works where the browser stores nothing', async () => {
    await page.addInitScript({
      content: `Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('Access is denied.') } })`,
    })
    await open('/@account')
    await press('Test Wallet Ethereum')
    await expectMessage('Signed in.')
    await page.getByText('Your wallet is verified in no bundle yet.').waitFor()
  })
})
