import type { Wallet } from '../primitives/address.js'
import type { Network } from '../primitives/network.js'
import type { WalletKind } from './kind.js'
import { WALLET_KINDS, walletKindOf } from './kinds.js'

/**
 * Messages that wallets sign to authenticate. The server stores none of them, because it can rebuild a message from
 * its signing date.
 */

/** Maximum age of a signing date that opens a session. */
export const SIGNING_DATE_MAX_AGE_MS = 10 * 60_000
/** How far a signing date may be ahead of our clock. */
export const SIGNING_DATE_MAX_AHEAD_MS = 60_000

const SIGN_IN_STATEMENT =
  'Before interacting with certain functionality, we require a wallet signature for verification.'

/** Length of `2026-11-20T08:00:00.000Z`, the only accepted form. */
const DATE_CHARS = 24

/** Milliseconds of a signing date in the exact form of `toISOString`, null for every other form. */
export function parseSigningDate(text: string): number | null {
  if (text.length !== DATE_CHARS) return null
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : null
}

export const isSigningDateFresh = (
  signingMs: number,
  nowMs: number,
  maxAgeMs = SIGNING_DATE_MAX_AGE_MS,
): boolean => signingMs >= nowMs - maxAgeMs && signingMs <= nowMs + SIGNING_DATE_MAX_AHEAD_MS

/** Cluster to which a wallet belongs according to the message that it signs. Such a signature becomes public. */
export interface Membership {
  network: Network
  /** Public id of the cluster, hex. */
  clusterId: string
}

const membershipLines = ({ network, clusterId }: Membership): string[] => [
  `Network: ${network}`,
  `Cluster: ${clusterId}`,
  '',
  'This signature will be public.',
]

/** Message that names no wallet. Every wallet but a contract may sign it (see `walletBoundMessage`). */
export const verificationMessage = (
  domain: string,
  signingDate: string,
  membership?: Membership,
): string =>
  [
    `${domain} verification`,
    '',
    SIGN_IN_STATEMENT,
    '',
    signingDate,
    ...(membership ? membershipLines(membership) : []),
  ].join('\n')

export interface WalletBoundMessage {
  /** Domain of the service. */
  domain: string
  /** Wallet that signs the message. */
  wallet: Pick<Wallet, 'type' | 'text'>
  /** EIP-155 id of the chain that checks a smart wallet. Only messages of EVM wallets show it. */
  chainId: number
  /** Nonce of at least 8 letters and digits. */
  nonce: string
  signingDate: string
  /** Wallet whose private key the message requests; absent from a message that signs in. */
  recovered?: Pick<Wallet, 'text'> | undefined
  /** Cluster to which the wallet belongs according to the message; absent from a message without membership. */
  membership?: Membership | undefined
}

/**
 * Statement of a recovery message. It differs from the sign-in statement, so that a signature serves only one of the
 * two purposes.
 */
const recoveryStatement = (address: string): string =>
  `Recover the private key of the wallet ${address}. Sign this only to get that key yourself; it serves once.`

/**
 * Message bound to one address: EIP-4361 (Sign-In with Ethereum), for other kinds of wallets the same text without a
 * chain id. A contract wallet has to sign this message, not `verificationMessage`, because one owner's signature may be
 * valid for several contract wallets.
 */
export function walletBoundMessage({
  domain,
  wallet,
  chainId,
  nonce,
  signingDate,
  recovered,
  membership,
}: WalletBoundMessage): string {
  const { account, shown, hasChainId }: WalletKind = WALLET_KINDS[walletKindOf(wallet.type)!]
  return [
    `${domain} wants you to sign in with your ${account} account:`,
    shown?.(wallet.text) ?? wallet.text,
    '',
    recovered ? recoveryStatement(recovered.text) : SIGN_IN_STATEMENT,
    '',
    `URI: https://${domain}`,
    'Version: 1',
    ...(hasChainId ? [`Chain ID: ${chainId}`] : []),
    `Nonce: ${nonce}`,
    `Issued At: ${signingDate}`,
    ...(membership ? membershipLines(membership) : []),
  ].join('\n')
}
