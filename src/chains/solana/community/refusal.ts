import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { Call } from '../../rpc/nodes.js'
import type { Commitment } from '../../rpc/solana.js'
import { findInTransactions, readCommunityPayments } from '../reads.js'
import type { Registrar } from '../registrar.js'
import { areOpenTokenAccounts, associatedTokenAddress } from '../tokens.js'
import type { CommunityOutcome } from './events.js'
import { type CommunityPaymentAccount, type CommunityPaymentKey, createCommunityProgram } from './program.js'

/** A payment for a community name by its count: the payer may have paid for the name again. */
export interface CountedPayment extends CommunityPaymentKey {
  sequence: bigint
}

/** The next step of a refund; the relay authority signs. */
export type RefusalStep =
  /** The payment is held. `isPaidBack`: the money goes back in the same transaction; else it waits for its payer. */
  | { kind: 'refuse'; instructions: TransactionInstruction[]; isPaidBack: boolean }
  /** The payment was refused, and its money can go now. */
  | { kind: 'pay_back'; instructions: TransactionInstruction[] }
  /** The payment was refused; its payer has no account that takes the token, and has to make one. */
  | { kind: 'waiting' }
  /** The hold is over: the money is the recipient's. */
  | { kind: 'over' }
  /** The money is paid out, see `findCommunityOutcome`. */
  | { kind: 'gone' }

export interface RefusalLook {
  /** The relay authority's key. */
  authority: PublicKey
  commitment: Commitment
  /** The program goes by the cluster's clock, which may be some seconds away. */
  nowMs: number
  /** The answer is as confirmed in a slot not before. */
  minSlot?: number
  /** Refuses without paying back: nothing of the payer's can make that fail. */
  isAlone?: boolean
}

/**
 * Looks at a payment that is to be refunded.
 * @throws RpcError (transient) for a node that is before `minSlot`
 */
export async function planRefusal(
  call: Call,
  registrar: Registrar,
  payment: CountedPayment,
  { authority, commitment, nowMs, minSlot = 0, isAlone = false }: RefusalLook,
): Promise<RefusalStep> {
  const program = createCommunityProgram(registrar)
  const [account] = await readCommunityPayments(call, registrar, [payment], { commitment, minSlot })
  if (account?.sequence !== payment.sequence) return { kind: 'gone' }
  if (!account.isRefused && nowMs >= Number(account.heldUntil) * 1_000) return { kind: 'over' }
  const isPaidBack = !isAlone && (await canBePaidBack(call, registrar, account, commitment))
  const release = isPaidBack ? [program.release(account, account.payer)] : []
  if (account.isRefused) return isPaidBack ? { kind: 'pay_back', instructions: release } : { kind: 'waiting' }
  const refuse = program.refuse(authority, account, account.sequence)
  return { kind: 'refuse', instructions: [refuse, ...release], isPaidBack }
}

/** SOL always can; a token where the payer's associated account exists and neither it nor the vault is frozen. */
async function canBePaidBack(
  call: Call,
  registrar: Registrar,
  { payer, token }: CommunityPaymentAccount,
  commitment: Commitment,
): Promise<boolean> {
  if (!token) return true
  const vault = createCommunityProgram(registrar).vault(token)
  const accounts = [
    { address: vault, owner: vault, mint: token },
    { address: associatedTokenAddress(payer, token), owner: payer, mint: token },
  ]
  return areOpenTokenAccounts(call, accounts, commitment)
}

/** The last outcome of a payment's money; null where the node shows none. */
export async function findCommunityOutcome(
  call: Call,
  registrar: Registrar,
  payment: CountedPayment,
  commitment: Commitment,
): Promise<(CommunityOutcome & { signature: string }) | null> {
  const address = createCommunityProgram(registrar).paymentAccount(payment)
  return findInTransactions(call, registrar, { address, commitment }, ({ communityOutcomes }) =>
    communityOutcomes.findLast(({ kind, sequence }) => kind !== 'reopened' && sequence === payment.sequence),
  )
}
