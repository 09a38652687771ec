import type { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { PaidQuote } from '../../registry/payment/quote.js'
import {
  COMMUNITY_EVENT_BYTES,
  COMMUNITY_PAY_BYTES,
  type CommunityOutcome,
  communityInstruction,
  communityOutcome,
  communityPaid,
  type SeenCommunityPayment,
} from './community/events.js'
import { fieldsOf, type Registrar, registrarCoder, registrarIdl } from './registrar.js'

/** A transaction as returned by `getTransaction` (encoding json). */
export interface RawTransaction {
  slot: number
  /** Seconds since the epoch. */
  blockTime: number | null
  transaction: { signatures: string[]; message: { accountKeys: string[]; instructions: RawInstruction[] } }
  /** null until the node has executed the transaction. */
  meta: {
    err: unknown
    logMessages: string[] | null
    innerInstructions: { index: number; instructions: RawInstruction[] }[] | null
    loadedAddresses?: { writable: string[]; readonly: string[] } | null
  } | null
}

interface RawInstruction {
  programIdIndex: number
  accounts: number[]
  /** base58 */
  data: string
}

/**
 * A payment in a transaction; the sequence is null where the logs were truncated and the transaction holds no other
 * hint.
 */
type SeenPayment = Omit<PaidQuote, 'sequence'> & { sequence: bigint | null }

/** Actions of a successful transaction at the registrar. */
export interface DecodedTransaction {
  /** In order of execution. */
  payments: SeenPayment[]
  /** Payments that were settled or refunded. */
  closed: ClosedEvent[]
  /** Payments for community names, in order of execution. */
  communityPayments: SeenCommunityPayment[]
  communityOutcomes: CommunityOutcome[]
  /** Data that resembles an event of the registrar but is none, shortened for the log. */
  anomalies: string[]
}

/** A payment that was settled or refunded. */
export interface ClosedEvent {
  kind: 'settle' | 'refund'
  sequence: bigint
  quoteId: Buffer
}

const nothing = (): DecodedTransaction => ({
  ...{ payments: [], closed: [], communityPayments: [], communityOutcomes: [], anomalies: [] },
})

/** Lengths of events and paying instructions with their discriminator; fixed, since no field has a variable length. */
const EVENT_BYTES: Readonly<Record<string, number>> = {
  ...{ RegistrationPaid: 176, PaymentSettled: 48, PaymentRefunded: 88 },
  ...COMMUNITY_EVENT_BYTES,
}
const CLOSED_KIND: Readonly<Record<string, ClosedEvent['kind']>> = {
  PaymentSettled: 'settle',
  PaymentRefunded: 'refund',
}
const PAY_BYTES: Readonly<Record<string, number>> = { register: 136, ...COMMUNITY_PAY_BYTES }
/** Longest paying instruction in base58, checked before decoding because decoding is quadratic. */
const PAY_MAX_CHARS = 199
const ANOMALY_MAX_CHARS = 120
/** Base64 prefixes of the events' discriminators: 7 of 8 bytes, and the bits of the eighth in the next character. */
const EVENT_PREFIXES = (registrarIdl.events ?? []).map(({ discriminator }) =>
  Buffer.from(discriminator).toString('base64').slice(0, 10),
)

/**
 * Decodes what a transaction did at the registrar: its events and, where logs were truncated (nodes keep 10 KB), its
 * own paying instructions, outer and inner. An event counts only while the registrar is the innermost running program:
 * other programs can log the same discriminator. A failed transaction did nothing.
 */
export function decodeTransaction(registrar: Registrar, tx: RawTransaction): DecodedTransaction {
  const { meta } = tx
  if (!meta || meta.err !== null) return nothing()
  const { id } = registrar
  const { isCut, ...facts } = readEvents(id, meta.logMessages)
  if (!isCut) return facts
  const made = readInstructions(id, tx)
  return {
    ...facts,
    payments: fill(facts.payments, made.payments, ({ quoteId }) => Buffer.from(quoteId).toString('hex')),
    communityPayments: fillCommunity(facts.communityPayments, made.communityPayments),
  }
}

// Log lines of the runtime. A program's own output always begins with `Program log: ` or `Program data: `.
const INVOKE = /^Program (\w{32,44}) invoke \[(\d+)\]$/
const END = /^Program (\w{32,44}) (?:success$|failed: )/
const DATA = 'Program data: '
/** Last reliable line: shorter ones may follow after those that were dropped. */
const TRUNCATED = 'Log truncated'

/** @param lines null where the node kept none */
function readEvents(programId: string, lines: readonly string[] | null): DecodedTransaction & { isCut: boolean } {
  const facts = { ...nothing(), isCut: lines === null }
  const running: string[] = []
  for (const line of lines ?? []) {
    if (line === TRUNCATED) {
      facts.isCut = true
      break
    }
    if (line.startsWith(DATA)) {
      const data = line.slice(DATA.length)
      if (running.at(-1) === programId) readEvent(data, facts)
      else if (EVENT_PREFIXES.some((prefix) => data.startsWith(prefix))) facts.anomalies.push(anomaly('foreign', data))
      continue
    }
    const invoked = INVOKE.exec(line)
    if (invoked) {
      // the depth counts from 1; deeper programs have ended
      running.length = Math.min(running.length, Number(invoked[2]) - 1)
      running.push(invoked[1]!)
    } else if (running.length > 0 && END.exec(line)?.[1] === running.at(-1)) running.pop()
  }
  return facts
}

function readEvent(base64: string, facts: DecodedTransaction): void {
  const event = decodeEvent(base64)
  if (!event) {
    facts.anomalies.push(anomaly('malformed', base64))
    return
  }
  const { name, fields } = event
  const outcome = communityOutcome(name, fields)
  const kind = CLOSED_KIND[name]
  if (name === 'RegistrationPaid') facts.payments.push(fields as PaidQuote)
  else if (name === 'CommunityPaid') facts.communityPayments.push(communityPaid(fields))
  else if (outcome) facts.communityOutcomes.push(outcome)
  else if (kind) {
    const { sequence, quoteId } = fields as ClosedEvent
    facts.closed.push({ kind, sequence, quoteId })
  }
}

const anomaly = (why: 'foreign' | 'malformed', data: string): string => `${why}: ${data}`.slice(0, ANOMALY_MAX_CHARS)

const keyBytes = (key: PublicKey): Buffer => Buffer.from(key.toBytes())

/** Decodes an event of exactly its length; null for anything else. */
function decodeEvent(base64: string): { name: string; fields: object } | null {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return null
  try {
    const event = registrarCoder.events.decode(base64)
    if (!event || bytes.length !== EVENT_BYTES[event.name]) return null
    return { name: event.name, fields: fieldsOf(event.data, keyBytes) }
  } catch {
    // shorter than the event of that discriminator
    return null
  }
}

/** Decodes the paying instructions of a transaction, outer and inner, in order of execution. */
function readInstructions(
  programId: string,
  { transaction, meta }: RawTransaction,
): Pick<DecodedTransaction, 'payments' | 'communityPayments'> {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {}
  const { accountKeys, instructions } = transaction.message
  const keys = [...accountKeys, ...writable, ...readonly]
  const innerOf = new Map(meta?.innerInstructions?.map(({ index, instructions: inner }) => [index, inner]))
  const all = instructions.flatMap((outer, i) => [outer, ...(innerOf.get(i) ?? [])])
  const made: ReturnType<typeof readInstructions> = { payments: [], communityPayments: [] }
  for (const { programIdIndex, accounts, data } of all) {
    if (keys[programIdIndex] !== programId || data.length > PAY_MAX_CHARS) continue
    const bytes = Buffer.from(bs58.decode(data))
    const decoded = bytes.length < DISCRIMINATOR_BYTES ? null : decodeInstruction(bytes)
    const payer = keys[accounts[0] ?? -1]
    if (!decoded || payer === undefined || bytes.length !== PAY_BYTES[decoded.name]) continue
    const community = communityInstruction(
      decoded.name,
      decoded.fields,
      accounts.map((index) => keys[index]),
    )
    if (community) made.communityPayments.push(community)
    else if (decoded.name === 'register')
      made.payments.push({
        ...(decoded.fields as Omit<PaidQuote, 'sequence' | 'payer'>),
        ...{ payer: Buffer.from(bs58.decode(payer)), sequence: null },
      })
  }
  return made
}

const DISCRIMINATOR_BYTES = 8

function decodeInstruction(bytes: Buffer): { name: string; fields: object } | null {
  try {
    const decoded = registrarCoder.instruction.decode(bytes)
    return decoded && { name: decoded.name, fields: fieldsOf(decoded.data, keyBytes) }
  } catch {
    // shorter than the instruction of that discriminator
    return null
  }
}

/** Adds community payments whose events were truncated; payments of one transaction share the end of their hold. */
function fillCommunity(
  events: readonly SeenCommunityPayment[],
  instructions: readonly SeenCommunityPayment[],
): SeenCommunityPayment[] {
  const heldUntil = events.at(-1)?.heldUntil ?? null
  const keyOf = ({ community, name, payer }: SeenCommunityPayment) =>
    Buffer.concat([community, name, payer]).toString('hex')
  return fill(events, instructions, keyOf).map((one) => ({ ...one, heldUntil: one.heldUntil ?? heldUntil }))
}

/**
 * Adds payments whose events were truncated. Their sequences are consecutive, because a transaction locks the state
 * account.
 * @param keyOf key of a payment within its transaction
 */
function fill<T extends { sequence: bigint | null }>(
  events: readonly T[],
  instructions: readonly T[],
  keyOf: (payment: T) => string,
): T[] {
  if (instructions.length <= events.length) return [...events]
  const eventOf = new Map(events.map((event) => [keyOf(event), event]))
  const filled = instructions.map((one) => eventOf.get(keyOf(one)) ?? one)
  const known = filled.findIndex(({ sequence }) => sequence !== null)
  const first = filled[known]
  if (!first || first.sequence === null) return filled
  const start = first.sequence - BigInt(known)
  return filled.map((one, i) => ({ ...one, sequence: one.sequence ?? start + BigInt(i) }))
}
