import bs58 from 'bs58'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { fullCluster } from './plant.js'
import {
  bid,
  freshName,
  MINIMUM_WEI,
  randomAddress,
  randomHash,
  tailBlock,
  useApi,
} from './support.js'

const alice = randomAddress()
const bob = randomAddress()
const solana = bs58.encode(Buffer.alloc(32, 7))
const first = freshName()
const second = freshName()
const solName = freshName()
const testName = freshName()
const pending = freshName()
const SITE = 'https://names.example'

const world = useApi({ siteUrl: `${SITE}/` })
beforeAll(async () => {
  await world.append('mainnet', [
    bid({ from: alice, name: first, amountWei: MINIMUM_WEI * 3n }),
    bid({ from: solana, name: solName }),
    bid({ from: alice, name: second }),
    bid({ from: randomAddress(), name: first }),
  ])
  await world.append('testnet', [bid({ from: bob, name: testName })])
  await world.tail('mainnet', [
    tailBlock(5_000, [bid({ from: randomAddress(), name: pending, block: 5_000 })]),
  ])
})

/** Body of a deprecated route's response with status 200. */
async function get(path: string) {
  const reply = await world.get(`/v0.1${path}`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}
async function post(path: string, body: unknown) {
  const reply = await world.post(`/v0.1${path}`, body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

const wallet = (name: string) => ({ type: 'evm', address: alice, name, isVerified: true })
const cluster = (name: string, wallets: unknown[]) => ({
  name: `${name}/`,
  profileUrl: `${SITE}/${name}`,
  imageUrl: `${SITE}/image/${name}.svg`,
  hasCustomImage: false,
  wallets,
})
/** Path segments that are neither a name nor an address. */
const JUNK = [
  'a%20b',
  '%F0%9F%92%A9',
  '%',
  '%zz',
  '..%2f..',
  'x'.repeat(33),
  '%00',
  'a/b/c',
  '',
  '%2F',
  '0.5',
  '%C0',
]

describe('a deprecated answer', () => {
  it('says so, and names its successor', async () => {
    const check = async (path: string, successor: string, init: RequestInit = {}) => {
      const { headers } = await world.request(path, init)
      expect(headers.get('deprecation')).toMatch(/^@\d{10}$/)
      expect(headers.get('link')).toBe(`<${successor}>; rel="successor-version"`)
    }
    await check(`/v0.1/name/${alice}`, `/v1/names/address/${alice}`)
    await check(`/v0.1/cluster/${first}/?testnet=true`, `/v1/clusters/name/${first}`)
    await check('/v0.1/cluster/a%2Fb%22%0d%0a%3E', '/v1/clusters/name/a%2Fb%22%0D%0A%3E')
    await check(`/v0.1/cluster/${'x'.repeat(500)}`, '/openapi.json')
    await check('/v0.1/register/check', '/v1/names/register/check', { method: 'POST', body: '{' })
    await check('/v0.1/name/%', '/openapi.json')
    await check('/v0.1/cluster/names', '/openapi.json', { method: 'POST', body: '[]' })
    await check('/v0.1/events?limit=0', '/v1/events')
    expect((await world.get('/v1/events')).headers.get('deprecation')).toBeNull()
  })

  const shape = (path: string) => path.replace(/:\w+/g, ':')
  const served = routes.map(({ path }) => shape(path))

  it.each(routes.filter(({ successor }) => successor))(
    'links only to routes that exist: $method $path',
    ({ successor }) => {
      expect(served).toContain(shape(successor!))
    },
  )

  it.each(['name', 'address', 'cluster', 'register/check', 'register/tx'])(
    'links only to routes that exist, also under %s',
    async (look) => {
      const { headers } = await world.get(`/v0.1/${look}/a/b/c`)
      const [, path] = /<(.*)>/.exec(headers.get('link')!)!
      expect(['/openapi.json', ...served]).toContain(path)
    },
  )
})

describe('GET /v0.1/name/:address and POST /v0.1/name/addresses', () => {
  it.each([
    ['an address', alice, `${first}/main`],
    ['an address with a checksum', getAddress(alice), `${first}/main`],
    ['an address with a slash', `${alice}/`, `${first}/main`],
    ['an address of Solana', solana, `${solName}/main`],
    ['an address without a name', bob, null],
    ['an address of the testnet', `${bob}?testnet=true`, `${testName}/main`],
  ])('answer the full name of %s', async (_, path, name) => {
    expect(await get(`/name/${path}`)).toBe(name)
  })

  it.each([...JUNK, '0x12', 'null'])('answer null for "%s"', async (junk) => {
    expect(await get(`/name/${junk}`)).toBeNull()
  })

  it('answer many addresses in their order', async () => {
    expect(await post('/name/addresses', [getAddress(alice), 'junk', bob, solana, alice])).toEqual([
      { address: alice, name: `${first}/main` },
      { address: 'junk', name: null },
      { address: bob, name: null },
      { address: solana, name: `${solName}/main` },
      { address: alice, name: `${first}/main` },
    ])
    expect(await post('/name/addresses?testnet=true', [alice, bob])).toEqual([
      { address: alice, name: null },
      { address: bob, name: `${testName}/main` },
    ])
  })
})

describe('GET and POST /v0.1/address', () => {
  it.each([
    ['a name', first, `${first}/main`],
    ['a name with a slash', `${first}/`, `${first}/main`],
    ['a name in capitals', first.toUpperCase(), `${first}/main`],
    ['a name with an escaped slash', `${first}%2F`, `${first}/main`],
    ['a full name', `${first}/main`, `${first}/main`],
    ['a full name with an escaped slash', `${first}%2Fmain`, `${first}/main`],
    ['a full name in capitals', `${second}/MAIN/`, `${second}/main`],
  ])('answer the wallet under %s', async (_, form, name) => {
    expect(await get(`/address/${form}`)).toEqual(wallet(name))
  })

  it('answer wallets of Solana and of the testnet', async () => {
    expect(await get(`/address/${solName}`)).toMatchObject({ type: 'solana', address: solana })
    expect(await get(`/address/${testName}?testnet=true`)).toMatchObject({ address: bob })
  })

  it.each([
    ['an unknown name', freshName()],
    ['an unknown wallet', `${first}/other`],
    ['a name of the testnet', testName],
  ])('answer null for %s', async (_, unknown) => {
    expect(await get(`/address/${unknown}`)).toBeNull()
  })

  it.each(JUNK)('answer null for "%s", as a name and as a wallet', async (junk) => {
    expect(await get(`/address/${junk}`), 'a name').toBeNull()
    expect(await get(`/address/${first}/${junk || '%20'}`), 'a wallet').toBeNull()
  })

  it('repeat the names in bulk and leave out names that resolve to nothing', async () => {
    const asked = [
      `${second}/`,
      first,
      'a b',
      `${first}/main`,
      `${first}/other`,
      freshName(),
      first.toUpperCase(),
    ]
    const found = [`${second}/`, first, `${first}/main`, first.toUpperCase()]
    expect(await post('/address/names', asked)).toEqual(found.map(wallet))
    expect(await post('/address/names?testnet=true', asked)).toEqual([])
  })
})

describe('GET and POST /v0.1/cluster', () => {
  it.each([
    ['the first name', first, first],
    ['the first name with a slash', `${first}/`, first],
    ['the first name in capitals', first.toUpperCase(), first],
    ['the first name with an escaped slash', `${first}%2F`, first],
    ['the second name', second, second],
    ['the second name with a slash', `${second}/`, second],
    ['the second name in capitals', second.toUpperCase(), second],
    ['the second name with an escaped slash', `${second}%2F`, second],
  ])('answer metadata by %s', async (_, form, name) => {
    expect(await get(`/cluster/${form}`)).toEqual(cluster(name, [wallet(`${name}/main`)]))
  })

  it('answer metadata by address', async () => {
    expect(await get(`/cluster/address/${getAddress(alice)}`)).toEqual(
      cluster(first, [wallet(`${first}/main`)]),
    )
    expect(await get(`/cluster/address/${bob}?testnet=true`)).toMatchObject({
      name: `${testName}/`,
    })
  })

  it.each([
    ['an unknown name', freshName()],
    ['a name of the testnet', testName],
    ['a full name', `${first}/main`],
    ['an address of the testnet', `address/${bob}`],
    ['an unknown address', `address/${randomAddress()}`],
  ])('answer null for %s', async (_, unknown) => {
    expect(await get(`/cluster/${unknown}`)).toBeNull()
  })

  it.each(JUNK)('answer null for "%s", as a name and as an address', async (junk) => {
    expect(await get(`/cluster/${junk}`), 'a name').toBeNull()
    expect(await get(`/cluster/address/${junk}`), 'an address').toBeNull()
  })

  it('return many, leaving out names that nobody holds', async () => {
    const asked = [`${second}/`, freshName(), 'a b', `${first}/main`, first, second.toUpperCase()]
    const answered = await post('/cluster/names', asked)
    expect(answered.map(({ name }: { name: string }) => name)).toEqual([
      `${second}/`,
      `${first}/`,
      `${second}/`,
    ])
    expect(answered[1]).toEqual(cluster(first, [wallet(`${first}/main`)]))
    expect(await post('/cluster/names?testnet=true', [testName, first])).toHaveLength(1)
  })

  it('refuse to answer for more wallets than fit', async () => {
    const name = await fullCluster(world)
    expect((await post('/cluster/names', Array(10).fill(name)))[9].wallets).toHaveLength(1_000)
    const { status, body } = await world.post('/v0.1/cluster/names', Array(11).fill(name))
    expect([status, body.error]).toEqual([400, 'too_many'])
  })
})

describe('GET and POST /v0.1/register/check', () => {
  it('repeat names; a taken, pending or malformed name is not available', async () => {
    const free = freshName()
    const check = async (path: string) => get(`/register/check/${path}`)
    expect(await check(free)).toEqual({ name: free, isAvailable: true })
    expect(await check(`${first.toUpperCase()}/`)).toEqual({
      name: first.toUpperCase(),
      isAvailable: false,
    })
    expect(await check(`${first}?testnet=true`)).toEqual({ name: first, isAvailable: true })
    const asked = [free, `${free}/`, first, 'a b', pending, '', free.toUpperCase()]
    const available = [true, true, false, false, false, false, true]
    expect(await post('/register/check', asked)).toEqual(
      asked.map((name, i) => ({ name, isAvailable: available[i] })),
    )
  })

  it.each(JUNK)('report "%s" as not available', async (junk) => {
    expect(await get(`/register/check/${junk}`)).toEqual({
      name: expect.any(String),
      isAvailable: false,
    })
  })
})

describe('POST /v0.1/register', () => {
  const quote = (body: object) => world.post('/v0.1/register', body)
  const asked = (change: object = {}) => ({
    network: '1',
    sender: alice,
    names: [{ name: freshName() }],
    ...change,
  })

  it.each(['bidAmountWei', 'bidWeiAmount', 'amountWei', 'weiAmount'])(
    'answers the quote of v1 in its old shape, of %s',
    async (key) => {
      const name = freshName()
      const request = {
        network: '1',
        sender: getAddress(alice),
        names: [{ name: `${name}/`, [key]: '20000000000000000' }],
      }
      const { status, body } = await quote(request)
      expect(status).toBe(200)
      const { type, names, referral, ...rest } = (
        await world.post('/v1/names/register/evm', request)
      ).body
      expect({ type, referral }).toEqual({ type: 'evm', referral: null })
      expect(body).toEqual({ ...rest, names: [{ name, amount: '20000000000000000' }] })
      expect(names[0].amountWei).toBe('20000000000000000')
    },
  )

  it('contains the referring address in 32 bytes', async () => {
    const evm = await quote(asked({ referralAddress: getAddress(bob) }))
    expect(evm.body.transactionData.data).toContain(`${'0'.repeat(24)}${bob.slice(2)}`)
    expect(evm.body.transactionData.data).toMatch(/^0xfdad12fd/)
    expect((await quote(asked({ referralAddress: solana }))).body.transactionData.data).toContain(
      '07'.repeat(32),
    )
    expect((await quote(asked({ referralAddress: 'junk' }))).body.error).toBe('unsupported_address')
  })

  it('refuses the same requests as v1', async () => {
    const refused = async (change: object, status: number, error: string) =>
      expect(await quote(asked(change))).toMatchObject({ status, body: { status, error } })
    await refused({ network: '77' }, 400, 'unsupported_network')
    await refused({ sender: solana }, 400, 'invalid_sender')
    await refused({ sender: 'junk' }, 400, 'unsupported_address')
    await refused({ names: [{ name: 'a b' }] }, 400, 'invalid_name')
    await refused({ names: [] }, 400, 'invalid_request')
    await refused({ names: [{ name: freshName(), bidAmountWei: '1' }] }, 400, 'invalid_amount')
    await refused({ names: [{ name: first }] }, 409, 'names_unavailable')
    expect((await quote(asked({ network: '11155111', names: [{ name: first }] }))).status).toBe(200)
  })
})

describe('GET /v0.1/register/tx/:tx', () => {
  it('answers the hash and its status', async () => {
    const tx = randomHash()
    await world.append('mainnet', [bid({ from: randomAddress(), name: freshName(), tx })])
    const { headers, body } = await world.get(`/v0.1/register/tx/${tx}`)
    expect(body).toEqual({ tx, status: 'finalized' })
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it.each(JUNK)('answers not_found for "%s"', async (junk) => {
    expect(await get(`/register/tx/${junk}`)).toEqual({
      tx: expect.any(String),
      status: 'not_found',
    })
  })
})

describe('any single look-up', () => {
  it('answers 200 with null, a record or a status, for any text in its path', async () => {
    const route = fc.constantFrom(
      'name',
      'address',
      'cluster',
      'cluster/address',
      'register/check',
      'register/tx',
    )
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }).map(encodeURIComponent),
      fc.string({
        unit: fc.constantFrom('%', '0', 'a', 'f', 'Z', ':', '+', ';', '~', '*', '(', '/'),
        maxLength: 12,
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        route,
        part,
        fc.constantFrom('', '?testnet=', '?testnet=undefined&x=1&x=2'),
        async (r, p, q) => {
          await get(`/${r}/${p}${q}`)
        },
      ),
      { numRuns: 300 },
    )
    expect((await world.get(`/v0.1/name/${alice}?testnet=true&testnet=true`)).status).toBe(400)
  })
})

describe('GET /image/:name.svg', () => {
  it('draws a name, always the same way', async () => {
    const draw = (name: string) => fetch(`${world.url}/image/${name}.svg`)
    const answer = await draw(first)
    const svg = await answer.text()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('image/svg+xml')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=86400')
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none';frame-ancestors 'none'",
    )
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(svg).toMatch(/^<svg .*<\/svg>$/)
    expect(await (await draw(first.toUpperCase())).text()).toBe(svg)
    expect(await (await draw(second)).text()).not.toBe(svg)
  })

  it.each(['%3Cscript%3E', 'a%20b', 'x'.repeat(33)])('draws no %s', async (bad) => {
    expect(await world.get(`/image/${bad}.svg`)).toMatchObject({
      status: 400,
      body: { error: 'invalid_name' },
    })
  })
})
