import type { Page } from 'playwright-core'
import { hexToString } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Safe, startSafes, wrapSignature } from '../support/safe.js'
import { spokeOf } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { handsOf } from './hands.js'

const LABEL = '8453'

/** Safe's real contracts on a spoke, whose wallets have no code on the hub. */
describe.skipIf(findChromium() === null)('the pages with a smart wallet of a spoke', () => {
  const screen = narrowScreen()
  const { open, press, expectMessage, confirm, signIn } = handsOf(screen)
  let page: Page
  let safes: Awaited<ReturnType<typeof startSafes>>

  beforeAll(async () => {
    page = screen.page
    safes = await startSafes(spokeOf(LABEL).rpcUrl)
  })

  const plan = () => safes.plan(privateKeyToAccount(generatePrivateKey()))
  /** The Safe as an account of a browser's wallet: its owner signs for it. */
  const accountOf = (safe: Safe, as: typeof safes.sign = safes.sign): PrivateKeyAccount => ({
    ...safe.owner,
    address: safe.address,
    signMessage: ({ message }) =>
      as(safe, safe.owner, hexToString((message as { raw: `0x${string}` }).raw)),
  })

  /** Generates a wallet. @returns its address and one share of its key */
  async function generate(name: string): Promise<{ address: string; share: string }> {
    await page.getByLabel('Name of the new wallet').fill(name)
    await press('Generate')
    await expectMessage('The wallet is made')
    const share = await page.locator('.secret code').first().textContent()
    await press('I have kept them')
    await expectMessage('It is marked as backed up.')
    const made = page.locator('tbody tr').filter({ hasText: 'backed up' })
    expect(await made.getByRole('link', { name: 'Verify' }).count()).toBe(0)
    const address = await made.locator('code').getAttribute('title')
    return { address: address!, share: share! }
  }
  async function recover(address: string, share: string): Promise<void> {
    await page.getByText('Recover a key').click()
    await page.getByLabel('Address of the wallet').fill(address)
    await page.getByLabel('A share of its key').fill(share)
    await press('Sign and recover')
  }

  it('signs in on the chain that the wallet is on, and recovers a key', async () => {
    const safe = await plan()
    await safes.deploy(safe)
    screen.wallet.chainId = spokeOf(LABEL).chainId
    await signIn('/@account', accountOf(safe))
    await press('Create a bundle')
    await confirm('Create it')
    await expectMessage('The bundle is created.')
    const { address, share } = await generate('made')
    await recover(address, share)
    await page.locator('.secret code').waitFor()
    expect(await page.locator('.secret code').textContent()).toMatch(/^0x[0-9a-f]{64}$/)
  })

  it('is refused on another chain', async () => {
    const safe = await plan()
    await safes.deploy(safe)
    screen.wallet.chainId = 1
    screen.wallet.account = accountOf(safe)
    await open('/@account')
    await page.evaluate('sessionStorage.clear()')
    await open('/@account')
    await press('Test Wallet Ethereum')
    await expectMessage('The signature is not one of this wallet')
  })

  it('an account signs in with a wallet that does not tell its chain', async () => {
    screen.wallet.chainId = null
    await signIn('/@account')
    await press('Sign out')
    await expectMessage('Signed out.')
  })

  it('signs in before it is deployed', async () => {
    const safe = await plan()
    screen.wallet.chainId = spokeOf(LABEL).chainId
    const wrapped: typeof safes.sign = async (...asked) =>
      wrapSignature(await safes.sign(...asked), safe.deployment)
    await signIn('/@account', accountOf(safe, wrapped))
    await press('Sign out')
    await expectMessage('Signed out.')
  })

  it('signs in by an approval on its chain, without a wallet in the browser', async () => {
    const safe = await plan()
    await safes.deploy(safe)
    await open('/@account')
    await page.getByText('A wallet that signs elsewhere').click()
    await page.getByLabel('Its address').fill(safe.address)
    await page.getByLabel('Chain of a smart wallet').selectOption({ label: 'local Base' })
    await press('Get the message')
    const message = await page.locator('#to-sign').textContent()
    expect(message).toContain(`Chain ID: ${spokeOf(LABEL).chainId}`)
    await safes.approve(safe, message!)
    await page.getByLabel('The signature').fill('0x')
    await confirm('Go on')
    await expectMessage('Signed in.')
    await page.getByText('Your wallet is verified in no bundle yet.').waitFor()

    await press('Create a bundle')
    await confirm('Create it')
    await expectMessage('The bundle is created.')
    const { address, share } = await generate('made-elsewhere')
    await page.reload()
    await recover(address, share)
    await confirm('Cancel')
    await expectMessage('Nothing was signed.')
    await press('Sign and recover')
    const request = await page.locator('#to-sign').textContent()
    expect(request).toContain(address)
    expect(request).toContain(`Chain ID: ${spokeOf(LABEL).chainId}`)
    await safes.approve(safe, request!)
    await page.getByLabel('The signature').fill('0x')
    await confirm('Go on')
    await page.locator('.secret code').waitFor()
    expect(await page.locator('.secret code').textContent()).toMatch(/^0x[0-9a-f]{64}$/)
  })
})
