import { expect, it } from 'vitest'
import { world } from '../support/world.js'

const page = () => fetch(`${world().ops}/`)

it('the operator’s page shows chains, leaders, nodes and loops of a world that is well', async () => {
  const shown = await page()
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const text = await shown.text()
  for (const heading of ['Chains', 'Leaders', 'Outbox', 'Owed on Solana', 'Nodes', 'Loops'])
    expect(text).toContain(`<h2>${heading}</h2>`)
  expect(text).toMatch(/<td>mainnet<td>8453<td>\d+<td>/)
  expect(text).toContain('<td>the webhooks<td>')
  expect(text).not.toContain('undefined')
})
