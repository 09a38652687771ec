import type {
  SolanaSignAndSendTransactionFeature,
  SolanaSignMessageFeature,
} from '@solana/wallet-standard-features'
import type { Wallet } from '@wallet-standard/base'
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features'
import bs58 from 'bs58'
import { bytesToHex } from '../../../../client/bytes.js'
import { ADDRESS_TYPE_NAMES } from '../../../../registry/families.js'
import {
  type BrowserWallet,
  discoverStandardWallets,
  type PageWalletKind,
  unpayableChainError,
  utf8Bytes,
  withWalletTimeout,
} from './kind.js'

const SIGN: keyof SolanaSignMessageFeature = 'solana:signMessage'

export const solanaWalletKind: PageWalletKind = {
  name: ADDRESS_TYPE_NAMES.solana,
  foundBy: 'Wallet Standard',
  discover: (found) =>
    discoverStandardWallets<StandardWallet['features']>('solana:', SIGN, (wallet) =>
      found(solanaWallet(wallet)),
    ),
}

/** A wallet of the Wallet Standard with the features used here. */
type StandardWallet = Pick<Wallet, 'name' | 'icon' | 'chains'> & {
  readonly features: StandardConnectFeature &
    SolanaSignMessageFeature &
    Partial<SolanaSignAndSendTransactionFeature>
}

function solanaWallet(source: StandardWallet): BrowserWallet {
  const { name, icon, features, chains } = source
  return {
    id: `solana:${name}`,
    name,
    icon,
    type: 'solana',
    source,
    async connect() {
      const { accounts } = await withWalletTimeout(features[StandardConnect].connect())
      const account = accounts[0]
      if (!account) throw new Error(`${name} gave no account.`)
      return {
        type: 'solana',
        address: account.address,
        async sign(message) {
          const [signed] = await withWalletTimeout(
            features[SIGN].signMessage({ account, message: utf8Bytes(message) }),
          )
          if (!signed) throw new Error(`${name} gave no signature.`)
          return bytesToHex(signed.signature)
        },
        async send({ isTestnet }, base64) {
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
      }
    },
  }
}
