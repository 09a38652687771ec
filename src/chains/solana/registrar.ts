import { readFileSync } from 'node:fs'
import anchor, { BorshCoder, type Idl } from '@coral-xyz/anchor'
import { type AccountMeta, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { PaymentTerms } from '../../registry/payment/quote.js'

/** Interface of the registrar (Anchor IDL), kept beside its source. Each deployment has its own address. */
export const registrarIdl: Idl = JSON.parse(
  readFileSync(new URL('../../../contracts/solana/registrar/idl.json', import.meta.url), 'utf8'),
)
export const registrarCoder = new BorshCoder(registrarIdl)

/** The program's single state account. */
export interface RegistrarState {
  adminAuthority: PublicKey
  /** Account that may become the admin authority; null for nobody. */
  proposedAdmin: PublicKey | null
  relayAuthority: PublicKey
  treasuryAuthority: PublicKey
  /** Number of payments; the first has sequence 1. */
  sequence: bigint
  /** Lamports settled and not withdrawn. */
  keptLamports: bigint
  /** Lamports of payments that are not decided. */
  heldLamports: bigint
  /** Number of payments for community names; the first has sequence 1. */
  communitySequence: bigint
  /** Time after which a payer may take an undecided payment back. */
  reclaimSeconds: bigint
}

/** A payment that is not decided: its account, and its number among all payments. */
export interface PaymentKey {
  payer: PublicKey
  quoteId: Uint8Array
  sequence: bigint
}

/** Account of a payment that is not decided. */
export interface PaymentAccount extends PaymentKey {
  lamports: bigint
  /** Unix seconds: the payer's to take back from then on. */
  reclaimableAt: bigint
}

export type Registrar = ReturnType<typeof createRegistrar>

/** @param programIdText base58 */
export function createRegistrar(programIdText: string) {
  const programId = new PublicKey(programIdText)
  const address = (seed: string, ...seeds: Uint8Array[]) =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...seeds], programId)[0]
  const state = address('state')
  const treasury = address('treasury')
  /** Account of a payment. */
  const payment = ({ payer, quoteId }: Pick<PaymentKey, 'payer' | 'quoteId'>) =>
    address('payment', payer.toBytes(), quoteId)
  /** Accounts of every instruction that logs events. */
  const log = [reads(address('__event_authority')), reads(programId)]
  const instruction = (name: string, args: object, keys: AccountMeta[]) =>
    new TransactionInstruction({
      programId,
      keys,
      data: registrarCoder.instruction.encode(name, args),
    })
  const decide = (name: 'settle' | 'refund', own: AccountMeta[], payments: readonly PaymentKey[]) =>
    instruction(name, { sequences: payments.map(({ sequence }) => big(sequence)) }, [
      ...own,
      ...log,
      ...payments.flatMap((one) => [writes(payment(one)), writes(one.payer)]),
    ])

  return {
    programId,
    id: programIdText,
    state,
    treasury,
    payment,
    address,
    log,
    instruction,
    /** Pays a quote. Signed by the payer. */
    register({ payer: by, ...terms }: PaymentTerms, quoteId: Uint8Array): TransactionInstruction {
      const payer = new PublicKey(by)
      const accounts = [state, treasury, payment({ payer, quoteId })]
      const args = {
        quote_id: [...quoteId],
        name: [...terms.name],
        referral: [...terms.referral],
        amount_wei: big(terms.amountWei),
        lamports: big(terms.lamports),
        expires_at: big(terms.expiresAt),
      }
      return instruction('register', args, [signs(payer), ...accounts.map(writes), SYSTEM, ...log])
    },
    /** Settles payments into kept money. Signed by the relay authority. */
    settle: (relayAuthority: PublicKey, payments: readonly PaymentKey[]): TransactionInstruction =>
      decide('settle', [authority(relayAuthority), writes(state)], payments),
    /** Refunds payments to their payers. Signed by the relay authority. */
    refund: (relayAuthority: PublicKey, payments: readonly PaymentKey[]): TransactionInstruction =>
      decide('refund', [authority(relayAuthority), writes(state), writes(treasury)], payments),
    /** Takes back a payment that nobody has decided in time. Signed by its payer. */
    reclaim(key: PaymentKey): TransactionInstruction {
      const accounts = [state, treasury, payment(key)]
      const keys = [signs(key.payer), ...accounts.map(writes), ...log]
      return instruction('reclaim_payment', { sequence: big(key.sequence) }, keys)
    },
    /** @throws RangeError for other data */
    decodeState(data: Buffer): RegistrarState {
      const { proposedAdmin, ...fields } = decode<RegistrarState & { proposedAdmin: PublicKey }>(
        'State',
        data,
      )
      return {
        ...fields,
        proposedAdmin: proposedAdmin.equals(PublicKey.default) ? null : proposedAdmin,
      }
    },
    /** @throws RangeError for other data */
    decodePayment: (data: Buffer) => decode<PaymentAccount>('Payment', data),
  }
}

/** Without the account's bumps. @throws RangeError for other data */
export function decode<T>(name: string, data: Buffer): T {
  try {
    const { bump, treasuryBump, eventBump, reserved, ...fields } = fieldsOf(
      registrarCoder.accounts.decode<object>(name, data),
    )
    return fields as T
  } catch (error) {
    throw new RangeError(
      `decoding an account of the registrar as ${name}: it holds something else`,
      { cause: error },
    )
  }
}

/** In this project's names and types: camelCase, bigint, Buffer. */
export const fieldsOf = (raw: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const given = Array.isArray(value) ? Buffer.from(value) : value
      const camelCase = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [camelCase, anchor.BN.isBN(given) ? BigInt(given.toString()) : given]
    }),
  )

export const signs = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: true,
  isWritable: true,
})
export const authority = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: true,
  isWritable: false,
})
export const writes = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: false,
  isWritable: true,
})
export const reads = (pubkey: PublicKey): AccountMeta => ({
  pubkey,
  isSigner: false,
  isWritable: false,
})
export const SYSTEM: AccountMeta = reads(SystemProgram.programId)

export const big = (value: bigint) => new anchor.BN(value.toString())
