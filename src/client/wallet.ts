import { bytesToHex } from './bytes.js'

/** Structural types of wallets that can sign in. No wallet library is imported. */

/** An account of viem, or a wallet client with one. */
export interface EvmWallet {
  address?: string
  account?: { address: string } | undefined
  // a method, not a property: methods are compared bivariantly, so viem's types are assignable
  signMessage(args: { message: string; account: never }): Promise<string>
}

/** A wallet of Solana as extensions and wallet adapters have it. */
export interface SolanaWallet {
  publicKey: { toBase58(): string } | null
  signMessage?(message: Uint8Array): Promise<Uint8Array | { signature: Uint8Array }>
}

/** A wallet of the Wallet Standard, connected. */
export interface StandardWallet {
  accounts: readonly { address: string }[]
  features: object
}

export type Wallet = EvmWallet | SolanaWallet | StandardWallet

/** The parts of a wallet that are needed to sign in. */
interface Signer {
  type: 'evm' | 'solana'
  wallet: string
  /** Signs a text. @returns the signature in 0x hex */
  sign(message: string): Promise<string>
}

interface MessageSigner {
  signMessage(input: object): Promise<{ signature: Uint8Array }[]>
}

/** The signer of a wallet. @throws TypeError for a wallet that cannot sign */
export function signerOf(wallet: Wallet): Signer {
  if ('features' in wallet) return solanaSigner(adapterOf(wallet))
  // a viem account has a public key too, but as hex
  if ('publicKey' in wallet && typeof wallet.publicKey !== 'string') return solanaSigner(wallet)
  return evmSigner(wallet as EvmWallet)
}

function evmSigner(wallet: EvmWallet): Signer {
  const account = wallet.account ?? wallet
  if (account.address === undefined) throw new TypeError('The wallet has no account.')
  return {
    type: 'evm',
    wallet: account.address,
    sign: (message) => wallet.signMessage({ message, account: account as never }),
  }
}

function solanaSigner(wallet: SolanaWallet): Signer {
  if (!wallet.publicKey || !wallet.signMessage)
    throw new TypeError('The wallet is not connected, or signs no messages.')
  return {
    type: 'solana',
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
