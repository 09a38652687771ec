import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import {
  authority,
  type BigNumber,
  big,
  decode,
  type Meta,
  type Registrar,
  reads,
  registrarCoder,
  SYSTEM,
  signs,
  toBigInt,
  writes,
} from '../registrar.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../tokens.js'

/** What tells a payment apart while it is open: one payer has one a name. */
export interface CommunityPaymentKey {
  payer: PublicKey
  /** Words, as on chain. */
  community: Uint8Array
  name: Uint8Array
}

/** What a payer pays for a name of a community. */
export interface CommunityTerms extends CommunityPaymentKey {
  recipient: PublicKey
  /** Base units, below 2^64. */
  amount: bigint
  /** 32 bytes, zeros for nobody. */
  referral: Uint8Array
}

/** How a payment in tokens is paid. */
export interface PaidToken {
  mint: PublicKey
  decimals: number
  /** A token account that the payer owns; its associated one where none is given. */
  source?: PublicKey
}

/** The account of a payment whose money is not paid out yet. */
export interface CommunityPaymentAccount extends CommunityPaymentKey {
  /** The mint; null for SOL. */
  token: PublicKey | null
  amount: bigint
  recipient: PublicKey
  sequence: bigint
  /** Unix time, seconds: it may be refused before, and is the recipient's from then on. */
  heldUntil: bigint
  /** The slot in which it was paid. */
  slot: bigint
  /** It is the payer's again. */
  isRefused: boolean
}

/** The account that keeps others off a name that was paid for. */
export interface PaidName extends CommunityPaymentKey {
  /** Of the payment. */
  sequence: bigint
  heldUntil: bigint
}

/** What a registrar does for names of communities: addresses, instructions, accounts. */
export interface CommunityProgram {
  /** The account that keeps others off a name. */
  nameAccount(community: Uint8Array, name: Uint8Array): PublicKey
  paymentAccount(key: CommunityPaymentKey): PublicKey
  /** The account that holds all tokens of a mint. */
  vault(mint: PublicKey): PublicKey
  /** Pays in SOL, or in a token. The payer signs. */
  pay(terms: CommunityTerms, token?: PaidToken): TransactionInstruction
  /** Makes a payment that is held its payer's again; `release` pays it out. The relay authority signs. */
  refuse(relayAuthority: PublicKey, key: CommunityPaymentKey, sequence: bigint): TransactionInstruction
  /**
   * Pays a payment out: to its payer where it was refused, else to its recipient once the hold is over. Nobody signs, unless
   * tokens go to another account of theirs than the associated one.
   */
  release(
    payment: CommunityPaymentKey & Pick<CommunityPaymentAccount, 'token'>,
    beneficiary: PublicKey,
    destination?: PublicKey,
  ): TransactionInstruction
  /** Lets a name be paid for again, after the hold. The program's upgrade authority signs. */
  reopen(upgradeAuthority: PublicKey, programData: PublicKey, key: CommunityPaymentKey): TransactionInstruction
  /** How long payments to come are held, at most 604,800 s. The program's upgrade authority signs. */
  setHold(upgradeAuthority: PublicKey, programData: PublicKey, holdSeconds: bigint): TransactionInstruction
  /** @throws RangeError for data of another account */
  decodePayment(data: Buffer): CommunityPaymentAccount
  /** @throws RangeError for data of another account */
  decodeName(data: Buffer): PaidName
}

interface RawName {
  community: readonly number[]
  name: readonly number[]
  payer: PublicKey
  sequence: BigNumber
  held_until: BigNumber
}

interface RawPayment extends RawName {
  token: PublicKey
  amount: BigNumber
  recipient: PublicKey
  slot: BigNumber
  state: number
}

const REFUSED = 2
/** The token of a payment in SOL. */
export const NATIVE_TOKEN = PublicKey.default

/** The part of a registrar that communities are paid through. */
export function createCommunityProgram({ programId, state }: Pick<Registrar, 'programId' | 'state'>): CommunityProgram {
  const address = (seed: string, ...seeds: Uint8Array[]) =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...seeds], programId)[0]
  const nameAccount = (community: Uint8Array, name: Uint8Array) => address('community_name', community, name)
  const paymentAccount = ({ community, name, payer }: CommunityPaymentKey) =>
    address('community_payment', community, name, payer.toBytes())
  const vault = (mint: PublicKey) => address('vault', mint.toBytes())
  const instruction = (name: string, args: object, keys: Meta[]) =>
    new TransactionInstruction({ programId, keys, data: registrarCoder.instruction.encode(name, args) })

  return {
    nameAccount,
    paymentAccount,
    vault,
    pay(terms, token) {
      const { payer, community, name, recipient, amount, referral } = terms
      const args = {
        community: [...community],
        name: [...name],
        recipient,
        amount: big(amount),
        referral: [...referral],
      }
      const accounts = [state, nameAccount(community, name), paymentAccount(terms)]
      const keys = [signs(payer), ...accounts.map(writes), SYSTEM]
      if (!token) return instruction('pay_community', args, keys)
      const { mint, decimals, source = associatedTokenAddress(payer, mint) } = token
      const tokenKeys = [reads(mint), writes(source), writes(vault(mint)), reads(TOKEN_PROGRAM)]
      return instruction('pay_community_token', { ...args, decimals }, [...keys, ...tokenKeys])
    },
    refuse(relayAuthority, key, sequence) {
      const accounts = [state, nameAccount(key.community, key.name), paymentAccount(key), key.payer]
      return instruction('refuse_community', { sequence: big(sequence) }, [
        authority(relayAuthority),
        ...accounts.map(writes),
      ])
    },
    release(payment, beneficiary, destination) {
      const keys = [writes(paymentAccount(payment)), writes(payment.payer)]
      const { token: mint } = payment
      if (mint === null) return instruction('release_community', {}, [...keys, writes(beneficiary)])
      const associated = associatedTokenAddress(beneficiary, mint)
      const to = destination ?? associated
      const owner = to.equals(associated) ? reads(beneficiary) : authority(beneficiary)
      const tokenKeys = [owner, reads(mint), writes(vault(mint)), writes(to), reads(TOKEN_PROGRAM)]
      return instruction('release_community_token', {}, [...keys, ...tokenKeys])
    },
    reopen: (upgradeAuthority, programData, { community, name, payer }) =>
      instruction('reopen_community', {}, [
        authority(upgradeAuthority),
        reads(programData),
        writes(nameAccount(community, name)),
        writes(payer),
      ]),
    setHold: (upgradeAuthority, programData, holdSeconds) =>
      instruction('set_hold', { hold_seconds: big(holdSeconds) }, [
        authority(upgradeAuthority),
        writes(state),
        reads(programData),
      ]),
    decodePayment(data) {
      const raw = decode<RawPayment>('CommunityPayment', data)
      return {
        ...keyOf(raw),
        token: raw.token.equals(NATIVE_TOKEN) ? null : raw.token,
        amount: toBigInt(raw.amount),
        recipient: raw.recipient,
        sequence: toBigInt(raw.sequence),
        heldUntil: toBigInt(raw.held_until),
        slot: toBigInt(raw.slot),
        isRefused: raw.state === REFUSED,
      }
    },
    decodeName(data) {
      const raw = decode<RawName>('CommunityName', data)
      return { ...keyOf(raw), sequence: toBigInt(raw.sequence), heldUntil: toBigInt(raw.held_until) }
    },
  }
}

const keyOf = ({ community, name, payer }: RawName): CommunityPaymentKey => ({
  payer,
  community: Buffer.from(community),
  name: Buffer.from(name),
})
