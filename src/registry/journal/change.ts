import { decodeAddress, decodeWallet } from '../primitives/address.js'
import { parseName } from '../primitives/name.js'
import type { EntryKind } from './entry.js'

/** A change of a cluster that a wallet has signed for. Addresses are in their stored form, names canonical. */
export type Change =
  | { kind: 'create_cluster'; actor: Buffer }
  | { kind: 'add_wallets'; actor: Buffer; wallets: readonly AddedWallet[] }
  | { kind: 'rename_wallets'; actor: Buffer; wallets: readonly RenamedWallet[] }
  | { kind: 'remove_wallets'; actor: Buffer; addresses: readonly Buffer[] }
  | { kind: 'verify_wallet'; actor: Buffer; clusterId: Buffer }
  | { kind: 'confirm_backup'; actor: Buffer; address: Buffer }
export type ChangeKind = Change['kind']

export interface RenamedWallet {
  address: Buffer
  name: string
}

export interface AddedWallet extends RenamedWallet {
  /** null where it wasn't said: a new entry is public then, and one that is listed stays as it is. */
  isPrivate: boolean | null
}

const KINDS: ReadonlySet<EntryKind> = new Set<ChangeKind>([
  'create_cluster',
  'add_wallets',
  'rename_wallets',
  'remove_wallets',
  'verify_wallet',
  'confirm_backup',
])

/** Whether entries of a kind are changes signed by a wallet. */
export const isChangeKind = (kind: EntryKind): kind is ChangeKind => KINDS.has(kind)

/**
 * The body as it is stored: canonical JSON, keys in this order, byte strings in hex. The kind stands beside it.
 * Throws RangeError when an address is named twice.
 */
export function encodeChange(change: Change): Buffer {
  const named = addressesOf(change).map(hex)
  if (new Set(named).size < named.length) throw new RangeError('a change names an address twice')
  return Buffer.from(JSON.stringify({ actor: hex(change.actor), ...partsOf(change) }))
}

/** The addresses that a change is about. */
function addressesOf(change: Change): readonly Buffer[] {
  if (change.kind === 'remove_wallets') return change.addresses
  return change.kind === 'add_wallets' || change.kind === 'rename_wallets'
    ? change.wallets.map(({ address }) => address)
    : []
}

function partsOf(change: Change): object {
  switch (change.kind) {
    case 'create_cluster':
      return {}
    case 'add_wallets':
      return { wallets: change.wallets.map((w) => [hex(w.address), w.name, w.isPrivate]) }
    case 'rename_wallets':
      return { wallets: change.wallets.map((w) => [hex(w.address), w.name]) }
    case 'remove_wallets':
      return { addresses: change.addresses.map(hex) }
    case 'verify_wallet':
      return { clusterId: hex(change.clusterId) }
    case 'confirm_backup':
      return { address: hex(change.address) }
  }
}

/** Takes a signed change's body apart. Throws RangeError for bytes that the encoder does not make. */
export function decodeChange(kind: ChangeKind, body: Buffer): Change {
  const change = readChange(kind, parse(body))
  if (!change || !encodeChange(change).equals(body)) throw malformed(kind)
  return change
}

/** The wallet that signed a change, without taking the rest apart. Throws RangeError. */
export function actorOfChange(body: Buffer): Buffer {
  const actor = signer(parse(body)?.actor)
  if (!actor) throw new RangeError('the body of a signed change names no actor')
  return actor
}

function readChange(kind: ChangeKind, json: Record<string, unknown> | null): Change | null {
  const actor = signer(json?.actor)
  if (!json || !actor) return null
  switch (kind) {
    case 'create_cluster':
      return { kind, actor }
    case 'add_wallets': {
      const wallets = list(json.wallets, (item) => {
        const renamed = renamedWallet(item)
        const isPrivate = Array.isArray(item) ? item[2] : undefined
        return renamed && (typeof isPrivate === 'boolean' || isPrivate === null) ? { ...renamed, isPrivate } : null
      })
      return wallets && { kind, actor, wallets }
    }
    case 'rename_wallets': {
      const wallets = list(json.wallets, renamedWallet)
      return wallets && { kind, actor, wallets }
    }
    case 'remove_wallets': {
      const addresses = list(json.addresses, address)
      return addresses && { kind, actor, addresses }
    }
    case 'verify_wallet': {
      const clusterId = bytes(json.clusterId)
      return clusterId?.length === 32 ? { kind, actor, clusterId } : null
    }
    case 'confirm_backup': {
      const wallet = address(json.address)
      return wallet && { kind, actor, address: wallet }
    }
  }
}

const hex = (value: Buffer): string => value.toString('hex')

function parse(body: Buffer): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const bytes = (value: unknown): Buffer | null =>
  typeof value === 'string' && /^([0-9a-f]{2})*$/.test(value) ? Buffer.from(value, 'hex') : null

function address(value: unknown): Buffer | null {
  const stored = bytes(value)
  try {
    return stored && decodeWallet(stored).bytes
  } catch {
    return null
  }
}

/** Only wallets of types that can sign in sign changes. */
function signer(value: unknown): Buffer | null {
  const stored = bytes(value)
  try {
    return stored && decodeAddress(stored).bytes
  } catch {
    return null
  }
}

function renamedWallet(item: unknown): RenamedWallet | null {
  if (!Array.isArray(item)) return null
  const [wallet, name] = item
  const stored = address(wallet)
  return stored && typeof name === 'string' && parseName(name) === name ? { address: stored, name } : null
}

function list<T>(value: unknown, read: (item: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null
  const items = value.map(read)
  return items.every((item) => item !== null) ? (items as T[]) : null
}

const malformed = (kind: ChangeKind): RangeError => new RangeError(`the body of a ${kind} entry is not one of ours`)
