/**
 * The wallet of a local world, which its front puts into the pages (src/testing/wallet): EIP-6963 and Wallet Standard,
 * like any wallet. Nothing else serves this file.
 */

interface Accounts {
  evm: string[]
  solana: string[]
  chainIds: number[]
}

const NAME = 'Local test wallet'
const ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="%2396520f" d="M0 0h8v8H0z"/><circle cx="4" cy="4" r="2" fill="white"/></svg>'

async function ask<T>(method: string, params: Record<string, string> = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/test-wallet', { method: 'POST', headers, body: JSON.stringify({ method, params }) })
  const { result, message } = await response.json()
  if (!response.ok) throw new Error(message)
  return result as T
}

const accounts = await ask<Accounts>('accounts')

/** A choice that lasts as long as the tab. */
const kept = (key: string, first: string) => ({
  get: () => sessionStorage.getItem(`test-wallet.${key}`) ?? first,
  set: (value: string) => sessionStorage.setItem(`test-wallet.${key}`, value),
})
const chosen = {
  evm: kept('evm', accounts.evm[1] ?? ''),
  solana: kept('solana', accounts.solana[0] ?? ''),
  chainId: kept('chain', String(accounts.chainIds[0] ?? 0)),
}

type Listener = (value: unknown) => void
const listeners: Listener[] = []

const EVM: Readonly<Record<string, (params: never) => unknown>> = {
  eth_requestAccounts: () => [chosen.evm.get()],
  eth_accounts: () => [chosen.evm.get()],
  eth_chainId: () => `0x${Number(chosen.chainId.get()).toString(16)}`,
  wallet_switchEthereumChain([{ chainId }]: [{ chainId: string }]) {
    const isKnown = accounts.chainIds.includes(Number(chainId))
    if (!isKnown) throw Object.assign(new Error(`The test wallet knows no chain ${Number(chainId)}.`), { code: 4902 })
    chosen.chainId.set(String(Number(chainId)))
    return null
  },
  personal_sign: ([message, address]: [string, string]) => ask('personal_sign', { message, address }),
  eth_sendTransaction: ([transaction]: [Record<string, string>]) => ask('eth_sendTransaction', transaction),
}

const provider = {
  async request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
    const work = EVM[method]
    if (!work) throw Object.assign(new Error(`The test wallet has no ${method}.`), { code: 4200 })
    return work((params ?? []) as never)
  },
  on(event: string, listener: Listener) {
    if (event === 'accountsChanged') listeners.push(listener)
  },
  removeListener(_: string, listener: Listener) {
    listeners.splice(listeners.indexOf(listener) >>> 0, 1)
  },
}

const info = { uuid: crypto.randomUUID?.() ?? NAME, name: NAME, icon: ICON, rdns: 'local.clusterd.test' }
const announce = () =>
  window.dispatchEvent(
    new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider: Object.freeze(provider) }) }),
  )
window.addEventListener('eip6963:requestProvider', announce)
announce()

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const CHAINS = ['solana:mainnet', 'solana:devnet'] as const
const FEATURES = ['solana:signMessage', 'solana:signAndSendTransaction'] as const
const solanaAccount = () => ({
  ...{ address: chosen.solana.get(), publicKey: new Uint8Array(32), chains: CHAINS, features: FEATURES },
})
type Input = { account: { address: string } } & Record<'message' | 'transaction', Uint8Array> & { chain: string }

const solanaWallet = {
  ...{ version: '1.0.0', name: NAME, icon: ICON, chains: CHAINS },
  get accounts() {
    return [solanaAccount()]
  },
  features: {
    'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [solanaAccount()] }) },
    'solana:signMessage': {
      version: '1.0.0',
      async signMessage({ account: { address }, message }: Input) {
        const signature = Uint8Array.from(await ask<number[]>('solana_sign', { address, message: base64(message) }))
        return [{ signedMessage: message, signature }]
      },
    },
    'solana:signAndSendTransaction': {
      ...{ version: '1.0.0', supportedTransactionVersions: ['legacy', 0] },
      async signAndSendTransaction({ account: { address }, transaction, chain }: Input) {
        const network = chain === 'solana:devnet' ? 'testnet' : 'mainnet'
        const sent = await ask<number[]>('solana_send', { address, transaction: base64(transaction), network })
        return [{ signature: Uint8Array.from(sent) }]
      },
    },
  },
}

if (accounts.solana.length > 0) {
  const register = ({ register }: { register: (wallet: object) => void }) => register(solanaWallet)
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
  window.addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail))
}

/** The bar in which the accounts are chosen. */
class TestWallet extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    const title = document.createElement('strong')
    title.textContent = 'Test wallet of the local world'
    root.append(title, this.#select('Ethereum', 'evm', accounts.evm))
    if (accounts.solana.length > 0) root.append(this.#select('Solana', 'solana', accounts.solana))
  }

  #select(family: string, key: 'evm' | 'solana', addresses: readonly string[]): HTMLElement {
    const label = document.createElement('label')
    const select = document.createElement('select')
    select.name = key
    for (const [i, address] of addresses.entries()) {
      const isChosen = address === chosen[key].get()
      select.append(
        new Option(`Account ${i} · ${address.slice(0, 6)}…${address.slice(-4)}`, address, isChosen, isChosen),
      )
    }
    select.addEventListener('change', () => {
      chosen[key].set(select.value)
      if (key === 'evm') for (const listener of listeners) listener([select.value])
    })
    label.append(`${family} `, select)
    return label
  }
}

const STYLE = `
  :host { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: center;
    padding: 0.5rem 1rem; border-bottom: 3px dashed #e7a866; background: #3a2408; color: #fff; font: 0.875rem/1.4 system-ui, sans-serif }
  select { font: inherit; padding: 0.25rem; color: #fff; background: #5b3a12; border: 1px solid #e7a866; border-radius: 0.375rem }
`
customElements.define('test-wallet', TestWallet)
const box = document.createElement('test-wallet')
box.setAttribute('role', 'complementary')
box.setAttribute('aria-label', 'Test wallet')
document.body.prepend(box)
