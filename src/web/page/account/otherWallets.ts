import { getWallets } from '@wallet-standard/app'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features'
import { type BrowserWallet, hasFeature, withAnswerLimit } from './wallets.js'

/** Wallets of chains without payments here. They only sign messages. */

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
/** Objects that wallets of Bitcoin and Cosmos add to `window`. */
interface Injected {
  unisat?: {
    requestAccounts(): Promise<string[]>
    signMessage(message: string, form: string): Promise<string>
  }
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

/** A wallet that only signs. @param connect returns its address @param wait limits the time of its answers */
export const createSignOnlyWallet = (
  wallet: Pick<BrowserWallet, 'name' | 'icon' | 'type' | 'source'>,
  connect: () => Promise<string | undefined>,
  sign: (message: string, address: string) => Promise<string>,
  wait = withAnswerLimit,
): BrowserWallet => ({
  ...wallet,
  id: `${wallet.type}:${wallet.name}`,
  async connect() {
    const address = await wait(connect())
    if (!address) throw new Error(`${wallet.name} gave no account.`)
    const send = () => Promise.reject(new Error('This chain takes no payment from your wallet.'))
    return { type: wallet.type, address, sign: (message) => wait(sign(message, address)), send }
  },
})

/** Calls `found` for every wallet that only signs. */
export function discoverSignOnlyWallets(found: (wallet: BrowserWallet) => void): void {
  const { unisat, keplr } = window as Injected
  if (unisat) {
    // BIP-322 fits every address type except the oldest
    const sign = (message: string, address: string) =>
      unisat.signMessage(message, /^[1mn]/.test(address) ? 'ecdsa' : 'bip322-simple')
    const of = { name: 'UniSat', icon: '', type: 'bitcoin', source: unisat } as const
    found(createSignOnlyWallet(of, async () => (await unisat.requestAccounts())[0], sign))
  }
  if (keplr) {
    const sign = async (message: string, address: string) => {
      const { pub_key, signature } = await keplr.signArbitrary(HUB, address, message)
      return JSON.stringify({ pub_key, signature })
    }
    const of = { name: 'Keplr', icon: '', type: 'cosmos', source: keplr } as const
    found(createSignOnlyWallet(of, async () => (await keplr.getKey(HUB)).bech32Address, sign))
  }
  const { get, on } = getWallets()
  const take = (...wallets: readonly Wallet[]) => {
    for (const wallet of wallets)
      if (hasFeature<SuiFeatures>(wallet, 'sui:', SIGN)) found(suiWallet(wallet))
  }
  take(...get())
  on('register', take)
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
        message: new TextEncoder().encode(message),
      })
    ).signature
  return createSignOnlyWallet({ name, icon, type: 'sui', source: features[SIGN] }, connect, sign)
}
