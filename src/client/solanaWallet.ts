import { bytesToHex } from './bytes.js'
import type { Signer } from './signer.js'

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

interface MessageSigner {
  signMessage(input: object): Promise<{ signature: Uint8Array }[]>
}

/** The signer of a wallet; null for a wallet of another form. @throws TypeError for a wallet that cannot sign */
export function solanaSigner(wallet: object): Signer | null {
  if ('features' in wallet) return signerOfAdapter(adapterOf(wallet as StandardWallet))
  // a viem account has a public key too, but as hex
  if ('publicKey' in wallet && typeof wallet.publicKey !== 'string')
    return signerOfAdapter(wallet as SolanaWallet)
  return null
}

function signerOfAdapter(wallet: SolanaWallet): Signer {
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
