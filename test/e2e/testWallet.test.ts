import { expect, it } from 'vitest'
import { addTestWallet } from '../../src/web/page.js'
import { world } from '../support/world.js'

it('the test wallet is in no page, and at no path, of a daemon that was not configured for it', async () => {
  const { api } = world()
  const shown = await fetch(api, { headers: { accept: 'text/html' } })
  const html = await shown.text()
  expect(html).not.toContain('test-wallet')
  const [assets] = /\/assets\/\w+/.exec(html)!
  expect((await fetch(`${api}${assets}/test-wallet.js`)).status).toBe(404)
})

it('the test wallet is refused where a chain is not local', async () => {
  const chains = { key: 'evm' as const, chains: [], rpcUrls: [] }
  await expect(addTestWallet([chains], false)).rejects.toThrow('for chains of local worlds alone')
})
