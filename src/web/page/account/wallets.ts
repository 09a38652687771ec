import type {
  SolanaSignAndSendTransactionFeature,
  SolanaSignMessageFeature,
} from '@solana/wallet-standard-features'
import { getWallets } from '@wallet-standard/app'
import type { Wallet } from '@wallet-standard/base'
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features'
import bs58 from 'bs58'
import { bytesToHex } from '../../../client/bytes.js'
import { WALLET_NAMES } from '../../../registry/families.js'
import type { Chain, SigningWalletKind } from '../lib/types.js'

/** Chain that a wallet sends on. */
export type SendingChain = Pick<Chain, 'chainId' | 'isTestnet'>

/** An EVM transaction; `value` in wei. */
export interface Transaction {
  to: string
  data: string
  value: bigint
}

/**
 * Wallets of the browser, discovered by EIP-6963 and Wallet Standard. A wallet is only called after its button was
 * pressed.
 */

/** Time limit for a wallet's answer: a wallet whose window was closed may never answer. */
const ANSWER_LIMIT_MS = 120_000

/** The wallet has not answered in time, and may still do so. */
export class UnansweredError extends Error {
  override message =
    'Your wallet has not answered. Look for its window; where that is gone, press again.'
  /** @param sent the transaction id that the wallet may still return */
  constructor(readonly sent?: Promise<string>) {
    super()
  }
}

/** Waits for a wallet's answer. @throws Unanswered */
export async function withAnswerLimit<T>(answer: Promise<T>, sent?: Promise<string>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UnansweredError(sent)), ANSWER_LIMIT_MS)
  })
  return Promise.race([answer, over]).finally(() => clearTimeout(timer))
}

/** Names of the kinds of wallets that can sign in. */
export const WALLET_KIND_TEXT: Readonly<Record<SigningWalletKind, string>> = {
  ...WALLET_NAMES,
  bitcoin: 'Bitcoin',
  cosmos: 'Cosmos',
  sui: 'Sui',
}

/** An account of a wallet. */
export interface ConnectedAccount {
  type: SigningWalletKind
  /** Address in the service's form: EVM in lower case. */
  address: string
  /** @returns the signature in a form that the service accepts: 0x hex for EVM and Solana */
  sign(message: string): Promise<string>
  /**
   * Sends a transaction. An EVM wallet switches to its chain before.
   * @param transaction on Solana: serialized, in base64
   * @returns the transaction's hash, or its signature in base58
   */
  send(chain: SendingChain, transaction: Transaction | string): Promise<string>
  /** Whether the chain that the wallet has chosen has executed a transaction. Only of EVM wallets. */
  isExecuted?(tx: string): Promise<boolean>
}

const unfit = () => new Error('This chain takes no payment from your wallet.')

export interface BrowserWallet {
  /** Stable over reloads. */
  id: string
  name: string
  /** A data URI. */
  icon: string
  type: SigningWalletKind
  /** Identity of a wallet in this page, which shows that it announces itself twice. */
  source: unknown
  connect(): Promise<ConnectedAccount>
}

/** Calls `found` for every wallet, including wallets that announce themselves later. */
export function discoverWallets(found: (wallet: BrowserWallet) => void): void {
  window.addEventListener('eip6963:announceProvider', (event) => {
    const announced = (event as CustomEvent<Announced | null>).detail
    if (announced?.info && announced.provider) found(evmWallet(announced.info, announced.provider))
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))

  const { get, on } = getWallets()
  const take = (...wallets: readonly Wallet[]) => {
    for (const wallet of wallets)
      if (hasFeature<StandardWallet['features']>(wallet, 'solana:', SIGN))
        found(solanaWallet(wallet))
  }
  take(...get())
  on('register', take)
}

/** EIP-1193. */
interface Provider {
  request(args: { method: string; params?: unknown }): Promise<unknown>
}

interface Announced {
  info: { uuid: string; name: string; icon: string; rdns: string }
  provider: Provider
}

function evmWallet({ uuid, name, icon, rdns }: Announced['info'], source: Provider): BrowserWallet {
  const provider: Provider = { request: (asked) => withAnswerLimit(source.request(asked)) }
  return {
    id: `evm:${rdns}`,
    name,
    icon,
    type: 'evm',
    source: uuid || source,
    async connect() {
      const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as
        | string[]
        | null
      const address = accounts?.[0]
      if (!address) throw new Error(`${name} gave no account.`)
      return {
        type: 'evm',
        address: address.toLowerCase(),
        sign: (message) =>
          provider.request({
            method: 'personal_sign',
            params: [bytesToHex(utf8(message)), address],
          }) as Promise<string>,
        async send({ chainId }, transaction) {
          if (chainId === null || typeof transaction === 'string') throw unfit()
          await switchTo(provider, chainId)
          const { to, data, value } = transaction
          const call = {
            from: address,
            to,
            data,
            value: hexOfNumber(value),
            chainId: hexOfNumber(chainId),
          }
          const asked = { method: 'eth_sendTransaction', params: [call] }
          const sent = Promise.resolve(source.request(asked)).then((hash) => {
            if (typeof hash !== 'string' || hash === '')
              throw new Error(`${name} has not sent the transaction.`)
            return hash
          })
          return withAnswerLimit(sent, sent)
        },
        async isExecuted(tx) {
          const asked = { method: 'eth_getTransactionReceipt', params: [tx] }
          const receipt = (await provider.request(asked)) as { status: string } | null
          return receipt?.status === '0x1'
        },
      }
    },
  }
}

const hexOfNumber = (value: bigint | number): string => `0x${value.toString(16)}`

async function switchTo(provider: Provider, chainId: number): Promise<void> {
  const current = async () => Number(await provider.request({ method: 'eth_chainId' }))
  if ((await current()) === chainId) return
  await provider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: hexOfNumber(chainId) }],
  })
  // a wallet that has not switched could send the money on another chain
  if ((await current()) !== chainId)
    throw new Error(`The wallet has not switched to chain ${chainId}.`)
}

/** A wallet of the Wallet Standard with the features used here. */
type StandardWallet = Pick<Wallet, 'name' | 'icon' | 'chains'> & {
  readonly features: StandardConnectFeature &
    SolanaSignMessageFeature &
    Partial<SolanaSignAndSendTransactionFeature>
}

/** True if a wallet can connect, and has a feature for a family of chains. */
export function hasFeature<Features>(
  wallet: Wallet,
  family: string,
  feature: string,
): wallet is Wallet & { features: Features } {
  try {
    const { chains, features } = wallet
    return (
      chains.some((chain) => chain.startsWith(family)) &&
      StandardConnect in features &&
      feature in features
    )
  } catch {
    // a wallet with a malformed list must not hide other wallets
    return false
  }
}
const SIGN: keyof SolanaSignMessageFeature = 'solana:signMessage'

function solanaWallet(source: StandardWallet): BrowserWallet {
  const { name, icon, features, chains } = source
  return {
    id: `solana:${name}`,
    name,
    icon,
    type: 'solana',
    source,
    async connect() {
      const { accounts } = await withAnswerLimit(features[StandardConnect].connect())
      const account = accounts[0]
      if (!account) throw new Error(`${name} gave no account.`)
      return {
        type: 'solana',
        address: account.address,
        async sign(message) {
          const [signed] = await withAnswerLimit(
            features[SIGN].signMessage({ account, message: utf8(message) }),
          )
          if (!signed) throw new Error(`${name} gave no signature.`)
          return bytesToHex(signed.signature)
        },
        async send({ isTestnet }, base64) {
          if (typeof base64 !== 'string') throw unfit()
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
          return withAnswerLimit(sent, sent)
        },
      }
    },
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
