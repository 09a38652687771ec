import { setTimeout as sleep } from 'node:timers/promises'
import bs58 from 'bs58'
import { NodeAnswers } from '../../chains/rpc/agreement.js'
import { MissingDataError } from '../../chains/rpc/errors.js'
import { NodesDisagreeError, type RpcCall } from '../../chains/rpc/nodes.js'
import type { Commitment, SolanaRpc } from '../../chains/rpc/solana.js'
import type { CommunityPaymentEvent, HubNamePayment } from '../../chains/solana/events.js'
import {
  getSlot,
  type ListedDecodedTransaction,
  type ListedTransaction,
  readTransaction,
  UnsupportedVersionError,
} from '../../chains/solana/reads.js'
import type { RegistrarClient } from '../../chains/solana/registrar.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import type {
  CommunityNameTarget,
  ConfirmedPaymentOutcome,
  HubNameTarget,
  Payment,
} from '../../registry/payment/payment.js'
import {
  communityPaymentId,
  lastContiguousSequence,
  paymentMessageId,
  paymentSourceId,
  type QuotedProgram,
  verifyQuote,
} from '../../registry/payment/quote.js'
import { storedAddress } from '../../registry/primitives/address.js'
import { listTransactions, type NodeProgramAnswers, type PaymentCounts } from './list.js'

/**
 * Number of transactions that are read in parallel, and written together. Small, so that a node that hangs or limits
 * the rate is paused before the next transactions are requested.
 */
const TRANSACTIONS_AT_ONCE = 16
/**
 * Maximum number of attempts to read a transaction, and the pause between two attempts, ms: one node may have the
 * transaction some seconds after another node.
 */
const MAX_ATTEMPTS = 5
const RETRY_MS = 500
/** Age of a node's newest block, ms, from which the node counts as stopped. */
const STOPPED_MS = 60_000
/** Time limit of listing the unconfirmed transactions in a minute's slots, ms. */
const LIST_UNCONFIRMED_TIMEOUT_MS = 20_000

export interface TransactionReadOptions {
  rpc: SolanaRpc
  registrar: RegistrarClient
  commitment: Commitment
  signal: AbortSignal
  /**
   * Called for a transaction that this version of clusterd can't read, with the nodes' errors or the unknown events.
   */
  onUnknown?: (signature: string, unknown: readonly string[]) => void
}

/**
 * Reads listed transactions in order, `TRANSACTIONS_AT_ONCE` in parallel. Where several nodes are configured, two have
 * to return the same transaction. Ends early when the signal fires. Null stands for a transaction that the nodes do not
 * have, or return only in a version that clusterd does not support.
 * @throws NodesDisagreeError where nodes contradict each other, or another error of `RpcNodes.agreed`, once all earlier
 * transactions were returned
 */
export async function* readAgreedTransactions(
  options: TransactionReadOptions,
  listed: readonly ListedTransaction[],
): AsyncGenerator<(ListedDecodedTransaction | null)[]> {
  for (let i = 0; i < listed.length && !options.signal.aborted; i += TRANSACTIONS_AT_ONCE) {
    const reads = listed
      .slice(i, i + TRANSACTIONS_AT_ONCE)
      .map((one) => readAgreedTransaction(options, one))
    const read: (ListedDecodedTransaction | null)[] = []
    let failure: PromiseRejectedResult | null = null
    for (const one of await Promise.allSettled(reads)) {
      if (one.status === 'rejected') failure ??= one
      else if (!failure) read.push(one.value)
    }
    yield read
    if (failure) throw failure.reason
  }
}

async function readAgreedTransaction(
  { rpc, registrar, commitment, onUnknown }: TransactionReadOptions,
  { signature, slot }: ListedTransaction,
): Promise<ListedDecodedTransaction | null> {
  for (let attempt = 1; ; attempt++) {
    const unsupported = new NodeAnswers<RpcCall, string>()
    const ask = async (call: RpcCall) => {
      const tx = await readTransaction(call, registrar, signature, commitment).catch(
        (error: Error) => {
          if (error instanceof UnsupportedVersionError) unsupported.set(call, error.message)
          throw error
        },
      )
      if (rpc.size === 1 && tx?.slot !== slot)
        throw new MissingDataError(
          `getTransaction: ${signature} is listed in slot ${slot} but not there yet`,
        )
      // a node's null does not count if the node has pruned the slot, or has stopped before it
      if (tx === null) await assertNodeHasSlot(call, slot, commitment)
      return tx
    }
    try {
      return await rpc.quorum(ask)
    } catch (error) {
      if (unsupported.agreement(rpc.needed, () => true)) {
        onUnknown?.(signature, unsupported.answers)
        return null
      }
      if (!(error instanceof NodesDisagreeError)) throw error
      if (attempt === MAX_ATTEMPTS)
        throw new NodesDisagreeError(`${error.message} about transaction ${signature}`)
    }
    await sleep(RETRY_MS)
  }
}

/**
 * Checks that a node's null for a transaction in this slot counts as an answer. A node that is behind the slot passes
 * if its newest block is at most `STOPPED_MS` old, or of unknown age.
 * @throws MissingDataError where the node has pruned the slot, or has stopped before it; RpcError
 */
async function assertNodeHasSlot(
  call: RpcCall,
  slot: number,
  commitment: Commitment,
): Promise<void> {
  const [oldest, newest] = await Promise.all([
    call<number>('getFirstAvailableBlock', []),
    getSlot(call, commitment),
  ])
  if (slot < oldest)
    throw new MissingDataError(`the node has pruned slot ${slot}: its first block is ${oldest}`)
  if (slot <= newest) return
  const timeS = await call<number | null>('getBlockTime', [newest]).catch(() => null)
  if (timeS !== null && Date.now() - timeS * 1_000 > STOPPED_MS)
    throw new MissingDataError(`the node stands still at slot ${newest}, before slot ${slot}`)
}

/**
 * Maximum number of unconfirmed transactions that are read, since a stranger or a node may make the list long. A node
 * that answers each call late keeps within the time limit of a worker's step. No payment depends on the list.
 */
const MAX_UNCONFIRMED = 200

/**
 * Reads the oldest unconfirmed transactions of one node, at most `MAX_UNCONFIRMED`, oldest first.
 * @param until newest confirmed signature; a node that does not know it lists everything down to `downToSlot`
 */
export async function readUnconfirmedTransactions(
  call: RpcCall,
  registrar: RegistrarClient,
  until: string | null,
  downToSlot: number,
): Promise<ListedDecodedTransaction[]> {
  const commitment = 'confirmed'
  const options = { commitment, until, downToSlot, limitMs: LIST_UNCONFIRMED_TIMEOUT_MS } as const
  const { listed } = await listTransactions(call, registrar, options)
  const read = listed
    .slice(-MAX_UNCONFIRMED)
    .reverse()
    .map(({ signature }) =>
      fallbackOnExpectedError(
        readTransaction(call, registrar, signature, commitment),
        (error) => error instanceof UnsupportedVersionError,
        null,
      ),
    )
  // transactions that the node lists but does not return yet are read in the next step
  return (await Promise.all(read)).filter((tx) => tx !== null)
}

/** A program, and the keys that identify its payments with a quote of this installation. */
export interface PaymentProgramIdentity extends QuotedProgram {
  /** The present and earlier keys under which this installation signs quotes. */
  quoteKeys: readonly Uint8Array[]
}

/**
 * A program, and the longest time for which it holds a payment, ms (`heldMs`). Two nodes confirm this time, since the
 * date of each payment is calculated from it.
 */
export type ProgramWithHoldingTime = PaymentProgramIdentity & { heldMs: number }

type PaymentKind = Payment['target']['kind']

const paymentIdOf = (
  { genesisHash, programId }: PaymentProgramIdentity,
  kind: PaymentKind,
  sequence: bigint,
): Buffer =>
  kind === 'name'
    ? paymentMessageId(paymentSourceId(genesisHash, programId), sequence)
    : communityPaymentId(genesisHash, programId, sequence)

/** Fields that payments of both kinds have, in their stored form. */
const commonPaymentFields = (
  program: ProgramWithHoldingTime,
  tx: ListedTransaction,
  kind: PaymentKind,
  { sequence, payer, referral, reclaimableAt }: HubNamePayment | CommunityPaymentEvent,
) => ({
  id: paymentIdOf(program, kind, sequence),
  sequence: Number(sequence),
  tx: Buffer.from(bs58.decode(tx.signature)),
  block: tx.slot,
  blockHash: null,
  payer: storedAddress('solana', payer),
  referral: referral.some((byte) => byte !== 0) ? Buffer.from(referral) : null,
  // calculated from the program's deadline, since one node may invent the block's timestamp
  paidMs: Number(reclaimableAt) * 1_000 - program.heldMs,
})

const toHubNamePayment = (
  program: ProgramWithHoldingTime,
  tx: ListedTransaction,
  paid: HubNamePayment,
): Payment<HubNameTarget> => ({
  ...commonPaymentFields(program, tx, 'name', paid),
  money: { token: NATIVE_COIN, amount: paid.lamports },
  target: {
    kind: 'name',
    name: Buffer.from(paid.name),
    source: paymentSourceId(program.genesisHash, program.programId),
    quoteId: Buffer.from(paid.quoteId),
    amountWei: paid.amountWei,
    expiresAt: clampToSafeInteger(paid.expiresAt),
    verdict: verifyQuote(program.quoteKeys, program, paid),
    reclaimableMs: Number(paid.reclaimableAt) * 1_000,
  },
})

const MAX_SAFE_INTEGER = BigInt(Number.MAX_SAFE_INTEGER)
function clampToSafeInteger(value: bigint): number {
  if (value > MAX_SAFE_INTEGER) return Number(MAX_SAFE_INTEGER)
  return value < -MAX_SAFE_INTEGER ? Number(-MAX_SAFE_INTEGER) : Number(value)
}

const toCommunityNamePayment = (
  program: ProgramWithHoldingTime,
  tx: ListedTransaction,
  paid: CommunityPaymentEvent,
): Payment<CommunityNameTarget> => ({
  ...commonPaymentFields(program, tx, 'communityName', paid),
  money: { token: paid.token ? bs58.encode(paid.token) : NATIVE_COIN, amount: paid.amount },
  target: {
    kind: 'communityName',
    community: paid.community,
    name: paid.name,
    recipient: bs58.encode(paid.recipient),
    number: paid.number,
    reclaimableMs: Number(paid.reclaimableAt) * 1_000,
  },
})

/** All payments of a transaction in their stored form. Quotes are verified. */
export const toStoredPayments = (
  program: ProgramWithHoldingTime,
  tx: ListedDecodedTransaction,
): Payment[] => [
  ...tx.payments.map((paid) => toHubNamePayment(program, tx, paid)),
  ...tx.communityPayments.map((paid) => toCommunityNamePayment(program, tx, paid)),
]

/** The rows that result from some transactions. */
export interface PaymentRows {
  payments: Payment[]
  /**
   * Outcomes (released, refused, reclaimed) of payments that were read. An outcome may be in an earlier transaction if
   * its payment was read only now.
   */
  outcomes: ConfirmedPaymentOutcome[]
}

/** The payment numbers of one kind that were read: each up to `known`, and those after the first gap in `beyond`. */
const createSequenceCount = (known: number) => ({ known, beyond: new Set<number>() })

/**
 * Detects gaps in the numbers (sequences) of a program's payments after the cursor. The state is only in memory: after
 * a restart the same transactions are read again, with the same result.
 */
export class PaymentSequenceTracker {
  readonly #program: ProgramWithHoldingTime
  readonly #counts: Record<PaymentKind, ReturnType<typeof createSequenceCount>>
  /** Read transactions, by signature. */
  readonly #read = new Map<string, { slot: number; hasEvents: boolean }>()
  /** Outcomes whose payment was not read yet, by the payment's kind and number. */
  readonly #early = new Map<string, ListedDecodedTransaction['ends'][number] & { block: number }>()

  /** @param known payment numbers up to which every payment is stored */
  constructor(program: ProgramWithHoldingTime, { sequence, communitySequence }: PaymentCounts) {
    this.#program = program
    this.#counts = {
      name: createSequenceCount(sequence),
      communityName: createSequenceCount(communitySequence),
    }
  }

  /** Payment numbers up to which every payment was read. */
  get known(): PaymentCounts {
    const { name, communityName } = this.#counts
    return { sequence: name.known, communitySequence: communityName.known }
  }

  /** True if there is no gap, and no outcome without its payment, so the cursor may move. */
  get isWhole(): boolean {
    return (
      Object.values(this.#counts).every(({ beyond }) => beyond.size === 0) && this.#early.size === 0
    )
  }

  hasRead(signature: string): boolean {
    return this.#read.has(signature)
  }

  /** Adds transactions, in the order of the chain. @returns the rows to store */
  advance(txs: readonly ListedDecodedTransaction[]): PaymentRows {
    const payments = new Map<string, Payment>()
    for (const tx of txs) {
      const { signature, slot, ends } = tx
      const hasEvents = tx.payments.length + tx.communityPayments.length + ends.length > 0
      this.#read.set(signature, { slot, hasEvents })
      for (const payment of toStoredPayments(this.#program, tx))
        payments.set(payment.id.toString('hex'), payment)
      for (const end of ends) this.#early.set(`${end.of} ${end.sequence}`, { ...end, block: slot })
    }
    for (const { target, sequence } of payments.values()) {
      const count = this.#counts[target.kind]
      if (sequence > count.known) count.beyond.add(sequence)
      count.known = lastContiguousSequence(count.known, count.beyond)
    }
    return { payments: [...payments.values()], outcomes: this.#takeOutcomes() }
  }

  /** Outcomes whose payment was read. Each outcome is returned once. */
  #takeOutcomes(): ConfirmedPaymentOutcome[] {
    const outcomes: ConfirmedPaymentOutcome[] = []
    for (const [key, { of, sequence, outcome, block }] of this.#early) {
      const { known, beyond } = this.#counts[of]
      if (sequence > known && !beyond.has(Number(sequence))) continue
      outcomes.push({ id: paymentIdOf(this.#program, of, sequence), outcome, block })
      this.#early.delete(key)
    }
    return outcomes
  }

  /**
   * Signature of a transaction with payments or outcomes that a node's list omits although the list covers its slot.
   * Null if the list omits no such transaction.
   * @param beforeSlot transactions from this slot on are ignored, since a node may list them late
   */
  leftOutOf(
    { listed, downToSlot }: NonNullable<NodeProgramAnswers['list']>,
    beforeSlot: number,
  ): string | null {
    const signatures = new Set(listed.map(({ signature }) => signature))
    for (const [signature, { slot, hasEvents }] of this.#read)
      if (hasEvents && slot >= downToSlot && slot < beforeSlot && !signatures.has(signature))
        return signature
    return null
  }

  /**
   * Forgets the transactions before a slot, which no further list covers. Without a slot, forgets all, so that they are
   * read again.
   */
  forgetRead(beforeSlot = Number.POSITIVE_INFINITY): void {
    for (const [signature, { slot }] of this.#read)
      if (slot < beforeSlot) this.#read.delete(signature)
  }
}
