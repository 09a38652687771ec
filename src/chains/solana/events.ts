import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { PaidQuote } from '../../registry/payment/quote.js'
import { transient } from '../rpc/errors.js'
import { fieldsOf, type Registrar, registrarCoder } from './registrar.js'

/** A transaction as returned by `getTransaction` (encoding json). */
export interface RawTransaction {
  slot: number
  transaction: { signatures: string[]; message: { accountKeys: string[] } }
  meta: {
    err: unknown
    /** null where the node records none */
    innerInstructions: { instructions: RawInstruction[] }[] | null
    /** The addresses after `accountKeys` of a versioned transaction. */
    loadedAddresses?: { writable: string[]; readonly: string[] } | null
  } | null
}

interface RawInstruction {
  programIdIndex: number
  /** base58 */
  data: string
}

/** A payment for a name on the hub. */
export interface SeenPayment extends PaidQuote {
  /** Unix seconds: the payer's to take back from then on. */
  reclaimableAt: bigint
}

/** End of a payment for a name on the hub. */
interface Closing {
  kind: 'settled' | 'refunded' | 'reclaimed'
  sequence: bigint
}

/** A payment for a community name. Buffers have 32 bytes. */
export interface SeenCommunityPayment {
  sequence: bigint
  payer: Buffer
  /** The payer's own number. */
  number: bigint
  /** The mint; null for SOL. */
  token: Buffer | null
  /** Base units. */
  amount: bigint
  recipient: Buffer
  community: Buffer
  name: Buffer
  referral: Buffer
  /** Unix seconds: the payer's to take back from then on. */
  reclaimableAt: bigint
}

/** Outcome of a payment for a community name. */
interface CommunityOutcome {
  /** `collected`: an earlier refusal or release is paid. */
  kind: 'refused' | 'released' | 'reclaimed' | 'collected'
  sequence: bigint
  /** False where the money waits for who is to be paid. */
  isPaid: boolean
}

/** Events of a successful transaction at the registrar, in order. */
export interface DecodedTransaction {
  /** Tells whether the transaction, which may have failed, names the program. */
  isOurs: boolean
  payments: SeenPayment[]
  closed: Closing[]
  communityPayments: SeenCommunityPayment[]
  communityOutcomes: CommunityOutcome[]
  /** Data of events that this version doesn't know, shortened for the log. */
  unknown: string[]
}

export const noEvents = (isOurs = false): DecodedTransaction => ({
  ...{ isOurs, payments: [], closed: [], communityPayments: [], communityOutcomes: [], unknown: [] },
})

/** Discriminator of an instruction that carries an event (Anchor's `emit_cpi!`). */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
/** Longest event in base58, checked before decoding because decoding is quadratic. */
const EVENT_MAX_CHARS = 360
const UNKNOWN_MAX_CHARS = 120

/**
 * Decodes the registrar's events. Each is the data of a call of itself, which nodes never cut, unlike logs; the program
 * takes them from itself alone.
 * @throws RpcError transient where the node records no inner instructions
 */
export function decodeTransaction(
  { id }: Pick<Registrar, 'id'>,
  { transaction, meta }: RawTransaction,
): DecodedTransaction {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {}
  const keys = [...transaction.message.accountKeys, ...writable, ...readonly]
  const facts = noEvents(keys.includes(id))
  if (meta === null || meta.err !== null) return facts
  if (meta.innerInstructions === null) throw transient('getTransaction: the node records no inner instructions')
  for (const { programIdIndex, data } of meta.innerInstructions.flatMap(({ instructions }) => instructions)) {
    if (keys[programIdIndex] !== id || data.length > EVENT_MAX_CHARS) continue
    const bytes = Buffer.from(bs58.decodeUnsafe(data) ?? [])
    if (bytes.subarray(0, EVENT_TAG.length).equals(EVENT_TAG)) addEvent(bytes.subarray(EVENT_TAG.length), facts)
  }
  return facts
}

/** Reads an event's name and fields, keys as 32 bytes; null for what is no event, or too short for one. */
function readEvent(data: Buffer): { name: string; fields: Record<string, unknown> } | null {
  try {
    const event = registrarCoder.events.decode(data.toString('base64'))
    if (!event) return null
    const fields = Object.entries(fieldsOf(event.data)).map(([name, value]) => {
      return [name, value instanceof PublicKey ? value.toBuffer() : value]
    })
    return { name: event.name, fields: Object.fromEntries(fields) }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const CLOSINGS: Readonly<Record<string, Closing['kind']>> = {
  ...{ PaymentSettled: 'settled', PaymentRefunded: 'refunded', PaymentReclaimed: 'reclaimed' },
}
const OUTCOMES: Readonly<Record<string, CommunityOutcome['kind']>> = {
  ...{ CommunityRefused: 'refused', CommunityReleased: 'released' },
  ...{ CommunityReclaimed: 'reclaimed', CommunityCollected: 'collected' },
}

function addEvent(data: Buffer, facts: DecodedTransaction): void {
  const { name = '', fields } = readEvent(data) ?? {}
  const { sequence, paid, token } = (fields ?? {}) as { sequence: bigint; paid?: bigint; token?: Buffer }
  const [closing, outcome] = [CLOSINGS[name], OUTCOMES[name]]
  if (name === 'RegistrationPaid') facts.payments.push(fields as object as SeenPayment)
  else if (name === 'CommunityPaid')
    facts.communityPayments.push({
      ...(fields as object as SeenCommunityPayment),
      token: token?.some((byte) => byte !== 0) ? token : null,
    })
  else if (closing) facts.closed.push({ kind: closing, sequence })
  else if (outcome) facts.communityOutcomes.push({ kind: outcome, sequence, isPaid: paid === undefined || paid > 0n })
  else facts.unknown.push(data.toString('base64').slice(0, UNKNOWN_MAX_CHARS))
}
