import { accessSync, constants, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { createClient, type Hex, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import type { SolanaAccount } from '../api/wallets.js'
import { freshWallet, hubOf } from '../support/world.js'

/** Headless Chromium with test wallets in it. */

const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]
/** Folder of screenshots for visual inspection, made where SCREENSHOTS is set. */
const ARTIFACTS = join(import.meta.dirname, '../../artifacts/page')

/** The Chromium of CHROMIUM_PATH or of PATH, null where there is none. */
export function findChromium(): string | null {
  const dirs = (process.env.PATH ?? '').split(delimiter)
  const candidates = [
    process.env.CHROMIUM_PATH,
    ...NAMES.flatMap((name) => dirs.map((dir) => join(dir, name))),
  ]
  return (
    candidates.find(
      (file): file is string => file !== undefined && file !== '' && isExecutable(file),
    ) ?? null
  )
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs Chromium without a sandbox, which root may not have. */
export const CHROMIUM_ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
let started: Promise<Browser> | undefined
/**
 * The browser of a test worker, which ends with the worker. A test file closes its tabs. It runs without a sandbox,
 * which root (as in containers) may not have, and loads only our own pages.
 */
export async function launch(executablePath: string): Promise<Browser> {
  const running = await started?.catch(() => null)
  if (running?.isConnected()) return running
  started = chromium.launch({ executablePath, args: CHROMIUM_ARGS })
  return started
}

/** Closes the tabs of a file, after its tests. */
export async function closeTabs(): Promise<void> {
  for (const context of (await started)?.contexts() ?? []) await context.close()
}

export async function screenshot(page: Page, name: string, fullPage = true): Promise<void> {
  if (!process.env.SCREENSHOTS) return
  mkdirSync(ARTIFACTS, { recursive: true })
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage })
}

/** Records errors of a tab's scripts, and loads that its policy refused. */
export function noteFaults(tab: Page, faults: string[]): void {
  tab.on('pageerror', (error) => faults.push(error.message))
  tab.on('console', (line) => {
    // a response of 404 or 409 is expected
    if (line.type() === 'error' && !/status of 4\d\d/.test(line.text())) faults.push(line.text())
  })
}

/** Serious violations that axe reports, small targets (WCAG 2.2) and content outside of landmarks. */
export async function axeFaults(tab: Page): Promise<string[]> {
  await tab.evaluate(axe.source)
  const run = "axe.run({ rules: { 'target-size': { enabled: true } } })"
  const { violations } = (await tab.evaluate(run)) as axe.AxeResults
  const serious = violations.filter(
    ({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'region',
  )
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** A narrow screen with a test wallet in it. */
export interface NarrowScreen {
  context: BrowserContext
  page: Page
  wallet: EvmTestWallet
}
const NARROW = { width: 360, height: 740 }
const WAIT_MS = 20_000

/**
 * Opens a narrow screen for the tests of a file, and closes it afterwards. A test fails where a script of its page
 * throws.
 */
export function narrowScreen(): NarrowScreen {
  const screen = {} as NarrowScreen
  const faults: string[] = []
  beforeAll(async () => {
    const browser = await launch(findChromium()!)
    screen.context = await browser.newContext({ viewport: NARROW, reducedMotion: 'reduce' })
    screen.context.setDefaultTimeout(WAIT_MS)
    screen.wallet = await addEvmWallet(screen.context, await freshWallet(), hubOf())
    screen.page = await screen.context.newPage()
    screen.page.on('pageerror', (error) => faults.push(error.message))
  })
  afterEach(async () => {
    await screen.page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(closeTabs)
  return screen
}

const ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="teal"/></svg>'

export interface EvmTestWallet {
  /** Methods that the page has called. */
  asked: string[]
  /** Chain that the wallet is on; null for a wallet that does not tell it. */
  chainId: number | null
  /** Account that signs its requests. */
  account: PrivateKeyAccount
  /** Happens between the estimate of a transaction's gas and its sending, as while an owner reads the wallet's window. */
  beforeSending?: (() => Promise<void>) | undefined
}

/** Adds an EIP-6963 wallet to every page of a context. At first it is on another chain. */
export async function addEvmWallet(
  context: BrowserContext,
  account: PrivateKeyAccount,
  chain: { rpcUrl: string; chainId: number },
): Promise<EvmTestWallet> {
  const wallet: EvmTestWallet = { asked: [], chainId: 1, account }
  const read = (method: string) => (params: unknown) =>
    createClient({ transport: http(chain.rpcUrl) }).request({ method, params } as never)
  const methods: Record<string, (params: never) => unknown> = {
    eth_getTransactionReceipt: read('eth_getTransactionReceipt'),
    eth_getTransactionByHash: read('eth_getTransactionByHash'),
    eth_call: read('eth_call'),
    eth_estimateGas: read('eth_estimateGas'),
    eth_requestAccounts: () => [wallet.account.address],
    // empty for a page that the visitor has not connected
    eth_accounts: () =>
      wallet.asked.includes('eth_requestAccounts') ? [wallet.account.address] : [],
    eth_chainId: () => {
      if (wallet.chainId === null) throw new Error('the test wallet does not tell its chain')
      return `0x${wallet.chainId.toString(16)}`
    },
    personal_sign: ([raw]: [Hex]) => wallet.account.signMessage({ message: { raw } }),
    wallet_switchEthereumChain: ([{ chainId }]: [{ chainId: Hex }]) => {
      wallet.chainId = Number(chainId)
      return null
    },
    eth_sendTransaction: async ([{ from, to, data, value, chainId, gas }]: [
      Record<'from' | 'to' | 'data' | 'value', Hex> & { chainId?: Hex; gas?: Hex },
    ]) => {
      const named = chainId === undefined ? wallet.chainId : Number(chainId)
      if (named !== chain.chainId) throw new Error(`the transaction is for chain ${named}`)
      const limit =
        gas ?? ((await methods.eth_estimateGas!([{ from, to, data, value }] as never)) as Hex)
      await wallet.beforeSending?.()
      return createLocalWalletClient(chain, wallet.account).sendTransaction({
        to,
        data,
        value: BigInt(value),
        gas: BigInt(limit),
      })
    },
  }
  await context.exposeFunction('askTestWallet', async (method: string, params: never) => {
    wallet.asked.push(method)
    const work = methods[method]
    if (!work) throw new Error(`the test wallet has no ${method}`)
    return work(params)
  })
  await context.addInitScript({
    content: `{
      const info = { uuid: crypto.randomUUID?.() ?? '350670db', name: 'Test Wallet', icon: ${JSON.stringify(ICON)}, rdns: 'example.test' }
      const provider = {
        request: ({ method, params }) => window.askTestWallet(method, params),
        on: () => {},
        removeListener: () => {},
      }
      const announce = () =>
        window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
      window.addEventListener('eip6963:requestProvider', announce)
      announce()
    }`,
  })
  return wallet
}

/** Adds a Wallet Standard wallet, which registers before the page asks for wallets, to every page of a context. */
export async function addSolanaWallet(
  context: BrowserContext,
  account: SolanaAccount,
): Promise<void> {
  await context.exposeFunction('signWithSolana', (message: number[]) => [
    ...fromHex(account.sign(Buffer.from(message).toString('utf8'))),
  ])
  await context.addInitScript({
    content: `{
      const account = { address: ${JSON.stringify(account.address)}, chains: ['solana:mainnet'], features: ['solana:signMessage'] }
      const wallet = {
        version: '1.0.0', name: 'Test Solana', icon: ${JSON.stringify(ICON)}, chains: ['solana:mainnet'], accounts: [account],
        features: {
          'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
          'solana:signMessage': {
            version: '1.0.0',
            signMessage: async ({ message }) => {
              const signature = new Uint8Array(await window.signWithSolana([...message]))
              return [{ signedMessage: message, signature }]
            },
          },
        },
      }
      const register = ({ register }) => register(wallet)
      window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
      window.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail))
    }`,
  })
}
