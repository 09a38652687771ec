import { type EvmWallet, evmSigner } from './evmWallet.js'
import type { Signer } from './signer.js'
import { type SolanaWallet, type StandardWallet, solanaSigner } from './solanaWallet.js'
import type { QuoteFamily } from './types.js'

/** Structural types of wallets that can sign in. No wallet library is imported. */
export type Wallet = EvmWallet | SolanaWallet | StandardWallet

interface ClientFamily {
  /** True if the network label of all its chains is the family's key. A network of any other label is an EVM chain. */
  hasLabel: boolean
  /** The signer of a wallet; null for a wallet of another form. @throws TypeError for a wallet that cannot sign */
  signerOf(wallet: object): Signer | null
}

/** Families of chains that have a route for quotes. The EVM family is last, because it accepts a wallet of any form. */
const FAMILIES = {
  solana: { hasLabel: true, signerOf: solanaSigner },
  evm: { hasLabel: false, signerOf: evmSigner },
} as const satisfies Record<QuoteFamily, ClientFamily>

/** Families whose chains have the family's label. */
export type Labelled = {
  [Key in QuoteFamily]: (typeof FAMILIES)[Key]['hasLabel'] extends true ? Key : never
}[QuoteFamily]

const KEYS = Object.keys(FAMILIES) as QuoteFamily[]

/** The family of a network label. */
export const familyOf = (network: string): QuoteFamily =>
  KEYS.find((key) => FAMILIES[key].hasLabel && key === network) ?? 'evm'

/** The signer of a wallet, with the kind of wallet that it signs as. @throws TypeError for a wallet that cannot sign */
export function signerOf(wallet: Wallet): Signer & { type: QuoteFamily } {
  for (const type of KEYS) {
    const signer = FAMILIES[type].signerOf(wallet)
    if (signer) return { type, ...signer }
  }
  throw new TypeError('The wallet has no known form.')
}
