import { describe, expect, it } from 'vitest'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { useApi } from './support.js'

/**
 * Tests of the route itself. test/communities/refunds.test.ts and test/solana/refunds.test.ts send its transactions.
 */

const world = useApi()

const EVM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const NOTHING = { refunds: [], unavailable: [], truncated: false }

async function credit(network: 0 | 1, wallet: string, amountWei: string): Promise<void> {
  const sql = `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
    VALUES ($1, 1, 1, $2, $3, 0, $4)`
  const stored = Buffer.concat([Buffer.of(1), fromHex(wallet as `0x${string}`)])
  await world.pool.query(sql, [network, Buffer.alloc(32), stored, amountWei])
}

describe('GET /v1/refunds/:address', () => {
  it.each([
    [EVM, EVM, 'evm'],
    ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', EVM, 'evm'],
    [
      'So11111111111111111111111111111111111111112',
      'So11111111111111111111111111111111111111112',
      'solana',
    ],
    [
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'bitcoin-p2wpkh',
    ],
  ])(
    'knows that nothing is owed to %s, and asks no chain about it',
    async (asked, address, type) => {
      const { status, body, headers } = await world.get(`/v1/refunds/${asked}`)
      expect([status, body]).toEqual([200, { address, type, ...NOTHING }])
      expect(headers.get('cache-control')).toBe('no-store')
    },
  )

  it.each([
    'foobar',
    '0x1234',
    `0x${'g'.repeat(40)}`,
    '0xF39fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '%20',
    'a'.repeat(3_000),
  ])('refuses a malformed address: %.50s', async (asked) => {
    const { status, body } = await world.get(`/v1/refunds/${asked}`)
    expect([status, body.error, body.details[0].path]).toEqual([
      400,
      'unsupported_address',
      'address',
    ])
  })

  it.each([
    [EVM, 'foobar'],
    [EVM, 'So11111111111111111111111111111111111111112'],
    ['So11111111111111111111111111111111111111112', EVM],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', EVM],
  ])('refuses for address %.10s the receiver %.10s', async (asked, to) => {
    const { status, body } = await world.get(`/v1/refunds/${asked}?to=${to}`)
    expect([status, body.error, body.details[0].path]).toEqual([400, 'unsupported_address', 'to'])
  })

  it('keeps the networks apart', async () => {
    await credit(0, EVM, '340282366920938463463374607431768211456')
    await credit(1, EVM, '7')
    const owed = async (query: string) =>
      (await world.get(`/v1/refunds/${EVM}${query}`)).body.refunds
    expect(await owed('')).toMatchObject([
      { network: '1', amount: '340282366920938463463374607431768211456', eid: 0 },
    ])
    expect(await owed('?testnet=true')).toMatchObject([
      { network: '11155111', amount: '7', eid: 0 },
    ])
  })
})
