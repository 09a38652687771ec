import { readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import zlib, { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { setPageServiceInfo } from '../../src/web/page.js'
import { memberOf } from './members.js'
import {
  type ApiWorldOptions,
  bid,
  freshName,
  limitsOf,
  randomAddress,
  startApi,
  useApi,
} from './support.js'
import { solanaAccount } from './wallets.js'

const EXPLORER = 'https://explorer.example'
const configs: ApiWorldOptions['configs'] = ([main, ...others]) => [
  { ...main!, explorer: EXPLORER },
  ...others,
]
const world = useApi({ configs })

const FACTS = { ens: {}, networks: ['mainnet', 'testnet'] as const, isLocal: false }

const load = (path: string, accept = 'text/html,application/xhtml+xml,*/*;q=0.8') =>
  fetch(`${world.url}${path}`, { headers: { accept } })

describe('the page', () => {
  it('is shown to browsers', async () => {
    const shown = await load('/')
    expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await shown.text()).toMatch(/^<!doctype html>/)
  })

  it.each(['*/*', 'application/json', ''])(
    'is JSON to programs that accept "%s"',
    async (accept) => {
      const json = await load('/', accept)
      expect(await json.json()).toMatchObject({ service: 'clusterd' })
      expect(json.headers.get('vary')).toBe('accept')
    },
  )

  it('is shown at profileUrl for a registered name, and for no other', async () => {
    const held = freshName()
    const onTestnet = freshName()
    await world.append('mainnet', [bid({ from: randomAddress(), name: held })])
    await world.append('testnet', [bid({ from: randomAddress(), name: onTestnet })])
    const { profileUrl } = (await world.get(`/v0.1/cluster/${held}`)).body
    for (const path of [new URL(profileUrl).pathname, `/${held}/`, `/${onTestnet}`]) {
      const shown = await load(path, '*/*')
      expect(shown.status, path).toBe(200)
      expect(shown.headers.get('content-type'), path).toBe('text/html; charset=utf-8')
      expect(shown.headers.get('content-security-policy'), path).toContain("script-src 'self'")
    }
    for (const path of ['/nobody-holds-this', '/a%20b', '/metrics', `/${held}/main`])
      expect((await world.get(path)).status, path).toBe(404)
  })

  it.each([
    ['/nobody-holds-this', 200],
    ['/club/alice', 200],
    ['/tx/0x00', 200],
    ['/@account', 200],
    ['/a/b/c', 404],
    ['/a%20b', 404],
  ])('is shown to browsers wherever the API answers nothing: %s, %d', async (path, status) => {
    const shown = await load(path)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ])
    expect(shown.headers.get('vary')).toBe('accept, accept-encoding')
  })

  it.each(['/v1/nothing', '/v0.1/nothing', '/v1/events', '/bundles/assign', '/openapi.json'])(
    'is not shown at %s, which belongs to the API',
    async (path) => {
      expect((await load(path)).headers.get('content-type')).toContain('application/json')
    },
  )

  it('has a card of its own for each name, with its picture as PNG', async () => {
    const held = freshName()
    await world.append('mainnet', [bid({ from: randomAddress(), name: held })])
    for (const accept of ['text/html', '*/*']) {
      const text = await (await load(`/${held}`, accept)).text()
      expect(text, accept).toContain(`<meta property="og:title" content="${held}/">`)
      const [, image] = /property="og:image" content="([^"]+)"/.exec(text)!
      const picture = await load(new URL(image!, world.url).pathname)
      expect(picture.headers.get('content-type')).toBe('image/png')
      const bytes = Buffer.from(await picture.arrayBuffer())
      expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
    }
    expect((await load('/image/alice.png')).status).toBe(200)
    const text = await (await load('/club/alice')).text()
    expect(text).toContain('<meta property="og:title" content="club/alice">')
    expect(await (await load('/%22%3E%3Cscript%3E')).text()).not.toContain('"><script>')
  })

  it('leads agents to the interface and to every guide', async () => {
    const text = await (await load('/llms.txt', '*/*')).text()
    expect(text).toMatch(/^# clusterd\n\n> /)
    const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link!)
    expect(links).toContain('/openapi.json')
    const guides = readdirSync('docs/use').map((file) => `/docs/guides/${file}`)
    expect(links.filter((link) => link.startsWith('/docs/')).sort()).toEqual(guides.sort())
    for (const link of links) expect((await load(link, '*/*')).status, link).toBe(200)
  })

  it('shows robots where they may read, and people where to report', async () => {
    expect(await (await load('/robots.txt')).text()).toContain('Disallow: /v1/')
    expect((await load('/.well-known/security.txt')).status).toBe(404)
    setPageServiceInfo(FACTS, {
      url: 'https://names.example',
      securityContact: 'mailto:a@b.example',
    })
    const text = await (await load('/.well-known/security.txt')).text()
    setPageServiceInfo(FACTS, { url: '' })
    expect(text).toMatch(/^Contact: mailto:a@b\.example\nExpires: \d{4}-\d\d-\d\dT.*Z\n/)
    expect(text).toContain('Canonical: https://names.example/.well-known/security.txt\n')
  })

  it('redirects from a name whose path belongs to another page', async () => {
    await world.append('mainnet', [bid({ from: randomAddress(), name: 'docs' })])
    const { profileUrl } = (await world.get('/v0.1/cluster/docs')).body
    expect(new URL(profileUrl).search).toBe('?q=docs')
  })

  it('of a name is made after the limit is asked', async () => {
    const small = await startApi({ limits: limitsOf(1) })
    const compress = vi.spyOn(zlib, 'gzipSync')
    syncBuiltinESMExports()
    const statuses = []
    for (let i = 0; i < 3; i++) {
      const headers = { accept: 'text/html' }
      statuses.push((await fetch(`${small.url}/${freshName()}`, { headers })).status)
    }
    const compressed = compress.mock.calls.length
    compress.mockRestore()
    syncBuiltinESMExports()
    await small.stop()
    expect([statuses, compressed]).toEqual([[200, 429, 429], 1])
  })

  it('is compressed for clients that accept gzip', async () => {
    const plain = await fetch(`${world.url}/`, {
      headers: { accept: 'text/html', 'accept-encoding': 'gzip;q=0' },
    })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const small = await load('/')
    expect(small.headers.get('content-encoding')).toBe('gzip')
    expect(await small.text()).toBe(await plain.text())
  })

  it('has a policy that allows only its own files and no inline code', async () => {
    const shown = await load('/')
    const policy = shown.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self'")
    expect(policy).not.toMatch(/unsafe|\*|,/)
    const text = await shown.text()
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/)
    const json = await load('/v1/events')
    expect(json.headers.get('content-security-policy')).toBe(
      "default-src 'none';frame-ancestors 'none'",
    )
  })

  it('loads files that exist and may be cached for good, and whose imports exist', async () => {
    const text = await (await load('/')).text()
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!)
    expect(paths.map((path) => path.split('/').at(-1)).sort()).toEqual(['main.js', 'style.css'])
    for (let path = paths.pop(); path; path = paths.pop()) {
      const file = await load(path)
      expect(file.status, path).toBe(200)
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(file.headers.get('content-type')).toBe(
        `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      )
      for (const [, name] of (await file.text()).matchAll(/(?:from|import) ?\(?"(\.\/.+?)"/g))
        paths.push(new URL(name!, file.url).pathname)
    }
  })

  it('of another build gets the files of this build, which are not cached', async () => {
    for (const name of ['main.js', 'style.css']) {
      const file = await load(`/assets/0/${name}`)
      expect([file.status, file.headers.get('cache-control')], name).toEqual([200, 'no-store'])
    }
    expect((await load('/assets/0/none.js')).status).toBe(404)
  })

  it('has no other file, for any path', async () => {
    const build = /\/assets\/(\w+)\//.exec(await (await load('/')).text())![1]!
    const names = [
      `${build}/none.js`,
      `${build}/main.ts`,
      `${build}/__proto__`,
      `${build}/..%2f..%2fpackage.json`,
    ]
    for (const name of names) expect((await world.get(`/assets/${name}`)).status, name).toBe(404)
  })
})

describe('requests of the page', () => {
  it('the chains of both networks', async () => {
    const { body } = await world.get('/v1/networks')
    expect(body).toEqual(
      ['1', '11155111'].map((network) => ({
        network,
        name: `${network === '1' ? 'Ethereum' : 'Sepolia'} 31337`,
        chainId: 31_337,
        role: 'hub',
        isTestnet: network !== '1',
        gasToken: { symbol: 'ETH', decimals: 18 },
        canRegister: true,
        contract: expect.stringMatching(/^0x[0-9a-f]{40}$/),
        rpcUrls: [],
        explorer: network === '1' ? EXPLORER : null,
      })),
    )
  })

  it('the cluster of a privately verified wallet, which only its members see', async () => {
    const owner = await memberOf(world)
    const hidden = await memberOf(world, solanaAccount())
    const id = await owner.create()
    await owner.call('POST', '/v1/clusters/wallets', [
      { address: hidden.address, name: 'hidden', isPrivate: true },
    ])
    expect((await hidden.call('POST', `/v1/clusters/verify/${id}`)).status).toBe(200)
    const path = `/v1/clusters/address/${hidden.address}`
    expect(await hidden.call('GET', path)).toMatchObject({ status: 200, body: { clusterId: id } })
    const notFound = { status: 404, body: { clusterId: null } }
    expect(await owner.call('GET', path), 'a member without a proof').toMatchObject(notFound)
    expect(await world.get(path), 'anybody').toMatchObject(notFound)
  })
})

describe('the reference', () => {
  it('is a page for every client, with guides', async () => {
    const shown = await load('/docs', '*/*')
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    const guide = await load('/docs/guides/client.md', '*/*')
    expect([guide.status, guide.headers.get('content-type'), guide.headers.get('vary')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'accept',
    ])
  })

  it('serves every guide to browsers as a page whose links resolve', async () => {
    const names = readdirSync('docs/use')
    for (const name of names) {
      const guide = await load(`/docs/guides/${name}`)
      expect([guide.status, guide.headers.get('content-type')], name).toEqual([
        200,
        'text/html; charset=utf-8',
      ])
      expect(guide.headers.get('vary')).toBe('accept, accept-encoding')
      const text = await guide.text()
      expect(gzipSync(text).length, name).toBeLessThan(20_000)
      expect(text).not.toMatch(/<script|<style|\sstyle=|\son\w+=|<!-- a test|\]\(/)
      const [, title] = /^# (.*)$/m.exec(readFileSync(`docs/use/${name}`, 'utf8'))!
      expect(text).toContain(`<title>${title} · clusterd</title>`)
      for (const [, file, anchor] of text.matchAll(/<a href="([\w.-]+\.md)?(?:#([^"]+))?"/g)) {
        if (file) expect(names, name).toContain(file)
        const target = file ? await (await load(`/docs/guides/${file}`)).text() : text
        if (anchor) expect(target, `${name} to ${file}#${anchor}`).toContain(`id="${anchor}"`)
      }
    }
    const none = await load('/docs/guides/nothing.md')
    expect([none.status, none.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
  })

  it.each(['nothing.md', '..%2fREADME.md', '%2e%2e%2f%2e%2e%2fREADME.md', 'client', '__proto__'])(
    'has no guide %s',
    async (file) => expect((await load(`/docs/guides/${file}`)).status).toBe(404),
  )
})
