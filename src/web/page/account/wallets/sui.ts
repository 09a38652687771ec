import type { WalletAccount } from '@wallet-standard/base'
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features'
import {
  type BrowserWallet,
  createSignOnlyWallet,
  discoverStandardWallets,
  type PageWalletKind,
  utf8Bytes,
} from './kind.js'

const SIGN = 'sui:signPersonalMessage'
/** Sui wallets in the Wallet Standard. Their signatures are in base64. */
interface SuiFeatures extends StandardConnectFeature {
  [SIGN]: {
    signPersonalMessage(input: {
      account: WalletAccount
      message: Uint8Array
    }): Promise<{ signature: string }>
  }
}

export const suiWalletKind: PageWalletKind = {
  name: 'Sui',
  foundBy: 'Wallet Standard',
  discover: (found) =>
    discoverStandardWallets<SuiFeatures>('sui:', SIGN, (wallet) => found(suiWallet(wallet))),
}

function suiWallet({
  name,
  icon,
  features,
}: {
  name: string
  icon: string
  features: SuiFeatures
}): BrowserWallet {
  let account: WalletAccount | undefined
  const connect = async () => {
    const { accounts } = await features[StandardConnect].connect()
    account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith('sui:')))
    return account?.address
  }
  const sign = async (message: string) =>
    (
      await features[SIGN].signPersonalMessage({
        account: account!,
        message: utf8Bytes(message),
      })
    ).signature
  return createSignOnlyWallet({ name, icon, type: 'sui', source: features[SIGN] }, connect, sign)
}
