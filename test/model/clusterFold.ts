import { type ClusterChange, encodeChange } from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { publicEvents } from '../../src/registry/journal/events.js'
import { rulesetOfVersion } from '../../src/registry/journal/ruleset.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { bigIntToWord } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { append, emptyRegistry } from './memoryRegistry.js'

type Listed = [address: Buffer, name: string, isPrivate?: boolean | null]
export const LATE = Number.MAX_SAFE_INTEGER

/** A registry whose entries are folded one by one, each a batch of its own. */
export function clusterWorld(rulesOf = rulesetOfVersion) {
  const registry = emptyRegistry('mainnet', 1n)
  const entries: Entry[] = []
  const enter = (entry: Pick<Entry, 'kind' | 'position' | 'txKey' | 'body'>) => {
    entries.push({ ...entry, causeMs: entries.length })
    const { outcomes } = append(registry, entries.slice(-1), LATE, rulesOf)
    const row = registry.journal.at(-1)!
    const { refusal = null, hasEffect = true, cluster = null } = outcomes[0] ?? {}
    return { refusal, hasEffect, cluster, row, events: publicEvents(row) }
  }
  const change = (given: ClusterChange) =>
    enter({ kind: given.kind, position: null, txKey: null, body: encodeChange(given) })
  return {
    registry,
    entries,
    change,
    bid: (from: Buffer, name: string) => {
      const body = Buffer.concat([
        Buffer.alloc(32, 1),
        addressToWord(from),
        bigIntToWord(5n),
        nameToWord(name),
      ])
      const position = { chain: 1, block: entries.length, logIndex: 0 }
      return enter({ kind: 'bid', position, txKey: 1n, body })
    },
    create: (actor: Buffer) => change({ kind: 'create_cluster', actor }),
    add: (actor: Buffer, ...wallets: Listed[]) =>
      change({
        kind: 'add_wallets',
        actor,
        wallets: wallets.map(([address, name, isPrivate = null]) => ({ address, name, isPrivate })),
      }),
    rename: (actor: Buffer, ...wallets: Listed[]) =>
      change({
        kind: 'rename_wallets',
        actor,
        wallets: wallets.map(([address, name]) => ({ address, name })),
      }),
    remove: (actor: Buffer, ...addresses: Buffer[]) =>
      change({ kind: 'remove_wallets', actor, addresses }),
    verify: (actor: Buffer, cluster: number) =>
      change({
        kind: 'verify_wallet',
        actor,
        clusterId: registry.clusters[cluster - 1]?.id ?? Buffer.alloc(32),
      }),
    backUp: (actor: Buffer, address: Buffer) => change({ kind: 'confirm_backup', actor, address }),
    entryOf: (address: Buffer) => registry.wallets.find((row) => row.address.equals(address)),
  }
}
