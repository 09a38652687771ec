import type { PrivateKeyAccount } from 'viem/accounts'
import { freshWallet, world } from '../support/world.js'
import type { NarrowScreen } from './browser.js'

/** Actions of a visitor on a narrow screen, and the messages shown. */
export function handsOf(screen: NarrowScreen) {
  const open = (path: string) => screen.page.goto(`${world().api}${path}`)
  const press = (name: string) => screen.page.getByRole('button', { name, exact: true }).click()
  const expectMessage = (text: string) =>
    screen.page.locator('#message').filter({ hasText: text }).waitFor()
  const message = () => screen.page.locator('#message').textContent()
  /** Answers the page's question. */
  const confirm = (button: string) =>
    screen.page.locator('dialog').getByRole('button', { name: button }).click()
  const question = (text: string) =>
    screen.page.locator('dialog').filter({ hasText: text }).waitFor()
  /** Types a name, and waits until its price is shown. */
  async function offered(name: string): Promise<void> {
    await screen.page.getByLabel('Name', { exact: true }).fill(name)
    await screen.page.getByText(`${name}/ is free.`).waitFor()
  }
  async function typed(name: string): Promise<void> {
    await offered(name)
    await press('Register')
  }
  /** Signs in with a new wallet, or with the given one, in a tab without stored data. */
  async function signIn(path: string, account?: PrivateKeyAccount) {
    screen.wallet.account = account ?? (await freshWallet())
    await open(path)
    await screen.page.evaluate('sessionStorage.clear()')
    await open(path)
    await press('Test Wallet Ethereum')
    await expectMessage('Signed in.')
    return screen.wallet.account
  }
  return { open, press, expectMessage, message, confirm, question, offered, typed, signIn }
}
