import { readFileSync } from 'node:fs'
import http from 'node:http'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import type { Route } from '../../src/api/http/route.js'
import type { SampleData } from '../../src/api/http/sampleRequests.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { type Member, memberOf } from '../api/members.js'
import { bid, freshName, randomAddress, randomHash, startApi } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { badRequests, ensLookup } from '../support/declaredRequests.js'
import { testEns } from '../support/ens.js'
import { useWorld } from '../support/useWorld.js'

/** A row of the table. Its request is sent literally, once the placeholders in braces are filled in. */
interface Row {
  line: number
  request: string
  body: string
  expected: string
}

const rows = readFileSync(new URL('./table.txt', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((text, i): Row[] => {
    const [request, body, expected] = text.split(' | ')
    return text.startsWith('#') || expected === undefined
      ? []
      : [{ line: i + 1, request: request!, body: body!, expected }]
  })

const anvil = useWorld(() => startAnvil({ chainId: 31_337 }))
const world = useWorld(() =>
  startApi({
    rpcUrls: { '1': anvil.rpcUrl, '11155111': anvil.rpcUrl },
    shareKeys: [Buffer.alloc(32, 5)],
    ...testEns(),
  }),
)
const people: Record<string, Member> = {}
const words: Record<string, string> = {}
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })

beforeAll(async () => {
  const alice = await memberOf(world)
  const bob = await memberOf(world)
  Object.assign(people, { alice, bob })
  const tx = randomHash()
  await world.append('mainnet', [
    bid({ from: alice.address, name: 'held', tx }),
    bid({ from: alice.address, name: 'held-club' }),
  ])
  await alice.call('PUT', '/v1/communities/held-club', {})
  const key = (of: Member) => of.headers.authorization!.replace('Bearer ', '')
  const { resume } = (await world.get('/v1/events')).body
  Object.assign(words, {
    name: 'held',
    club: 'held-club',
    tx,
    token: resume,
    now: new Date().toISOString(),
    alice: alice.address,
    alicesum: getAddress(alice.address),
    bob: bob.address,
    bobsum: getAddress(bob.address),
    key: key(alice),
    otherkey: key(bob),
    solana: solanaAccount().address,
    badsum: '0x52908400098527886E0F7030069857d2E4169EE7',
    id: (await world.get(`/v1/clusters/address/${alice.address}`)).body.clusterId,
  })
})
afterAll(() => agent.destroy())

/** Bodies that are not text. */
const BYTES: Readonly<Record<string, Buffer>> = {
  '{utf16}': Buffer.from('["x"]', 'utf16le'),
  '{latin1}': Buffer.from('["é"]', 'latin1'),
  '{nul}': Buffer.from('\0'),
}

const filled = (text: string): string =>
  text
    .replace(/\{(\w+)\}/g, (whole, word: string) =>
      word === 'bom' ? '\ufeff' : (words[word] ?? whole),
    )
    .replace(/\{([^{}"*]{1,2}|\{|\})\*(\d+)\}/g, (_, part: string, times: string) =>
      part.repeat(Number(times)),
    )
    .replace(
      /\{list (\d+) (\{[^{}]*\}|[^{}]*)\}/,
      (_, times: string, item: string) => `[${Array(Number(times)).fill(item).join()}]`,
    )

interface Answer {
  status: number
  type: string | undefined
  cacheControl: string | undefined
  text: string
}

/** Sends a request, and checks that its answer states its cacheability. */
async function send({ request, body }: Pick<Row, 'request' | 'body'>): Promise<Answer> {
  const [start, ...headers] = request.split(/ {2}/)
  const [method, ...path] = start!.split(' ')
  const pairs = headers.flatMap((header): [string, string][] => {
    if (header.startsWith('as '))
      return [['authorization', people[header.slice(3)]!.headers.authorization!]]
    const at = header.indexOf(':')
    return [[header.slice(0, at), filled(header.slice(at + 1).trim())]]
  })
  const { hostname, port } = new URL(world.url)
  const payload = body === '-' ? undefined : (BYTES[body] ?? Buffer.from(filled(body)))
  const length =
    payload && !headers.some((header) => header.startsWith('transfer-encoding'))
      ? payload.length
      : undefined
  const answer = await new Promise<Answer>((resolve, reject) => {
    const req = http.request(
      {
        hostname,
        port,
        method,
        agent,
        path: filled(path.join(' ')).replace(/[^\x21-\x7e]/gu, encodeURIComponent),
        headers: {
          ...Object.fromEntries(pairs),
          ...(length !== undefined && { 'content-length': length }),
        },
      },
      (res) => {
        let text = ''
        res.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        res.on('end', () => {
          const { 'content-type': type, 'cache-control': cacheControl } = res.headers
          resolve({ status: res.statusCode!, type, cacheControl, text })
        })
      },
    )
    req.on('error', reject)
    req.end(payload)
  })
  expect(answer.cacheControl, request).toMatch(answer.status === 404 ? /no-cache|no-store/ : /\S/)
  return answer
}

/** Values for the parameters that the row does not abuse. Other parameters get a community's name. */
const GOOD: Readonly<Record<string, string>> = {
  address: 'alice',
  sender: 'alice',
  walletAddress: 'alice',
  id: 'id',
  clusterId: 'id',
  tx: 'tx',
}

/** Data that the declared requests refer to. */
const scene = (): SampleData => ({
  name: 'held',
  walletName: 'main',
  held: ['held'],
  owner: words.alice!,
  clusterId: words.id!,
  community: 'held-club',
  other: words.bob!,
  ensCall: () => ensLookup({ walletName: 'main', name: 'held' }),
  freshName,
  evmAddress: randomAddress,
  solanaAddress: () => solanaAccount().address,
  cosmosAddress: () => 'cosmos15yzt5vrwk3r5h4rdpprjfns6nrmyhfmewhz7pl',
  wrongProof: () => ({}),
})

/** Routes of which only the parameters can be abused. */
const isPlain = ({ method, isStream }: Route) => method === 'get' && !isStream

/** Expects one of our own errors, or one in the form of tRPC: a sentence, never an exception's text. */
function expectError(text: string, status: number, error: unknown = expect.any(String)): void {
  const body = JSON.parse(text)
  const message = expect.stringMatching(/\S/)
  if (typeof body.error === 'object')
    expect(body.error, text).toMatchObject({ message, data: { httpStatus: status, error } })
  else expect(body, text).toMatchObject({ status, error, message })
  expect(text).not.toMatch(/node_modules|at \w+ \(|SELECT|\[object/)
}

it.each(routes)('$method $path refuses what it declares as bad', async (route) => {
  for (const { method, path, body = '-', as, what, status, error } of badRequests(route, scene())) {
    const by = as === undefined ? '' : `  as ${as === 'owner' ? 'alice' : 'bob'}`
    const answer = await send({ request: `${method} ${path}${by}`, body })
    expect(answer.status, `${what}: ${answer.text}`).toBe(status)
    expectError(answer.text, status, error)
  }
})

describe('the table of abuse', () => {
  it.each(rows)('row $line: $request', async (row) => {
    const [, status, rest = ''] = /^(\d{3}) ?(.*)$/.exec(row.expected)!
    const { status: got, type, text } = await send(row)
    const shown = `${got} ${text.slice(0, 300)}`
    expect(`${got}`, shown).toBe(status)
    if (status === '204' || status === '304') return
    if (type?.startsWith('image/')) return
    expect(type, shown).toBe('application/json; charset=utf-8')
    JSON.parse(text)
    if (/^\w+$/.test(rest) && got >= 400) {
      expectError(text, got, rest)
    } else expect(text, shown).toContain(filled(rest))
  })

  it.each(routes.filter(isPlain))(
    'junk in any parameter of $path is answered or refused',
    async (route) => {
      const { path, aliases = [], query, auth } = route
      for (const pattern of [path, ...aliases]) {
        const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => name!)
        for (const junk of [
          '%00',
          'a%20b',
          '..%2f..%2fetc%2fpasswd',
          '__proto__',
          "'%20OR%201=1--",
          'x'.repeat(3_000),
        ])
          for (const odd of [...names, ...Object.keys(query?.shape ?? {}), 'unknown']) {
            const asked = pattern.replace(/:(\w+)/g, (_, name) =>
              name === odd ? junk : words[GOOD[name] ?? 'club']!,
            )
            const search = names.includes(odd) ? [] : [`${odd}=${junk}`]
            for (const more of [[], ['testnet=true']]) {
              const by = auth === undefined ? '' : '  as alice'
              const request = `GET ${asked}?${[...search, ...more].join('&')}${by}`
              const { status, type, text } = await send({ request, body: '-' })
              expect(status, request).toBeLessThan(500)
              const isError =
                status >= 400 && /json/.test(type ?? '') && 'error' in JSON.parse(text)
              if (isError) expectError(text, status)
            }
          }
      }
    },
  )
})
