import { describe, expect, it } from 'vitest'
import { ENTRY_KIND, entryKind } from './entry.js'

describe('entry kinds', () => {
  it('are never renumbered, and an unknown one stops the reader', () => {
    expect(ENTRY_KIND).toEqual({
      bid: 1,
      minimum: 2,
      create_cluster: 16,
      add_wallets: 17,
      rename_wallets: 18,
      remove_wallets: 19,
      verify_wallet: 20,
      confirm_backup: 21,
      configure_community: 22,
      register_community_name: 23,
      pay_community_name: 24,
      move_names: 25,
    })
    for (const [kind, code] of Object.entries(ENTRY_KIND)) expect(entryKind(code)).toBe(kind)
    expect(() => entryKind(99)).toThrow(RangeError)
    expect(() => entryKind(99)).toThrow('kind 99 is unknown: was the journal written by a newer version?')
  })
})
