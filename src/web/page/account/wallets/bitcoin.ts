import { createSignOnlyWallet, discoverInjectedWallet, type PageWalletKind } from './kind.js'

/** Object that UniSat adds to `window`. */
interface WindowWithUniSat {
  unisat?: {
    requestAccounts(): Promise<string[]>
    signMessage(message: string, form: string): Promise<string>
  }
}

export const bitcoinWalletKind: PageWalletKind = {
  name: 'Bitcoin',
  foundBy: 'UniSat',
  discover: (onWallet) =>
    discoverInjectedWallet(
      () => (window as WindowWithUniSat).unisat,
      (source) => {
        // BIP-322 fits every address type except P2PKH, whose addresses begin with 1, m or n
        const sign = (message: string, address: string) =>
          source.signMessage(message, /^[1mn]/.test(address) ? 'ecdsa' : 'bip322-simple')
        const of = { name: 'UniSat', icon: '', type: 'bitcoin', source } as const
        onWallet(createSignOnlyWallet(of, async () => (await source.requestAccounts())[0], sign))
      },
    ),
}
