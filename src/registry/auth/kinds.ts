import type { Wallet } from '../primitives/address.js'
import { bitcoinWalletKind } from './bitcoin.js'
import { cosmosWalletKind } from './cosmos.js'
import { evmWalletKind } from './evm.js'
import type { WalletKind } from './kind.js'
import { solanaWalletKind } from './solana.js'
import { suiWalletKind } from './sui.js'

/**
 * Kinds of wallets that can prove themselves by a signature. Wallets of other types can only be listed. No address
 * type belongs to two kinds.
 */
export const WALLET_KINDS = {
  evm: evmWalletKind,
  solana: solanaWalletKind,
  bitcoin: bitcoinWalletKind,
  cosmos: cosmosWalletKind,
  sui: suiWalletKind,
} as const satisfies Record<string, WalletKind>
export type WalletKindName = keyof typeof WALLET_KINDS
export const WALLET_KIND_NAMES = Object.keys(WALLET_KINDS) as [WalletKindName, ...WalletKindName[]]

/** Pattern of the hex of a wallet kind's stored addresses. */
export const storedAddressPatternOf = (kind: WalletKindName): string =>
  WALLET_KINDS[kind].stored ?? WALLET_KINDS[kind].coin.stored

/** Kind of wallet that an address type signs as; null for a type that cannot sign in. */
export const walletKindOf = (type: Wallet['type']): WalletKindName | null =>
  WALLET_KIND_NAMES.find((name) => WALLET_KINDS[name].proves(type)) ?? null
