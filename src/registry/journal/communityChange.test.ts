import { describe, expect, it } from 'vitest'
import type { CommunityRules } from '../community/rules.js'
import { type CommunityChange, decodeChange, encodeChange } from './change.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const MINT = 'So11111111111111111111111111111111111111112'

describe("the body of a community's change", () => {
  it('is stored in one form for good', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    const wallet = Buffer.of(2, ...Buffer.alloc(32, 0xbb))
    const a = actor.toString('hex')
    const w = wallet.toString('hex')
    const set: CommunityRules = {
      prices: [{ network: '1', token: 'native', amount: 5n, recipient: EVM }],
      ownersOnly: false,
      startsAtMs: 1_000,
      requirements: [{ kind: 'allowlist', addresses: [MINT] }],
    }
    const text = (given: CommunityChange) => encodeChange(given).toString()
    expect(text({ kind: 'configure_community', actor: null, community: 'foo', rules: set })).toBe(
      `{"actor":null,"community":"foo","rules":{"prices":[{"network":"1","token":"native","amount":"5","recipient":"${EVM}"}],` +
        `"ownersOnly":false,"startsAt":"1970-01-01T00:00:01.000Z","requirements":[{"kind":"allowlist","addresses":["${MINT}"]}]}}`,
    )
    const names = { actor, community: 'foo', name: 'a', wallet, met: null, isAssigned: false }
    expect(text({ kind: 'register_community_name', ...names })).toBe(
      `{"actor":"${a}","community":"foo","name":"a","wallet":"${w}","met":null,"isAssigned":false}`,
    )
  })

  it('that says more, says less or says what the rules forbid stops the reader', () => {
    const alice = `01${'aa'.repeat(20)}`
    const registration = {
      actor: alice,
      community: 'foo',
      name: 'a',
      wallet: alice,
      met: null,
      isAssigned: false,
    }
    const free = { prices: [], ownersOnly: false, startsAt: null, requirements: [] }
    const asks = { network: '1', token: 'native', amount: '5', recipient: EVM }
    const bad = (kind: CommunityChange['kind'], body: object) =>
      expect(
        () => decodeChange(kind, Buffer.from(JSON.stringify(body))),
        JSON.stringify(body),
      ).toThrow(RangeError)
    for (const other of [
      { ...registration, more: 1 },
      { ...registration, community: 'Foo' },
      { ...registration, community: 'foo/' },
      { ...registration, name: 'a/' },
      { ...registration, name: '' },
      { ...registration, met: 'ab' },
      { ...registration, met: '' },
      { ...registration, isAssigned: 0 },
      { ...registration, actor: null },
      { ...registration, actor: alice.toUpperCase() },
      // wallets of other chains can't sign in, and get no names
      { ...registration, wallet: `03${Buffer.from('cosmos1').toString('hex')}` },
    ])
      bad('register_community_name', other)
    bad('configure_community', registration)
    bad('register_community_name', { actor: alice, community: 'foo', rules: free })
    for (const rules of [
      { ...free, ownersOnly: true, prices: [asks] },
      { ...free, prices: [asks, asks] },
      { ...free, prices: [{ ...asks, amount: '05' }] },
      { ...free, prices: [{ ...asks, amount: '0' }] },
      { ...free, startsAt: '1970-01-01' },
      { ...free, more: [] },
      { prices: [] },
    ])
      bad('configure_community', { actor: null, community: 'foo', rules })
  })
})
