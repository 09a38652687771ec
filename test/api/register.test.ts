import bs58 from 'bs58'
import { decodeFunctionData, getAddress, hexToString, parseAbi } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  bid,
  freshName,
  MINIMUM_WEI,
  randomAddress,
  startApi,
  tailBlock,
  useApi,
} from './support.js'

const ABI = parseAbi([
  'function placeBids(uint256[] amounts, bytes32[] names) payable',
  'function placeBids(uint256[] amounts, bytes32[] names, bytes32 referral) payable',
])

const sender = randomAddress()
const taken = freshName()
const pending = freshName()

const world = useApi()
beforeAll(async () => {
  await world.append('mainnet', [bid({ from: randomAddress(), name: taken })])
  await world.tail('mainnet', [
    tailBlock(5_000, [
      bid({ from: randomAddress(), name: pending, block: 5_000 }),
      bid({ from: randomAddress(), name: freshName(), block: 5_000, logIndex: 1, amountWei: 1n }),
    ]),
  ])
})

type Body = Record<string, unknown>
const quote = (body: Body, query = '') => world.post(`/v1/names/register/evm${query}`, body)
const valid = (change: Body = {}): Body => ({
  network: '1',
  sender,
  names: [{ name: freshName() }],
  ...change,
})
const expectError = async (body: Body, error: string, status = 400) => {
  const reply = await quote(body)
  expect(reply, JSON.stringify(body).slice(0, 300)).toMatchObject({
    status,
    body: { status, error },
  })
  return reply.body
}

describe('POST /v1/names/register/check', () => {
  it('answers one element per input, in its order, echoing the name', async () => {
    const free = freshName()
    const asked = [free, taken, `${pending}/`, taken.toUpperCase(), free]
    expect((await world.post('/v1/names/register/check', asked)).body).toEqual([
      { name: free, isAvailable: true },
      { name: taken, isAvailable: false },
      { name: `${pending}/`, isAvailable: false, reason: 'pending' },
      { name: taken.toUpperCase(), isAvailable: false },
      { name: free, isAvailable: true },
    ])
    const onTestnet = await world.post('/v1/names/register/check?testnet=true', [taken, pending])
    expect(onTestnet.body.map((element: { isAvailable: boolean }) => element.isAvailable)).toEqual([
      true,
      true,
    ])
    expect((await world.post('/v1/names/register/check', [])).body).toEqual([])
  })

  it('reports malformed names as invalid_name', async () => {
    const junk = ['', ' a', 'a/b', 'ä', 'x'.repeat(33), '\u0000']
    const { status, body } = await world.post('/v1/names/register/check', [taken, ...junk, taken])
    expect(status).toBe(200)
    const none = junk.map((name) => ({ name, isAvailable: false, reason: 'invalid_name' }))
    expect(body).toEqual([
      { name: taken, isAvailable: false },
      ...none,
      { name: taken, isAvailable: false },
    ])
  })

  it.each([
    { body: undefined },
    { body: {} },
    { body: 'x' },
    { body: [1] },
    { body: [{ name: 'x' }] },
  ])('refuses the body $body', async ({ body }) => {
    expect((await world.post('/v1/names/register/check', body)).body.error).toBe('invalid_request')
  })

  it('refuses more than 1,000', async () => {
    const many = Array.from({ length: 1_001 }, freshName)
    expect((await world.post('/v1/names/register/check', many)).body.error).toBe('too_many')
  })
})

describe('POST /v1/names/register/evm', () => {
  it.each(['/v1/names/register/evm', '/v1/register/evm'])(
    'answers a transaction that bids for the names: %s',
    async (path) => {
      const one = freshName()
      const two = freshName()
      const names = [
        { name: `${one}/` },
        { name: two.toUpperCase(), amountWei: (MINIMUM_WEI * 3n).toString() },
      ]
      const value = MINIMUM_WEI * 4n
      const { status, body } = await world.post(path, {
        network: '1',
        sender: getAddress(sender),
        names,
      })
      expect(status).toBe(200)
      expect(body).toEqual({
        type: 'evm',
        gasToken: { symbol: 'ETH', decimals: 18 },
        transactionData: {
          to: `0x${'11'.repeat(20)}`,
          data: expect.any(String),
          value: value.toString(),
        },
        registrationFee: value.toString(),
        bridgeFee: '0',
        names: [
          { name: one, amountWei: MINIMUM_WEI.toString(), amount: MINIMUM_WEI.toString() },
          {
            name: two,
            amountWei: (MINIMUM_WEI * 3n).toString(),
            amount: (MINIMUM_WEI * 3n).toString(),
          },
        ],
        referral: null,
      })
      const { args } = decodeFunctionData({ abi: ABI, data: body.transactionData.data })
      expect(args[0]).toEqual([MINIMUM_WEI, MINIMUM_WEI * 3n])
      expect(args[1].map((word) => hexToString(word, { size: 32 }))).toEqual([one, two])
    },
  )

  it.each(['amountWei', 'weiAmount', 'bidAmountWei', 'bidWeiAmount'])(
    'understands %s as the amount',
    async (key) => {
      const { body } = await quote(
        valid({ names: [{ name: freshName(), [key]: '20000000000000000' }] }),
      )
      expect(body.names[0].amountWei).toBe('20000000000000000')
    },
  )

  it('refuses an amount under two field names', async () => {
    const both = [
      { name: freshName(), amountWei: '20000000000000000', weiAmount: '20000000000000000' },
    ]
    await expectError(valid({ names: both }), 'invalid_amount')
  })

  it.each([
    // odd
    { amountWei: ' ' },
    { amountWei: '1e18' },
    { amountWei: '0x10' },
    { amountWei: '-1' },
    { amountWei: '+1' },
    { amountWei: '1.0' },
    { amountWei: '010000000000000000' },
    { amountWei: ' 10000000000000000' },
    { amountWei: '٣' },
    { amountWei: '1_0' },
    // large
    { amountWei: (2n ** 256n).toString() },
    { amountWei: '9'.repeat(78) },
    { amountWei: '9'.repeat(1_000) },
    // of other types
    { amountWei: 1e18 },
    { amountWei: 0 },
    { amountWei: true },
    { amountWei: [] },
    { amountWei: {} },
    // small
    { amountWei: '0' },
    { amountWei: '1' },
    { amountWei: (MINIMUM_WEI - 1n).toString() },
  ])('refuses the amount $amountWei', async ({ amountWei }) => {
    const body = await expectError(
      valid({ names: [{ name: freshName(), amountWei }] }),
      'invalid_amount',
    )
    expect(body.details[0].path).toBe('names[0].amountWei')
  })

  it('accepts the largest amount only once', async () => {
    const max = (2n ** 256n - 1n).toString()
    const one = { name: freshName(), amountWei: max }
    expect((await quote(valid({ names: [one] }))).status).toBe(200)
    const together = [freshName(), freshName()].map((name) => ({ name, amountWei: max }))
    await expectError(valid({ names: together }), 'invalid_amount')
  })

  it.each(['', 'a b', 'é', 'x'.repeat(33), 'a/b'])(
    'refuses the malformed name "%s"',
    async (name) => {
      await expectError(valid({ names: [{ name: freshName() }, { name }] }), 'invalid_name')
    },
  )

  it('refuses repeated, too many, unavailable names', async () => {
    const name = freshName()
    await expectError(valid({ names: [{ name }, { name: name.toUpperCase() }] }), 'invalid_request')
    await expectError(valid({ names: [{ name }, { name: `${name}/` }] }), 'invalid_request')
    await expectError(valid({ names: [] }), 'invalid_request')
    const hundred = Array.from({ length: 100 }, () => ({ name: freshName() }))
    expect((await quote(valid({ names: hundred }))).status).toBe(200)
    await expectError(valid({ names: [...hundred, { name }] }), 'too_many')
    const body = await expectError(
      valid({ names: [{ name }, { name: taken }, { name: pending }] }),
      'names_unavailable',
      409,
    )
    expect(body).toMatchObject({
      message: '1 or more names are unavailable',
      names: [taken, pending],
    })
  })

  it.each(['8453', 'solana', '999', '', 'toString', '__proto__'])(
    'refuses the unknown network "%s", naming the enabled ones',
    async (network) => {
      const body = await expectError(valid({ network }), 'unsupported_network')
      expect(body.message).toBe(
        `The network "${network}" is not enabled for this quote. Enabled are: 1 (mainnet), 11155111 (testnet) at /v1/names/register/evm.`,
      )
    },
  )

  it.each([{ network: 1 }, { network: null }, { network: undefined }, { network: ['1'] }])(
    'refuses the network $network',
    async ({ network }) => {
      await expectError(valid({ network }), 'invalid_request')
    },
  )

  it('selects the testnet by network, and allows only testnets with testnet=true', async () => {
    const names = [{ name: taken }]
    expect((await quote(valid({ network: '11155111', names }))).status).toBe(200)
    expect((await quote(valid({ network: '11155111', names }), '?testnet=true')).status).toBe(200)
    const { body } = await quote(valid(), '?testnet=true')
    expect(body).toMatchObject({ error: 'unsupported_network' })
    expect(body.message).toMatch(/^The network "1" with testnet=true .* 11155111 \(testnet\)/)
  })

  const CHECKSUMMED = getAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')

  it.each<[name: string, sender: unknown, error: string]>([
    ['of Solana', bs58.encode(Buffer.alloc(32, 9)), 'invalid_sender'],
    ['of Bitcoin', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'invalid_sender'],
    ['empty', '', 'unsupported_address'],
    ['only 0x', '0x', 'unsupported_address'],
    ['junk', 'junk', 'unsupported_address'],
    ['a digit too long', `${sender}0`, 'unsupported_address'],
    ['of a wrong checksum', CHECKSUMMED.replace('F', 'f'), 'unsupported_address'],
    ['of Dogecoin', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L', 'unsupported_address'],
    ['missing', undefined, 'invalid_request'],
    ['null', null, 'invalid_request'],
    ['a number', 5, 'invalid_request'],
    ['an object', {}, 'invalid_request'],
  ])('refuses a sender that is %s', async (_, other, error) => {
    await expectError(valid({ sender: other }), error)
  })

  it('contains the referring cluster', async () => {
    const owner = randomAddress()
    await world.append('mainnet', [bid({ from: owner, name: freshName() })])
    const { clusterId } = (await world.get(`/v1/clusters/address/${owner}`)).body
    const { body } = await quote(valid({ referralClusterId: clusterId }))
    const { args } = decodeFunctionData({ abi: ABI, data: body.transactionData.data })
    expect(args[2]).toBe(clusterId)
    expect(body.referral).toBe(clusterId)
  })

  it.each([`0x${'ab'.repeat(32)}`, '', null, 'undefined'])(
    'ignores an unknown or empty referralClusterId: %s',
    async (referralClusterId) => {
      const { body } = await quote(valid({ referralClusterId }))
      expect(body.referral).toBeNull()
      const { args } = decodeFunctionData({ abi: ABI, data: body.transactionData.data })
      expect(args).toHaveLength(2)
    },
  )

  it.each(['0x12', 7, {}])('refuses the referralClusterId %j', async (referralClusterId) => {
    await expectError(valid({ referralClusterId }), 'invalid_request')
  })
})

describe('a watched chain', () => {
  it('gives no quotes', async () => {
    const watching = await startApi({
      configs: (configs) =>
        configs.map((config) => ({ ...config, watchOnly: { minimum: [], quotes: false } })),
    })
    try {
      const { status, body } = await watching.post('/v1/names/register/evm', valid())
      expect([status, body.error]).toEqual([400, 'watch_only'])
    } finally {
      await watching.stop()
    }
  })
})
