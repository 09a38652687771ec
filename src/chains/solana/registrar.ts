import { readFileSync } from 'node:fs'
import anchor, { BorshCoder, type Idl } from '@coral-xyz/anchor'
import { type AccountMeta, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { PaymentTerms } from '../../registry/payment/quote.js'

/** Interface of the registrar (Anchor IDL), kept beside the program's source. Each deployment has its own address. */
export const registrarIdl: Idl = JSON.parse(
  readFileSync(new URL('../../../contracts/solana/registrar/idl.json', import.meta.url), 'utf8'),
)
export const registrarCoder = new BorshCoder(registrarIdl)

/** The program's single state account. */
export interface RegistrarState {
  adminAuthority: PublicKey
  /** Account that may accept to become the admin authority. Null where no account is proposed. */
  proposedAdmin: PublicKey | null
  relayAuthority: PublicKey
  treasuryAuthority: PublicKey
  /** Number of payments for names on the hub; the first payment has sequence 1. */
  sequence: bigint
  /** Lamports of settled payments that the treasury authority has not withdrawn. */
  keptLamports: bigint
  /** Lamports of payments that are not settled, refunded or reclaimed. */
  heldLamports: bigint
  /** Number of payments for community names; the first payment has sequence 1. */
  communitySequence: bigint
  /** Time after which a payer may take an undecided payment back, seconds. */
  reclaimSeconds: bigint
}

/** Identifies an undecided payment for a name on the hub: fields that give its account's address, and its number. */
export interface UndecidedPaymentKey {
  payer: PublicKey
  quoteId: Uint8Array
  sequence: bigint
}

/** Decoded account of an undecided payment for a name on the hub. */
export interface PaymentAccount extends UndecidedPaymentKey {
  lamports: bigint
  /** Unix seconds. From then on the payer may take the payment back. */
  reclaimableAt: bigint
}

/** Addresses of an instruction's accounts, by their names in the IDL. */
type AccountAddresses = Readonly<Record<string, PublicKey>>

/**
 * An account of an instruction, as the IDL declares it. `address` is set where all deployments use the same account.
 */
interface DeclaredAccount {
  name: string
  address?: string
  signer?: boolean
  writable?: boolean
}

export type RegistrarClient = ReturnType<typeof createRegistrarClient>

/**
 * Creates the instructions, addresses and decoders of a registrar program.
 * @param programIdText the program's id in base58
 */
export function createRegistrarClient(programIdText: string) {
  const programId = new PublicKey(programIdText)
  const address = (seed: string, ...seeds: Uint8Array[]) =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...seeds], programId)[0]
  const state = address('state')
  const treasury = address('treasury')
  /** Account that signs the program's calls to itself, which carry events. */
  const eventAuthority = address('__event_authority')
  /** Address of the account of a payment for a name on the hub. */
  const payment = ({ payer, quoteId }: Pick<UndecidedPaymentKey, 'payer' | 'quoteId'>) =>
    address('payment', payer.toBytes(), quoteId)
  /** Accounts of this deployment, by their names in the IDL. */
  const deploymentAccounts: AccountAddresses = {
    state,
    treasury,
    event_authority: eventAuthority,
    program: programId,
  }
  /**
   * Creates an instruction of the program, with its accounts in the IDL's order.
   * @param given the other accounts: not of the deployment, and without an address in the IDL
   * @param rest accounts that follow the accounts of the IDL
   */
  const instruction = (
    name: string,
    args: object,
    given: AccountAddresses,
    rest: readonly AccountMeta[] = [],
  ): TransactionInstruction => {
    const declared = registrarIdl.instructions.find((one) => one.name === name)!
    const keys = (declared.accounts as DeclaredAccount[]).map((account) => ({
      pubkey:
        given[account.name] ?? deploymentAccounts[account.name] ?? new PublicKey(account.address!),
      isSigner: account.signer ?? false,
      isWritable: account.writable ?? false,
    }))
    const data = registrarCoder.instruction.encode(name, args)
    return new TransactionInstruction({ programId, keys: [...keys, ...rest], data })
  }
  /** Creates a builder of instructions that decide payments. The relay authority signs. */
  const decide =
    <Key extends { sequence: bigint }>(name: string, accountsOf: (payment: Key) => AccountMeta[]) =>
    (relayAuthority: PublicKey, payments: readonly Key[]): TransactionInstruction =>
      instruction(
        name,
        { sequences: payments.map(({ sequence }) => toAnchorNumber(sequence)) },
        { relay_authority: relayAuthority },
        payments.flatMap(accountsOf),
      )
  const accountsOf = (key: UndecidedPaymentKey) => [payment(key), key.payer].map(writableAccount)

  return {
    programId,
    id: programIdText,
    state,
    treasury,
    eventAuthority,
    payment,
    address,
    instruction,
    decide,
    /** Instruction that pays a quote. The payer signs. */
    register({ payer: by, ...terms }: PaymentTerms, quoteId: Uint8Array): TransactionInstruction {
      const payer = new PublicKey(by)
      const args = {
        quote_id: [...quoteId],
        name: [...terms.name],
        referral: [...terms.referral],
        amount_wei: toAnchorNumber(terms.amountWei),
        lamports: toAnchorNumber(terms.lamports),
        expires_at: toAnchorNumber(terms.expiresAt),
      }
      return instruction('register', args, { payer, payment: payment({ payer, quoteId }) })
    },
    /** Instruction that settles payments: the treasury authority may then withdraw their lamports. */
    settle: decide('settle', accountsOf),
    /** Instruction that refunds payments to their payers. */
    refund: decide('refund', accountsOf),
    /** Instruction that takes back a payment that nobody has decided in time. The payer signs. */
    reclaim: (key: UndecidedPaymentKey): TransactionInstruction =>
      instruction(
        'reclaim_payment',
        { sequence: toAnchorNumber(key.sequence) },
        { payer: key.payer, payment: payment(key) },
      ),
    /** Decodes the program's state account. @throws RangeError for data of another account */
    decodeState(data: Buffer): RegistrarState {
      const { proposedAdmin, ...fields } = decodeRegistrarAccount<
        RegistrarState & { proposedAdmin: PublicKey }
      >('State', data)
      return {
        ...fields,
        proposedAdmin: proposedAdmin.equals(PublicKey.default) ? null : proposedAdmin,
      }
    },
    /** Decodes an undecided payment's account. @throws RangeError for data of another account */
    decodePayment: (data: Buffer) => decodeRegistrarAccount<PaymentAccount>('Payment', data),
  }
}

/**
 * Decodes an account of a type that the IDL declares. Leaves out bump seeds and reserved bytes.
 * @param name name of the account's type in the IDL
 * @throws RangeError for data of another account
 */
export function decodeRegistrarAccount<T>(name: string, data: Buffer): T {
  try {
    const { bump, treasuryBump, eventBump, reserved, ...fields } = normalizeAnchorFields(
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

/** Converts decoded fields to this project's names and types: camelCase, bigint, Buffer. */
export const normalizeAnchorFields = (raw: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const given = Array.isArray(value) ? Buffer.from(value) : value
      const camelCase = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [camelCase, anchor.BN.isBN(given) ? BigInt(given.toString()) : given]
    }),
  )

const accountMetaWith =
  (isSigner: boolean, isWritable: boolean) =>
  (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner, isWritable })
export const writableSignerAccount = accountMetaWith(true, true)
export const readonlySignerAccount = accountMetaWith(true, false)
export const writableAccount = accountMetaWith(false, true)
export const readonlyAccount = accountMetaWith(false, false)
export const SYSTEM_PROGRAM_ACCOUNT: AccountMeta = readonlyAccount(SystemProgram.programId)

export const toAnchorNumber = (value: bigint) => new anchor.BN(value.toString())
