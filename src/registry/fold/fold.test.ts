import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  append,
  emptyRegistry,
  loadSlice,
  type MemoryRegistry,
} from '../../../test/model/memoryRegistry.js'
import { tagged } from '../../../test/support/arbitraries.js'
import { decodeEntry } from '../journal/decode.js'
import { decodeBidEffects } from '../journal/effects.js'
import type { Entry } from '../journal/entry.js'
import { publicEvents } from '../journal/events.js'
import type { PublicEvent } from '../journal/eventTypes.js'
import { addressOfWord } from '../primitives/address.js'
import { bigIntToWord } from '../primitives/bytes.js'
import { deriveClusterId } from '../primitives/clusterId.js'
import { wordToName } from '../primitives/name.js'
import { foldEntriesToRows } from './index.js'

const BLOCK_MS = 1_000

/** Wallets 0 and 1 are EVM addresses, and 2 is a Solana key. 3 is a private wallet, and 4 is an unverified wallet. */
const WALLETS = [0x11, 0x22, 0x33, 0x44, 0x55].map((byte, i) =>
  Buffer.alloc(32, byte).fill(0, 0, i === 2 ? 0 : 12),
)
const PRIVATE_WALLET = 3
const UNVERIFIED_WALLET = 4
const asWord = (text: string) => Buffer.from(text.padEnd(32, '\0'), 'latin1')
const NAMES = ['foo', 'bar', 'a', 'z'.repeat(32), 'Foo', '', 'fo.o'].map(asWord)

type Step =
  | {
      kind: 'bid'
      wallet: number
      name: number
      amountWei: bigint
      causeMs: number
      referral: boolean
    }
  | { kind: 'minimum'; wei: bigint; causeMs: number }

const of = tagged('kind')
const causeMs = fc.nat(100)
const bid = {
  wallet: fc.nat(WALLETS.length - 1),
  name: fc.nat(NAMES.length - 1),
  amountWei: fc.bigInt({ min: 0n, max: 5n }),
  referral: fc.boolean(),
}
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: of('bid', { ...bid, causeMs }) },
  { weight: 1, arbitrary: of('minimum', { wei: fc.bigInt({ min: 0n, max: 4n }), causeMs }) },
)
const steps = fc.array(step, { maxLength: 40 })

const entryOf = (s: Step, i: number): Entry => ({
  kind: s.kind,
  position: { chain: 1, block: i >> 2, logIndex: i & 3 },
  txKey: BigInt(i),
  causeMs: s.causeMs * BLOCK_MS,
  body:
    s.kind === 'minimum'
      ? bigIntToWord(s.wei)
      : Buffer.concat([
          Buffer.alloc(32, i),
          WALLETS[s.wallet]!,
          bigIntToWord(s.amountWei),
          NAMES[s.name]!,
          ...(s.referral ? [Buffer.alloc(32, 9)] : []),
        ]),
})
const entriesOf = (list: readonly Step[]): Entry[] => list.map(entryOf)

/** Tables as signed changes leave them: a cluster of the private wallet, in which wallet 4 is unverified. */
function planted(): MemoryRegistry {
  const registry = emptyRegistry('mainnet', 1n)
  const owner = addressOfWord(WALLETS[PRIVATE_WALLET]!)
  registry.head.serial = 1
  registry.clusters.push({ serial: 1, id: deriveClusterId('mainnet', owner, 0), createdSeq: 0 })
  const row = { cluster: 1, isBackedUp: true, createdSeq: 0, updatedSeq: 0, evidenceSeq: null }
  registry.wallets.push({
    ...row,
    address: owner,
    name: 'secret',
    isVerified: true,
    isPrivate: true,
  })
  const mentioned = addressOfWord(WALLETS[UNVERIFIED_WALLET]!)
  registry.wallets.push({
    ...row,
    address: mentioned,
    name: 'other',
    isVerified: false,
    isPrivate: false,
  })
  return registry
}

const LATE_WRITER_MS = Number.MAX_SAFE_INTEGER

/** A second, plain implementation of the rules, over names and wallet numbers. */
function model(list: readonly Step[]) {
  let minimum = 1n
  let serial = 1
  const owners = new Map<string, number>()
  const clusterOf = new Map<number, number>([[PRIVATE_WALLET, 1]])
  let isSecret = true
  const outcomes: string[] = []
  const events: string[] = []
  for (const s of list) {
    if (s.kind === 'minimum') {
      minimum = s.wei
      continue
    }
    const name = wordToName(NAMES[s.name]!)
    if (name === null) outcomes.push('refused malformed_name')
    else if (s.amountWei < minimum) outcomes.push('refused below_minimum')
    else if (owners.has(name)) outcomes.push('lost')
    else {
      outcomes.push('won')
      if (!clusterOf.has(s.wallet)) {
        clusterOf.set(s.wallet, ++serial)
        events.push(`CREATE_CLUSTER ${serial}`, `ADD_WALLET ${serial} ${s.wallet} main`)
      } else if (s.wallet === PRIVATE_WALLET && isSecret) {
        isSecret = false
        events.push(`ADD_WALLET 1 ${s.wallet} secret`)
      }
      owners.set(name, clusterOf.get(s.wallet)!)
      events.push(`REGISTER_NAME ${clusterOf.get(s.wallet)} ${name} ${s.amountWei}`)
    }
  }
  return { minimum, serial, owners, clusterOf, isSecret, outcomes, events }
}

const walletNumber = (address: Buffer) =>
  WALLETS.findIndex((word) => addressOfWord(word).equals(address))
const line = (event: PublicEvent): string => {
  switch (event.type) {
    case 'CREATE_CLUSTER':
      return `CREATE_CLUSTER ${event.cluster}`
    case 'ADD_WALLET':
      return `ADD_WALLET ${event.cluster} ${walletNumber(event.wallet)} ${event.name}`
    case 'REGISTER_NAME':
      return `REGISTER_NAME ${event.cluster} ${event.name} ${event.amountWei}`
    default:
      return `${event.type} is no event of a bid`
  }
}

function folded(list: readonly Step[], writerMs = LATE_WRITER_MS): MemoryRegistry {
  const registry = planted()
  append(registry, entriesOf(list), writerMs)
  return registry
}

describe('fold', () => {
  it('agrees with the model', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const registry = folded(list)
        const want = model(list)
        expect(registry.head).toMatchObject({
          seq: list.length,
          serial: want.serial,
          minimumWei: want.minimum,
        })

        const outcomes = registry.journal
          .filter((row) => row.kind === 'bid')
          .map((row) => decodeBidEffects(row.effects))
          .map((effects) =>
            effects.outcome === 'refused' ? `refused ${effects.reason}` : effects.outcome,
          )
        expect(outcomes).toEqual(want.outcomes)
        expect(registry.names.map((row) => row.outcome)).toEqual(
          want.outcomes.map((o) => o.split(' ')[0]),
        )

        const won = registry.names.filter((row) => row.outcome === 'won')
        expect(new Map(won.map((row) => [row.name, row.cluster]))).toEqual(want.owners)
        expect(won).toHaveLength(want.owners.size)
        for (const row of registry.names) if (row.outcome !== 'won') expect(row.cluster).toBeNull()

        const verified = registry.wallets.filter((row) => row.isVerified)
        expect(new Map(verified.map((row) => [walletNumber(row.address), row.cluster]))).toEqual(
          want.clusterOf,
        )
        expect(
          verified.find((row) => walletNumber(row.address) === PRIVATE_WALLET)?.isPrivate,
        ).toBe(want.isSecret)
        expect(registry.journal.flatMap(publicEvents).map(line)).toEqual(want.events)
      }),
      { numRuns: 500 },
    )
  })

  it('does not change its slice, so that a batch may be folded again', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const entries = entriesOf(list).map(decodeEntry)
        const slice = loadSlice(planted(), entries)
        const copy = loadSlice(planted(), entries)
        const first = foldEntriesToRows(slice, entries, LATE_WRITER_MS)
        expect(slice).toEqual(copy)
        expect(foldEntriesToRows(slice, entries, LATE_WRITER_MS)).toEqual(first)
      }),
    )
  })

  it('numbers public events without gaps, despite lost and refused entries', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { journal, head } = folded(list)
        let next = 1
        const wanted = journal.map((row) => {
          const first = next
          next += publicEvents(row).length
          return [first, next]
        })
        expect(journal.map((row) => [row.publicFirst, row.publicFirst + row.publicCount])).toEqual(
          wanted,
        )
        expect(head.publicSeq).toBe(next - 1)
        expect(journal.map((row) => row.seq)).toEqual(journal.map((_, i) => i + 1))
      }),
    )
  })

  it('never decreases a timestamp, and keeps it between cause and writer’s clock where possible', () => {
    fc.assert(
      fc.property(steps, fc.nat(120), (list, now) => {
        const { journal, head } = folded(list, now * BLOCK_MS)
        let previous = 0
        journal.forEach((row, i) => {
          expect(row.atMs).toBe(
            Math.max(previous, Math.min(list[i]!.causeMs * BLOCK_MS, now * BLOCK_MS)),
          )
          previous = row.atMs
        })
        expect(head.atMs).toBe(previous)
      }),
    )
  })

  it('repeats the newest timestamp when a later writer’s clock is behind', () => {
    const registry = planted()
    const bid = {
      kind: 'bid',
      wallet: 0,
      name: 0,
      amountWei: 1n,
      causeMs: 50,
      referral: false,
    } as const
    append(registry, [entryOf(bid, 0)], 60 * BLOCK_MS)
    append(registry, [entryOf({ ...bid, causeMs: 90 }, 1)], 10 * BLOCK_MS)
    expect(registry.journal.map((row) => row.atMs)).toEqual([50 * BLOCK_MS, 50 * BLOCK_MS])
  })

  it('replays a journal to the same rows, with copied timestamps', () => {
    fc.assert(
      fc.property(steps, fc.nat(120), fc.integer({ min: 1, max: 9 }), (list, now, size) => {
        const live = folded(list, now * BLOCK_MS)
        const inputs: Entry[] = live.journal.map(({ kind, position, txKey, body, atMs }) => ({
          kind,
          position,
          txKey,
          body,
          causeMs: atMs,
        }))
        const rebuilt = planted()
        while (inputs.length > 0) append(rebuilt, inputs.splice(0, size), Number.POSITIVE_INFINITY)
        const withoutCause = (registry: MemoryRegistry) =>
          registry.journal.map((row) => ({ ...row, causeMs: 0 }))
        expect({ ...rebuilt, journal: withoutCause(rebuilt) }).toEqual({
          ...live,
          journal: withoutCause(live),
        })
      }),
    )
  })
})
