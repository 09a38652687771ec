import type { FeedEvent } from '../../src/client/types.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { actorText } from '../../src/registry/journal/eventForms.js'
import { createV1EventWriter, feedItemsOf } from '../../src/registry/journal/events.js'
import { EVENTS, type EventField, type PublicEvent } from '../../src/registry/journal/eventTypes.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import type { Model } from './clusterModel.js'
import { WALLETS } from './clusterSteps.js'
import { append, emptyRegistry, type MemoryRegistry } from './memoryRegistry.js'

/** The registry's state in the terms of the models: wallets and clusters by number, events as lines. */

export const LATE = Number.MAX_SAFE_INTEGER
export const number = (address: Buffer): number =>
  WALLETS.findIndex((wallet) => wallet.equals(address))

/** Type of an event, and its fields as v1 shows them, without the amount of a bid. */
export function line(event: PublicEvent): string {
  const values = Object.entries<EventField>(EVENTS[event.type].fields).flatMap(
    ([key, { kind, v1 }]) => {
      const value = (event as unknown as Record<string, unknown>)[key]
      if (v1 === null || kind === 'wei') return []
      if (value instanceof Buffer) return [number(value)]
      return [typeof value === 'number' ? value - 1 : String(value)]
    },
  )
  return [event.type, ...values].join(' ')
}

/** Tables after all entries, cut into batches of these sizes, the rest in one. */
export function folded(entries: readonly Entry[], sizes: readonly number[] = []): MemoryRegistry {
  const registry = emptyRegistry('mainnet', 1n)
  const rest = [...entries]
  for (const size of sizes) append(registry, rest.splice(0, size), LATE)
  append(registry, rest, LATE)
  return registry
}

export const clusterIdOf = ({ clusters }: MemoryRegistry, serial: number): string =>
  toHex(clusters[serial - 1]!.id)

/** The feed as /v1/events answers it. */
export function feedOf(registry: MemoryRegistry): FeedEvent[] {
  const write = createV1EventWriter(registry.network, registry.head.generation, (serial) =>
    clusterIdOf(registry, serial),
  )
  return registry.journal.flatMap(feedItemsOf).map((item) => JSON.parse(write(item)))
}

/** Time and public actor of an entry. */
export function causeOf({ journal }: MemoryRegistry, seq: number): { ms: number; by: string } {
  const { atMs, actor } = journal[seq - 1]!
  return { ms: atMs, by: actorText(actor) }
}

export const sorted = <T>(list: Iterable<T>): T[] =>
  [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

export const entriesIn = (model: Model) =>
  sorted(
    model.clusters.flatMap((entries, c) =>
      [...entries].map(([w, { added, changed, ...entry }]) => ({ c, w, ...entry, added, changed })),
    ),
  )

export const rowsOf = ({ wallets }: MemoryRegistry) =>
  sorted(
    wallets.map(
      ({ cluster, address, name, isVerified, isPrivate, isBackedUp, createdSeq, updatedSeq }) => ({
        c: cluster - 1,
        w: number(address),
        name,
        isVerified,
        isPrivate,
        isBackedUp,
        added: createdSeq,
        changed: updatedSeq,
      }),
    ),
  )
