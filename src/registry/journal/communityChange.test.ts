import { describe, expect, it } from 'vitest'
import type { CommunityRules } from '../community/rules.js'
import { type CommunityChange, decodeChange, encodeChange } from './change.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const MINT = 'So11111111111111111111111111111111111111112'

describe("the body of a community's change", () => {
  it('is stored in a fixed form', () => {
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

  describe('with extra, missing or invalid fields throws', () => {
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
    const decode = (kind: CommunityChange['kind'], body: object) =>
      decodeChange(kind, Buffer.from(JSON.stringify(body)))

    it.each<{ name: string; body: object }>([
      { name: 'a field more', body: { ...registration, more: 1 } },
      { name: 'a community in capitals', body: { ...registration, community: 'Foo' } },
      { name: 'a community with a slash', body: { ...registration, community: 'foo/' } },
      { name: 'a name with a slash', body: { ...registration, name: 'a/' } },
      { name: 'an empty name', body: { ...registration, name: '' } },
      { name: 'a short hash of requirements', body: { ...registration, met: 'ab' } },
      { name: 'an empty hash of requirements', body: { ...registration, met: '' } },
      { name: 'a flag that is a number', body: { ...registration, isAssigned: 0 } },
      { name: 'no actor', body: { ...registration, actor: null } },
      { name: 'an actor in capitals', body: { ...registration, actor: alice.toUpperCase() } },
      // wallets of other chains can't sign in, and can't get names
      {
        name: 'a wallet of another chain',
        body: { ...registration, wallet: `03${Buffer.from('cosmos1').toString('hex')}` },
      },
      { name: 'rules', body: { actor: alice, community: 'foo', rules: free } },
    ])('a registration with $name', ({ body }) => {
      expect(() => decode('register_community_name', body)).toThrow(RangeError)
    })

    it('a configuration that is a registration', () => {
      expect(() => decode('configure_community', registration)).toThrow(RangeError)
    })

    it.each<{ name: string; rules: object }>([
      { name: 'a price for owners', rules: { ...free, ownersOnly: true, prices: [asks] } },
      { name: 'a price twice', rules: { ...free, prices: [asks, asks] } },
      { name: 'a leading zero', rules: { ...free, prices: [{ ...asks, amount: '05' }] } },
      { name: 'a price of nothing', rules: { ...free, prices: [{ ...asks, amount: '0' }] } },
      { name: 'a day as its start', rules: { ...free, startsAt: '1970-01-01' } },
      { name: 'a field more', rules: { ...free, more: [] } },
      { name: 'prices alone', rules: { prices: [] } },
    ])('a configuration with $name', ({ rules }) => {
      const body = { actor: null, community: 'foo', rules }
      expect(() => decode('configure_community', body)).toThrow(RangeError)
    })
  })
})
