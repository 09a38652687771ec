import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { world } from '../support/world.js'
import { axeFaults, closeTabs, findChromium, launch, noteFaults, screenshot } from './browser.js'

const executable = findChromium()
const WAIT_MS = 20_000

describe.runIf(executable)('the reference at /docs', () => {
  let browser: Browser
  let page: Page
  /** Errors of scripts and of the content security policy, and requests to other hosts. */
  const faults: string[] = []

  beforeAll(async () => {
    browser = await launch(executable!)
    page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
    page.setDefaultTimeout(WAIT_MS)
    noteFaults(page, faults)
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(world().api))
        faults.push(request.url())
    })
  })
  afterAll(closeTabs)

  const route = (method: string, path: string) =>
    page
      .locator('details')
      .filter({ has: page.getByRole('heading', { name: `${method} ${path}` }) })
  const NAME = '/v1/names/address/{address}'

  it('lists every route of both versions, from their documents', async () => {
    for (const [path, document] of [
      ['/docs', '/openapi.json'],
      ['/docs?version=0.1', '/openapi-v0.1.json'],
    ] as const) {
      const { paths } = (await (await fetch(`${world().api}${document}`)).json()) as {
        paths: Record<string, Record<string, object>>
      }
      const routes = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
      await page.goto(`${world().api}${path}`)
      await page.locator('details').first().waitFor()
      const shown = await page.locator('details h3').allTextContents()
      expect(shown.sort()).toEqual(routes.sort())
    }
    expect(faults).toEqual([])
  })

  it('finds routes by text', async () => {
    await page.goto(`${world().api}/docs`)
    await page.getByLabel('Find a route').fill('the name of an address')
    expect(await page.locator('details:not([hidden]) h3').allTextContents()).toEqual([
      `GET ${NAME}`,
    ])
  })

  it('shows the form’s request as curl and TypeScript, and sends it', async () => {
    await page.goto(`${world().api}/docs#get-v1-names-address-address-`)
    const open = route('GET', NAME)
    const { owner, name } = world().seeds.mainnet!
    await open.getByLabel('address').first().fill(owner)
    await open.getByText(`curl -s '${world().api}/v1/names/address/${owner}'`).waitFor()
    await open.getByText("import { Client } from 'clusterd-client'").waitFor()
    await open.getByText(`client.request('GET', '${NAME}', {`).waitFor()
    await open.getByRole('button', { name: 'Send' }).click()
    await open.locator('.answer').getByText(`"clusterName": "${name}"`).waitFor()
    await screenshot(page, 'reference-answer', false)
    expect(faults).toEqual([])
  })

  it('sends a body, and shows a refusal', async () => {
    await page.goto(`${world().api}/docs`)
    const check = route('POST', '/v1/names/register/check')
    await check.locator('summary').click()
    await check.getByRole('textbox', { name: 'Body' }).fill('["Bad Name!"]')
    await check.getByRole('button', { name: 'Send' }).click()
    await check.locator('.answer').getByText('"invalid_name"').waitFor()
    await check.getByRole('textbox', { name: 'Body' }).fill('[1]')
    await check.getByRole('button', { name: 'Send' }).click()
    await check.locator('.answer').getByText('400').first().waitFor()
  })

  it('have the head, the mark and the footer of the other pages', async () => {
    const pieces = [
      ...['meta[charset]', '[name=viewport]', '[name=color-scheme]', '[href$="/style.css"]'],
      ...['[rel=icon]', '.skip', '.top .mark', 'footer'],
    ]
    const piecesOf = async (path: string) => {
      await page.goto(`${world().api}${path}`)
      await page.locator('footer').waitFor()
      const found = `document.querySelector(one)?.outerHTML.replaceAll(/\\s*\\n\\s*/g, '')`
      return page.evaluate(`${JSON.stringify(pieces)}.map((one) => ${found})`)
    }
    const ofGuide = await piecesOf('/docs/guides/clusters.md')
    expect(ofGuide).not.toContain(undefined)
    expect(ofGuide).toEqual(await piecesOf('/'))
  })

  it('links to the guides', async () => {
    await page.goto(`${world().api}/docs`)
    const guides = page.getByRole('region', { name: 'Guides' }).getByRole('link')
    await guides.first().waitFor()
    const links = await guides.evaluateAll((all) =>
      all.map((one) => (one as unknown as { href: string }).href),
    )
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) {
      const guide = await fetch(link)
      expect([guide.status, guide.headers.get('content-type')], link).toEqual([
        200,
        'text/plain; charset=utf-8',
      ])
      expect(await guide.text()).toMatch(/^# /m)
    }
    const none = await fetch(`${world().api}/docs/guides/..%2f..%2fREADME.md`)
    expect(none.status).toBe(404)
  })

  it.each([
    ['light', 1_280],
    ['dark', 390],
  ] as const)(
    'shows guides that can be read in %s at %d px, and lead on',
    async (colorScheme, width) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 844 })
      await page.goto(`${world().api}/docs`)
      await page.getByRole('link', { name: 'Limits and prices' }).click()
      await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
      await page.goto(`${world().api}/docs/guides/clusters.md`)
      expect(await axeFaults(page)).toEqual([])
      await screenshot(page, `guide-${colorScheme}-${width}`, false)
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0)
      await page.getByRole('link', { name: 'limits.md' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(faults).toEqual([])
    },
  )

  it.each([
    ['light', 1_280],
    ['dark', 1_280],
    ['light', 390],
    ['dark', 390],
  ] as const)('can be read in %s at %d px', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.goto(`${world().api}/docs`)
    await page.locator('details').first().waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, `reference-${colorScheme}-${width}`, false)
    for (const [method, path] of [
      ['GET', NAME],
      ['POST', '/v1/names/register/evm'],
    ] as const)
      await route(method, path).locator('summary').click()
    await page.getByRole('button', { name: 'Send' }).nth(1).waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0)
    await route('GET', NAME).scrollIntoViewIfNeeded()
    await screenshot(page, `reference-route-${colorScheme}-${width}`, false)
  })
})
