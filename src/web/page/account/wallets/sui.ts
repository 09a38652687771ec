import type { WalletAccount } from '@wallet-standard/base'
import { discoverStandardWallets, type PageWalletKind } from './kind.js'

const SIGN = 'sui:signPersonalMessage'
/** Sui wallets in the Wallet Standard. Their signatures are in base64. */
interface SuiFeatures {
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
  discover: (onWallet) =>
    discoverStandardWallets<SuiFeatures>(
      {
        type: 'sui',
        family: 'sui:',
        feature: SIGN,
        sign: async (features, account, message) =>
          (await features[SIGN].signPersonalMessage({ account, message })).signature,
      },
      onWallet,
    ),
}
