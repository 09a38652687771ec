import bs58 from 'bs58'
import type { Payment } from '../../registry/payment.js'
import { type BigNumber, type Registrar, registrarCoder, registrarIdl, toBigInt } from './registrar.js'

/** A transaction as `getTransaction` answers it (encoding json). */
export interface RawTransaction {
  slot: number
  /** Seconds since the epoch. */
  blockTime: number | null
  transaction: { signatures: string[]; message: { accountKeys: string[]; instructions: RawInstruction[] } }
  /** null while the node has not got to it. */
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

/** A payment that a transaction made; the sequence is null where its logs were cut and nothing else in it tells. */
export type SeenPayment = Omit<Payment, 'sequence'> & { sequence: bigint | null }

/** What a successful transaction did at the registrar. */
export interface TransactionFacts {
  /** In the order of their execution. */
  payments: SeenPayment[]
  /** Payments that were settled or refunded. */
  closed: ClosedEvent[]
  /** What looks like an event of the registrar and is none, cut short for the log. */
  odd: string[]
}

export interface ClosedEvent {
  sequence: bigint
  quoteId: Buffer
}

const NOTHING: TransactionFacts = { payments: [], closed: [], odd: [] }

/** Of events and of `register`, discriminator and all: fixed, since no field has a length of its own. */
const EVENT_BYTES: Readonly<Record<string, number>> = { RegistrationPaid: 176, PaymentSettled: 48, PaymentRefunded: 88 }
const REGISTER_BYTES = 136
/** base58 of REGISTER_BYTES; checked before decoding, which is quadratic. */
const REGISTER_MAX_CHARS = 187
const ODD_MAX_CHARS = 120
/** What base64 of each event's discriminator begins with: 7 of the 8 bytes, and what the eighth leaves of the next character. */
const EVENT_PREFIXES = (registrarIdl.events ?? []).map(({ discriminator }) =>
  Buffer.from(discriminator).toString('base64').slice(0, 10),
)

/**
 * Reads what a transaction did at the registrar: its events, and where logs were cut (a node keeps 10 KB of them) its own
 * `register` instructions, outer and inner. An event is the registrar's when the innermost program that runs is the registrar: its
 * discriminator in another program's log says nothing. A transaction that failed did nothing.
 */
export function readFacts(registrar: Registrar, tx: RawTransaction): TransactionFacts {
  const { meta } = tx
  if (!meta || meta.err !== null) return NOTHING
  const { id } = registrar
  const { isCut, ...facts } = readEvents(id, meta.logMessages)
  return isCut ? { ...facts, payments: fill(facts.payments, readInstructions(id, tx)) } : facts
}

// As the runtime writes them. What a program logs itself always begins with `Program log: ` or `Program data: `.
const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d+)\]$/
const END = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) (?:success$|failed: )/
const DATA = 'Program data: '
/** The last line that can be relied on: later, shorter ones may follow those that were left out. */
const TRUNCATED = 'Log truncated'

/** @param lines null where the node has kept none */
function readEvents(programId: string, lines: readonly string[] | null): TransactionFacts & { isCut: boolean } {
  const facts = { payments: [], closed: [], odd: [], isCut: lines === null } as TransactionFacts & { isCut: boolean }
  const running: string[] = []
  for (const line of lines ?? []) {
    if (line === TRUNCATED) {
      facts.isCut = true
      break
    }
    if (line.startsWith(DATA)) {
      const data = line.slice(DATA.length)
      if (running.at(-1) === programId) readEvent(data, facts)
      else if (EVENT_PREFIXES.some((prefix) => data.startsWith(prefix))) facts.odd.push(oddText('foreign', data))
      continue
    }
    const invoked = INVOKE.exec(line)
    if (invoked) {
      // the depth counts from 1: what ran deeper has ended
      running.length = Math.min(running.length, Number(invoked[2]) - 1)
      running.push(invoked[1]!)
    } else if (running.length > 0 && END.exec(line)?.[1] === running.at(-1)) running.pop()
  }
  return facts
}

interface RawArguments {
  quote_id: readonly number[]
  name: readonly number[]
  amount_wei: BigNumber
  lamports: BigNumber
  expires_at: BigNumber
  referral: readonly number[]
}

interface RawPaid extends RawArguments {
  sequence: BigNumber
  payer: { toBytes(): Uint8Array }
}

function readEvent(base64: string, facts: TransactionFacts): void {
  const event = decodeEvent(base64)
  if (!event) facts.odd.push(oddText('malformed', base64))
  else if (event.name === 'RegistrationPaid') {
    const raw = event.data as RawPaid
    facts.payments.push({ ...termsOf(raw, raw.payer.toBytes()), sequence: toBigInt(raw.sequence) })
  } else {
    const raw = event.data as Pick<RawPaid, 'sequence' | 'quote_id'>
    facts.closed.push({ sequence: toBigInt(raw.sequence), quoteId: Buffer.from(raw.quote_id) })
  }
}

const oddText = (why: 'foreign' | 'malformed', data: string): string => `${why}: ${data}`.slice(0, ODD_MAX_CHARS)

/** An event of exactly its length, null for anything else. */
function decodeEvent(base64: string): { name: string; data: unknown } | null {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return null
  try {
    const event = registrarCoder.events.decode(base64)
    return event && bytes.length === EVENT_BYTES[event.name] ? event : null
  } catch {
    // shorter than the event that its first bytes name
    return null
  }
}

const termsOf = (raw: RawArguments, payer: Uint8Array): Omit<Payment, 'sequence'> => ({
  payer: Buffer.from(payer),
  quoteId: Buffer.from(raw.quote_id),
  name: Buffer.from(raw.name),
  amountWei: toBigInt(raw.amount_wei),
  lamports: toBigInt(raw.lamports),
  expiresAt: toBigInt(raw.expires_at),
  referral: Buffer.from(raw.referral),
})

/** The `register` instructions of a transaction, outer and inner, in the order of their execution. */
function readInstructions(programId: string, { transaction, meta }: RawTransaction): SeenPayment[] {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {}
  const { accountKeys, instructions } = transaction.message
  const keys = [...accountKeys, ...writable, ...readonly]
  const innerOf = new Map(meta?.innerInstructions?.map(({ index, instructions: inner }) => [index, inner]))
  const all = instructions.flatMap((outer, i) => [outer, ...(innerOf.get(i) ?? [])])
  return all.flatMap(({ programIdIndex, accounts, data }): SeenPayment[] => {
    if (keys[programIdIndex] !== programId || data.length > REGISTER_MAX_CHARS) return []
    const bytes = Buffer.from(bs58.decode(data))
    const payer = keys[accounts[0] ?? -1]
    if (bytes.length !== REGISTER_BYTES || payer === undefined) return []
    const decoded = registrarCoder.instruction.decode(bytes)
    if (decoded?.name !== 'register') return []
    return [{ ...termsOf(decoded.data as RawArguments, bs58.decode(payer)), sequence: null }]
  })
}

/**
 * Adds the payments whose events were cut. Nobody else's payment comes between two of a transaction, which holds the state
 * account: their sequences follow on each other.
 */
function fill(events: readonly SeenPayment[], instructions: readonly SeenPayment[]): SeenPayment[] {
  if (instructions.length <= events.length) return [...events]
  const eventOf = new Map(events.map((event) => [Buffer.from(event.quoteId).toString('hex'), event]))
  const filled = instructions.map((one) => eventOf.get(Buffer.from(one.quoteId).toString('hex')) ?? one)
  const known = filled.findIndex(({ sequence }) => sequence !== null)
  const first = filled[known]
  if (!first || first.sequence === null) return filled
  const start = first.sequence - BigInt(known)
  return filled.map((one, i) => ({ ...one, sequence: one.sequence ?? start + BigInt(i) }))
}
