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
import { packetToBytes } from 'viem/ens'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { callOf, lookupOf } from '../support/ens.js'
import { type EnsWorld, startEnsWorld } from './world.js'

let world: EnsWorld
beforeAll(async () => {
  world = await startEnsWorld()
})
afterAll(() => world?.stop())

const SENDER = zeroAddress
const NO_BYTES = encodeAbiParameters([{ type: 'bytes' }], ['0x'])
const REQUESTS = Number(process.env.FUZZ_CALLS ?? 10_000)
const get = (data: string, sender: string = SENDER) => world.api.get(`/ens/${sender}/${data}.json`)
const post = (data: unknown) => world.api.post('/ens', { sender: SENDER, data })
const SIGNED = parseAbiParameters('uint256 chainId, address resolver, bytes32 request, uint64 expires, bytes result')
/** What a call of a record returns by the answer to it. */
const resultOf = async (name: string, call: Hex) =>
  decodeAbiParameters(SIGNED, slice((await get(lookupOf(name, call))).body.data, 65))[4]

/** Calls of records, and what each returns where there is none. */
const RECORDS: readonly (readonly [call: Hex, empty: Hex])[] = [
  [callOf('addr'), encodeAbiParameters(parseAbiParameters('address'), [zeroAddress])],
  ...[0n, 0x8000_2105n, 501n].map((coin) => [callOf('addr', coin), NO_BYTES] as const),
  ...['avatar', 'description', 'url', ''].map((key) => [callOf('text', key), NO_BYTES] as const),
  [callOf('name'), NO_BYTES],
  [callOf('contenthash'), NO_BYTES],
  [callOf('pubkey'), encodeAbiParameters(parseAbiParameters('bytes32, bytes32'), [zeroHash, zeroHash])],
  [callOf('ABI', 1n), encodeAbiParameters(parseAbiParameters('uint256, bytes'), [0n, '0x'])],
]

describe('the gateway', () => {
  it('answers a URL and a body alike, to any site, whatever the case of the data', async () => {
    const data = lookupOf('seedling.bundles.eth', callOf('name'))
    const { status, body, headers } = await get(data)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect((await post(data)).body).toEqual(body)
    expect((await get(`0x${data.slice(2).toUpperCase()}`, `0x${'E1'.repeat(20)}`)).body).toEqual(body)
  })

  it('names what it resolves', async () => {
    for (const asked of ['Seedling.bundles.eth', 'bob.seedling.bundles.eth']) {
      const text = encodeAbiParameters([{ type: 'string' }], [asked.toLowerCase()])
      expect(await resultOf(asked, callOf('name'))).toBe(text)
    }
  })

  it('answers private, unverified and unknown wallets with nothing, by the same statements', async () => {
    const asked = vi.spyOn(world.api.pool, 'query')
    const statements = () => asked.mock.calls.map(([query]) => (query as unknown as { name: string }).name)
    for (const [call, empty] of RECORDS) {
      const seen = new Set<string>()
      for (const name of ['nobody.seedling', 'secret.seedling', 'unverified.seedling', 'quiet.sunny', 'x.free']) {
        asked.mockClear()
        expect(await resultOf(`${name}.bundles.eth`, call), `${name} ${call}`).toBe(empty)
        seen.add(`${statements().filter((name) => name.startsWith('read_'))}`)
      }
      expect(seen.size, `${[...seen]}`).toBe(1)
      for (const name of ['free.bundles.eth', 'bundles.eth', 'seedling.testers.eth'])
        expect(await resultOf(name, call)).toBe(empty)
    }
    asked.mockRestore()
  })
})

const DNS = (name: string) => toHex(packetToBytes(name))
describe('refused with a sentence, never by a fault of ours, is', () => {
  it.each([
    ['data that is no hex', '0xzz'],
    ['half a byte', '0x9061b92'],
    ['no call', '0x'],
    ['a call of something else', `0x12345678${'00'.repeat(64)}`],
    ['a call of a profile alone', callOf('addr')],
    ['a record that nobody knows', lookupOf('seedling.bundles.eth', `0x12345678${'00'.repeat(32)}`)],
    ['a call that is cut', lookupOf('seedling.bundles.eth', slice(callOf('text', 'avatar'), 0, 40))],
    ['another parent', lookupOf('seedling.others.eth', callOf('addr'))],
    ['the end of a parent', lookupOf('seedling.my-bundles.eth', callOf('addr'))],
    ['a name that is no UTF-8', lookupOf(`0x02ff${DNS('bundles.eth').slice(2)}`, callOf('addr'))],
    ['a dot in a label', lookupOf(`0x0361${'2e'}62${DNS('bundles.eth').slice(2)}`, callOf('addr'))],
    ['a name without its end', lookupOf(slice(DNS('seedling.bundles.eth'), 0, -1), callOf('addr'))],
    ['more behind its end', lookupOf(`${DNS('seedling.bundles.eth')}00`, callOf('addr'))],
    ['an empty name', lookupOf('0x00', callOf('addr'))],
    ['a name that can`t be normalized', lookupOf(`0x03${'615f62'}${DNS('bundles.eth').slice(2)}`, callOf('addr'))],
    ['a call of more than 2,000 bytes', lookupOf('seedling.bundles.eth', callOf('text', 'x'.repeat(2_000)))],
  ])('%s', async (_, data) => {
    const replies = [await post(data), ...(data.length < 4_000 ? [await get(data)] : [])]
    for (const { status, body } of replies)
      expect(body).toMatchObject({ status, message: expect.stringMatching(/\.$/) })
    for (const { status } of replies) expect(status).toBe(400)
  })

  it('what is no body, and a sender that is no address', async () => {
    for (const body of [undefined, null, [], { sender: SENDER }, { data: '0x' }, { sender: 1, data: '0x' }])
      expect((await world.api.post('/ens', body)).status).toBe(400)
    expect((await get(lookupOf('seedling.bundles.eth', callOf('addr')), '0x12')).status).toBe(400)
  })

  it(`${REQUESTS} random calls`, async () => {
    const good = lookupOf('sol.seedling.bundles.eth', callOf('addr', 501n))
    const hex = fc.uint8Array({ maxLength: 300 }).map((bytes): string => toHex(bytes))
    const label = fc.oneof(
      fc.stringMatching(/^[a-z0-9-]{1,12}$/),
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constant('seedling'),
    )
    const name = fc.array(label, { maxLength: 4 }).map((labels) => [...labels, 'bundles.eth'].join('.'))
    const changed = fc
      .tuple(fc.nat(good.length - 3), fc.nat(15))
      .map(([at, digit]) => `0x${good.slice(2, at + 2)}${digit.toString(16)}${good.slice(at + 3)}`)
    const call = fc.oneof(
      fc.constantFrom(...RECORDS.map(([one]) => one)),
      fc.bigInt(0n, 2n ** 256n - 1n).map((coin) => callOf('addr', coin)),
      fc.string().map((key) => callOf('text', key)),
      hex,
    )
    const asked = fc.oneof(
      hex,
      hex.map((one) => `0x9061b923${one.slice(2)}`),
      changed,
      fc.tuple(name, call).map(([one, data]) => lookupOf(one, data as Hex)),
    )
    const property = fc.asyncProperty(asked, fc.boolean(), async (data, isPost) => {
      const { status, body } = await (isPost || data.length > 4_000 ? post(data) : get(data === '0x' ? '0x00' : data))
      expect([200, 400], `${data} ${JSON.stringify(body)}`).toContain(status)
    })
    await fc.assert(property, { numRuns: REQUESTS })
  }, 600_000)
})
