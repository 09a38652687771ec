import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import {
  authority,
  big,
  decode,
  type Meta,
  type Registrar,
  reads,
  registrarCoder,
  SYSTEM,
  signs,
  writes,
} from '../registrar.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../tokens.js'

/** Key of an open payment: at most one per (payer, community, name). */
export interface CommunityPaymentKey {
  payer: PublicKey
  /** Words, as on chain. */
  community: Uint8Array
  name: Uint8Array
}

/** Makes the key from the bytes that an event shows. */
export const communityPaymentKey = ({
  payer,
  community,
  name,
}: Record<'payer' | 'community' | 'name', Uint8Array>): CommunityPaymentKey => ({
  ...{ payer: new PublicKey(payer), community, name },
})

/** Terms of a payment for a community name. */
export interface CommunityTerms extends CommunityPaymentKey {
  recipient: PublicKey
  /** Base units, below 2^64. */
  amount: bigint
  /** 32 bytes, zeros for nobody. */
  referral: Uint8Array
}

/** Token and source of a token payment. */
export interface PaidToken {
  mint: PublicKey
  decimals: number
  /** Token account of the payer; the associated one when absent. */
  source?: PublicKey
}

/** Account of a payment that is not paid out yet. */
export interface CommunityPaymentAccount extends CommunityPaymentKey {
  /** The mint; null for SOL. */
  token: PublicKey | null
  amount: bigint
  recipient: PublicKey
  sequence: bigint
  /** Unix time, seconds: end of the hold, from which on the payment is the recipient's. */
  heldUntil: bigint
  /** Slot of the payment. */
  slot: bigint
  /** Whether the payment was refused and is owed to the payer. */
  isRefused: boolean
}

/** Account that reserves a paid name. */
export interface PaidName extends CommunityPaymentKey {
  /** Sequence of the payment. */
  sequence: bigint
  heldUntil: bigint
}

const REFUSED = 2
/** Token of a payment in SOL. */
const NATIVE_TOKEN = PublicKey.default

/** Creates the community part of a registrar. */
export function createCommunityProgram({ programId, state }: Pick<Registrar, 'programId' | 'state'>) {
  const address = (seed: string, ...seeds: Uint8Array[]) =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...seeds], programId)[0]
  /** Account that reserves a name. */
  const nameAccount = (community: Uint8Array, name: Uint8Array) => address('community_name', community, name)
  const paymentAccount = ({ community, name, payer }: CommunityPaymentKey) =>
    address('community_payment', community, name, payer.toBytes())
  /** Account that holds all tokens of a mint. */
  const vault = (mint: PublicKey) => address('vault', mint.toBytes())
  const instruction = (name: string, args: object, keys: Meta[]) =>
    new TransactionInstruction({ programId, keys, data: registrarCoder.instruction.encode(name, args) })

  return {
    nameAccount,
    paymentAccount,
    vault,
    /** Pays in SOL, or in a token. Signed by the payer. */
    pay(terms: CommunityTerms, token?: PaidToken): TransactionInstruction {
      const { payer, community, name, recipient, amount, referral } = terms
      const words = { community: [...community], name: [...name], referral: [...referral] }
      const args = { ...words, recipient, amount: big(amount) }
      const accounts = [state, nameAccount(community, name), paymentAccount(terms)]
      const keys = [signs(payer), ...accounts.map(writes), SYSTEM]
      if (!token) return instruction('pay_community', args, keys)
      const { mint, decimals, source = associatedTokenAddress(payer, mint) } = token
      const tokenKeys = [reads(mint), writes(source), writes(vault(mint)), reads(TOKEN_PROGRAM)]
      return instruction('pay_community_token', { ...args, decimals }, [...keys, ...tokenKeys])
    },
    /** Refuses a held payment, so that `release` pays it back. Signed by the relay authority. */
    refuse(relayAuthority: PublicKey, key: CommunityPaymentKey, sequence: bigint): TransactionInstruction {
      const accounts = [state, nameAccount(key.community, key.name), paymentAccount(key), key.payer]
      const keys = [authority(relayAuthority), ...accounts.map(writes)]
      return instruction('refuse_community', { sequence: big(sequence) }, keys)
    },
    /**
     * Pays a payment out: to its payer if refused, else to its recipient after the hold. Unsigned, unless tokens go to
     * an account other than the associated one.
     */
    release(
      payment: CommunityPaymentKey & Pick<CommunityPaymentAccount, 'token'>,
      beneficiary: PublicKey,
      destination?: PublicKey,
    ): TransactionInstruction {
      const keys = [writes(paymentAccount(payment)), writes(payment.payer)]
      const { token: mint } = payment
      if (mint === null) return instruction('release_community', {}, [...keys, writes(beneficiary)])
      const associated = associatedTokenAddress(beneficiary, mint)
      const to = destination ?? associated
      const owner = to.equals(associated) ? reads(beneficiary) : authority(beneficiary)
      const tokenKeys = [owner, reads(mint), writes(vault(mint)), writes(to), reads(TOKEN_PROGRAM)]
      return instruction('release_community_token', {}, [...keys, ...tokenKeys])
    },
    /** Frees a name after the hold, so that it can be paid for again. Signed by the program's upgrade authority. */
    reopen(upgradeAuthority: PublicKey, programData: PublicKey, { community, name, payer }: CommunityPaymentKey) {
      const keys = [
        authority(upgradeAuthority),
        reads(programData),
        writes(nameAccount(community, name)),
        writes(payer),
      ]
      return instruction('reopen_community', {}, keys)
    },
    /** Sets the hold of future payments, at most 604,800 s. Signed by the program's upgrade authority. */
    setHold(upgradeAuthority: PublicKey, programData: PublicKey, holdSeconds: bigint): TransactionInstruction {
      const keys = [authority(upgradeAuthority), writes(state), reads(programData)]
      return instruction('set_hold', { hold_seconds: big(holdSeconds) }, keys)
    },
    /** @throws RangeError for data of another account */
    decodePayment(data: Buffer): CommunityPaymentAccount {
      const { state: status, token, ...fields } = decode<RawPayment>('CommunityPayment', data)
      return { ...fields, token: token.equals(NATIVE_TOKEN) ? null : token, isRefused: status === REFUSED }
    },
    /** @throws RangeError for data of another account */
    decodeName: (data: Buffer) => decode<PaidName>('CommunityName', data),
  }
}

type RawPayment = Omit<CommunityPaymentAccount, 'token' | 'isRefused'> & { token: PublicKey; state: number }
