import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Payment, PaymentOutcome } from '../../registry/payment/payment.js'
import type { QuotedPaymentEvent } from '../../registry/payment/quote.js'
import { transientError } from '../rpc/errors.js'
import { normalizeAnchorFields, type RegistrarClient, registrarCoder } from './registrar.js'

/** A transaction as returned by `getTransaction` (encoding json). */
export interface RawTransaction {
  slot: number
  transaction: { signatures: string[]; message: { accountKeys: string[] } }
  meta: {
    err: unknown
    /** Null where the node does not record inner instructions. */
    innerInstructions: { instructions: RawInstruction[] }[] | null
    /** Addresses that a versioned transaction loads, which follow `accountKeys`. */
    loadedAddresses?: { writable: string[]; readonly: string[] } | null
  } | null
}

interface RawInstruction {
  programIdIndex: number
  /** The instruction's data in base58. */
  data: string
}

/** A payment for a name on the hub, as the program's event reports it. */
export interface HubNamePayment extends QuotedPaymentEvent {
  /** Unix seconds. From then on the payer may take the payment back. */
  reclaimableAt: bigint
}

/** Event that ends a payment, which is identified by its number among payments of its kind. */
interface PaymentOutcomeEvent {
  of: Payment['target']['kind']
  outcome: PaymentOutcome
  sequence: bigint
}

/** A payment for a community name, as the program's event reports it. Buffers have 32 bytes. */
export interface CommunityPaymentEvent {
  sequence: bigint
  payer: Buffer
  /** Number that the payer chose. */
  number: bigint
  /** Mint of the token; null for SOL. */
  token: Buffer | null
  /** Base units. */
  amount: bigint
  recipient: Buffer
  community: Buffer
  name: Buffer
  referral: Buffer
  /** Unix seconds. From then on the payer may take the payment back. */
  reclaimableAt: bigint
}

/** Events that the registrar program emitted in a transaction, in order. A failed transaction has none. */
export interface DecodedTransaction {
  /** True if the program is among the transaction's accounts, even if the transaction failed. */
  isOurs: boolean
  payments: HubNamePayment[]
  communityPayments: CommunityPaymentEvent[]
  ends: PaymentOutcomeEvent[]
  /** Data of events that this version does not know, shortened for the log. */
  unknown: string[]
}

export const transactionWithoutEvents = (isOurs = false): DecodedTransaction => ({
  isOurs,
  payments: [],
  communityPayments: [],
  ends: [],
  unknown: [],
})

/** Discriminator of an instruction that carries an event (Anchor's `emit_cpi!`). */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
/** Maximum length of an event in base58, checked before decoding because the time of decoding grows quadratically. */
const EVENT_MAX_CHARS = 360
const UNKNOWN_EVENT_MAX_CHARS = 120

/**
 * Decodes the registrar's events. Each event is the data of an inner call of the program to itself. Nodes never
 * truncate such data, unlike logs, and only the program can make the call.
 * @throws RpcError transient where the node does not record inner instructions
 */
export function decodeTransaction(
  { id }: Pick<RegistrarClient, 'id'>,
  { transaction, meta }: RawTransaction,
): DecodedTransaction {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {}
  const keys = [...transaction.message.accountKeys, ...writable, ...readonly]
  const facts = transactionWithoutEvents(keys.includes(id))
  if (meta === null || meta.err !== null) return facts
  if (meta.innerInstructions === null)
    throw transientError('getTransaction: the node records no inner instructions')
  for (const { programIdIndex, data } of meta.innerInstructions.flatMap(
    ({ instructions }) => instructions,
  )) {
    if (keys[programIdIndex] !== id || data.length > EVENT_MAX_CHARS) continue
    const bytes = Buffer.from(bs58.decodeUnsafe(data) ?? [])
    if (bytes.subarray(0, EVENT_TAG.length).equals(EVENT_TAG))
      addEvent(bytes.subarray(EVENT_TAG.length), facts)
  }
  return facts
}

/**
 * Name and fields of an event, with public keys as buffers of 32 bytes. Null for data that is not an event of the IDL,
 * or is too short.
 */
function readEvent(data: Buffer): { name: string; fields: Record<string, unknown> } | null {
  try {
    const event = registrarCoder.events.decode(data.toString('base64'))
    if (!event) return null
    const fields = Object.entries(normalizeAnchorFields(event.data)).map(([name, value]) => {
      return [name, value instanceof PublicKey ? value.toBuffer() : value]
    })
    return { name: event.name, fields: Object.fromEntries(fields) }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const OUTCOME_BY_EVENT_NAME: Readonly<Record<string, Omit<PaymentOutcomeEvent, 'sequence'>>> = {
  PaymentSettled: { of: 'name', outcome: 'released' },
  PaymentRefunded: { of: 'name', outcome: 'refused' },
  PaymentReclaimed: { of: 'name', outcome: 'reclaimed' },
  CommunityRefused: { of: 'communityName', outcome: 'refused' },
  CommunityReleased: { of: 'communityName', outcome: 'released' },
  CommunityReclaimed: { of: 'communityName', outcome: 'reclaimed' },
}
/**
 * Name of the event that reports the withdrawal of a refused or released payment for a community name. Ignored, since the
 * payment's outcome does not change.
 */
const COLLECTED_EVENT = 'CommunityCollected'

function addEvent(data: Buffer, facts: DecodedTransaction): void {
  const { name = '', fields } = readEvent(data) ?? {}
  const { sequence, token } = (fields ?? {}) as { sequence: bigint; token?: Buffer }
  const end = OUTCOME_BY_EVENT_NAME[name]
  if (name === 'RegistrationPaid') facts.payments.push(fields as object as HubNamePayment)
  else if (name === 'CommunityPaid')
    facts.communityPayments.push({
      ...(fields as object as CommunityPaymentEvent),
      token: token?.some((byte) => byte !== 0) ? token : null,
    })
  else if (end) facts.ends.push({ ...end, sequence })
  else if (name !== COLLECTED_EVENT)
    facts.unknown.push(data.toString('base64').slice(0, UNKNOWN_EVENT_MAX_CHARS))
}
