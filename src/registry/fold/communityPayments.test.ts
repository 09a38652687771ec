import { describe, expect, it } from 'vitest'
import {
  alice,
  ben,
  bob,
  communityWorld,
  costing,
  eve,
  FREE,
  LISTED,
  LISTED_HASH,
  MINUTE_MS,
  pat,
  USDC,
} from '../../../test/model/communityFold.js'
import type { CommunityPaymentBody } from '../journal/payment.js'

describe('a payment', () => {
  it('gives its payer the name, and no cluster', () => {
    const { configure, pay, registry } = communityWorld()
    configure('foo', costing(5n))
    const { payment, row, events } = pay('foo/eve')
    expect(payment).toEqual({ outcome: 'registered' })
    expect(row).toMatchObject({ actor: eve, publicCount: 1 })
    expect(events).toEqual([
      { type: 'REGISTER_COMMUNITY_NAME', cluster: null, community: 'foo', name: 'eve', wallet: eve },
    ])
    expect(registry.communityNames).toMatchObject([{ name: 'eve', address: eve, isVerified: true, assigned: null }])
    expect(pay('foo/bob', { payer: bob }).events).toMatchObject([{ cluster: 2, wallet: bob }])
  })

  it('of a private wallet leaves it private, and its cluster unsaid', () => {
    const { configure, pay, registry } = communityWorld()
    configure('foo', costing(5n))
    for (const payer of [pat, ben]) {
      const { events, row } = pay(`foo/p${payer[1]}`, { payer })
      expect([events[0]!.cluster, row.actor]).toEqual([null, payer])
    }
    expect(registry.wallets.filter((row) => row.isPrivate).map((row) => row.address)).toEqual([pat, ben])
  })

  it('is lost where the name is taken, by whomever', () => {
    const { configure, register, pay } = communityWorld()
    configure('foo', costing(5n))
    register(alice, 'foo/a', { for: bob })
    pay('foo/b')
    for (const taken of ['a', 'b', 'main', 'ann']) {
      const { payment, row, events } = pay(`foo/${taken}`)
      expect(payment).toEqual({ outcome: 'lost' })
      expect([row.publicCount, events, row.effects.length]).toEqual([0, [], 2])
    }
    expect(pay('foo/pat').payment).toEqual({ outcome: 'registered' })
  })

  it('gets a name whose owner has the money back, the first that is good', () => {
    const { configure, pay, registry } = communityWorld()
    configure('foo', costing(5n))
    const { seq: freed } = pay('foo/a').row
    expect(pay('foo/a', { payer: ben, amount: 1n, freed }).payment).toMatchObject({ reason: 'underpaid' })
    expect(pay('foo/a', { payer: bob, freed }).events).toMatchObject([{ name: 'a', wallet: bob }])
    for (const more of [{ freed }, {}])
      expect(pay('foo/a', { payer: ben, ...more }).payment).toEqual({ outcome: 'lost' })
    expect(registry.communityNames).toMatchObject([{ name: 'a', address: bob }])
  })

  it('is refused for each reason, and stays in the journal with it', () => {
    const w = communityWorld()
    const reasonOf = (pair: string, more: Partial<CommunityPaymentBody> = {}) => {
      const { payment, row } = w.pay(pair, more)
      expect([row.publicCount, row.effects.length]).toEqual([0, 3])
      return payment?.outcome === 'refused' ? payment.reason : payment?.outcome
    }
    expect(reasonOf('foo/a')).toBe('not_found')
    expect(reasonOf('nobodys/a')).toBe('not_found')
    w.configure('foo', costing(5n))
    const wrong = [Buffer.alloc(32, 65), Buffer.alloc(32), Buffer.from('a\0b'.padEnd(32, '\0'))]
    for (const word of wrong) {
      expect(reasonOf('foo/a', { name: word })).toBe('malformed_name')
      expect(reasonOf('foo/a', { community: word })).toBe('malformed_name')
    }
    expect(reasonOf('foo/a', { network: '8453' })).toBe('no_price')
    expect(reasonOf('foo/a', { token: USDC })).toBe('no_price')
    expect(reasonOf('foo/a', { recipient: USDC })).toBe('no_price')
    expect(reasonOf('foo/a', { amount: 4n })).toBe('underpaid')
    expect(reasonOf('foo/a', { met: null })).toBe('requirements_not_met')
    expect(reasonOf('foo/a', { met: LISTED_HASH })).toBe('requirements_not_met')
    w.configure('foo', { ...costing(5n), startsAtMs: w.now() + 10 * MINUTE_MS })
    expect(reasonOf('foo/a')).toBe('not_active')
    expect(w.registry.communityNames).toEqual([])
  })

  it('is decided by the rules at its block: those asked since then count for nothing', () => {
    const w = communityWorld()
    const blockMs = w.now()
    w.configure('foo', costing(5n))
    w.configure('foo', { ...costing(9n), ...{ requirements: LISTED.requirements, startsAtMs: Date.UTC(2030, 0) } })
    expect(w.pay('foo/a', { blockMs }).payment).toEqual({ outcome: 'registered' })
    expect(w.pay('foo/b', { blockMs: blockMs - MINUTE_MS }).payment).toMatchObject({ reason: 'not_found' })
    expect(w.pay('foo/b').payment).toMatchObject({ reason: 'not_active' })
  })

  it('needs the lowest price of the half hour before its block', () => {
    const w = communityWorld()
    w.configure('foo', costing(5n))
    const raisedMs = w.now()
    w.configure('foo', costing(9n))
    const paid = (amount: bigint, afterMinutes: number) =>
      w.pay(`foo/a${afterMinutes}`, { amount, blockMs: raisedMs + afterMinutes * MINUTE_MS }).payment!.outcome
    expect(paid(5n, 29)).toBe('registered')
    expect(paid(4n, 28)).toBe('refused')
    expect(paid(5n, 30)).toBe('refused')
    expect(paid(9n, 30)).toBe('registered')
    w.configure('foo', FREE)
    expect(w.pay('foo/late', { amount: 9n }).payment).toEqual({ outcome: 'registered' })
    expect(w.pay('foo/later', { amount: 9n, blockMs: w.now() + 30 * MINUTE_MS }).payment).toMatchObject({
      reason: 'no_price',
    })
  })

  it('may be entered late, after the name has gone', () => {
    const w = communityWorld()
    w.configure('foo', costing(5n))
    const blockMs = w.now()
    w.register(alice, 'foo/a', { for: bob })
    expect(w.pay('foo/a', { blockMs }).payment).toEqual({ outcome: 'lost' })
  })
})
