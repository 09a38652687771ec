import { createSignOnlyWallet, discoverInjectedWallet, type PageWalletKind } from './kind.js'

/** Object that Keplr adds to `window`. */
interface WindowWithKeplr {
  keplr?: {
    getKey(chain: string): Promise<{ bech32Address: string }>
    signArbitrary(
      chain: string,
      address: string,
      message: string,
    ): Promise<{ pub_key: object; signature: string }>
  }
}
const COSMOS_HUB_CHAIN_ID = 'cosmoshub-4'

export const cosmosWalletKind: PageWalletKind = {
  name: 'Cosmos',
  foundBy: 'Keplr',
  discover: (onWallet) =>
    discoverInjectedWallet(
      () => (window as WindowWithKeplr).keplr,
      (source) => {
        const sign = async (message: string, address: string) => {
          const { pub_key, signature } = await source.signArbitrary(
            COSMOS_HUB_CHAIN_ID,
            address,
            message,
          )
          return JSON.stringify({ pub_key, signature })
        }
        const of = { name: 'Keplr', icon: '', type: 'cosmos', source } as const
        const connect = async () => (await source.getKey(COSMOS_HUB_CHAIN_ID)).bech32Address
        onWallet(createSignOnlyWallet(of, connect, sign))
      },
    ),
}
