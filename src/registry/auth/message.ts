import { getAddress } from 'viem'
import type { Address, AddressType } from '../primitives/address.js'

/**
 * The messages that wallets sign to prove themselves. Nothing is kept for a message that was given out: it is built
 * again from its signing date, so a client that makes one itself with a recent date is as good.
 */

/** A signing date is accepted this long, and this far ahead of our clock. */
const SIGNING_DATE_MAX_AGE_MS = 10 * 60_000
const SIGNING_DATE_MAX_AHEAD_MS = 60_000

const STATEMENT = 'Before interacting with certain functionality, we require a wallet signature for verification.'

/** `2026-11-20T08:00:00.000Z`: a date in any other length is not looked at any further. */
const DATE_CHARS = 24

/** Milliseconds of a signing date in the exact form of `toISOString`, null for every other form. */
export function parseSigningDate(text: string): number | null {
  if (text.length !== DATE_CHARS) return null
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : null
}

/**
 * Whether a signing date is fresh enough to be exchanged: not older than `maxAgeMs`, not ahead by more than a minute.
 */
export const isFresh = (signingMs: number, nowMs: number, maxAgeMs = SIGNING_DATE_MAX_AGE_MS): boolean =>
  signingMs >= nowMs - maxAgeMs && signingMs <= nowMs + SIGNING_DATE_MAX_AHEAD_MS

/** The message that any wallet signs. */
export const verificationMessage = (domain: string, signingDate: string): string =>
  `${domain} verification\n\n${STATEMENT}\n\n${signingDate}`

export interface BoundMessage {
  /** Names the service. */
  domain: string
  wallet: Pick<Address, 'type' | 'text'>
  /** EVM: the chain on which a smart wallet is asked (EIP-155 id). Not part of a Solana message. */
  chainId: number
  /** At least 8 letters and digits. */
  nonce: string
  signingDate: string
}

/** How each type of wallet stands in a message. */
const FORM: Record<AddressType, { account: string; address: (text: string) => string; hasChainId: boolean }> = {
  // EIP-4361 asks for the checksummed form
  evm: { account: 'Ethereum', address: (text) => getAddress(text), hasChainId: true },
  solana: { account: 'Solana', address: (text) => text, hasChainId: false },
}

/**
 * The message that is bound to one address: EIP-4361 (Sign-In with Ethereum), and for Solana its counterpart without a
 * chain id (Sign In With Solana). A contract's signature is accepted over nothing else, since one owner's signature may
 * be good for many wallets.
 */
export function boundMessage({ domain, wallet, chainId, nonce, signingDate }: BoundMessage): string {
  const { account, address, hasChainId } = FORM[wallet.type]
  return [
    `${domain} wants you to sign in with your ${account} account:`,
    address(wallet.text),
    '',
    STATEMENT,
    '',
    `URI: https://${domain}`,
    'Version: 1',
    ...(hasChainId ? [`Chain ID: ${chainId}`] : []),
    `Nonce: ${nonce}`,
    `Issued At: ${signingDate}`,
  ].join('\n')
}
