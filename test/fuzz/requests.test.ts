import { readFileSync } from 'node:fs'
import http from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { type Member, memberOf } from '../api/members.js'
import { bid, randomHash, startApi } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { useWorld } from '../support/useWorld.js'
import { type Document, type FuzzRequest, requests, resolve } from './requests.js'

/** In `npm test` a short run of a seed; `npm run fuzz` sets both. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 600)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)
const IS_LONG = process.env.FUZZ_REQUESTS !== undefined
const AT_ONCE = 8
const BATCH = 500
/** Limits of a manual run: of one answer, and of the growth of live memory after the first fifth. */
const SLOW_MS = 2_000
const GROWTH_MB = 16
const FIFTHS = [1, 2, 3, 4, 5]

const documents = ['openapi.json', 'openapi-v0.1.json'].map(
  (name) =>
    JSON.parse(
      readFileSync(new URL(`../../src/client/generated/${name}`, import.meta.url), 'utf8'),
    ) as Document,
)
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
documents.forEach((document, i) => {
  ajv.addSchema(document, `document${i}`)
})

/** Validators of what each operation answers with JSON, by `post /v1/names 200`; null for other media types. */
const validators = new Map<string, ValidateFunction | null>()
documents.forEach((document, i) => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      for (const [status, answer] of Object.entries(operation.responses)) {
        const at =
          '$ref' in answer
            ? answer.$ref.slice(1)
            : pointer('paths', path, method, 'responses', status)
        const isJson = resolve(document, answer).content?.['application/json'] !== undefined
        const schema = { $ref: `document${i}#${at}/content/application~1json/schema` }
        validators.set(`${method} ${path} ${status}`, isJson ? ajv.compile(schema) : null)
      }
})

function pointer(...keys: string[]): string {
  return keys
    .map((key) => `/${encodeURIComponent(key.replace(/~/g, '~0').replace(/\//g, '~1'))}`)
    .join('')
}

const anvil = useWorld(() => startAnvil({ chainId: 31_337 }))
const world = useWorld(() =>
  startApi({
    rpcUrls: { '1': anvil.rpcUrl, '11155111': anvil.rpcUrl },
    shareKeys: [Buffer.alloc(32, 5)],
  }),
)
let arbitrary: fc.Arbitrary<FuzzRequest>
/** Opens the sessions again, since one request ends them. */
let signIn: () => Promise<void>
/** Headers of the sessions that are open, by what requests are made with. */
let keys: Record<string, string | undefined> = {}
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })

beforeAll(async () => {
  // no rate limits here, since the requests stand for many clients
  world.release()
  const accounts = [generatePrivateKey(), generatePrivateKey()].map((key) =>
    privateKeyToAccount(key),
  )
  const members = () => Promise.all(accounts.map((account) => memberOf(world, account)))
  const [alice, bob] = (await members()) as [Member, Member]
  signIn = async () => {
    const [first, second] = await members()
    keys = { first: first!.headers.authorization, second: second!.headers.authorization }
  }
  await signIn()
  const tx = randomHash()
  await world.append('mainnet', [
    bid({ from: alice.address, name: 'held', tx }),
    bid({ from: alice.address, name: 'club' }),
  ])
  await world.append('testnet', [bid({ from: alice.address, name: 'club' })])
  await alice.call('PUT', '/v1/communities/club', {})
  await alice.call('PUT', '/v1/communities/club?testnet=true', {})
  const { clusterId } = (await world.get(`/v1/clusters/address/${alice.address}`)).body
  const { resume } = (await world.get('/v1/events')).body
  const words = [
    ...[
      'held',
      'HELD/',
      'club',
      'club/alice',
      'alice',
      'main',
      'free',
      'cold',
      '1',
      '8453',
      '11155111',
      'solana',
    ],
    ...[
      alice.address,
      bob.address,
      solanaAccount().address,
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'native',
    ],
    ...[
      clusterId,
      tx,
      randomHash(),
      resume,
      'evm',
      '10000000000000000',
      '12',
      '0',
      'true',
      new Date().toISOString(),
    ],
    ...[
      `0x${'ab'.repeat(65)}`,
      '2026-12-01T08:00:00Z',
      'token',
      'cluster',
      'allowlist',
      'oldest',
      'newest',
    ],
  ]
  arbitrary = requests(documents, words, ['first', 'second', 'Bearer x'])
})
afterAll(async () => {
  agent.destroy()
})

interface Answer {
  status: number
  text: string
  ms: number
}

function send({ method, path, headers, body }: FuzzRequest): Promise<Answer> {
  const { hostname, port } = new URL(world.url)
  const startedMs = performance.now()
  const { authorization } = headers
  const key =
    authorization === undefined ? {} : { authorization: keys[authorization] ?? authorization }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const req = http.request(
      { hostname, port, method, path, agent, headers: { ...key, ...length } },
      (res) => {
        let text = ''
        res.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        res.on('end', () =>
          resolve({ status: res.statusCode!, text, ms: performance.now() - startedMs }),
        )
      },
    )
    req.on('error', reject)
    req.end(body)
  })
}

/** Fault of an answer. Null where there is none. */
function faultOf({ operation }: FuzzRequest, { status, text, ms }: Answer): string | null {
  if (status >= 500) return 'a 5xx'
  if (IS_LONG && ms > SLOW_MS) return `slow: ${Math.round(ms)} ms`
  const validator = validators.get(`${operation} ${status}`)
  if (validator === undefined) {
    // a part of the path that can't be decoded, or has dots, matches no route at all
    return status === 404 && text.includes('There is no such route')
      ? null
      : `status ${status} is not documented`
  }
  if (validator === null || validator(JSON.parse(text))) return null
  return `breaks its schema: ${ajv.errorsText(validator.errors)}`
}

/** Live memory after a full collection, and the memory of the process, in MiB. */
function memory(): { alive: number; resident: number } {
  if (!globalThis.gc) throw new Error('memory is measured with --expose-gc')
  for (let i = 0; i < 2; i++) globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { alive: Math.round((heapUsed + external) / 2 ** 20), resident: Math.round(rss / 2 ** 20) }
}

it(`answers ${REQUESTS} requests of seed ${SEED} as its documents specify`, {
  timeout: 3_600_000,
}, async () => {
  const faults = new Map<string, string>()
  const statuses: Record<number, number> = {}
  const fifths: ReturnType<typeof memory>[] = []
  let slowestMs = 0
  for (let done = 0; done < REQUESTS; done += BATCH) {
    const batch = fc.sample(arbitrary, {
      seed: SEED + done,
      numRuns: Math.min(BATCH, REQUESTS - done),
    })
    const waiting = batch.values()
    const worker = async () => {
      for (const request of waiting) {
        const answer = await send(request)
        if (request.operation === 'delete /v1/auth/token') await signIn()
        slowestMs = Math.max(slowestMs, answer.ms)
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        const fault = faultOf(request, answer)
        if (fault)
          faults.set(
            `${request.operation}: ${fault}`,
            `${JSON.stringify(request)} → ${answer.text}`.slice(0, 1_000),
          )
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    const isAt = (fifth: number) =>
      done < (REQUESTS * fifth) / 5 && done + BATCH >= (REQUESTS * fifth) / 5
    if (!IS_LONG || !FIFTHS.some(isAt)) continue
    fifths.push(memory())
    console.log(
      JSON.stringify({
        done: done + batch.length,
        ...fifths.at(-1),
        slowestMs: Math.round(slowestMs),
      }),
    )
  }
  if (IS_LONG) console.log(JSON.stringify(statuses))
  expect(Object.fromEntries(faults), `seed ${SEED}`).toEqual({})
  expect(statuses[200]).toBeGreaterThan(REQUESTS / 4)
  if (IS_LONG)
    expect(fifths.at(-1)!.alive - fifths[0]!.alive, JSON.stringify(fifths)).toBeLessThan(GROWTH_MB)
})
