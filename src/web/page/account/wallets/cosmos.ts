import { createSignOnlyWallet, type PageWalletKind } from './kind.js'

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
  discover(found) {
    const { keplr } = window as Injected
    if (!keplr) return
    const sign = async (message: string, address: string) => {
      const { pub_key, signature } = await keplr.signArbitrary(HUB, address, message)
      return JSON.stringify({ pub_key, signature })
    }
    const of = { name: 'Keplr', icon: '', type: 'cosmos', source: keplr } as const
    found(createSignOnlyWallet(of, async () => (await keplr.getKey(HUB)).bech32Address, sign))
  },
}
