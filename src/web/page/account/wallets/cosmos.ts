import { createSignOnlyWallet, discoverInjectedWallet, type PageWalletKind } from './kind.js'

/** Object that Keplr adds to `window`. */
interface Injected {
  keplr?: {
    getKey(chain: string): Promise<{ bech32Address: string }>
    signArbitrary(
      chain: string,
      address: string,
      message: string,
    ): Promise<{ pub_key: object; signature: string }>
  }
}
const HUB = 'cosmoshub-4'

export const cosmosWalletKind: PageWalletKind = {
  name: 'Cosmos',
  foundBy: 'Keplr',
  discover: (onWallet) =>
    discoverInjectedWallet(
      () => (window as Injected).keplr,
      (source) => {
        const sign = async (message: string, address: string) => {
          const { pub_key, signature } = await source.signArbitrary(HUB, address, message)
          return JSON.stringify({ pub_key, signature })
        }
        const of = { name: 'Keplr', icon: '', type: 'cosmos', source } as const
        const connect = async () => (await source.getKey(HUB)).bech32Address
        onWallet(createSignOnlyWallet(of, connect, sign))
      },
    ),
}
