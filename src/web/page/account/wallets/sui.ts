import type { WalletAccount } from '@wallet-standard/base'
import { discoverStandardWallets, type PageWalletKind } from './kind.js'

const SIGN_MESSAGE_FEATURE = 'sui:signPersonalMessage'
/** Features of Sui wallets in the Wallet Standard. `signature` is in base64. */
interface SuiFeatures {
  [SIGN_MESSAGE_FEATURE]: {
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
        feature: SIGN_MESSAGE_FEATURE,
        sign: async (features, account, message) =>
          (await features[SIGN_MESSAGE_FEATURE].signPersonalMessage({ account, message }))
            .signature,
      },
      onWallet,
    ),
}
