import { bytesToHex } from './bytes.js'
import type { QuoteFamily } from './types.js'

/** A viem account, or a viem wallet client with an account. */
export interface EvmWallet {
  address?: string
  account?: { address: string } | undefined
  // TypeScript compares methods bivariantly, so viem's types are assignable to a method, but not to a property
  signMessage(args: { message: string; account: never }): Promise<string>
}

/** A Solana wallet as browser extensions and wallet adapters have it. */
export interface SolanaWallet {
  publicKey: { toBase58(): string } | null
  signMessage?(message: Uint8Array): Promise<Uint8Array | { signature: Uint8Array }>
}

/** A connected wallet of the Wallet Standard. */
export interface StandardWallet {
  accounts: readonly { address: string }[]
  features: object
}

/** Feature `solana:signMessage` of the Wallet Standard. */
interface MessageSigner {
  signMessage(input: object): Promise<{ signature: Uint8Array }[]>
}

/** A wallet that can sign in. The types are structural, so that no wallet library is imported. */
export type Wallet = EvmWallet | SolanaWallet | StandardWallet

/** Parts of a wallet that are needed to sign in. */
interface WalletSigner {
  /** Address. */
  wallet: string
  /** Signs a text. @returns the signature in the form that the service accepts */
  sign(message: string): Promise<string>
}

/**
 * Functions that make a wallet's signer, by chain family. Each returns null for a wallet of another form. EVM is the
 * last family, because its function accepts any form.
 */
const SIGNERS = { solana: solanaSigner, evm: evmSigner } satisfies Record<
  QuoteFamily,
  (wallet: object) => WalletSigner | null
>

/** Chain families whose network label is the name of the family, such as `solana`. Any other label is an EVM chain. */
export type LabelledQuoteFamily = Exclude<QuoteFamily, 'evm'>

export const quoteFamilyOfNetwork = (network: string): QuoteFamily =>
  Object.keys(SIGNERS).includes(network) ? (network as LabelledQuoteFamily) : 'evm'

/** Signer of a wallet, with its chain family. @throws TypeError for a wallet that cannot sign */
export function walletSignerOf(wallet: Wallet): WalletSigner & { type: QuoteFamily } {
  for (const type of Object.keys(SIGNERS) as QuoteFamily[]) {
    const signer = SIGNERS[type](wallet)
    if (signer) return { type, ...signer }
  }
  throw new TypeError('The wallet has no account.')
}

function evmSigner(wallet: object): WalletSigner {
  const evm = wallet as EvmWallet
  const account = evm.account ?? evm
  if (account.address === undefined) throw new TypeError('The wallet has no account.')
  return {
    wallet: account.address,
    sign: (message) => evm.signMessage({ message, account: account as never }),
  }
}

/** Signer of a Solana wallet; null for a wallet of another form. */
function solanaSigner(wallet: object): WalletSigner | null {
  if ('features' in wallet) return signerOfAdapter(adapterOf(wallet as StandardWallet))
  // a viem account also has a public key, but as hex
  if ('publicKey' in wallet && typeof wallet.publicKey !== 'string')
    return signerOfAdapter(wallet as SolanaWallet)
  return null
}

function signerOfAdapter(wallet: SolanaWallet): WalletSigner {
  if (!wallet.publicKey || !wallet.signMessage)
    throw new TypeError('The wallet is not connected, or signs no messages.')
  return {
    wallet: wallet.publicKey.toBase58(),
    async sign(message) {
      const signed = await wallet.signMessage!(new TextEncoder().encode(message))
      return bytesToHex('signature' in signed ? signed.signature : signed)
    },
  }
}

/** A wallet of the Wallet Standard in the form of a wallet adapter. */
function adapterOf({ accounts: [account], features }: StandardWallet): SolanaWallet {
  const feature: MessageSigner | undefined = Reflect.get(features, 'solana:signMessage')
  return {
    publicKey: account ? { toBase58: () => account.address } : null,
    ...(feature && {
      signMessage: async (message) => (await feature.signMessage({ account, message }))[0]!,
    }),
  }
}
