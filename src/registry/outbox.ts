import type { Network } from './primitives/network.js'

type Hex = `0x${string}`

/**
 * Kinds of jobs by number in the database (never renumber). `verify` and `execute` bring a bridge message to the hub.
 * `deliver` bids on the hub for a payment to a Solana program: if the bid wins, `settle` keeps the payment's money,
 * else `refund` returns it. For a payment for a community name, `refuse` returns the money on its own chain, and
 * `release` pays it to its recipient. `noop` only uses up a nonce, so that later transactions can be mined.
 */
export const JOB_KIND = {
  verify: 1,
  execute: 2,
  noop: 3,
  deliver: 4,
  refuse: 5,
  settle: 6,
  refund: 7,
  release: 8,
} as const
export type JobKind = keyof typeof JOB_KIND

/**
 * Kinds whose jobs share a transaction on EVM chains, with the maximum number of jobs per transaction. The gas of a
 * transaction limits the number.
 */
export const MAX_JOBS_PER_BATCH: Readonly<Partial<Record<JobKind, number>>> = {
  deliver: 20,
  refuse: 40,
  release: 40,
}

/**
 * States by their number in the database (never renumber): queued → signed → sent → included → confirmed, or parked.
 */
export const JOB_STATE = {
  queued: 0,
  signed: 1,
  sent: 2,
  included: 3,
  confirmed: 4,
  parked: 5,
} as const
export type JobState = keyof typeof JOB_STATE
/** All states but `confirmed`: an operator can resume a parked job. */
export const UNFINISHED_JOB_STATES = (Object.keys(JOB_STATE) as JobState[]).filter(
  (state) => state !== 'confirmed',
)

/**
 * Park reason of a payment whose bid alone exceeds the hub's limit of deliveries per day. The hub's owner can raise it.
 */
export const PARKED_ABOVE_DELIVERY_LIMIT = 'above_deliver_limit'
/** Failure of a job that waits because its signer's balance is too low. */
export const WAITS_FOR_FUNDS = 'insufficient_funds'
/** Failure of a job whose transaction no node accepts, though its nonce is the next one. */
export const REFUSED_BY_NODES = 'refused'
/** Failure of a job that waits because the relayer has spent its daily maximum on the chain. */
export const WAITS_FOR_DAILY_CAP = 'daily_cap'
/** Park reason of a payment that is worth less than its refusal costs. Its payer can reclaim it. */
export const PARKED_BELOW_REFUSAL_COST = 'below_refusal_cost'

/** Reason why a job is parked, so that only an operator's action or a change on its chain continues it. */
export type ParkReason =
  /** An operator parked the job. */
  | 'operator'
  /** The value of the call and the gas fees paid so far use up the job's spending cap. */
  | 'spend_cap'
  /** A transaction that is not the job's has used the job's nonce. */
  | 'nonce_taken'
  /** The packet is not from one of our spokes to our hub (relayer/calls.ts). */
  | 'foreign_packet'
  /** The packet's options are not a single lzReceive option with gas, the only form that the relayer executes. */
  | 'bad_options'
  /** The packet's options ask to send another value (wei) to the hub than the message needs. */
  | 'value_mismatch'
  /** The payment has no quote of ours, is unconfirmed, or is gone. */
  | 'foreign_payment'
  /** The payer has the money back, or may reclaim it before the hub has the delivery. */
  | 'reclaimed'
  | typeof PARKED_ABOVE_DELIVERY_LIMIT
  | typeof PARKED_BELOW_REFUSAL_COST
  /** The chains file names no payments contract on the payment's chain. */
  | 'no_payments_contract'
  /** Another process with the relay authority's key settled a payment that was to be refunded, or the reverse. */
  | 'settled_elsewhere'
  | 'refunded_elsewhere'

/**
 * Reason why an attempt sent no transaction, in snake_case. Never a node's own message, which may hold the node's URL.
 */
export type TxFailure =
  /**
   * `transient`: a node failed, or the job has to wait, as for money. `revert`: the call reverts now, as at a paused
   * hub.
   */
  | { class: 'transient' | 'revert'; reason: string }
  /** The job can't succeed until somebody acts, and is parked. */
  | { class: 'permanent'; reason: ParkReason }

/**
 * `deliver` executes the job, of any kind. `cancel` is an empty transfer to the signer, which only uses up the nonce.
 */
export type TxPurpose = 'deliver' | 'cancel'

/** Signed transaction of a job on an EVM chain: valid while its nonce is unused. */
export interface EvmJobTx {
  hash: Hex
  raw: Hex
  purpose: TxPurpose
  /** Gas limit. */
  gas: bigint
  valueWei: bigint
  /** Fees per unit of gas (EIP-1559), wei. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Head of the chain when a node last accepted the transaction. Null before, and after a reorg removed its block. */
  sentBlock: number | null
  /** True after the nodes refused the transaction though its nonce is the next one. False once a node accepts it. */
  isRejected: boolean
}

/** Signed transaction of a job on Solana: valid until its blockhash expires. */
export interface SolanaJobTx {
  /** Signature, base58. */
  hash: string
  /** Signed bytes in base64; empty where another signer's transaction did the job. */
  raw: string
  /** Height of the last block that can hold the transaction, as one node reported it. */
  lastValidHeight: number
}

export type JobTx = EvmJobTx | SolanaJobTx

/** The part of a job that the relayer's state machine reads and changes. */
export interface JobProgress<Tx extends JobTx = JobTx> {
  id: string
  kind: JobKind
  state: JobState
  /** Value of the call, wei; 0 where no call is made. */
  valueWei: bigint
  /** Null while the job has no nonce. A job on Solana never has a nonce. */
  nonce: number | null
  /** Transactions at this nonce, oldest first. On Solana at most one. */
  txs: readonly Tx[]
  /** Mined transaction, with its block number. Null where none is known. Kept once the job is confirmed. */
  included: { hash: Hex; block: number } | null
  /** Number of failed attempts. The pause before the next attempt grows with it. */
  failures: number
  /** Time before which the job is not attempted again, ms. */
  nextMs: number
  /** Gas fees paid since the start or the operator's last `retry`, wei. 0 on Solana. */
  spentWei: bigint
  /** The last failure, or the `ParkReason` of a parked job. The status of the message shows it. */
  reason: string | null
  /** State to enter once all signed transactions are void: queued again, or parked. Null: the job continues. */
  release: 'queue' | ParkReason | null
  /**
   * True after the job's call reverted or its transaction expired, and after an operator resumed a job whose payment is
   * worth less than its refusal costs. The job is then sent in a transaction of its own, so that it cannot block
   * other jobs.
   */
  alone: boolean
}

/** One item of the outbox. Jobs of some kinds share a transaction (`MAX_JOBS_PER_BATCH`). */
export interface Job<Tx extends JobTx = JobTx> extends JobProgress<Tx> {
  network: Network
  /** Number of the chain on which the job's transaction is sent. */
  chain: number
  /** Address that signs on an EVM chain, set with the first nonce. */
  signer: Buffer | null
  /** Guid of the message or id of the payment; null for a noop. */
  subject: Buffer | null
  createdMs: number
  updatedMs: number
  /** Id of the job whose transaction also does this job; null where this job has its own transaction. */
  batch: string | null
  /** Number of changes so far, for compare-and-set. */
  version: number
}

/** The signer may spend no more on the chain today (UTC). */
export class DailyCapError extends Error {
  override name = 'DailyCapError'
}

/** Maximum cost in wei of transactions at one nonce, of which only one is mined. 0 for Solana's. */
export const maxNonceCostWei = (txs: readonly JobTx[]): bigint =>
  txs.reduce((most, tx) => {
    const cost = 'gas' in tx ? tx.gas * tx.maxFeePerGas + tx.valueWei : 0n
    return cost > most ? cost : most
  }, 0n)
