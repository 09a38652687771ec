import type {
  SolanaSignAndSendTransactionFeature,
  SolanaSignMessageFeature,
} from '@solana/wallet-standard-features'
import bs58 from 'bs58'
import { bytesToHex } from '../../../../client/bytes.js'
import { PAYER_ADDRESS_TYPE_NAMES } from '../../../../registry/families.js'
import {
  discoverStandardWallets,
  type PageWalletKind,
  unpayableChainError,
  withWalletTimeout,
} from './kind.js'

const SIGN_MESSAGE_FEATURE: keyof SolanaSignMessageFeature = 'solana:signMessage'

type SolanaFeatures = SolanaSignMessageFeature & Partial<SolanaSignAndSendTransactionFeature>

export const solanaWalletKind: PageWalletKind = {
  name: PAYER_ADDRESS_TYPE_NAMES.solana,
  foundBy: 'Wallet Standard',
  discover: (onWallet) =>
    discoverStandardWallets<SolanaFeatures>(
      {
        type: 'solana',
        family: 'solana:',
        feature: SIGN_MESSAGE_FEATURE,
        async sign(features, account, message) {
          const [signed] = await features[SIGN_MESSAGE_FEATURE].signMessage({ account, message })
          if (!signed) throw new Error('The wallet gave no signature.')
          return bytesToHex(signed.signature)
        },
        send:
          ({ name, features, chains }, account) =>
          async ({ isTestnet }, base64) => {
            if (typeof base64 !== 'string') throw unpayableChainError()
            const transaction = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
            const feature = features['solana:signAndSendTransaction']
            if (!feature) throw new Error(`${name} cannot send transactions.`)
            const wanted = isTestnet ? 'solana:devnet' : 'solana:mainnet'
            const chain = chains.includes(wanted) ? wanted : chains[0]!
            const sent = feature
              .signAndSendTransaction({ account, transaction, chain })
              .then(([first]) => {
                if (!first) throw new Error(`${name} has not sent the transaction.`)
                return bs58.encode(first.signature)
              })
            return withWalletTimeout(sent, sent)
          },
      },
      onWallet,
    ),
}
