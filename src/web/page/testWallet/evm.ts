import { createClient, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  TEST_WALLET_ICON,
  TEST_WALLET_NAME,
  type TestWalletAccounts,
  testWalletAccounts,
  testWalletChainSettings,
} from './accounts.js'

const ACCOUNTS = testWalletAccounts<{ address: string; privateKey: Hex }>('evm')
const chains = testWalletChainSettings('evm') as { chainId: number; rpcUrl: string }[]
const addresses = ACCOUNTS.map(({ address }) => address)
/** Chain that the wallet is on. */
let chosenChain = chains[0]?.chainId ?? 0
/** Selected account, once the wallet is announced. */
let chosen = () => ''

function evmAccount(address: string) {
  const found = ACCOUNTS.find((account) => account.address === address.toLowerCase())
  if (!found) throw new Error('The test wallet has no such account.')
  return privateKeyToAccount(found.privateKey)
}

/** Sends a transaction on a chain. @throws Error with a one-line message */
function sendEvm({
  from,
  to,
  data,
  value,
  chainId,
}: Readonly<Record<string, string>>): Promise<Hex> {
  const found = chains.find((one) => one.chainId === Number(chainId))
  if (!found) throw new Error(`The test wallet knows no chain ${chainId}.`)
  const wallet = createWalletClient({ account: evmAccount(from!), transport: http(found.rpcUrl) })
  const call = {
    chain: null,
    to: to as Hex,
    data: (data ?? '0x') as Hex,
    value: BigInt(value ?? 0),
  }
  return wallet.sendTransaction(call).catch((error: Error) => {
    throw new Error(error.message.split('\n', 1)[0], { cause: error })
  })
}

const METHODS: Readonly<Record<string, (params: never) => unknown>> = {
  eth_requestAccounts: () => [chosen()],
  eth_chainId: () => `0x${chosenChain.toString(16)}`,
  wallet_switchEthereumChain([{ chainId }]: [{ chainId: string }]) {
    const isKnown = chains.some((chain) => chain.chainId === Number(chainId))
    if (!isKnown)
      throw Object.assign(new Error(`The test wallet knows no chain ${Number(chainId)}.`), {
        code: 4902,
      })
    chosenChain = Number(chainId)
    return null
  },
  personal_sign: ([raw, address]: [Hex, string]) =>
    evmAccount(address).signMessage({ message: { raw } }),
  eth_sendTransaction: ([transaction]: [Record<string, string>]) => sendEvm(transaction),
}
/** Methods that the chosen chain's node answers. */
const READS = ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_call']

function readChain(method: string, params: unknown): Promise<unknown> {
  const { rpcUrl } = chains.find(({ chainId }) => chainId === chosenChain)!
  return createClient({ transport: http(rpcUrl) }).request({ method, params } as never)
}

const provider = {
  async request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
    if (READS.includes(method)) return readChain(method, params)
    const work = METHODS[method]
    if (!work) throw Object.assign(new Error(`The test wallet has no ${method}.`), { code: 4200 })
    return work((params ?? []) as never)
  },
}

const info = {
  uuid: crypto.randomUUID?.() ?? TEST_WALLET_NAME,
  name: TEST_WALLET_NAME,
  icon: TEST_WALLET_ICON,
  rdns: 'local.clusterd.test',
}
const announce = () =>
  window.dispatchEvent(
    new CustomEvent('eip6963:announceProvider', {
      detail: Object.freeze({ info, provider: Object.freeze(provider) }),
    }),
  )

export const evmTestWalletAccounts: TestWalletAccounts = {
  addresses,
  first: addresses[1] ?? '',
  announce(chosenAccount) {
    chosen = chosenAccount
    window.addEventListener('eip6963:requestProvider', announce)
    announce()
  },
}
