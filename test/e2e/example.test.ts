import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import { runCli } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { isRegistryThere } from '../support/registry.js'
import { freshName, freshWallet, hubOf, world } from '../support/world.js'
import {
  addEvmWallet,
  axeFaults,
  closeTabs,
  findChromium,
  launch,
  noteFaults,
  screenshot,
} from './browser.js'

const WAIT_MS = 60_000
const NARROW = { width: 390, height: 844 }
const WIDE = { width: 1280, height: 900 }
const executable = findChromium()
const canRun = executable !== null && (await isRegistryThere())
if (!canRun) console.log('examples/register is not tried: no Chromium, or no npm registry')

/** The application of `clusterd init app`, as a reader installs and builds it. */
describe.runIf(canRun)('examples/register', () => {
  const folder = useFolder()
  const app = join(folder, 'My App')
  const faults: string[] = []
  let browser: Browser
  let server: { resolvedUrls: { local: string[] } | null; close(): Promise<void> }

  const run = (program: string, args: readonly string[], env = {}) =>
    execFileSync(program, args, {
      cwd: app,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, ...env },
    })

  beforeAll(async () => {
    const built = join(folder, 'client')
    await buildClientPackage(built)
    await runCli(['init', 'app', app], {})
    const [packed] = JSON.parse(run('npm', ['pack', built, '--json', '--pack-destination', folder]))
    const tarball = join(folder, packed.filename)
    run('npm', ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline'])
    // its types are those of the package, of viem and of wagmi
    run('npm', ['run', 'build'], { VITE_CLUSTERD_URL: world().api })
    const vite = createRequire(join(app, 'package.json')).resolve('vite')
    const { preview } = await import(pathToFileURL(vite).href)
    server = await preview({ root: app, preview: { port: 0, host: '127.0.0.1' } })
    browser = await launch(executable!)
  }, 300_000)
  afterAll(async () => {
    await closeTabs()
    await server?.close()
  })

  async function open(page: Page): Promise<Page> {
    page.setDefaultTimeout(WAIT_MS)
    noteFaults(page, faults)
    await page.goto(server.resolvedUrls!.local[0]!)
    return page
  }

  /** Fills the form in, and asks for the price. */
  async function askPrice(page: Page, name: string, network: string): Promise<void> {
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Pay on').selectOption(network)
    await page.getByRole('button', { name: 'See the price' }).click()
  }
  const status = (page: Page, word: string) => page.locator(`[data-status=${word}]`).waitFor()

  it('pays with the test wallet on a spoke, and goes on where it was after a reload', async () => {
    const page = await open(await browser.newPage({ viewport: NARROW, colorScheme: 'dark' }))
    const name = freshName()
    await page.getByRole('button', { name: 'Local test wallet' }).click()
    await askPrice(page, name, '8453')
    await page.getByText(`${name} costs`).waitFor()
    await screenshot(page, 'register-price-390-dark')
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Register it' }).click()
    await page.getByRole('region', { name: 'Progress' }).waitFor()
    await page.reload()
    await status(page, 'finalized')
    await page.getByRole('heading', { name }).waitFor()
    await screenshot(page, 'register-end-390-dark')
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Register another name' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
  })

  it('pays with a wallet of the browser, which it brings to the right chain first', async () => {
    const context = await browser.newContext({ viewport: WIDE, colorScheme: 'light' })
    const account = await freshWallet()
    const wallet = await addEvmWallet(context, account, hubOf())
    const page = await open(await context.newPage())
    const name = freshName()
    await page.getByRole('button', { name: 'Test Wallet', exact: true }).click()
    await page.getByText('No name yet').waitFor()
    await askPrice(page, name, '1')
    await page.getByText(`${name} costs`).waitFor()
    await screenshot(page, 'register-price-1280-light')
    await page.getByRole('button', { name: 'Register it' }).dblclick()
    await status(page, 'finalized')
    // the hook reads the wallet's name again
    await page.getByText(`${name}/main`).waitFor()
    await screenshot(page, 'register-end-1280-light')
    expect(wallet.asked).toContain('wallet_switchEthereumChain')
    expect(wallet.asked.filter((method) => method === 'eth_sendTransaction')).toHaveLength(1)

    await page.getByRole('button', { name: 'Register another name' }).click()
    await askPrice(page, name, '1')
    await page.getByText(`${name} is taken. ${account.address.toLowerCase()}`).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await askPrice(page, 'no name', '1')
    await page.getByRole('alert').waitFor()
  })

  it('says what is wrong where the service is away', async () => {
    const page = await browser.newPage({ viewport: WIDE })
    await page.route('**/v1/networks', (route) => route.abort())
    await open(page)
    await page.getByText('The application can not start. The service can not be reached.').waitFor()
    await page.close()
    expect(faults.filter((fault) => !fault.includes('net::ERR_FAILED'))).toEqual([])
  })
})
