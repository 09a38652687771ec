import { readFileSync } from 'node:fs'
import anchor, { BorshCoder, type Idl } from '@coral-xyz/anchor'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { PaymentTerms } from '../../registry/payment/quote.js'

/** The registrar's interface (Anchor's IDL), kept beside its source. Its address is a placeholder: each deployment has its own. */
export const registrarIdl: Idl = JSON.parse(
  readFileSync(new URL('../../../contracts/solana/registrar/idl.json', import.meta.url), 'utf8'),
)
export const registrarCoder = new BorshCoder(registrarIdl)

/** The program's one state account. */
export interface RegistrarState {
  relayAuthority: PublicKey
  treasuryAuthority: PublicKey
  /** Payments so far: the first has number 1. */
  sequence: bigint
  /** Settled and not withdrawn. */
  keptLamports: bigint
  /** Of payments that are neither settled nor refunded. */
  heldLamports: bigint
  /** Payments for names of communities so far: the first has number 1. */
  communitySequence: bigint
  /** How long such a payment is held. */
  holdSeconds: bigint
}

/** The account of a payment that is neither settled nor refunded. */
export interface PaymentAccount {
  payer: PublicKey
  quoteId: Buffer
  lamports: bigint
  sequence: bigint
}

/** A payment to close, and where its account's rent goes. */
export interface ClosedPayment {
  quoteId: Uint8Array
  payer: PublicKey
}

/** A deployment of the registrar: its addresses, its instructions, its accounts. */
export interface Registrar {
  readonly programId: PublicKey
  /** The same in base58. */
  readonly id: string
  readonly state: PublicKey
  readonly treasury: PublicKey
  /** The account of a payment, by its quote's id. */
  payment(quoteId: Uint8Array): PublicKey
  /** Pays what a quote asks for. The payer signs. */
  register(terms: PaymentTerms, quoteId: Uint8Array): TransactionInstruction
  /** Turns payments into kept money. The relay authority signs. */
  settle(relayAuthority: PublicKey, payments: readonly ClosedPayment[]): TransactionInstruction
  /** Pays a payment back to its payer. The relay authority signs. */
  refund(relayAuthority: PublicKey, payment: ClosedPayment): TransactionInstruction
  /** The state in an account's data. @throws RangeError for other data */
  decodeState(data: Buffer): RegistrarState
  /** The payment in an account's data. @throws RangeError for other data */
  decodePayment(data: Buffer): PaymentAccount
}

/** Of anchor's big numbers, as far as they are used here. */
export interface BigNumber {
  toString(): string
}

interface RawState {
  relay_authority: PublicKey
  treasury_authority: PublicKey
  sequence: BigNumber
  kept_lamports: BigNumber
  held_lamports: BigNumber
  community_sequence: BigNumber
  hold_seconds: BigNumber
}

interface RawPayment {
  payer: PublicKey
  quote_id: readonly number[]
  lamports: BigNumber
  sequence: BigNumber
}

/** The registrar that is deployed under a program id (base58). */
export function createRegistrar(programIdText: string): Registrar {
  const programId = new PublicKey(programIdText)
  const address = (...seeds: Uint8Array[]) => PublicKey.findProgramAddressSync(seeds, programId)[0]
  const state = address(Buffer.from('state'))
  const treasury = address(Buffer.from('treasury'))
  const payment = (quoteId: Uint8Array) => address(Buffer.from('payment'), quoteId)
  const instruction = (name: string, args: object, keys: Meta[]) =>
    new TransactionInstruction({ programId, keys, data: registrarCoder.instruction.encode(name, args) })

  return {
    programId,
    id: programIdText,
    state,
    treasury,
    payment,
    register({ payer, name, referral, ...terms }, quoteId) {
      const args = {
        quote_id: [...quoteId],
        name: [...name],
        amount_wei: big(terms.amountWei),
        lamports: big(terms.lamports),
        expires_at: big(terms.expiresAt),
        referral: [...referral],
      }
      const keys = [signs(new PublicKey(payer)), writes(state), writes(treasury), writes(payment(quoteId)), SYSTEM]
      return instruction('register', args, keys)
    },
    settle: (relayAuthority, payments) =>
      instruction('settle', {}, [
        authority(relayAuthority),
        writes(state),
        ...payments.flatMap(({ quoteId, payer }) => [writes(payment(quoteId)), writes(payer)]),
      ]),
    refund: (relayAuthority, { quoteId, payer }) =>
      instruction('refund', {}, [authority(relayAuthority), ...[state, treasury, payment(quoteId), payer].map(writes)]),
    decodeState(data) {
      const raw = decode<RawState>('State', data)
      return {
        relayAuthority: raw.relay_authority,
        treasuryAuthority: raw.treasury_authority,
        sequence: toBigInt(raw.sequence),
        keptLamports: toBigInt(raw.kept_lamports),
        heldLamports: toBigInt(raw.held_lamports),
        communitySequence: toBigInt(raw.community_sequence),
        holdSeconds: toBigInt(raw.hold_seconds),
      }
    },
    decodePayment(data) {
      const raw = decode<RawPayment>('Payment', data)
      const { payer, quote_id: quoteId } = raw
      return {
        payer,
        quoteId: Buffer.from(quoteId),
        lamports: toBigInt(raw.lamports),
        sequence: toBigInt(raw.sequence),
      }
    },
  }
}

/** An account's fields as the program's interface names them. @throws RangeError for other data */
export function decode<T>(name: string, data: Buffer): T {
  try {
    return registrarCoder.accounts.decode<T>(name, data)
  } catch (error) {
    throw new RangeError(`decoding an account of the registrar as ${name}: it holds something else`, { cause: error })
  }
}

export interface Meta {
  pubkey: PublicKey
  isSigner: boolean
  isWritable: boolean
}

export const signs = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: true, isWritable: true })
export const authority = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: true, isWritable: false })
export const writes = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: true })
export const reads = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: false })
export const SYSTEM: Meta = reads(SystemProgram.programId)

export const big = (value: bigint) => new anchor.BN(value.toString())
export const toBigInt = (value: BigNumber): bigint => BigInt(value.toString())
