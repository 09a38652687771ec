import {
  askTestNode,
  TEST_WALLET_ICON,
  TEST_WALLET_NAME,
  type TestWalletAccounts,
  testWalletAccounts,
  testWalletChainSettings,
} from './accounts.js'

const addresses = testWalletAccounts<{ address: string }>('evm').map(({ address }) => address)
const chains = testWalletChainSettings('evm') as { chainId: number; rpcUrl: string }[]
/** Chain that the wallet has switched to. */
let chosenChain = chains[0]
/** Returns the selected account; '' until the wallet is announced. */
let chosenAccount = () => ''

/**
 * EIP-1193 provider. It passes most requests to the chain's node, which in local worlds signs for the test accounts.
 */
const provider = {
  async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
    if (method === 'eth_requestAccounts') return [chosenAccount()]
    if (method !== 'wallet_switchEthereumChain')
      return askTestNode(chosenChain!.rpcUrl, method, params)
    const wanted = Number((params[0] as { chainId: string }).chainId)
    const chain = chains.find(({ chainId }) => chainId === wanted)
    if (!chain)
      throw Object.assign(new Error(`The test wallet knows no chain ${wanted}.`), { code: 4902 })
    chosenChain = chain
    return null
  },
}

const providerInfo = {
  uuid: crypto.randomUUID?.() ?? TEST_WALLET_NAME,
  name: TEST_WALLET_NAME,
  icon: TEST_WALLET_ICON,
  rdns: 'local.clusterd.test',
}
const announceProvider = () =>
  window.dispatchEvent(
    new CustomEvent('eip6963:announceProvider', {
      detail: Object.freeze({ info: providerInfo, provider: Object.freeze(provider) }),
    }),
  )

export const evmTestWalletAccounts: TestWalletAccounts = {
  addresses,
  first: addresses[1] ?? '',
  announce(getChosenAccount) {
    chosenAccount = getChosenAccount
    window.addEventListener('eip6963:requestProvider', announceProvider)
    announceProvider()
  },
}
