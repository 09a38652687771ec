import fc from 'fast-check'
import {
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  parseAbiParameters,
  slice,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { runsOf } from '../setup/tiers.js'
import { callOf, lookupOf } from '../support/ens.js'
import { useWorld } from '../support/useWorld.js'
import { startEnsWorld } from './world.js'

const world = useWorld(() => startEnsWorld())

const SENDER = zeroAddress
const ADDR = callOf('addr(bytes32)')
const NO_BYTES = encodeAbiParameters([{ type: 'bytes' }], ['0x'])
const REQUESTS = Number(process.env.FUZZ_CALLS ?? runsOf(500))
const get = (data: string, sender: string = SENDER) => world.api.get(`/ens/${sender}/${data}.json`)
const post = (data: unknown) => world.api.post('/ens', { sender: SENDER, data })
const SIGNED = parseAbiParameters(
  'uint256 chainId, address resolver, bytes32 request, uint64 expires, bytes result',
)
/** Result of a record's call in the gateway's response. */
const resultOf = async (name: string, call: Hex) =>
  decodeAbiParameters(SIGNED, slice((await get(lookupOf(name, call))).body.data, 65))[4]

/** Calls of records, and the result of each where there is no record. */
const RECORDS: readonly { name: string; call: Hex; empty: Hex }[] = [
  {
    name: 'addr',
    call: ADDR,
    empty: encodeAbiParameters(parseAbiParameters('address'), [zeroAddress]),
  },
  ...[0n, 0x8000_2105n, 501n].map((coin) => ({
    name: `addr of coin ${coin}`,
    call: callOf('addr(bytes32,uint256)', coin),
    empty: NO_BYTES,
  })),
  ...['avatar', 'description', 'url', ''].map((key) => ({
    name: `text "${key}"`,
    call: callOf('text(bytes32,string)', key),
    empty: NO_BYTES,
  })),
  { name: 'name', call: callOf('name(bytes32)'), empty: NO_BYTES },
  { name: 'contenthash', call: callOf('contenthash(bytes32)'), empty: NO_BYTES },
  {
    name: 'pubkey',
    call: callOf('pubkey(bytes32)'),
    empty: encodeAbiParameters(parseAbiParameters('bytes32, bytes32'), [zeroHash, zeroHash]),
  },
  {
    name: 'ABI',
    call: callOf('ABI(bytes32,uint256)', 1n),
    empty: encodeAbiParameters(parseAbiParameters('uint256, bytes'), [0n, '0x']),
  },
]

describe('the gateway', () => {
  it('answers a URL and a body equally, for any site, in upper and lower case', async () => {
    const data = lookupOf('Bob.seedling.bundles.eth', callOf('name(bytes32)'))
    const { status, body, headers } = await get(data)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect((await post(data)).body).toEqual(body)
    expect(body.data).toContain(toHex('bob.seedling.bundles.eth').slice(2))
    expect((await get(`0x${data.slice(2).toUpperCase()}`, `0x${'E1'.repeat(20)}`)).body).toEqual(
      body,
    )
  })

  it.each(RECORDS)(
    'answers private, unverified and unknown wallets with an empty record, by the same statements: $name',
    async ({ call, empty }) => {
      const asked = vi.spyOn(world.api.pool, 'query')
      const statements = () =>
        asked.mock.calls.map(([query]) => (query as unknown as { text: string }).text)
      const seen = new Set<string>()
      for (const name of [
        'nobody.seedling',
        'secret.seedling',
        'unverified.seedling',
        'quiet.sunny',
        'x.free',
      ]) {
        asked.mockClear()
        expect(await resultOf(`${name}.bundles.eth`, call), name).toBe(empty)
        seen.add(`${statements().filter((text) => /_(main|test)net\b/.test(text))}`)
      }
      expect(seen.size, `${[...seen]}`).toBe(1)
      for (const name of ['free.bundles.eth', 'bundles.eth', 'seedling.testers.eth'])
        expect(await resultOf(name, call), name).toBe(empty)
      asked.mockRestore()
    },
  )
})

it(`${REQUESTS} random calls cause no internal error`, async () => {
  const hex = fc.uint8Array({ maxLength: 300 }).map((bytes) => toHex(bytes))
  const label = fc.oneof(
    fc.stringMatching(/^[a-z0-9-]{1,12}$/),
    fc.string({ unit: 'grapheme', minLength: 1 }),
  )
  const name = fc
    .array(label, { maxLength: 4 })
    .map((labels) => [...labels, 'bundles.eth'].join('.'))
  const call = fc.oneof(
    fc.constantFrom(...RECORDS.map(({ call }) => call)),
    fc.bigInt(0n, 2n ** 256n - 1n).map((coin) => callOf('addr(bytes32,uint256)', coin)),
    fc.string().map((key) => callOf('text(bytes32,string)', key)),
    hex,
  )
  const whole = fc.tuple(fc.oneof(name, hex), call).map(([one, data]) => lookupOf(one, data))
  const changed = fc.tuple(whole, fc.nat(600), fc.nat(15)).map(([data, at, digit]) => {
    const place = 2 + (at % (data.length - 2))
    return `${data.slice(0, place)}${digit.toString(16)}${data.slice(place + 1)}`
  })
  const asked = fc.oneof(
    whole,
    changed,
    hex.map((one) => `0x9061b923${one.slice(2)}`),
  )
  const property = fc.asyncProperty(asked, fc.boolean(), async (data, isPost) => {
    const { status, body } = await (isPost ? post(data) : get(data))
    expect([200, 400], `${data} ${JSON.stringify(body)}`).toContain(status)
  })
  await fc.assert(property, { numRuns: REQUESTS })
}, 600_000)
