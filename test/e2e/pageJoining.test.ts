import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { pause } from '../../src/client/time.js'
import { until } from '../../src/testing/until.js'
import { memberOf } from '../api/members.js'
import { freshName, freshWallet, registerOn, world } from '../support/world.js'
import { findChromium, narrowScreen } from './browser.js'
import { handsOf } from './hands.js'
import { apiOf } from './sharedApi.js'
import { endAtFirstFailure } from './steps.js'

/** Time for a page to do something that it must not do. */
const MOMENT_MS = 1_000

/** How wallets join a bundle: they are listed, see it, and are asked for each name that moves. */
describe.skipIf(findChromium() === null)('joining a bundle', () => {
  const screen = narrowScreen()
  const { open, press, expectMessage, message, confirm, question, signIn } = handsOf(screen)
  let page: Page
  const name = freshName('join')

  beforeAll(() => {
    page = screen.page
  })
  endAtFirstFailure()

  const add = async (address: string, as: string, isPrivate: boolean) => {
    const form = page.getByRole('form', { name: 'Add a wallet' })
    await form.getByLabel('Address').fill(address)
    await form.getByLabel('Name').fill(as)
    if (!isPrivate) await form.getByRole('checkbox').uncheck()
    await form.getByRole('button').click()
    await expectMessage('Added;')
  }
  const invitations = () => page.getByRole('region', { name: 'Bundles that list your wallet' })

  it('an unverified row says how to verify it, and a private member sees its bundle’s names', async () => {
    const owner = await freshWallet()
    const hidden = await freshWallet()
    await until.status(world(), await registerOn('1', owner, [{ name }]), 'finalized')
    await signIn('/@account', owner)
    await add(hidden.address, 'hidden', true)
    await page.getByRole('link', { name: 'Verify: hidden' }).click()
    await expect.poll(message, { message: 'a message ends with its address' }).toBe('')
    const link = await page
      .getByRole('region', { name: 'Verify a wallet' })
      .locator('code')
      .textContent()
    expect(link).toContain('/@account?join=0x')
    await signIn(new URL(link!).pathname + new URL(link!).search, hidden)
    await page.getByText('verified in no bundle yet').waitFor()
    expect(await invitations().count()).toBe(0)
    await press('Join')
    await confirm('Join')
    await expectMessage('verified there now')
    await page
      .locator('.own')
      .getByRole('link', { name: `${name}/` })
      .waitFor()
    await page.getByRole('region', { name: 'Primary name' }).waitFor()
    const read = await (
      await fetch(`${world().api}/v1/names/owner/address/${hidden.address}`)
    ).json()
    expect(read, 'nobody else sees the private member’s names').toEqual([])
  })

  it('joins by name, after a second question for each name that moves', async () => {
    const own = freshName('moves')
    const wallet = await freshWallet()
    await until.status(world(), await registerOn('1', wallet, [{ name: own }]), 'finalized')
    const host = await memberOf(apiOf(world()))
    const bundle = freshName('host')
    await host.create()
    await host.call('POST', '/v1/clusters/wallets', [
      { address: wallet.address, name: 'guest', isPrivate: false },
    ])
    const other = await freshWallet()
    await until.status(world(), await registerOn('1', other, [{ name: bundle }]), 'finalized')
    const lister = await memberOf(apiOf(world()), other)
    await lister.call('POST', '/v1/clusters/wallets', [
      { address: wallet.address, name: 'second', isPrivate: false },
    ])
    await signIn('/@register', wallet)
    await page.getByRole('link', { name: 'Bundle', exact: true }).click()
    await invitations().getByText('as guest').waitFor()
    await invitations()
      .getByRole('link', { name: `${bundle}/` })
      .waitFor()
    await invitations()
      .getByRole('button', { name: `Join ${bundle}` })
      .click()
    await expectMessage('Joining moves your names.')
    expect(await page.locator('dialog').count()).toBe(0)
    const typeAndJoin = async () => {
      await page.getByLabel('Name or id of the bundle').fill(bundle)
      await page
        .getByRole('form', { name: 'Join another bundle' })
        .getByRole('button', { name: 'Join' })
        .click()
    }
    await typeAndJoin()
    await question(`Join ${bundle.slice(0, 6)}`)
    await confirm('Join')
    await question('Move your names too?')
    expect(await page.locator('dialog').textContent()).toContain(`${own}/`)
    await confirm('Cancel')
    expect(await (await fetch(`${world().api}/v1/clusters/name/${own}`)).json()).toMatchObject({
      wallets: [{ address: wallet.address.toLowerCase() }],
    })
    await typeAndJoin()
    await confirm('Join')
    await question('Move your names too?')
    await confirm('Move them')
    await expectMessage('verified there now')
    await page
      .locator('.own')
      .getByRole('link', { name: `${own}/` })
      .waitFor()
    await invitations().getByText('as second').waitFor({ state: 'detached' })
  })

  it('a member signs its membership in public, and everybody sees the mark', async () => {
    const owner = await freshWallet()
    const guest = await freshWallet()
    const shown = freshName('signed')
    await until.status(world(), await registerOn('1', owner, [{ name: shown }]), 'finalized')
    await signIn('/@account', owner)
    await page.getByText('registered', { exact: true }).waitFor()
    await add(guest.address, 'guest', false)
    await press('Sign your membership')
    await question('Sign your membership?')
    await confirm('Sign it')
    await expectMessage('Signed. The signature is public in some 12 minutes.')
    await page.getByText('signed', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Sign your membership' }).count()).toBe(0)

    await signIn('/@account', guest)
    const form = page.getByRole('form', { name: 'Join another bundle' })
    await form.getByLabel('Name or id of the bundle').fill(shown)
    await form.getByLabel('Sign it').check()
    await form.getByRole('button', { name: 'Join' }).click()
    await confirm('Join')
    await expectMessage('Signed.')
    await open(`/${shown}`)
    const wallets = page.getByRole('region', { name: 'Wallets' })
    await wallets.getByText('signed', { exact: true }).nth(1).waitFor()
  })

  it('a private member sees the names of a bundle that has no public wallet, and nobody else does', async () => {
    const owner = await freshWallet()
    const hidden = await freshWallet()
    const own = freshName('veiled')
    await until.status(world(), await registerOn('1', owner, [{ name: own }]), 'finalized')
    const api = apiOf(world())
    const first = await memberOf(api, owner)
    const { body: bundle } = await api.get(`/v1/clusters/name/${own}`)
    await first.call('POST', '/v1/clusters/wallets', [
      { address: hidden.address, name: 'hidden', isPrivate: true },
    ])
    const member = await memberOf(api, hidden)
    await member.call('POST', `/v1/clusters/verify/${bundle.id}`)
    await first.call('DELETE', '/v1/clusters/wallets', [owner.address])
    await signIn('/@account', hidden)
    await page
      .locator('.own')
      .getByRole('link', { name: `${own}/` })
      .waitFor()
    const path = `/v1/clusters/address/${hidden.address}?orNull=true&names=true`
    const nothing = { clusterId: null }
    expect((await api.get(path)).body).toEqual(nothing)
    expect((await first.call('GET', path)).body).toEqual(nothing)
    expect((await member.call('GET', path)).body).toMatchObject({ names: [own] })
    const opened = page.waitForResponse(/\/v1\/auth\/token$/)
    await press('Sign your membership')
    await question('the signature is public once the wallet is')
    await confirm('Sign it')
    await expectMessage('Signed. The signature is public once the wallet is.')
    const { token } = await (await opened).json()
    const asked = { headers: { authorization: `Bearer ${token}` } }
    const { status } = await fetch(`${world().api}/v1/auth/validate`, asked)
    expect(status, 'the key of the published text is revoked').toBe(401)
    await open(`/${own}`)
    await page.getByText('No public wallet is verified here').waitFor()
    expect(await page.locator('main').innerText()).not.toContain(hidden.address.slice(0, 6))
  })

  it('a tab on any page forgets a wallet that is signed out elsewhere', async () => {
    await signIn('/@account')
    const tab = await screen.context.newPage()
    await tab.goto(`${world().api}/@keys`)
    await tab.locator('#who').waitFor()
    await tab.goto(`${world().api}/${name}`)
    const stored = () => tab.evaluate("sessionStorage.getItem('clusterd.session')")
    expect(await stored()).not.toBeNull()
    await press('Sign out')
    await expectMessage('Signed out.')
    await expect.poll(stored).toBeNull()
    await tab.close()
  })

  it('a new tab is signed in, and signed out with the first', async () => {
    await signIn('/@account')
    const tab = await screen.context.newPage()
    await tab.goto(`${world().api}/@keys`)
    await tab.locator('#who').waitFor()
    const stored = (item: string) =>
      tab.evaluate<string | null>(`sessionStorage.getItem('clusterd.${item}')`)
    const session = await stored('session')
    const payment = { title: 'secret-plan', payer: 'x', isTestnet: false, tx: '0x00', status: null }
    const followed = JSON.stringify(JSON.stringify([{ ...payment, isOffer: true }]))
    await tab.evaluate(`sessionStorage.setItem('clusterd.followed', ${followed})`)
    await tab.reload()
    await tab.locator('#who').waitFor()
    await press('Sign out')
    await expectMessage('Signed out.')
    await tab.locator('#who').waitFor({ state: 'detached' })
    expect(await stored('followed'), 'the other tab forgets what was paid').toBeNull()
    // a tab that is slow gives the session just after it ended
    await page.evaluate(`{
      const tabs = new BroadcastChannel('clusterd.session')
      tabs.onmessage = ({ data }) => {
        if (!('asks' in data)) return
        tabs.postMessage({ ended: ${session}.token })
        tabs.postMessage({ gives: ${session} })
      }
    }`)
    await tab.route('**/v1/auth/validate*', () => {})
    await tab.reload()
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    await pause(MOMENT_MS)
    expect(await stored('session')).toBeNull()
    await tab.close()
  })

  it('a tab that was open before is signed in once its account pages open', async () => {
    await open('/@account')
    await page.evaluate('sessionStorage.clear()')
    const tab = await screen.context.newPage()
    await tab.goto(`${world().api}/@keys`)
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    await tab.evaluate("document.querySelector('a.mark').click()")
    await tab.locator('.chains li').first().waitFor()
    await signIn('/@account')
    await tab.getByRole('link', { name: 'My bundle' }).click()
    await tab.locator('#who').waitFor()
    await tab.close()
    await press('Sign out')
    await expectMessage('Signed out.')
  })

  it('keeps the focus in the page after signing in, and answers a name of another form', async () => {
    await page.getByRole('button', { name: 'Test Wallet Ethereum' }).press('Enter')
    await expectMessage('Signed in.')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    await open('/@register?name=%C3%9Cber')
    await page.getByText('“über” is no name: a name has').waitFor()
  })
})
