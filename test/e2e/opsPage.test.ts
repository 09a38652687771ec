import { expect, it } from 'vitest'
import { ALARMS } from '../../src/ops/alarms.js'
import { world } from '../support/world.js'

const page = () => fetch(`${world().ops}/`)

it('the operator’s page shows chains, leaders, nodes and loops of a world that is well', async () => {
  const shown = await page()
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const text = await shown.text()
  for (const heading of ['To look at', 'Chains', 'Leaders', 'Balances', 'Outbox', 'Owed on Solana', 'Nodes', 'Loops'])
    expect(text).toContain(`<h2>${heading}</h2>`)
  expect(text).toMatch(/<td>mainnet<td>8453<td>\d+<td>/)
  expect(text).toContain('<td>the webhooks<td>')
  expect(text).toMatch(/<td>mainnet<td>1<td><code>0x\w{40}<\/code><td>\d+(\.\d+)?<td>[\d.]+<td>/)
  // the world's packet that would cost too much
  expect(text).toContain('<a href="/alarms#clusterdjobsparked">')
  expect(text).toContain('<code>clusterd outbox resume &lt;id&gt;</code>')
  expect(text).not.toContain('undefined')
})

it('the page of alarms has what each alarm leads to, and `/status` the remedy of each', async () => {
  const text = await (await fetch(`${world().ops}/alarms`)).text()
  for (const name of Object.keys(ALARMS)) expect(text).toContain(`<h2 id="${name.toLowerCase()}">${name}</h2>`)
  const { alarms } = (await (await fetch(`${world().ops}/status`)).json()) as { alarms: object[] }
  const { remedy } = ALARMS.ClusterdJobsParked
  expect(alarms).toContainEqual({
    ...{ alarm: 'ClusterdJobsParked', text: 'mainnet: parked jobs of the kind execute: 1', remedy },
    see: 'docs/alarms.md#clusterdjobsparked',
  })
})
