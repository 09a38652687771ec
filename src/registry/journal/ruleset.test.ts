import { describe, expect, it } from 'vitest'
import { append, emptyRegistry, type MemoryRegistry } from '../../../test/model/memoryRegistry.js'
import { encodeChange } from './change.js'
import type { Entry } from './entry.js'
import { CURRENT_RULESET, type Ruleset, rulesetOf } from './ruleset.js'

it('has versions that never change, of which the newest is current', () => {
  expect(rulesetOf(1)).toEqual({ maxClusterWallets: 1_000, namesPerEntry: Number.POSITIVE_INFINITY })
  expect(rulesetOf(2)).toEqual({ maxClusterWallets: 1_000, namesPerEntry: 1_000 })
  expect(rulesetOf(3)).toEqual({ maxClusterWallets: 1_000, namesPerEntry: 1_000 })
  expect(CURRENT_RULESET).toBe(3)
})

it.each([0, 4, -1, 1.5])('knows no version %d', (version) => {
  expect(() => rulesetOf(version)).toThrow(`ruleset ${version} is unknown`)
})

describe('a rule that changed at a position of the journal', () => {
  /** Rules by which a cluster has at most two entries from version 2 on. */
  const rulesets = (version: number): Ruleset =>
    version === 2 ? { ...rulesetOf(1), maxClusterWallets: 2 } : rulesetOf(version)
  const wallet = (n: number): Buffer => Buffer.of(1, ...Buffer.alloc(20, n))
  const [alice, bob] = [wallet(0xa1), wallet(0xb0)]
  const LATE = Number.MAX_SAFE_INTEGER

  /** Adds a wallet to the cluster of another, which gets one where it has none. */
  const adding = (actor: Buffer, n: number, ruleset: number): Entry => {
    const wallets = [{ address: wallet(n), name: `wallet-${n}`, isPrivate: false }]
    const body = encodeChange({ kind: 'add_wallets', actor, wallets })
    return { kind: 'add_wallets', position: null, txKey: null, causeMs: n, body, ruleset }
  }
  const old = [adding(alice, 1, 1), adding(alice, 2, 1)]
  const list = [...old, adding(alice, 3, 2), adding(bob, 4, 2), adding(bob, 5, 2)]

  function folded(entries: readonly Entry[]): MemoryRegistry {
    const registry = emptyRegistry('mainnet')
    append(registry, entries, LATE, rulesets)
    return registry
  }

  it('binds new entries alone', () => {
    const registry = emptyRegistry('mainnet')
    const outcomes = list.flatMap((entry) => append(registry, [entry], LATE, rulesets).outcomes)
    const limit = { code: 'wallet_limit' }
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([null, null, limit, null, limit])
    expect(registry.wallets.map(({ cluster }) => cluster)).toEqual([1, 1, 1, 2, 2])
  })

  it('leaves what old entries did, in a rebuild from the journal too', () => {
    const registry = folded(list)
    expect(registry.journal.map(({ ruleset }) => ruleset)).toEqual([1, 1, 2, 2, 2])
    expect(registry.journal.slice(0, 2)).toEqual(folded(old).journal)
    const journal = registry.journal.map(({ atMs, ...entry }): Entry => ({ ...entry, causeMs: atMs }))
    expect(folded(journal)).toEqual({
      ...registry,
      journal: registry.journal.map((row) => ({ ...row, causeMs: row.atMs })),
    })
  })

  it('would change old entries if they were folded under the new version', () => {
    const all = folded(list.map((entry) => ({ ...entry, ruleset: 2 })))
    expect(all.journal[1]!.effects).not.toEqual(folded(old).journal[1]!.effects)
  })
})
