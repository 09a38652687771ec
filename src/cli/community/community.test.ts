import { describe, expect, it } from 'vitest'
import { parseChainsFile } from '../../config/index.js'
import { readRules } from './community.js'

const RECIPIENT = `0x${'55'.repeat(20)}`
const chain = (label: string, role: 'hub' | 'spoke', more: object = {}) => ({
  ...{ network: 'mainnet', label, role, chainId: Number(label), rpcUrls: ['http://localhost:1'] },
  contract: `0x${'11'.repeat(20)}`,
  ...more,
})
const places = parseChainsFile(
  { chains: [chain('1', 'hub', { communityPayments: `0x${'77'.repeat(20)}` }), chain('8453', 'spoke', { eid: 2 })] },
  'test',
)

describe('the rules that options describe', () => {
  it('are free for everybody where there are none', () => {
    expect(readRules({}, places, 'mainnet')).toEqual({
      prices: [],
      ownersOnly: false,
      startsAtMs: null,
      requirements: [],
    })
  })

  it('take prices, requirements and a start', () => {
    const options = {
      price: [`1:native:5:${RECIPIENT}`],
      startsAt: '2026-12-01T08:00:00Z',
      holds: [`8453:${RECIPIENT}:1`],
      allow: [RECIPIENT],
      memberOf: ['Club'],
    }
    expect(readRules(options, places, 'mainnet')).toEqual({
      prices: [{ network: '1', token: 'native', amount: 5n, recipient: RECIPIENT }],
      ownersOnly: false,
      startsAtMs: Date.UTC(2026, 11, 1, 8),
      requirements: [
        { kind: 'token', network: '8453', token: RECIPIENT, minimum: 1n },
        { kind: 'allowlist', addresses: [RECIPIENT] },
        { kind: 'cluster', name: 'club' },
      ],
    })
  })

  it.each([
    [{ price: ['1:native:5'] }, /--price is network:token:amount:recipient/],
    [{ price: [`8453:native:5:${RECIPIENT}`] }, /prices\[0\]\.network takes no payments/],
    [{ price: [`10:native:5:${RECIPIENT}`] }, /prices\[0\]\.network is no network/],
    [{ rules: 'no-such-file.json' }, /does not exist/],
    [{ rules: 'package.json', ownersOnly: true }, /not both/],
    [{ rules: 'package.json' }, /unknown field "name"/],
  ])('say what is wrong: %j', (options, message) => {
    expect(() => readRules(options, places, 'mainnet')).toThrow(message)
  })
})
