import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { caught, clientOf, failure, json } from '../../test/support/misbehavingService.js'
import { wholeResponses } from '../../test/support/wholeResponses.js'
import { Client, ClusterdError, type Schemas } from './index.js'

const MAX_GZIPPED_BYTES = 5.5 * 1024

describe('a call', () => {
  it('is sent with keys, testnet, encoded parameters and body', async () => {
    const { client, asked } = await clientOf(
      (req, res) => json(res, [req.headers['x-api-key'], req.headers.authorization]),
      {
        apiKey: 'key',
        token: 'token',
        testnet: true,
      },
    )
    const answer = await client.request('GET', '/v1/refunds/{address}', {
      params: { address: 'a/b?c' },
      query: { to: '0x1' },
    })
    expect(answer).toEqual(['key', 'Bearer token'])
    await client.transport.call('GET', '/v1/communities?name=a', {})
    expect(asked).toEqual([
      'GET /v1/refunds/a%2Fb%3Fc?testnet=true&to=0x1',
      'GET /v1/communities?name=a&testnet=true',
    ])
  })

  it('passes plain-object headers to the caller’s own fetch', async () => {
    const own: typeof fetch = (url, init) =>
      fetch(url, {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), 'x-trace': 'own' },
      })
    const { client } = await clientOf(
      (req, res) => json(res, [req.headers.authorization, req.headers['x-trace']]),
      {
        token: 'token',
        fetch: own,
      },
    )
    expect(await client.request('GET', '/v1/networks')).toEqual(['Bearer token', 'own'])
  })

  it.each(['', '.', '..'])(
    'refuses a parameter that would lead to another route: "%s"',
    async (address) => {
      const { client, asked } = await clientOf((_, res) => json(res, {}))
      await expect(client.nameOf(address)).rejects.toMatchObject({ code: 'invalid_request' })
      expect(asked).toEqual([])
    },
  )

  it.each([
    'localhost:3000',
    'names.example',
    '/api',
    '',
    'https://me:key@names.example',
    'http://a/?b=c',
    'http://a:undefined',
  ])('refuses the url "%s"', (url) => {
    expect(() => new Client({ url })).toThrow(
      'The url of a client is like https://names.example, not',
    )
  })

  it.each(['http://[::1]:3000/', new URL('https://names.example/below/')])(
    'accepts the url %s',
    (url) => {
      new Client({ url })
    },
  )

  it('is refused at once where no request can be sent, without retries', async () => {
    const { client, asked } = await clientOf((_, res) => json(res, {}), { token: 'secret\nkey' })
    const refused = await caught(client.waitForStatus('0x1'))
    expect(refused.code).toBe('invalid_request')
    expect(refused.message).not.toContain('secret')
    client.token = undefined
    expect(await caught(client.nameOf('\ud800'))).toMatchObject({ code: 'invalid_request' })
    expect(asked).toEqual([])
  })

  it('has the types of its responses, also for a network that is only known at run time', () => {
    type Quoted<N extends string> = Awaited<ReturnType<typeof Client.prototype.quote<N>>>
    expectTypeOf<Quoted<'1'>>().toEqualTypeOf<Schemas['EvmQuote']>()
    expectTypeOf<Quoted<'solana'>>().toEqualTypeOf<Schemas['SolanaQuote']>()
    expectTypeOf<Quoted<string>>().toEqualTypeOf<Schemas['EvmQuote'] | Schemas['SolanaQuote']>()
    expectTypeOf<
      Extract<ClusterdError['code'], 'names_unavailable'>
    >().toEqualTypeOf<'names_unavailable'>()
  })

  it('does not wait for a wallet once its signal is aborted', async () => {
    const { client, asked } = await clientOf((_, res) =>
      json(res, { message: 'sign', signingDate: 'now' }),
    )
    const reason = new Error('enough')
    const stop = new AbortController()
    const wallet = {
      address: '0x1',
      signMessage: () => {
        stop.abort(reason)
        return new Promise<string>(() => {})
      },
    }
    const call = caught(client.signIn(wallet, { signal: stop.signal }))
    expect(await Promise.race([call, sleep(2_000, 'it goes on')])).toBe(reason)
    expect(asked).toHaveLength(1)
  })

  it('lets a wallet sign no membership that the message does not name, nor calls one signed that was not kept', async () => {
    const clusterId = `0x${'ab'.repeat(32)}`
    let end = ''
    let verified: object = { success: true }
    const { client } = await clientOf((req, res) => {
      if (req.url!.startsWith('/v1/auth/message'))
        json(res, { message: `sign${end}`, signingDate: 'now' })
      else json(res, req.url!.startsWith('/v1/auth/token') ? { token: 'key' } : verified)
    })
    let signatures = 0
    const signMessage = async () => `0x${++signatures}`
    const sign = () => client.signMembership({ address: '0x1', signMessage }, clusterId)
    for (end of ['', `\nCluster: 0x${'cd'.repeat(32)}`])
      expect(await caught(sign())).toMatchObject({ code: 'unexpected' })
    expect(signatures).toBe(0)
    end = `\nCluster: ${clusterId}`
    for (verified of [{ success: true }, { success: true, signed: false }])
      expect((await caught(sign())).message).toContain('sign again')
    verified = { success: true, signed: true }
    expect(await sign()).toBe('key')
  })

  it('fails with one class of error, with the service’s code or the client’s own', async () => {
    const { client } = await clientOf((req, res) => {
      if (req.url === '/v1/networks')
        res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
      else if (req.url!.startsWith('/v1/clusters'))
        res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
      else failure(res, 409, 'names_unavailable', { 'retry-after': '7' })
    })
    const refused = await caught(client.availability(['x']))
    expect(refused).toBeInstanceOf(ClusterdError)
    expect(refused).toMatchObject({ code: 'names_unavailable', status: 409, retryAfterMs: 7_000 })
    expect(refused.message).toBe('It is names_unavailable.')
    expect(await caught(client.networks())).toMatchObject({ code: 'unexpected', status: 502 })
    expect(await caught(client.cluster('foobar'))).toMatchObject({
      code: 'unexpected',
      status: 302,
      message: expect.stringContaining('redirects'),
    })
    const nobody = new Client({ url: 'http://127.0.0.1:1', retries: 0 })
    expect(await caught(nobody.networks())).toMatchObject({ code: 'network', status: 0 })
  })

  it('is retried after 503 and 429 when Retry-After says, up to the number of retries', async () => {
    let failures = 2
    const statuses = [429, 503]
    const { client, asked } = await clientOf((_, res) => {
      if (failures-- > 0)
        failure(res, statuses[failures % 2]!, 'unavailable', { 'retry-after': '0' })
      else json(res, [])
    })
    expect(await client.networks()).toEqual([])
    expect(asked).toHaveLength(3)
    failures = 3
    expect(await caught(client.networks())).toMatchObject({ status: 429 })
    expect(asked).toHaveLength(6)
    failures = 1
    expect(await caught(client.availability(['x'])), 'no GET').toMatchObject({ status: 429 })
    expect(asked).toHaveLength(7)
  })

  it('does not wait for a Retry-After later than its time limit', async () => {
    const { client, asked } = await clientOf((_, res) =>
      failure(res, 503, 'unavailable', { 'retry-after': '3600' }),
    )
    expect(await caught(client.networks())).toMatchObject({
      code: 'unavailable',
      retryAfterMs: 3_600_000,
    })
    expect(asked).toHaveLength(1)
  })

  it.each<{ name: string; call: (client: Client, options: object) => Promise<unknown> }>([
    { name: 'inside the body', call: (client, options) => client.networks(options) },
    { name: 'before the head', call: (client, options) => client.status('0x1', options) },
  ])('ends at its time limit and by its signal, $name', async ({ call }) => {
    const { client } = await clientOf((req, res) => {
      if (req.url === '/v1/networks')
        res.writeHead(200, { 'content-type': 'application/json' }).write('[')
    })
    expect(await caught(call(client, { timeoutMs: 50 }))).toMatchObject({ code: 'timeout' })
    const reason = new Error('enough')
    const stop = new AbortController()
    setTimeout(() => stop.abort(reason), 20)
    expect(await caught(call(client, { signal: stop.signal }))).toBe(reason)
  })

  it('does not accept a proxy’s page as a response', async () => {
    const page = (res: ServerResponse, status: number) =>
      res.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')
    const { client } = await clientOf((req, res) =>
      page(res, req.url!.includes('missing') ? 404 : 200),
    )
    expect(await caught(client.networks())).toMatchObject({ code: 'unexpected', status: 200 })
    expect(await caught(client.addressOf('x'))).toMatchObject({ code: 'unexpected' })
    expect(await caught(client.events().next())).toMatchObject({ code: 'unexpected' })
    expect(await caught(client.cluster('missing')), 'no word of the service').toMatchObject({
      status: 404,
    })
  })

  it('names the first elements that were refused', async () => {
    const refusals = [
      { details: [1, 2, 3, 4].map((i) => ({ path: `[${i}].address`, message: `No\n${i}.` })) },
      { names: ['alice', 'bob'] },
      { details: [null], names: 'carol' },
      { details: 'x'.repeat(9_000), names: {} },
    ]
    const { client } = await clientOf((_, res) => {
      const error = { status: 400, error: 'refused', message: 'Some are refused.' }
      json(res, { ...error, ...refusals.shift() }, 400)
    })
    const messageOf = async () => (await caught(client.networks())).message
    expect(await messageOf()).toBe(
      'Some are refused. ([1].address: No 1.; [2].address: No 2.; [3].address: No 3.; …)',
    )
    expect(await messageOf()).toBe('Some are refused. (alice; bob)')
    expect(await messageOf()).toBe('Some are refused. (undefined: undefined)')
    expect(await messageOf()).toBe('Some are refused. ([object Object])')
  })

  it('reads responses without streams, and their errors', async () => {
    const { client } = await clientOf(
      (req, res) =>
        req.url === '/v1/networks'
          ? json(res, [{ network: 'é', chainId: null }])
          : failure(res, 404, 'not_found'),
      { fetch: wholeResponses },
    )
    expect(await client.networks()).toEqual([{ network: 'é', chainId: null, chain: null }])
    expect(await client.cluster('foobar')).toBeNull()
    const path = '/v1/clusters/name/{name}'
    const asked = client.request('GET', path, { params: { name: 'foobar' } })
    expect(await caught(asked)).toMatchObject({ code: 'not_found', status: 404 })
  })

  it('throws an AbortError where signals have no reason', async () => {
    const { client } = await clientOf(() => {})
    const stop = new AbortController()
    Object.defineProperty(stop.signal, 'reason', { value: undefined })
    Object.defineProperty(stop.signal, 'throwIfAborted', { value: undefined })
    setTimeout(() => stop.abort(), 20)
    for (let i = 0; i < 2; i++)
      expect(await caught(client.networks({ signal: stop.signal }))).toMatchObject({
        name: 'AbortError',
      })
  })

  it('escapes every character without a shape in messages', () => {
    const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code))
    const shapeless = characters.filter((one) => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(one))
    const kept = shapeless.filter((one) => new ClusterdError('x', one).message === one)
    expect(kept).toEqual([])
    const text = 'é 名 👩‍👧 نام'
    expect(new ClusterdError('x', text).message).toBe(text.replace('\u200d', '\\u{200d}'))
  })

  it('does not accept a response of another service', async () => {
    const { client } = await clientOf((_, res) => json(res, { jsonrpc: '2.0' }))
    expect(await caught(client.addressOf('x'))).toMatchObject({
      code: 'unexpected',
      message: expect.stringContaining('clusterd'),
    })
  })

  it('returns the value of every transaction as a bigint, and no other field', async () => {
    const sent = { to: '0x1', data: '0x', value: '10000000000000000' }
    const { client } = await clientOf((_, res) =>
      json(res, { refunds: [{ amount: '5', transaction: sent }], value: '7' }),
    )
    expect(await client.refunds('0x1')).toEqual({
      refunds: [{ amount: '5', transaction: { ...sent, value: 10n ** 16n } }],
      value: '7',
    })
  })

  it('reports a body that cannot be serialized', async () => {
    const { client, asked } = await clientOf((_, res) => json(res, {}))
    const names = [{ name: 'x', amountWei: 1n as never }]
    expect((await caught(client.quote({ network: '1', sender: '0x1', names }))).message).toContain(
      'BigInt',
    )
    expect(asked).toEqual([])
  })

  it.each([Number.POSITIVE_INFINITY, 2 ** 31, 30 * 86_400_000, 1_000.5])(
    'accepts any time limit, also one beyond a timer’s range: %d ms',
    async (timeoutMs) => {
      const { client } = await clientOf((_, res) => void setTimeout(() => json(res, []), 50))
      expect(await client.networks({ timeoutMs })).toEqual([])
    },
  )

  it('ends inside a body too, even if its request was garbage-collected', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { client } = await clientOf((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('[')
    })
    const call = caught(client.networks({ timeoutMs: 1_000 }))
    for (let i = 0; i < 10; i++) {
      await sleep(50)
      collect()
    }
    expect(await Promise.race([call, sleep(5_000, 'it goes on')])).toMatchObject({
      code: 'timeout',
    })
  })
})

describe('waitForStatus', () => {
  it('continues over a proxy’s 502, and waits as long as Retry-After says', async () => {
    const answers = [502, 504, 429, 'finalized']
    const askedMs: number[] = []
    const { client } = await clientOf(
      (_, res) => {
        askedMs.push(Date.now())
        const status = answers.shift()!
        if (status === 429) failure(res, 429, 'rate_limited', { 'retry-after': '3' })
        else if (typeof status === 'number')
          res.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad</h1>')
        else json(res, { tx: '0x1', status })
      },
      { retries: 0, timeoutMs: 1_000 },
    )
    expect(await client.waitForStatus('0x1')).toMatchObject({ status: 'finalized' })
    expect(askedMs[3]! - askedMs[2]!).toBeGreaterThanOrEqual(2_900)
  })

  it('polls with since and wait, continues over outages, and ends with a final status', async () => {
    const answers = ['pending', 503, 'pending', 'bridging', 'lost_bid']
    const { client, asked } = await clientOf(
      (_, res) => {
        const status = answers.shift()!
        if (typeof status === 'number') failure(res, status, 'unavailable', { 'retry-after': '0' })
        else json(res, { tx: '0x1', status })
      },
      { retries: 0 },
    )
    expect(await client.waitForStatus('0x1', { until: 'finalized' })).toEqual({
      tx: '0x1',
      status: 'lost_bid',
    })
    const path = 'GET /v1/names/register/tx/0x1'
    const pending = `${path}?since=pending&wait=25`
    expect(asked).toEqual([path, pending, pending, pending, `${path}?since=bridging&wait=25`])
  })

  it('ends at its time limit, by its signal, and when it is refused', async () => {
    const { client } = await clientOf((req, res) =>
      req.url!.includes('bad')
        ? failure(res, 400, 'invalid_request')
        : json(res, { status: 'pending' }),
    )
    const late = await caught(client.waitForStatus('0x1', { timeoutMs: 100 }))
    expect(late).toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(
        /^The transaction is pending, without a change after \d+ ms\.$/,
      ),
    })
    const reason = new Error('enough')
    expect(await caught(client.waitForStatus('0x1', { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
    expect(await caught(client.waitForStatus('bad'))).toMatchObject({ code: 'invalid_request' })
    expect(await client.waitForStatus('0x1', { until: ['pending', 'bridging'] })).toEqual({
      status: 'pending',
    })
  })
})

describe('wallets', () => {
  const all = async (rows: AsyncIterable<Schemas['Holder']>, inputs: string[] = []) => {
    for await (const { input } of rows) inputs.push(input)
    return inputs
  }
  const line = (input: unknown) =>
    `${JSON.stringify({ input, clusterName: null, wallets: null, asOf: 'm-1-0' })}\n`
  const addresses = async function* () {
    for (let i = 0; i < 25_000; i++) yield `a${i}`
  }
  const echo = (res: ServerResponse, body: string, rows = JSON.parse(body).map(line).join('')) =>
    res.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(rows)
  const error = { status: 503, error: 'unavailable', message: 'It is.' }

  it('are read in parts for any number of addresses, and retried after an error at the end', async () => {
    const bad = [`${line('a0')}${JSON.stringify(error)}\n`, `${line('a0')}{"inp`]
    const { client, asked } = await clientOf(async (req, res) =>
      echo(res, await text(req), bad.shift()),
    )
    const rows = client.wallets(addresses(), { types: ['evm', 'solana'] })
    expect(await rows.next()).toMatchObject({ value: { input: 'a0' } })
    expect(asked).toEqual(Array(3).fill('POST /v1/wallets?types=evm%2Csolana'))
    expect(await all(rows)).toEqual(Array.from({ length: 24_999 }, (_, i) => `a${i + 1}`))
    expect(asked).toHaveLength(5)
    expect(await all(client.wallets([]))).toEqual([])
  })

  it('end with a permanent error, when the response is cut off, and by the signal', async () => {
    const rows = [JSON.stringify(error), '', `<h1>Welcome</h1>`, line('a')]
    const { client } = await clientOf((_, res) => echo(res, '', rows.shift()), { retries: 0 })
    const ask = (signal?: AbortSignal) => caught(all(client.wallets(['a', 'b'], { signal })))
    expect(await ask()).toMatchObject({ code: 'unavailable', status: 503 })
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ code: 'network' })
    const reason = new Error('enough')
    expect(await ask(AbortSignal.abort(reason))).toBe(reason)
  })
})

it('the client is one small file without a dependency', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    outdir: 'out',
  })
  const own = /^src\/client\//
  expect(Object.keys(metafile.inputs).filter((path) => !own.test(path))).toEqual([])
  const [output] = Object.values(metafile.outputs)
  expect(output!.imports).toEqual([])
  const bytes = gzipSync(outputFiles[0]!.contents).length
  console.log(`clusterd-client: ${outputFiles[0]!.contents.length} bytes, ${bytes} gzipped`)
  expect(bytes).toBeLessThanOrEqual(MAX_GZIPPED_BYTES)
})
