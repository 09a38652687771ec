import { hexOf } from './bytes.js'

/** Wallets that can sign in, by their structure: no library is imported. */

/** An account of viem, or a wallet client with one. */
export interface EvmWallet {
  address?: string
  account?: { address: string } | undefined
  // a method is compared both ways, so that viem's own types fit
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

/** Parts of a wallet that signing in needs. */
interface Signer {
  type: 'evm' | 'solana'
  wallet: string
  /** Signature over a text: 0x hex. */
  sign(message: string): Promise<string>
}

interface MessageSigner {
  signMessage(input: object): Promise<{ signature: Uint8Array }[]>
}

/** The signer of a wallet. @throws TypeError for one that can not sign */
export function signerOf(wallet: Wallet): Signer {
  if ('features' in wallet) return solanaSigner(adapterOf(wallet))
  // an account of viem has a public key too, in hex
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
      return hexOf('signature' in signed ? signed.signature : signed)
    },
  }
}

/** A wallet of the Wallet Standard as an adapter has it. */
function adapterOf({ accounts: [account], features }: StandardWallet): SolanaWallet {
  const feature: MessageSigner | undefined = Reflect.get(features, 'solana:signMessage')
  return {
    publicKey: account ? { toBase58: () => account.address } : null,
    ...(feature && {
      signMessage: async (message) => (await feature.signMessage({ account, message }))[0]!,
    }),
  }
}
