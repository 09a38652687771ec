import { getWallets } from '@wallet-standard/app'
import type { Wallet } from '@wallet-standard/base'
import { StandardConnect } from '@wallet-standard/features'
import type { Chain, SigningWalletKind } from '../../lib/types.js'

/** How the pages find the wallets of one kind. A wallet is only called after its button was pressed. */
export interface PageWalletKind {
  /** Name of the kind, as shown on the pages. */
  readonly name: string
  /** What `discover` looks for in the browser: a standard, or the name of a wallet. */
  readonly foundBy: string
  /** Calls `found` for every wallet of the kind in this browser, including wallets that announce themselves later. */
  discover(found: (wallet: BrowserWallet) => void): void
}

/** Chain that a wallet sends on. */
export type ChainToSendOn = Pick<Chain, 'chainId' | 'isTestnet'>

/** An EVM transaction; `value` in wei. */
export interface EvmTransaction {
  to: string
  data: string
  value: bigint
}

/** Time limit for a wallet's answer, because a wallet whose window was closed may never answer. */
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

/**
 * Waits for a wallet's answer.
 * @param sent the transaction id that the wallet may return after the time limit
 * @throws UnansweredError
 */
export async function withWalletTimeout<T>(answer: Promise<T>, sent?: Promise<string>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UnansweredError(sent)), ANSWER_LIMIT_MS)
  })
  return Promise.race([answer, over]).finally(() => clearTimeout(timer))
}

/** An account of a wallet. */
export interface ConnectedAccount {
  type: SigningWalletKind
  /** Address in the service's form: EVM in lower case. */
  address: string
  /** @returns the signature in a form that the service accepts: 0x hex for EVM and Solana */
  sign(message: string): Promise<string>
  /**
   * Sends a transaction. An EVM wallet first switches to the chain.
   * @param transaction on Solana: serialized, in base64
   * @returns the transaction's hash, or its signature in base58
   */
  send(chain: ChainToSendOn, transaction: EvmTransaction | string): Promise<string>
  /** Whether the chain that the wallet has chosen has executed a transaction. Only of EVM wallets. */
  isExecuted?(tx: string): Promise<boolean>
}

/** Error of `send` for a chain on which the wallet does not pay. */
export const unpayableChainError = () => new Error('This chain takes no payment from your wallet.')

export interface BrowserWallet {
  /** Stable over reloads. */
  id: string
  name: string
  /** A data URI. */
  icon: string
  type: SigningWalletKind
  /** Object that identifies the wallet within this page, so that a repeated announcement is ignored. */
  source: unknown
  connect(): Promise<ConnectedAccount>
}

/**
 * Creates a wallet that only signs messages.
 * @param connect returns the wallet's address
 * @param wait limits the time of the wallet's answers
 */
export const createSignOnlyWallet = (
  wallet: Pick<BrowserWallet, 'name' | 'icon' | 'type' | 'source'>,
  connect: () => Promise<string | undefined>,
  sign: (message: string, address: string) => Promise<string>,
  wait = withWalletTimeout,
): BrowserWallet => ({
  ...wallet,
  id: `${wallet.type}:${wallet.name}`,
  async connect() {
    const address = await wait(connect())
    if (!address) throw new Error(`${wallet.name} gave no account.`)
    const send = () => Promise.reject(unpayableChainError())
    return { type: wallet.type, address, sign: (message) => wait(sign(message, address)), send }
  },
})

/** Calls `found` for every wallet of the Wallet Standard that has a feature for a family of chains. */
export function discoverStandardWallets<Features>(
  family: string,
  feature: string,
  found: (wallet: Wallet & { features: Features }) => void,
): void {
  const { get, on } = getWallets()
  const take = (...wallets: readonly Wallet[]) => {
    for (const wallet of wallets) if (hasFeature<Features>(wallet, family, feature)) found(wallet)
  }
  take(...get())
  on('register', take)
}

/** True if a wallet can connect, and has a feature for a family of chains. */
function hasFeature<Features>(
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

export const utf8Bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
