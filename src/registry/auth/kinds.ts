import type { Wallet } from '../primitives/address.js'
import { bitcoin } from './bitcoin.js'
import { cosmos } from './cosmos.js'
import { evm } from './evm.js'
import type { WalletKind } from './kind.js'
import { solana } from './solana.js'
import { sui } from './sui.js'

/**
 * Kinds of wallets that can prove themselves by a signature. Wallets of other types can only be listed. No address
 * type belongs to two kinds.
 */
export const KINDS = { evm, solana, bitcoin, cosmos, sui } as const satisfies Record<
  string,
  WalletKind
>
export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as [KindName, ...KindName[]]

/** Pattern of the hex of stored addresses of a kind. */
export const storedPatternOf = (kind: KindName): string =>
  KINDS[kind].stored ?? KINDS[kind].coin.stored

/** Kind of wallet that an address type signs as; null for a type that cannot sign in. */
export const kindOf = (type: Wallet['type']): KindName | null =>
  KIND_NAMES.find((name) => KINDS[name].proves(type)) ?? null
