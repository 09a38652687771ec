import { createHash } from 'node:crypto'
import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import {
  decodeRegistrarAccount,
  type RegistrarClient,
  readonlyAccount,
  toAnchorNumber,
  writableAccount,
} from '../registrar.js'
import { associatedTokenAddress } from '../tokens.js'

/** Identifies an open payment for a community name. The payer chooses the number. */
interface CommunityPaymentKey {
  payer: PublicKey
  /** Number of the payment, below 2^64. */
  number: bigint
}

export interface CommunityPaymentTerms extends CommunityPaymentKey {
  /** Community and name as 32-byte words, as stored on chain. */
  community: Uint8Array
  name: Uint8Array
  recipient: PublicKey
  /** Base units, below 2^64. */
  amount: bigint
  /** Referrer, 32 bytes; zeros for none. */
  referral: Uint8Array
}

export interface PaymentToken {
  mint: PublicKey
  decimals: number
  /** Token account of the payer. Absent: the associated token account. */
  source?: PublicKey
}

/** Fields of a payment for a community name that its deciding instruction (`refuse`, `release`) needs. */
export interface NumberedPayment extends CommunityPaymentKey {
  /** Number of the payment among the program's payments for community names. */
  sequence: bigint
  /** Mint of the token; null for SOL. */
  token: PublicKey | null
  recipient: PublicKey
}

/**
 * State of a payment whose money is still in the program. `refused`: the payer can withdraw the money. `released`: the
 * recipient can withdraw the money.
 */
type CommunityPaymentState = 'held' | 'refused' | 'released'

/** Account of a payment for a community name whose money is still in the program. */
export interface CommunityPaymentAccount extends NumberedPayment {
  amount: bigint
  /** Unix seconds. From then on the payer may take the payment back, if it is still held. */
  reclaimableAt: bigint
  state: CommunityPaymentState
}

/** States in the order of their numbers in the program, which begin with 1. */
const COMMUNITY_PAYMENT_STATES: readonly CommunityPaymentState[] = ['held', 'refused', 'released']
/** Value of `token` in the account of a payment in SOL. */
const NATIVE_TOKEN = PublicKey.default

/** Derives a payment's number from community and name, so that a wallet has at most one open payment for a name. */
export const derivePaymentNumber = (community: Uint8Array, name: Uint8Array): bigint =>
  createHash('sha256').update(community).update(name).digest().readBigUInt64LE()

/**
 * Creates builders of the registrar program's instructions about payments for community names, and a decoder of the
 * payments' accounts.
 */
export function createCommunityPaymentInstructions({
  address,
  instruction,
  decide,
}: RegistrarClient) {
  /** The program's token account, which holds all payments in tokens of a mint. */
  const vault = (mint: PublicKey) => address('vault', mint.toBytes())
  const paymentAccount = ({ payer, number }: CommunityPaymentKey) =>
    address('community', payer.toBytes(), toAnchorNumber(number).toArrayLike(Buffer, 'le', 8))
  const tokenKeys = (token: PublicKey | null, account: (mint: PublicKey) => PublicKey) =>
    token
      ? [readonlyAccount(token), writableAccount(vault(token)), writableAccount(account(token))]
      : []
  /** Accounts of an instruction that decides a payment. @param paid account that gets the money */
  const accountsFor = (paid: (payment: NumberedPayment) => PublicKey) => (one: NumberedPayment) => [
    ...[paymentAccount(one), one.payer, paid(one)].map(writableAccount),
    ...tokenKeys(one.token, (mint) => associatedTokenAddress(paid(one), mint)),
  ]

  return {
    paymentAccount,
    vault,
    /** Instruction that gives payments back to their payers. The relay authority signs. */
    refuse: decide(
      'refuse_community',
      accountsFor(({ payer }) => payer),
    ),
    /** Instruction that pays payments out to their recipients. The relay authority signs. */
    release: decide(
      'release_community',
      accountsFor(({ recipient }) => recipient),
    ),
    /** Instruction that pays for a community name, in SOL or in a token. The payer signs. */
    pay(terms: CommunityPaymentTerms, token?: PaymentToken): TransactionInstruction {
      const { payer, number, community, name, recipient, amount, referral } = terms
      const words = { community: [...community], name: [...name], referral: [...referral] }
      const args = {
        ...words,
        number: toAnchorNumber(number),
        recipient,
        amount: toAnchorNumber(amount),
      }
      const accounts = { payer, payment: paymentAccount(terms) }
      if (!token) return instruction('pay_community', args, accounts)
      const { mint, decimals, source = associatedTokenAddress(payer, mint) } = token
      const ofToken = { mint, source, vault: vault(mint) }
      return instruction('pay_community_token', { ...args, decimals }, { ...accounts, ...ofToken })
    },
    /**
     * Instruction that withdraws a payment's money. The owner signs: the payer, where the payment was refused or nobody
     * decided in time; the recipient, where it was released.
     * @param destination token account that gets a payment in tokens; absent: the owner's associated token account
     */
    claim: (
      owner: PublicKey,
      payment: Omit<NumberedPayment, 'recipient'>,
      destination?: PublicKey,
    ): TransactionInstruction =>
      instruction(
        'claim_community',
        { sequence: toAnchorNumber(payment.sequence) },
        { owner, payment: paymentAccount(payment), payer: payment.payer },
        tokenKeys(payment.token, (mint) => destination ?? associatedTokenAddress(owner, mint)),
      ),
    /** Decodes the account of a payment for a community name. @throws RangeError for data of another account */
    decodePayment(data: Buffer): CommunityPaymentAccount {
      const {
        token,
        state: status,
        ...fields
      } = decodeRegistrarAccount<RawCommunityPayment>('CommunityPayment', data)
      return {
        ...fields,
        token: token.equals(NATIVE_TOKEN) ? null : token,
        state: COMMUNITY_PAYMENT_STATES[status - 1]!,
      }
    },
  }
}

type RawCommunityPayment = Omit<CommunityPaymentAccount, 'token' | 'state'> & {
  token: PublicKey
  state: number
}
