import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { world } from '../support/world.js'
import { closeTabs, findChromium, launch, screenshot } from './browser.js'

const executable = findChromium()
const WAIT_MS = 20_000

describe.runIf(executable)('the reference at /docs', () => {
  let browser: Browser
  let page: Page
  /** Errors of scripts and of the policy, and requests to somebody else. */
  const faults: string[] = []

  beforeAll(async () => {
    browser = await launch(executable!)
    page = await browser.newPage({ viewport: { width: 1_000, height: 900 } })
    page.setDefaultTimeout(WAIT_MS)
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // the renderer complains of underscores in the fragments of its own links
      if (message.type() === 'error' && !message.text().includes('deep link whitespace'))
        faults.push(message.text())
    })
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(world().api))
        faults.push(request.url())
    })
  })
  afterAll(closeTabs)

  it('lists the routes of both versions under its strict policy', async () => {
    const opened = await page.goto(`${world().api}/docs`)
    expect(opened!.headers()['content-security-policy']).toMatch(
      /^default-src 'none';script-src 'self';/,
    )
    expect(opened!.headers()['content-security-policy']).not.toContain('unsafe')
    await page.getByText('The name of an address').waitFor()
    await screenshot(page, 'reference', false)
    await page.getByRole('link', { name: 'v0.1 (deprecated)' }).click()
    await page.getByText('/v0.1/name/{address}').waitFor()
    expect(faults).toEqual([])
  })

  it('sends a request from its form, with the example filled in', async () => {
    await page.goto(`${world().api}/docs#/Look-ups/get_v1_names_address__address_`)
    const route = page.locator('#operations-Look-ups-get_v1_names_address__address_')
    await route.getByRole('button', { name: 'Execute' }).click()
    await route.locator('.live-responses-table').getByText('"clusterName"').first().waitFor()
    await screenshot(page, 'reference-answer', false)
    expect(faults).toEqual([])
  })
})
