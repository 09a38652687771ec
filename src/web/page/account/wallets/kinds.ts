import type { SigningWalletKind } from '../../lib/types.js'
import { bitcoinWalletKind } from './bitcoin.js'
import { cosmosWalletKind } from './cosmos.js'
import { evmWalletKind } from './evm.js'
import type { BrowserWallet, PageWalletKind } from './kind.js'
import { solanaWalletKind } from './solana.js'
import { suiWalletKind } from './sui.js'

/** Kinds of wallets that can sign in, as the pages find them. */
export const WALLET_KINDS: Readonly<Record<SigningWalletKind, PageWalletKind>> = {
  evm: evmWalletKind,
  solana: solanaWalletKind,
  bitcoin: bitcoinWalletKind,
  cosmos: cosmosWalletKind,
  sui: suiWalletKind,
}

/** Calls `onWallet` for every wallet of the browser, including wallets that announce themselves later. */
export function discoverWallets(onWallet: (wallet: BrowserWallet) => void): void {
  for (const { discover } of Object.values(WALLET_KINDS)) discover(onWallet)
}

/** The kinds in a sentence, each with `foundBy`: `Ethereum (EIP-6963) or Solana (Wallet Standard)`. */
export const WALLET_KINDS_TEXT = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  Object.values(WALLET_KINDS).map(({ name, foundBy }) => `${name} (${foundBy})`),
)
