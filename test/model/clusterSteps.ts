import fc from 'fast-check'
import { type ClusterChange, encodeChange } from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { addressOfWord } from '../../src/registry/primitives/address.js'
import { bigIntToWord } from '../../src/registry/primitives/bytes.js'
import { deriveClusterId } from '../../src/registry/primitives/clusterId.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { tagged } from '../support/arbitraries.js'

/** Steps of wallets, by small numbers: wallet w, existing cluster c (serial - 1), names as texts. */
export type Step =
  | { do: 'bid'; w: number; name: string }
  | { do: 'create'; w: number }
  | {
      do: 'add'
      w: number
      items: readonly { w: number; name: string; isPrivate: boolean | null }[]
    }
  | { do: 'rename'; w: number; items: readonly { w: number; name: string }[] }
  | { do: 'remove'; w: number; ws: readonly number[] }
  | { do: 'verify'; w: number; c: number }
  | { do: 'backup'; w: number; of: number }

/** EVM addresses, and two Solana keys. */
export const WALLETS: readonly Buffer[] = Array.from({ length: 6 }, (_, i) =>
  addressOfWord(Buffer.alloc(32, 0x11 * (i + 1)).fill(0, 0, i > 3 ? 0 : 12)),
)
export const WALLET_NAMES: readonly string[] = ['main', 'main-2', 'a', 'b', 'c']
export const NAMES: readonly string[] = ['foo', 'bar', 'baz', 'qux']

const w = fc.nat(WALLETS.length - 1)
const walletName = fc.constantFrom(...WALLET_NAMES)
const distinct = { selector: (item: { w: number }) => item.w, minLength: 0, maxLength: 3 }

export const of = tagged('do')
const listed = fc.record({ w, name: walletName, isPrivate: fc.constantFrom(true, false, null) })
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: of('bid', { w, name: fc.constantFrom(...NAMES) }) },
  { weight: 1, arbitrary: of('create', { w }) },
  { weight: 5, arbitrary: of('add', { w, items: fc.uniqueArray(listed, distinct) }) },
  {
    weight: 2,
    arbitrary: of('rename', {
      w,
      items: fc.uniqueArray(fc.record({ w, name: walletName }), distinct),
    }),
  },
  { weight: 2, arbitrary: of('remove', { w, ws: fc.uniqueArray(w, { maxLength: 2 }) }) },
  { weight: 5, arbitrary: of('verify', { w, c: fc.nat(4) }) },
  { weight: 1, arbitrary: of('backup', { w, of: w }) },
)
export const steps = fc.array(step, { maxLength: 40, size: 'max' })

/** A cluster's origin in the model, which gives its id. */
export interface Origin {
  creator: number
  n: number
}

/** The journal entry of a step. @param origins of the clusters by serial - 1 */
export function entryOf(s: Step, i: number, origins: readonly Origin[]): Entry {
  if (s.do === 'bid') {
    const from = Buffer.alloc(32)
    const address = WALLETS[s.w]!
    address.copy(from, 33 - address.length, 1)
    const body = Buffer.concat([Buffer.alloc(32, i), from, bigIntToWord(5n), nameToWord(s.name)])
    return {
      kind: 'bid',
      position: { chain: 1, block: i, logIndex: 0 },
      txKey: BigInt(i),
      causeMs: i,
      body,
    }
  }
  const change = changeOf(s, origins)
  return { kind: change.kind, position: null, txKey: null, causeMs: i, body: encodeChange(change) }
}

function changeOf(s: Exclude<Step, { do: 'bid' }>, origins: readonly Origin[]): ClusterChange {
  const actor = WALLETS[s.w]!
  const of = (wallet: number): Buffer => WALLETS[wallet]!
  switch (s.do) {
    case 'create':
      return { kind: 'create_cluster', actor }
    case 'add': {
      const wallets = s.items.map((item) => ({
        address: of(item.w),
        name: item.name,
        isPrivate: item.isPrivate,
      }))
      return { kind: 'add_wallets', actor, wallets }
    }
    case 'rename':
      return {
        kind: 'rename_wallets',
        actor,
        wallets: s.items.map((item) => ({ address: of(item.w), name: item.name })),
      }
    case 'remove':
      return { kind: 'remove_wallets', actor, addresses: s.ws.map(of) }
    case 'verify': {
      const origin = origins[s.c]
      return {
        kind: 'verify_wallet',
        actor,
        clusterId: origin ? idOf(origin) : Buffer.alloc(32, 0xee),
      }
    }
    case 'backup':
      return { kind: 'confirm_backup', actor, address: of(s.of) }
  }
}

export const idOf = ({ creator, n }: Origin): Buffer =>
  deriveClusterId('mainnet', WALLETS[creator]!, n)
