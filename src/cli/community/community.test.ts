import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
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

const file = join(mkdtempSync(join(tmpdir(), 'clusterd-rules-')), 'club.json')
afterAll(() => rmSync(dirname(file), { recursive: true }))
const rulesIn = (content: unknown) => {
  writeFileSync(file, JSON.stringify(content))
  return readRules(file, places, 'mainnet')
}

describe('the rules of a file', () => {
  it('are free for everybody where there are none', () => {
    const free = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }
    expect(readRules(undefined, places, 'mainnet')).toEqual(free)
  })

  it('take prices and a start', () => {
    const price = { network: '1', token: 'native', amount: '5', recipient: RECIPIENT }
    expect(rulesIn({ prices: [price], startsAt: '2026-12-01T08:00:00Z' })).toMatchObject({
      prices: [{ ...price, amount: 5n }],
      startsAtMs: Date.UTC(2026, 11, 1, 8),
    })
  })

  it.each([
    ['8453', /prices\[0\]\.network takes no payments/],
    ['10', /prices\[0\]\.network is no network/],
  ])('say what is wrong with a price on %s', (network, message) => {
    const price = { network, token: 'native', amount: '5', recipient: RECIPIENT }
    expect(() => rulesIn({ prices: [price] })).toThrow(message)
  })

  it.each([
    ['no-such-file.json', /does not exist/],
    ['package.json', /unknown field "name"/],
    ['README.md', /is not JSON/],
  ])('say what is wrong with %s', (name, message) => {
    expect(() => readRules(name, places, 'mainnet')).toThrow(message)
  })
})
