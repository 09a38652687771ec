import type { Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { until } from '../../src/testing/until.js'
import { loadRows, payBy } from '../support/airdrop.js'
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
import { endAtFirstFailure } from './steps.js'

/** Every button that sends a transaction, pressed twice: the second press sends nothing. */
describe.skipIf(findChromium() === null)('a button that sends a transaction', () => {
  const screen = narrowScreen()
  const { open, press, expectMessage, confirm, question, typed, signIn } = handsOf(screen)
  let page: Page
  let owner: PrivateKeyAccount
  const name = freshName('twice')

  beforeAll(() => {
    page = screen.page
  })
  endAtFirstFailure()

  const payments = () =>
    screen.wallet.asked.filter((method) => method === 'eth_sendTransaction').length
  const button = (label: string | RegExp) =>
    page.locator('main').getByRole('button', { name: label })
  const followed = (status: string, of: string) =>
    page.locator(`.followed li[data-status=${status}]`).filter({ hasText: of }).first().waitFor()
  /** Makes the chain's receipts wait, so that a transaction stays under way until `release`. */
  async function holdReceipts(): Promise<() => Promise<void>> {
    await page.evaluate(`{
      const ask = window.askTestWallet
      window.isHeld = true
      window.askTestWallet = (method, params) =>
        window.isHeld && method === 'eth_getTransactionReceipt' ? Promise.resolve(null) : ask(method, params)
    }`)
    return () => page.evaluate('window.isHeld = false')
  }
  /** Presses an offer's button twice. @param first presses it, and answers its question */
  async function pressTwice(label: string | RegExp, answer = async () => {}): Promise<void> {
    const before = payments()
    const release = await holdReceipts()
    await button(label).first().click()
    await answer()
    await expectMessage('Sent.')
    await button('Sent…').click()
    await expectMessage('Sent. It is done once the chain has confirmed it.')
    expect(payments()).toBe(before + 1)
    await release()
    await button('Sent…').waitFor({ state: 'detached' })
    expect(payments()).toBe(before + 1)
  }

  it('Register: the name has one outcome, also after a reload', async () => {
    owner = await signIn(`/@register?name=${name}`)
    await page.getByText(`${name}/ is free.`).waitFor()
    await press('Register')
    await confirm('Pay')
    await expectMessage('Sent.')
    const paid = payments()
    await open(`/@register?name=${name}`)
    await page.locator('.price').filter({ hasText: /\S/ }).waitFor()
    const main = async () => (await page.locator('main').textContent())!
    expect(await main()).not.toContain('is free')
    if ((await button('Register').count()) > 0) {
      await press('Register')
      await page.locator('dialog, .followed li[data-status=finalized]').first().waitFor()
      if ((await page.locator('dialog').count()) > 0) {
        await question('You have paid for it already')
        await confirm('Cancel')
      }
    }
    await followed('finalized', name)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.locator('.price').filter({ hasText: 'The name is yours.' }).waitFor()
    expect(await main()).not.toMatch(/is free|was first|is taken|not registered/)
    expect(await button('Register').count()).toBe(0)
    expect(payments()).toBe(paid)
  })

  it('a second payment for a name leaves one outcome, and says that it can be taken back', async () => {
    const again = freshName('again')
    await signIn('/@register')
    // quoted first: the page's payment may be final at once
    const quote = await quoteOn('1', screen.wallet.account.address, [{ name: again }])
    await typed(again)
    await confirm('Pay')
    await expectMessage('Sent.')
    const tx = await sendQuoted('1', screen.wallet.account, quote)
    await until.status(world(), tx, 'lost_bid')
    const payer = screen.wallet.account.address.toLowerCase()
    await followed('finalized', again)
    const stored = await page.evaluate<string>("sessionStorage.getItem('clusterd.followed')")
    const second = { title: again, tx, payer, isTestnet: false, status: null }
    const all = JSON.stringify([second, ...JSON.parse(stored)])
    await page.evaluate(`sessionStorage.setItem('clusterd.followed', ${JSON.stringify(all)})`)
    await page.reload()
    await page.getByText('You paid more than once').waitFor()
    expect(await page.locator('.followed li').count()).toBe(1)
    expect(await page.locator('main').textContent()).not.toMatch(/was first|not registered/)
  })

  it('a bid that another one overtakes in the wallet is lost and can be taken back, and does not run out of gas', async () => {
    const race = freshName('race')
    await signIn('/@register')
    await typed(race)
    screen.wallet.beforeSending = async () => {
      screen.wallet.beforeSending = undefined
      const tx = await registerOn('1', await freshWallet(), [{ name: race }])
      await until.status(world(), tx, 'finalized')
    }
    await confirm('Pay')
    await followed('lost_bid', race)
    await page.getByText('What was paid can be taken back').first().waitFor()
  })

  it('Set a primary name', async () => {
    await signIn('/@account', owner)
    await page.locator('select[name=primary]').selectOption(name)
    await pressTwice(/^Set /)
    await page.getByText('is set.').waitFor()
  })

  it('Take a refund; and why, where it was taken elsewhere', async () => {
    const payer = await signIn('/@refunds')
    const quotes = []
    for (let i = 0; i < 1; i++) {
      const lost = freshName('lost')
      const quote = await quoteOn('1', payer.address, [{ name: lost }])
      await until.status(
        world(),
        await registerOn('1', await freshWallet(), [{ name: lost }]),
        'finalized',
      )
      quotes.push(await sendQuoted('1', payer, quote))
    }
    for (const tx of quotes) await until.status(world(), tx, 'lost_bid')
    await page.reload()
    await button('Take it').waitFor()
    // the wallet takes it in another tab, of which this page knows nothing yet
    const { refunds } = (await (
      await fetch(`${world().api}/v1/refunds/${payer.address.toLowerCase()}`)
    ).json()) as { refunds: { transaction: { to: `0x${string}`; data: `0x${string}` } }[] }
    const client = createLocalWalletClient(hubOf(), payer)
    await page.route(/\/v1\/refunds\//, (route) =>
      route.fulfill({ json: { refunds, unavailable: [], truncated: false } }),
    )
    const { to, data } = refunds[0]!.transaction
    const hash = await client.sendTransaction({ to, data })
    await hubOf().reader.waitForTransactionReceipt({ hash })
    await button('Take it').click()
    await expectMessage('There is nothing left to take')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('Take a refund twice', async () => {
    const payer = await signIn('/@refunds')
    const lost = freshName('lost')
    const quote = await quoteOn('1', payer.address, [{ name: lost }])
    await until.status(
      world(),
      await registerOn('1', await freshWallet(), [{ name: lost }]),
      'finalized',
    )
    await until.status(world(), await sendQuoted('1', payer, quote), 'lost_bid')
    await page.reload()
    await button('Take it').waitFor()
    await pressTwice('Take it')
    await expectMessage('It is yours again.')
  })

  it('pays a community, whose owner takes the money', async () => {
    await signIn('/@communities', owner)
    const rules = page.getByRole('form', { name: `Rules of ${name}` })
    await rules.getByRole('button', { name: 'Add a price' }).click()
    await rules.getByLabel('Price').fill('0.001')
    await rules.getByRole('button', { name: 'Set the rules' }).click()
    await expectMessage(`Names below ${name} are for 0.001 ETH now.`)
    await signIn(`/@communities?community=${name}&name=zed`)
    const before = payments()
    await press('Get the name')
    await confirm('Pay')
    await expectMessage('Sent.')
    await page.getByLabel('Community', { exact: true }).fill(name)
    await page.getByLabel('Your name there').fill('zed')
    await press('Get the name')
    await page
      .locator('dialog, #message[data-kind=error], .followed li[data-status=finalized]')
      .first()
      .waitFor()
    expect(payments()).toBe(before + 1)
    if ((await page.locator('dialog').count()) > 0) await confirm('Cancel')
    await followed('finalized', `${name}/zed`)
    await signIn('/@communities', owner)
    await page.getByText('Earned: 0.001 ETH').waitFor()
    await pressTwice('Take it')
    await expectMessage('The money is yours.')
  })

  it('Claim an airdrop', async () => {
    const pool = createPool({ url: world().databaseUrl, max: 1, applicationName: 'claims' })
    const client = {
      walletClient: createLocalWalletClient(hubOf(), await freshWallet()),
      publicClient: hubOf().reader,
    }
    const rows = [
      { address: owner.address, amount: 1_500n },
      { address: `0x${'ab'.repeat(20)}`, amount: 7n },
    ]
    await payBy(pool, client, await loadRows(pool, rows, { community: name }))
    await pool.end()
    await signIn('/@airdrops', owner)
    await pressTwice('Claim', () => confirm('Claim'))
    await expectMessage('It is claimed.')
    await page.getByText('claimed', { exact: true }).waitFor()
  })
})
