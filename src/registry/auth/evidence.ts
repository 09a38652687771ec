import { parseWalletOrNull, type Wallet } from '../primitives/address.js'
import { decodeBase58 } from '../primitives/base58.js'
import { toHex } from '../primitives/bytes.js'
import { parseJson } from '../primitives/json.js'
import { sha256 } from '../primitives/sha256.js'
import { LEAF_VERSION } from '../transparencyLog/beginning.js'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import type { WalletKind } from './kind.js'
import { WALLET_KINDS, walletKindOf } from './kinds.js'
import {
  type Membership,
  parseSigningDate,
  SIGNING_DATE_MAX_AGE_MS,
  SIGNING_DATE_MAX_AHEAD_MS,
  verificationMessage,
  walletBoundMessage,
} from './message.js'

/**
 * Evidence that a wallet belongs to a cluster: the wallet's signature over a message that states the membership, and
 * that the signature will be public. Each piece of evidence is one entry of the evidence log.
 */
export interface Evidence {
  /** Time at which the service took the evidence, ms. */
  atMs: number
  wallet: Wallet
  clusterId: string
  message: string
  /**
   * The signature as `canonicalSignature` writes it. A smart wallet's signature as `evidenceSignatureText` writes it.
   */
  signature: string
  /** Newest block of the hub when a wallet's contract checked the signature. Null for a wallet without a contract. */
  block: number | null
}

/**
 * Evidence as its log entry shows it. Instead of a signature that is too long for the entry, the entry has its hash.
 */
export type PublishedEvidence = Omit<Evidence, 'signature'> & {
  signature: string | null
  /** SHA-256 of the signature's text, hex, in place of the signature. */
  signatureHash: string | null
}

/** Maximum length of an entry of the evidence log, bytes. */
const MAX_ENTRY_BYTES = 1_024
/** Maximum age of a signing date when the signature becomes evidence, ms: a minute more than a sign-in allows. */
export const EVIDENCE_MAX_AGE_MS = SIGNING_DATE_MAX_AGE_MS + 60_000
/**
 * Time after which evidence is published, ms. By then its signature opens no session: the database refuses signing
 * dates older than `EVIDENCE_MAX_AGE_MS`, and a date may be up to `SIGNING_DATE_MAX_AHEAD_MS` ahead.
 */
export const EVIDENCE_PUBLISHED_AFTER_MS =
  SIGNING_DATE_MAX_AGE_MS + SIGNING_DATE_MAX_AHEAD_MS + 60_000

/** True if the service may take a signature with this signing date as evidence at the time `atMs`. */
export const isEvidenceFresh = (signingMs: number, atMs: number): boolean =>
  signingMs >= atMs - EVIDENCE_MAX_AGE_MS && signingMs <= atMs + SIGNING_DATE_MAX_AHEAD_MS

const SIGNING_DATE_LINE_PATTERN = /^(?:Issued At: )?(\d{4}-\d\d-\d\dT[\d:.]{12}Z)$/m
const CHAIN_ID_LINE_PATTERN = /^Chain ID: (\d{1,15})$/m
const NONCE_LINE_PATTERN = /^Nonce: ([\da-f]{32})$/m

/**
 * Signing date (ms) of a message to this service that states a wallet's membership of a cluster; null for any other
 * text.
 */
export function membershipSigningMs(
  message: string,
  { domain, wallet, ...membership }: { domain: string; wallet: Wallet } & Membership,
): number | null {
  const signingDate = SIGNING_DATE_LINE_PATTERN.exec(message)?.[1] ?? ''
  const chainId = Number(CHAIN_ID_LINE_PATTERN.exec(message)?.[1] ?? 0)
  const nonce = NONCE_LINE_PATTERN.exec(message)?.[1]
  const isMembership =
    message === verificationMessage(domain, signingDate, membership) ||
    (nonce !== undefined &&
      walletKindOf(wallet.type) !== null &&
      message === walletBoundMessage({ domain, wallet, signingDate, membership, chainId, nonce }))
  return isMembership ? parseSigningDate(signingDate) : null
}

/** Length of the only signatures that may be in base58, Solana's. */
const BASE58_SIGNATURE_BYTES = 64

/**
 * The canonical text of a wallet's signature. With other texts, one signature could become several pieces of evidence.
 * @param text in any form that a sign-in accepts
 * @returns null where the wallet's key did not sign the message, as for a smart wallet
 */
export function canonicalSignature(message: string, wallet: Wallet, text: string): string | null {
  const name = walletKindOf(wallet.type)
  if (!name) return null
  const kind: WalletKind = WALLET_KINDS[name]
  const { encoded, fields } = openSignatureEnvelope(text)
  const bare = name === 'bitcoin' ? encoded.replace(/^smp/, '') : encoded
  const decoded = [...hexAndBase64Decodings(bare), decodeBase58(bare, BASE58_SIGNATURE_BYTES)]
  const forms = decoded.map((bytes) => bytes && (kind.canonical ?? toHex)(bytes, fields))
  return forms.find((one) => one && kind.read(one)?.(message, wallet) === true) ?? null
}

const EVIDENCE_ENTRY_TYPE = 'SIGN_MEMBERSHIP'

const entryJson = (
  { atMs, wallet, clusterId, message, block }: Omit<Evidence, 'signature'>,
  signature: object,
): string =>
  JSON.stringify({
    v: LEAF_VERSION,
    type: EVIDENCE_ENTRY_TYPE,
    at: atMs,
    from: wallet.text,
    data: { cluster_id: clusterId, message, ...signature, ...(block !== null && { block }) },
  })

const SIGNATURE_HASH_PREFIX = 'sha256:'

/** Text of a smart wallet's signature for evidence: the signature, or its hash if it is too long for a log entry. */
export function evidenceSignatureText(evidence: Omit<Evidence, 'atMs'>): string {
  const { signature } = evidence
  const length = Buffer.byteLength(entryJson({ ...evidence, atMs: Date.now() }, { signature }))
  return length <= MAX_ENTRY_BYTES
    ? signature
    : SIGNATURE_HASH_PREFIX + toHex(sha256(Buffer.from(signature)))
}

/**
 * Entry of the evidence log: one line of JSON of at most 1 KiB, whose fields and their order depend on the version.
 * @throws RangeError for evidence that makes a longer entry
 */
export function evidenceEntry(evidence: Evidence): string {
  const { signature } = evidence
  const isHash = signature.startsWith(SIGNATURE_HASH_PREFIX)
  const signed = isHash
    ? { signature_hash: signature.slice(SIGNATURE_HASH_PREFIX.length) }
    : { signature }
  const entry = entryJson(evidence, signed)
  if (Buffer.byteLength(entry) <= MAX_ENTRY_BYTES) return entry
  throw new RangeError('evidence is longer than an entry of its log')
}

/** Parses an entry that `evidenceEntry` writes. @throws RangeError for any other text */
export function parseEvidenceEntry(text: string): PublishedEvidence {
  const { at, from, data } = Object(parseJson(text)) as Readonly<Record<string, unknown>>
  const { cluster_id, message, signature, signature_hash, block } = Object(data)
  const wallet = parseWalletOrNull(String(from))
  if (wallet && Number.isSafeInteger(at) && isText(cluster_id) && isText(message)) {
    const read: PublishedEvidence = {
      atMs: Number(at),
      wallet,
      clusterId: cluster_id,
      message,
      signature: isText(signature) ? signature : null,
      signatureHash: isText(signature_hash) ? signature_hash : null,
      block: Number.isSafeInteger(block) ? block : null,
    }
    const written = entryJson(read, read.signature === null ? { signature_hash } : { signature })
    if (written === text && Buffer.byteLength(text) <= MAX_ENTRY_BYTES) return read
  }
  throw new RangeError('it is not written as evidence is: a newer clusterd may read it')
}

const isText = (value: unknown): value is string => typeof value === 'string'
