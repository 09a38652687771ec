import { createHash } from 'node:crypto'
import {
  type CommunityRequirement,
  type CommunityRules,
  communityRulesJson,
  parseCommunityRules,
} from '../community/rules.js'
import { decodeAddress } from '../primitives/address.js'
import { parseClusterName, parseName } from '../primitives/name.js'
import type { EntryKind } from './entry.js'

/**
 * What the journal says of communities: who configured one, who registered a name below it, and the payments for such names.
 * Addresses are in their stored form, names canonical. Bodies are canonical JSON, keys in this order, byte strings in hex.
 */
export type CommunityChange =
  /** `actor` is null where the operator did it. */
  | { kind: 'configure_community'; actor: Buffer | null; community: string; rules: CommunityRules }
  | RegisterCommunityName

export interface RegisterCommunityName {
  kind: 'register_community_name'
  actor: Buffer
  community: string
  name: string
  /** Who gets the name. */
  wallet: Buffer
  /** `requirementsHash` of the requirements that the wallet was found to meet, null where it meets none, or none were read. */
  met: Buffer | null
  /** It goes to the actor's cluster after a claim, whatever the rules ask; once a cluster. */
  isAssigned: boolean
}

/** A confirmed payment with what has to be known to judge it. */
export interface CommunityPaymentBody {
  /** Transaction hash or signature. */
  tx: Buffer
  /** The label of the network it was made on. */
  network: string
  /** Stored address; gets the name. */
  payer: Buffer
  /** `native`, or the token's address or mint in its answer form. */
  token: string
  amount: bigint
  recipient: string
  /** The words of the names, as they were paid for: 32 bytes each. */
  community: Buffer
  name: Buffer
  /** 32 bytes, null for nobody. */
  referral: Buffer | null
  /** Time of its block, ms. */
  blockMs: number
  /**
   * `requirementsHash` of the requirements in force at the block, where the payer was found to meet them; no requirements have a
   * hash too. null for a payment that has been given back already.
   */
  met: Buffer | null
}

const WORD_BYTES = 32

const KINDS: ReadonlySet<EntryKind> = new Set<EntryKind>(['configure_community', 'register_community_name'])

/** Whether entries of a kind are changes of communities that somebody has asked for; payments are not. */
export const isCommunityChangeKind = (kind: EntryKind): kind is CommunityChange['kind'] => KINDS.has(kind)

/** Names requirements by what they ask: what was found to be met counts only while the same is asked. 32 bytes. */
export function requirementsHash(requirements: readonly CommunityRequirement[]): Buffer {
  const { requirements: json } = communityRulesJson({ ...NO_RULES, requirements })
  return createHash('sha256').update(JSON.stringify(json)).digest()
}

const NO_RULES: CommunityRules = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }

/** The body of a community's change as it is stored. */
export function encodeCommunityChange(change: CommunityChange): Buffer {
  const { community } = change
  if (change.kind === 'configure_community')
    return json({ actor: change.actor && hex(change.actor), community, rules: communityRulesJson(change.rules) })
  const { actor, name, wallet, met, isAssigned } = change
  return json({ actor: hex(actor), community, name, wallet: hex(wallet), met: met && hex(met), isAssigned })
}

/** Takes a body apart. Throws RangeError for bytes that the encoder does not make. */
export function decodeCommunityChange(kind: CommunityChange['kind'], body: Buffer): CommunityChange {
  const change = read(body, kind === 'configure_community' ? readConfiguration : readRegistration)
  if (!change || !encodeCommunityChange(change).equals(body)) throw malformed(kind)
  return change
}

/** The rules in the body of a `configure_community` entry. Throws RangeError. */
export function rulesOfBody(body: Buffer): CommunityRules {
  const change = decodeCommunityChange('configure_community', body)
  if (change.kind !== 'configure_community') throw malformed(change.kind)
  return change.rules
}

/** The body of a payment's entry. */
export const encodePayment = (payment: CommunityPaymentBody): Buffer =>
  json({
    tx: hex(payment.tx),
    network: payment.network,
    payer: hex(payment.payer),
    token: payment.token,
    amount: String(payment.amount),
    recipient: payment.recipient,
    community: hex(payment.community),
    name: hex(payment.name),
    referral: payment.referral && hex(payment.referral),
    blockMs: payment.blockMs,
    met: payment.met && hex(payment.met),
  })

/** Takes a payment's body apart. Throws RangeError for bytes that the encoder does not make. */
export function decodePayment(body: Buffer): CommunityPaymentBody {
  const payment = read(body, readPayment)
  if (!payment || !encodePayment(payment).equals(body)) throw malformed('pay_community_name')
  return payment
}

/** What stands in the journal was checked when it was written. */
const ANYWHERE = { isEnabled: () => true, takesPayments: () => true }

type Fields = Readonly<Record<string, unknown>>

function readConfiguration({ actor, community, rules }: Fields): CommunityChange | null {
  const name = canonical(community, parseClusterName)
  const parsed = parseCommunityRules(rules, ANYWHERE)
  const signer = actor === null ? null : signerOf(actor)
  if (!name || 'problems' in parsed || (actor !== null && !signer)) return null
  return { kind: 'configure_community', actor: signer, community: name, rules: parsed }
}

function readRegistration(fields: Fields): CommunityChange | null {
  const actor = signerOf(fields.actor)
  const community = canonical(fields.community, parseClusterName)
  const name = canonical(fields.name, parseName)
  const wallet = signerOf(fields.wallet)
  const met = optional(fields.met, WORD_BYTES)
  const { isAssigned } = fields
  if (!actor || !community || !name || !wallet || met === undefined || typeof isAssigned !== 'boolean') return null
  return { kind: 'register_community_name', actor, community, name, wallet, met, isAssigned }
}

function readPayment(fields: Fields): CommunityPaymentBody | null {
  const { network, token, amount, recipient, blockMs } = fields
  const [tx, community, name] = [bytes(fields.tx), bytes(fields.community, WORD_BYTES), bytes(fields.name, WORD_BYTES)]
  const payer = signerOf(fields.payer)
  const [referral, met] = [optional(fields.referral, WORD_BYTES), optional(fields.met, WORD_BYTES)]
  if (!tx || !payer || !community || !name || referral === undefined || met === undefined) return null
  if (typeof network !== 'string' || typeof token !== 'string' || typeof recipient !== 'string') return null
  if (typeof amount !== 'string' || !/^[0-9]+$/.test(amount) || !Number.isSafeInteger(blockMs)) return null
  return {
    ...{ tx, network, payer, token, amount: BigInt(amount), recipient },
    ...{ community, name, referral, blockMs: Number(blockMs), met },
  }
}

const hex = (value: Buffer): string => value.toString('hex')
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))

function read<T>(body: Buffer, of: (fields: Fields) => T | null): T | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? of(value as Fields) : null
  } catch {
    return null
  }
}

const bytes = (value: unknown, length?: number): Buffer | null =>
  typeof value === 'string' && /^([0-9a-f]{2})+$/.test(value) && (length === undefined || value.length === 2 * length)
    ? Buffer.from(value, 'hex')
    : null

/** null as it stands there, undefined where it is neither null nor bytes of that length. */
const optional = (value: unknown, length: number): Buffer | null | undefined =>
  value === null ? null : (bytes(value, length) ?? undefined)

/** Only wallets of types that can sign in act here, and get names. */
function signerOf(value: unknown): Buffer | null {
  const stored = bytes(value)
  return stored && decodeAddress(stored).bytes
}

const canonical = (value: unknown, parse: (text: string) => string | null): string | null =>
  typeof value === 'string' && parse(value) === value ? value : null

const malformed = (kind: EntryKind): RangeError => new RangeError(`the body of a ${kind} entry is not one of ours`)
