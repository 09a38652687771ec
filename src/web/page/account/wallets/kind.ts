import { getWallets } from '@wallet-standard/app'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features'
import { pause } from '../../../../client/time.js'
import { contractErrorText } from '../../../contractErrors.js'
import type { Chain, SigningWalletKind } from '../../lib/types.js'

/** How the pages find the wallets of one kind. No wallet is called before the visitor has pressed its button. */
export interface PageWalletKind {
  /** Name of the kind, as shown on the pages. */
  readonly name: string
  /** The standard by which `discover` finds wallets in the browser, or the name of the only wallet that it finds. */
  readonly foundBy: string
  /**
   * Calls `onWallet` for every wallet of the kind in this browser, including wallets that announce themselves later.
   */
  discover(onWallet: (wallet: BrowserWallet) => void): unknown
}

/** Fields of a chain by which a wallet chooses it for a transaction. */
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

/** The chain has reverted a transaction. The message says why. */
export class RevertedError extends Error {}

/** Sentences for the errors of our contracts, by selector, as JSON, inserted by the build (scripts/build-web.ts). */
declare const CONTRACT_ERRORS: string

/** Sentence for a refusal of one of our contracts, found in a wallet's error; null for any other error. */
export const refusalText = (error: unknown): string | null =>
  contractErrorText(error, JSON.parse(CONTRACT_ERRORS))

/**
 * Waits for a wallet's answer.
 * @param sent the transaction id that the wallet may return after the time limit
 * @throws UnansweredError after the time limit; the wallet's errors
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
  /**
   * EIP-155 id of the chain that the wallet has chosen, on which a smart wallet has its contract. Only of EVM wallets.
   */
  chainId?(): Promise<number>
  /** @returns the signature in the kind's form that the service accepts, such as 0x hex for EVM and Solana */
  sign(message: string): Promise<string>
  /**
   * Sends a transaction. An EVM wallet first switches to the chain.
   * @param transaction on Solana: serialized, in base64
   * @returns the transaction's hash, or its signature in base58
   */
  send(chain: ChainToSendOn, transaction: EvmTransaction | string): Promise<string>
  /**
   * Returns true once a transaction has a receipt on the wallet's current chain. Only EVM wallets have this method.
   * @throws RevertedError if the receipt reports a revert
   */
  isExecuted?(tx: string): Promise<boolean>
}

/** Error of `send` for a chain on which the wallet does not pay. */
export const unpayableChainError = () => new Error('This chain takes no payment from your wallet.')

/** `send` of a wallet that only signs. */
const refuseToSend = () => Promise.reject(unpayableChainError())

/** A wallet that the pages found in this browser. */
export interface BrowserWallet {
  /** Id that a reload does not change. */
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
 */
export const createSignOnlyWallet = (
  wallet: Pick<BrowserWallet, 'name' | 'icon' | 'type' | 'source'>,
  connect: () => Promise<string | undefined>,
  sign: (message: string, address: string) => Promise<string>,
): BrowserWallet => ({
  ...wallet,
  id: `${wallet.type}:${wallet.name}`,
  async connect() {
    const address = await withWalletTimeout(connect())
    if (!address) throw new Error(`${wallet.name} gave no account.`)
    return {
      type: wallet.type,
      address,
      sign: (message) => withWalletTimeout(sign(message, address)),
      send: refuseToSend,
    }
  },
})

/** Pause between two checks for an object that a wallet adds to `window`, ms. */
const INJECTION_CHECK_PAUSE_MS = 500
/** Maximum number of checks. With the pauses they take one minute. */
const MAX_INJECTION_CHECKS = 120

/**
 * Calls `onInjected` once a wallet has added its object to `window`. Gives up after a minute.
 * @param read returns the object; undefined while it is missing
 */
export async function discoverInjectedWallet<T>(
  read: () => T | undefined,
  onInjected: (injected: T) => void,
): Promise<void> {
  for (let checks = 0; checks < MAX_INJECTION_CHECKS; checks++) {
    const injected = read()
    if (injected) return onInjected(injected)
    await pause(INJECTION_CHECK_PAUSE_MS)
  }
}

/** A wallet of the Wallet Standard that has these features and can connect. */
type StandardWallet<Features> = Pick<Wallet, 'name' | 'icon' | 'chains'> & {
  readonly features: Features & StandardConnectFeature
}

/** Chains and features by which wallets of the Wallet Standard belong to a kind, with functions that use them. */
interface StandardWalletKind<Features> {
  type: SigningWalletKind
  /** Prefix of the names of its chains. */
  family: string
  /** Feature without which a wallet can't sign in. */
  feature: string
  sign(features: Features, account: WalletAccount, message: Uint8Array): Promise<string>
  send?(wallet: StandardWallet<Features>, account: WalletAccount): ConnectedAccount['send']
}

/** Calls `onWallet` for every wallet of the Wallet Standard that is of a kind, also for later ones. */
export function discoverStandardWallets<Features>(
  kind: StandardWalletKind<Features>,
  onWallet: (wallet: BrowserWallet) => void,
): void {
  const { get, on } = getWallets()
  const take = (...wallets: readonly Wallet[]) => {
    for (const wallet of wallets)
      if (isOfKind(wallet, kind)) onWallet(browserWalletOf(wallet, kind))
  }
  take(...get())
  on('register', take)
}

/** True if a wallet can connect, and has a kind's feature and chains. */
function isOfKind<Features>(
  wallet: Wallet,
  { family, feature }: StandardWalletKind<Features>,
): wallet is Wallet & StandardWallet<Features> {
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

function browserWalletOf<Features>(
  source: StandardWallet<Features>,
  { type, family, feature, sign, send }: StandardWalletKind<Features>,
): BrowserWallet {
  const { name, icon, features } = source
  return {
    id: `${type}:${name}`,
    name,
    icon,
    type,
    // not the wallet's own object: a wallet of several kinds is listed once for each kind, each with its own `source`
    source: (features as Readonly<Record<string, unknown>>)[feature],
    async connect() {
      const { accounts } = await withWalletTimeout(features[StandardConnect].connect())
      const account = accounts.find(({ chains }) => chains.some((one) => one.startsWith(family)))
      if (!account) throw new Error(`${name} gave no account.`)
      return {
        type,
        address: account.address,
        sign: (message) => withWalletTimeout(sign(features, account, utf8Bytes(message))),
        send: send?.(source, account) ?? refuseToSend,
      }
    },
  }
}

export const utf8Bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
