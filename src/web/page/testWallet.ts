import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import { createClient, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Test wallet of a local world, announced by EIP-6963 and Wallet Standard. Its keys are public. */

/** Accounts of local worlds, inserted by the build. */
declare const ACCOUNTS: {
  evm: { address: string; privateKey: Hex }[]
  solana: { address: string; secretKey: string }[]
}
interface TestChains {
  evm: { chainId: number; rpcUrl: string }[]
  /** RPC URL of the local Solana, used for all of Solana's networks. */
  solana: string | null
}

const NAME = 'Local test wallet'
const ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="%2396520f" d="M0 0h8v8H0z"/><circle cx="4" cy="4" r="2" fill="white"/></svg>'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

const chains = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=test-wallet]')!.content,
) as TestChains
const addresses = {
  evm: ACCOUNTS.evm.map(({ address }) => address),
  solana: chains.solana ? ACCOUNTS.solana.map(({ address }) => address) : [],
}

function evmAccount(address: string) {
  const found = ACCOUNTS.evm.find((account) => account.address === address.toLowerCase())
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
  const found = chains.evm.find((one) => one.chainId === Number(chainId))
  if (!found) throw new Error(`The test wallet knows no chain ${chainId}.`)
  const wallet = createWalletClient({ account: evmAccount(from!), transport: http(found.rpcUrl) })
  const call = {
    chain: null,
    to: to as Hex,
    data: (data ?? '0x') as Hex,
    value: BigInt(value ?? 0),
  }
  return wallet.sendTransaction(call).catch((error: Error) => {
    throw new Error(error.message.split('\n', 1)[0])
  })
}

/** Signs bytes with a Solana account. */
function signSolana(address: string, message: Uint8Array): Uint8Array {
  const { secretKey } = ACCOUNTS.solana.find((account) => account.address === address)!
  return ed25519.sign(message, bs58.decode(secretKey).subarray(0, KEY_BYTES))
}

/**
 * Signs a transaction and sends it. Layout of the bytes: number of signatures, signatures, message. Layout of the
 * message: an optional version byte, three counts, number of keys, keys (signers first).
 * @returns its signature
 */
async function sendSolana(address: string, transaction: Uint8Array): Promise<Uint8Array> {
  const count = transaction[0]!
  const message = transaction.subarray(1 + count * SIGNATURE_BYTES)
  const keys = message.subarray(message[0]! >= 0x80 ? 5 : 4)
  const keyAt = (i: number) => bs58.encode(keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES))
  const place = Array.from({ length: count }, (_, i) => keyAt(i)).indexOf(address)
  if (place < 0) throw new Error('The transaction is for another account.')
  const signed = transaction.slice()
  signed.set(signSolana(address, message), 1 + place * SIGNATURE_BYTES)
  const params = [base64(signed), { encoding: 'base64', preflightCommitment: 'confirmed' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params })
  const headers = { 'content-type': 'application/json' }
  const { result, error } = await (
    await fetch(chains.solana!, { method: 'POST', headers, body })
  ).json()
  if (error) throw new Error(error.message)
  return bs58.decode(result)
}

/** A setting stored for the lifetime of the tab. */
const kept = (key: string, first: string) => ({
  get: () => sessionStorage.getItem(`test-wallet.${key}`) ?? first,
  set: (value: string) => sessionStorage.setItem(`test-wallet.${key}`, value),
})
const chosen = {
  evm: kept('evm', addresses.evm[1] ?? ''),
  solana: kept('solana', addresses.solana[0] ?? ''),
  chainId: kept('chain', String(chains.evm[0]?.chainId ?? 0)),
}

const EVM: Readonly<Record<string, (params: never) => unknown>> = {
  eth_requestAccounts: () => [chosen.evm.get()],
  eth_chainId: () => `0x${Number(chosen.chainId.get()).toString(16)}`,
  wallet_switchEthereumChain([{ chainId }]: [{ chainId: string }]) {
    const isKnown = chains.evm.some((chain) => chain.chainId === Number(chainId))
    if (!isKnown)
      throw Object.assign(new Error(`The test wallet knows no chain ${Number(chainId)}.`), {
        code: 4902,
      })
    chosen.chainId.set(String(Number(chainId)))
    return null
  },
  personal_sign: ([raw, address]: [Hex, string]) =>
    evmAccount(address).signMessage({ message: { raw } }),
  eth_sendTransaction: ([transaction]: [Record<string, string>]) => sendEvm(transaction),
  eth_getTransactionReceipt(params: [Hex]) {
    const { rpcUrl } = chains.evm.find(({ chainId }) => chainId === Number(chosen.chainId.get()))!
    return createClient({ transport: http(rpcUrl) }).request({
      method: 'eth_getTransactionReceipt',
      params,
    })
  },
}

const provider = {
  async request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
    const work = EVM[method]
    if (!work) throw Object.assign(new Error(`The test wallet has no ${method}.`), { code: 4200 })
    return work((params ?? []) as never)
  },
}

const info = {
  uuid: crypto.randomUUID?.() ?? NAME,
  name: NAME,
  icon: ICON,
  rdns: 'local.clusterd.test',
}
const announce = () =>
  window.dispatchEvent(
    new CustomEvent('eip6963:announceProvider', {
      detail: Object.freeze({ info, provider: Object.freeze(provider) }),
    }),
  )
window.addEventListener('eip6963:requestProvider', announce)
announce()

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const CHAINS = ['solana:mainnet', 'solana:devnet'] as const
const FEATURES = ['solana:signMessage', 'solana:signAndSendTransaction'] as const
const solanaAccount = () => ({
  address: chosen.solana.get(),
  publicKey: bs58.decode(chosen.solana.get()),
  chains: CHAINS,
  features: FEATURES,
})
type Input = { account: { address: string } } & Record<'message' | 'transaction', Uint8Array>

const solanaWallet = {
  version: '1.0.0',
  name: NAME,
  icon: ICON,
  chains: CHAINS,
  get accounts() {
    return [solanaAccount()]
  },
  features: {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => ({ accounts: [solanaAccount()] }),
    },
    'solana:signMessage': {
      version: '1.0.0',
      async signMessage({ account: { address }, message }: Input) {
        return [{ signedMessage: message, signature: signSolana(address, message) }]
      },
    },
    'solana:signAndSendTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signAndSendTransaction({ account: { address }, transaction }: Input) {
        return [{ signature: await sendSolana(address, transaction) }]
      },
    },
  },
}

if (chains.solana) {
  const register = ({ register }: { register: (wallet: object) => void }) => register(solanaWallet)
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
  window.addEventListener('wallet-standard:app-ready', (event) =>
    register((event as CustomEvent).detail),
  )
}

/** Selector of one family's account. */
function choiceOf(family: string, key: 'evm' | 'solana'): HTMLElement {
  const label = document.createElement('label')
  const select = document.createElement('select')
  select.name = key
  for (const [i, address] of addresses[key].entries()) {
    const isChosen = address === chosen[key].get()
    const text = `Account ${i} · ${address.slice(0, 6)}…${address.slice(-4)}`
    select.append(new Option(text, address, isChosen, isChosen))
  }
  select.addEventListener('change', () => chosen[key].set(select.value))
  label.append(`${family} `, select)
  return label
}

const STYLE = `
  test-wallet { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: center;
    padding: 0.5rem 1rem; border-bottom: 3px dashed #e7a866; background: #3a2408; color: #fff; font: 0.875rem/1.4 system-ui, sans-serif }
  test-wallet select { min-height: 0; padding: 0.25rem; color: #fff; background: #5b3a12; border-color: #e7a866 }
`
const sheet = new CSSStyleSheet()
sheet.replaceSync(STYLE)
document.adoptedStyleSheets.push(sheet)
const bar = document.createElement('test-wallet')
bar.setAttribute('role', 'complementary')
bar.setAttribute('aria-label', 'Test wallet')
const title = document.createElement('strong')
title.textContent = 'Test wallet of the local world'
bar.append(title, choiceOf('Ethereum', 'evm'))
if (chains.solana) bar.append(choiceOf('Solana', 'solana'))
document.body.prepend(bar)
