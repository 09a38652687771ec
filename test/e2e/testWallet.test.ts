import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Front, startFront } from '../../src/testing/wallet/front.js'
import { world } from '../support/world.js'

let front: Front
let url: string
beforeAll(async () => {
  front = await startFront({ target: world().api, port: 0, world: world() })
  url = `http://127.0.0.1:${front.port}`
})
afterAll(() => front.stop())

const browser = { accept: 'text/html,*/*;q=0.8' }
const body = JSON.stringify({ method: 'accounts', params: {} })

/** Posts with headers that fetch does not let a caller set. */
function post(path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({
      hostname,
      port,
      path,
      method: 'POST',
      headers: { 'content-length': body.length, ...headers },
    })
    sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject)
    sent.end(body)
  })
}

describe('the test wallet', () => {
  it('is in no page that the daemon serves, and at no path of it', async () => {
    expect(await (await fetch(world().api, { headers: browser })).text()).not.toContain('test-wallet')
    for (const path of ['/test-wallet', '/test-wallet.js'])
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(`${world().api}${path}`, { method })
        expect([answer.status, await answer.json()], path).toMatchObject([404, { error: 'not_found' }])
      }
  })

  it('is in every page behind its front, which leaves policy and answers as they are', async () => {
    const [shown, own] = await Promise.all([url, world().api].map((at) => fetch(`${at}/tx/0x00`, { headers: browser })))
    expect(await shown!.text()).toContain('<script type="module" src="/test-wallet.js"></script></head>')
    const policy = own!.headers.get('content-security-policy')
    expect(policy).toContain("script-src 'self'")
    expect(shown!.headers.get('content-security-policy')).toBe(policy)
    const answer = await fetch(`${url}/v1/names/register/check`, { method: 'POST', body: '["a b"]' })
    expect(await answer.json()).toEqual([{ name: 'a b', isAvailable: false, reason: 'invalid_name' }])
    expect((await fetch(`${url}/v1/nothing`)).status).toBe(404)
  })

  it('answers the pages of its own origin alone', async () => {
    const own = { host: new URL(url).host, origin: url, 'content-type': 'application/json' }
    expect(await post('/test-wallet', own)).toBe(200)
    const strangers: Record<string, string>[] = [
      { ...own, origin: 'https://example.com' },
      { ...own, origin: 'null' },
      { ...own, origin: 'http://127.0.0.1:1' },
      // a name that its owner lets point to this machine
      { ...own, host: 'rebound.example', origin: 'http://rebound.example' },
      // what a form of another site may send
      { ...own, 'content-type': 'text/plain' },
      { host: own.host, 'content-type': own['content-type'] },
    ]
    for (const headers of strangers) expect(await post('/test-wallet', headers), JSON.stringify(headers)).toBe(403)
  })

  it('tells no key, and signs for no account but the world’s', async () => {
    const ask = async (method: string, params: object) => {
      const headers = { origin: url, 'content-type': 'application/json' }
      const answer = await fetch(`${url}/test-wallet`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ method, params }),
      })
      return [answer.status, await answer.text()] as const
    }
    const [status, text] = await ask('accounts', {})
    expect(status).toBe(200)
    const { accounts } = world()
    for (const { privateKey } of accounts.evm) expect(text).not.toContain(privateKey.slice(2))
    for (const { secretKey } of accounts.solana) expect(text).not.toContain(secretKey)
    const stranger = { address: `0x${'11'.repeat(20)}`, message: '0x00' }
    expect(await ask('personal_sign', stranger)).toMatchObject([400, expect.stringContaining('no such account')])
    for (const method of ['constructor', 'toString', 'eth_sign']) expect((await ask(method, {}))[0], method).toBe(400)
  })

  it('says so while its daemon is away', async () => {
    const lonely = await startFront({ target: 'http://127.0.0.1:1', port: 0, world: world() })
    const answer = await fetch(`http://127.0.0.1:${lonely.port}/v1/networks`)
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: 'unavailable' }])
    await lonely.stop()
  })
})
