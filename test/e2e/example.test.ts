import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { keccak256 } from 'viem'
import { build, type PreviewServer, preview } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { useFolder } from '../support/folder.js'
import { callOf, freshName, freshWallet, quoteOn, spokeOf, world } from '../support/world.js'
import { closeTabs, findChromium, launch, screenshot } from './browser.js'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLE = join(ROOT, 'examples/react-status')
const CLIENT = join(ROOT, 'src/client/index.ts')
const executable = findChromium()
const WAIT_MS = 30_000

describe('examples/react-status', () => {
  const folder = useFolder()
  let page: Page
  let server: PreviewServer
  beforeAll(async () => {
    await build({
      root: EXAMPLE,
      logLevel: 'error',
      // what its own `npm install` installs
      resolve: { alias: { 'clusterd-client': CLIENT } },
      define: { 'import.meta.env.VITE_CLUSTERD_URL': JSON.stringify(world().api) },
      build: { outDir: folder, emptyOutDir: true },
    })
    server = await preview({
      root: EXAMPLE,
      build: { outDir: folder },
      preview: { port: 0, host: '127.0.0.1' },
    })
  })
  afterAll(async () => {
    await closeTabs()
    await server?.close()
  })

  it('has the types of the client', () => {
    const config = join(EXAMPLE, `tsconfig.${process.pid}.json`)
    const compilerOptions = { paths: { 'clusterd-client': [CLIENT] } }
    writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', compilerOptions }))
    try {
      execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { encoding: 'utf8' })
    } finally {
      rmSync(config)
    }
  })

  it.runIf(executable)('looks up a name, and shows a status that changes', async () => {
    page = await (await launch(executable!)).newPage({ viewport: { width: 800, height: 700 } })
    page.setDefaultTimeout(WAIT_MS)
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(server.resolvedUrls!.local[0]!)
    const { name, owner } = world().seeds.mainnet!
    const lookUp = async (text: string, answer: string) => {
      await page.getByLabel('Name or address').fill(text)
      await page.getByRole('button', { name: 'Look up' }).click()
      await page.getByText(answer).waitFor()
    }
    await lookUp(name, `${name} is ${owner}`)
    await lookUp(owner, `${owner} is ${name}/main`)
    await lookUp('nobody-has-this', 'Nobody is nobody-has-this')

    // the hash is known before the transaction is sent
    const account = await freshWallet()
    const spoke = spokeOf('8453')
    const quote = await quoteOn('8453', account.address, [{ name: freshName() }])
    const wallet = createLocalWalletClient(spoke, account)
    const signed = await wallet.signTransaction(
      await wallet.prepareTransactionRequest(callOf(quote)),
    )
    await page.getByLabel('Transaction hash').fill(keccak256(signed))
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.locator('li.not_found').waitFor()
    await wallet.sendRawTransaction({ serializedTransaction: signed })
    await page.locator('li.finalized[aria-current=step]').waitFor()
    await screenshot(page, 'react-status')
    await page.getByLabel('Transaction hash').fill('junk')
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.getByRole('alert').waitFor()
    expect(faults).toEqual([])
  })
})
