import { readFileSync } from 'node:fs'
import anchor, { BorshCoder, type Idl } from '@coral-xyz/anchor'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { PaymentTerms } from '../../registry/payment/quote.js'

/**
 * Interface of the registrar (Anchor IDL), kept beside its source. Its address is a placeholder: each deployment has
 * its own.
 */
export const registrarIdl: Idl = JSON.parse(
  readFileSync(new URL('../../../contracts/solana/registrar/idl.json', import.meta.url), 'utf8'),
)
export const registrarCoder = new BorshCoder(registrarIdl)

/** The program's single state account. */
interface RegistrarState {
  relayAuthority: PublicKey
  treasuryAuthority: PublicKey
  /** Number of payments; the first has sequence 1. */
  sequence: bigint
  /** Lamports settled and not withdrawn. */
  keptLamports: bigint
  /** Lamports of payments that are neither settled nor refunded. */
  heldLamports: bigint
  /** Number of payments for community names; the first has sequence 1. */
  communitySequence: bigint
  /** Hold of a payment for a community name, seconds. */
  holdSeconds: bigint
}

/** Account of a payment that is neither settled nor refunded. */
export interface PaymentAccount {
  payer: PublicKey
  quoteId: Buffer
  lamports: bigint
  sequence: bigint
}

/** A payment to close, and the receiver of its account's rent. */
interface ClosedPayment {
  quoteId: Uint8Array
  payer: PublicKey
}

/** Addresses, instructions and accounts of a deployed registrar. */
export type Registrar = ReturnType<typeof createRegistrar>

/** Creates the interface to the registrar deployed at a program id (base58). */
export function createRegistrar(programIdText: string) {
  const programId = new PublicKey(programIdText)
  const address = (...seeds: Uint8Array[]) => PublicKey.findProgramAddressSync(seeds, programId)[0]
  const state = address(Buffer.from('state'))
  const treasury = address(Buffer.from('treasury'))
  /** Account of a payment, by its quote's id. */
  const payment = (quoteId: Uint8Array) => address(Buffer.from('payment'), quoteId)
  const instruction = (name: string, args: object, keys: Meta[]) =>
    new TransactionInstruction({ programId, keys, data: registrarCoder.instruction.encode(name, args) })

  return {
    programId,
    /** The program id in base58. */
    id: programIdText,
    state,
    treasury,
    payment,
    /** Pays a quote. Signed by the payer. */
    register({ payer, name, referral, ...terms }: PaymentTerms, quoteId: Uint8Array): TransactionInstruction {
      const args = {
        ...{ quote_id: [...quoteId], name: [...name], referral: [...referral] },
        ...{ amount_wei: big(terms.amountWei), lamports: big(terms.lamports), expires_at: big(terms.expiresAt) },
      }
      const keys = [signs(new PublicKey(payer)), writes(state), writes(treasury), writes(payment(quoteId)), SYSTEM]
      return instruction('register', args, keys)
    },
    /** Settles payments into kept money. Signed by the relay authority. */
    settle(relayAuthority: PublicKey, payments: readonly ClosedPayment[]): TransactionInstruction {
      const closed = payments.flatMap(({ quoteId, payer }) => [writes(payment(quoteId)), writes(payer)])
      return instruction('settle', {}, [authority(relayAuthority), writes(state), ...closed])
    },
    /** Refunds a payment to its payer. Signed by the relay authority. */
    refund(relayAuthority: PublicKey, { quoteId, payer }: ClosedPayment): TransactionInstruction {
      const accounts = [state, treasury, payment(quoteId), payer]
      return instruction('refund', {}, [authority(relayAuthority), ...accounts.map(writes)])
    },
    /** Decodes the state account. @throws RangeError for other data */
    decodeState: (data: Buffer) => decode<RegistrarState>('State', data),
    /** Decodes a payment account. @throws RangeError for other data */
    decodePayment(data: Buffer): PaymentAccount {
      const { payer, quoteId, lamports, sequence } = decode<PaymentAccount>('Payment', data)
      return { payer, quoteId, lamports, sequence }
    },
  }
}

/** Decodes an account by its name in the IDL, without its bumps. @throws RangeError for other data */
export function decode<T>(name: string, data: Buffer): T {
  try {
    const { bump, treasuryBump, reserved, ...fields } = fieldsOf(registrarCoder.accounts.decode<object>(name, data))
    return fields as T
  } catch (error) {
    throw new RangeError(`decoding an account of the registrar as ${name}: it holds something else`, { cause: error })
  }
}

/** Fields that anchor decoded, in this project's names and types: camelCase, bigint, Buffer. */
export const fieldsOf = (raw: object, keyAs: (key: PublicKey) => unknown = (key) => key): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      if (Array.isArray(value)) return [field, Buffer.from(value)]
      if (anchor.BN.isBN(value)) return [field, BigInt(value.toString())]
      return [field, value instanceof PublicKey ? keyAs(value) : value]
    }),
  )

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
