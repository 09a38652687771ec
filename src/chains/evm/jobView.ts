import type { LocalAccount } from 'viem/accounts'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import type { EvmJobTx, JobProgress } from '../../registry/outbox.js'
import type { Hex } from '../chain.js'
import { RpcError } from '../rpc/errors.js'
import { parseQuantity, type RpcCall, toRpcQuantity } from '../rpc/evm.js'
import { areBidsDelivered, type PaidBid, readPacketState } from './bridge/calls.js'
import type { Packet } from './bridge/packet.js'
import type { LzReceiveOption } from './bridge/packetOptions.js'
import { type EvmChain, readChainHeads } from './chain.js'
import { areNoPaymentsHeld, type PaymentToRefuseOrRelease } from './community/ending.js'
import { hasTransactionSucceeded, readTransactionReceipt } from './logs.js'

/** A relayer's job, whose attempts are transactions with the same nonce. */
export type EvmJob = JobProgress<EvmJobTx>

/** Account that signs a job's transactions, and their chain. */
export interface TransactionSigner {
  chain: EvmChain
  account: LocalAccount
}

/** The call of a job's transaction. A `noop` job and a cancelled job call nothing. */
export type JobCall =
  | { kind: 'verify'; endpoint: Hex; messageLib: Hex; packet: Packet }
  | { kind: 'execute'; endpoint: Hex; packet: Packet; option: LzReceiveOption }
  | { kind: 'deliver'; hub: Hex; bids: readonly PaidBid[] }
  | { kind: 'refuse' | 'release'; payments: Hex; of: readonly PaymentToRefuseOrRelease[] }
  | { kind: 'noop' }

export interface MinedReceipt {
  hash: Hex
  block: number
  succeeded: boolean
  isConfirmed: boolean
  /** Gas used times the gas price, at most what the transaction was signed for. */
  feeWei: bigint
}

/**
 * State of a job on the chain, from the nodes' answers. The nonce is read before the receipts: in the other order, a
 * transaction that is mined in between would have a used nonce but no receipt.
 */
export interface EvmJobState {
  /** Number of the newest block. */
  head: number
  /** Whether the job's effect is on chain. Another sender may have caused the effect. */
  done: (typeof DONE_STATES)[number]
  /**
   * State of the job's nonce. `later`: an earlier nonce is still unused. `next`: the next nonce that the chain accepts,
   * or the job has no nonce yet.
   * `unconfirmed`, `confirmed`: used in a block.
   */
  nonce: (typeof NONCE_STATES)[number]
  /** Receipt of the job's mined transaction. Null where none was mined. */
  mined: MinedReceipt | null
  /** True if two nodes were compared. On a local chain with one node: if that node answered. */
  isSure: boolean
}

export type EvmJobStateOnNode = Omit<EvmJobState, 'isSure'> & { confirmedHead: number }

/** States of a nonce, in the order in which a nonce passes through them. */
const NONCE_STATES = ['later', 'next', 'unconfirmed', 'confirmed'] as const

/** Values that say whether a job's effect is on chain, the least advanced first. */
const DONE_STATES = ['no', 'unconfirmed', 'confirmed'] as const

/** Numbers of the newest and the last confirmed block, as of which a job's state is read. */
type HeadNumbers = Awaited<ReturnType<EvmChain['head']>>

/**
 * Combines several nodes' states of a job: the head and the most advanced state that two nodes have reached, and a
 * receipt that two nodes confirm, or else one node's receipt as unconfirmed. Ignores nodes that have not reached the
 * confirmed block of most nodes. Where two nodes are configured and only one remains, nothing counts as confirmed, so
 * that one node can't end a job.
 * @param configured number of configured nodes
 */
export function combineEvmJobStates(
  views: readonly EvmJobStateOnNode[],
  { configured, isLocal }: { configured: number; isLocal: boolean },
): EvmJobState {
  // a node's head and confirmed height are read at the same time, so the confirmed height may exceed the head
  const heights = views.map((view) => Math.min(view.head, view.confirmedHead))
  const confirmedHeight = heights.sort((a, b) => a - b)[heights.length >> 1]!
  const known = views.filter(({ head }) => head >= confirmedHeight)
  const needed = Math.min(2, configured)
  const isCompared = known.length >= needed
  const receipts = known.flatMap(({ mined }) => mined ?? [])
  const agreed = receipts.find((one) => confirmingNodesOf(one, receipts) >= needed)
  const reported = isCompared ? known : [...known, STATE_OF_MISSING_NODE]
  const mined = agreed ?? receipts[0]
  // a head that one node invents would replace sent transactions at ever higher prices
  const heads = known.map(({ head }) => head).sort((a, b) => b - a)
  return {
    head: heads.slice(0, needed).at(-1)!,
    done: stateReached(
      DONE_STATES,
      reported.map(({ done }) => done),
      needed,
    ),
    nonce: stateReached(
      NONCE_STATES,
      reported.map(({ nonce }) => nonce),
      needed,
    ),
    mined: mined ? { ...mined, isConfirmed: agreed !== undefined } : null,
    isSure: isCompared && (isLocal || known.length > 1),
  }
}

/** Stands for a missing second node: with this state among the reported ones, nothing combines to `confirmed`. */
const STATE_OF_MISSING_NODE = { done: 'unconfirmed', nonce: 'unconfirmed' } as const

/** Number of nodes whose receipt confirms the transaction with the same outcome. */
const confirmingNodesOf = ({ hash, succeeded }: MinedReceipt, receipts: readonly MinedReceipt[]) =>
  receipts.filter(
    (other) => other.isConfirmed && other.hash === hash && other.succeeded === succeeded,
  ).length

/** The most advanced state that `needed` of the reported states have reached. @param order the least advanced first */
function stateReached<S>(order: readonly S[], reported: readonly S[], needed: number): S {
  const ranks = reported.map((state) => order.indexOf(state)).sort((a, b) => b - a)
  return order[ranks.slice(0, needed).at(-1)!]!
}

/** Reads a job's state from one node. @param ask calls the node */
export async function readEvmJobState(
  ask: RpcCall,
  { chain, account }: TransactionSigner,
  call: JobCall,
  job: EvmJob,
): Promise<EvmJobStateOnNode> {
  const { latest, confirmed } = await readChainHeads(ask, chain.config)
  const heads = { latest: latest.number, confirmed }
  const nonce = await readNonceState(ask, account.address, job.nonce, heads)
  const isUsed = nonce === 'unconfirmed' || nonce === 'confirmed'
  // an unused nonce has no receipt yet
  const mined = isUsed ? await findReceipt(ask, job, confirmed) : null
  return {
    head: latest.number,
    confirmedHead: confirmed,
    nonce,
    mined,
    done: await readDoneState(ask, call, job, heads),
  }
}

async function readNonceState(
  ask: RpcCall,
  signer: Hex,
  nonce: number | null,
  { latest, confirmed }: HeadNumbers,
): Promise<EvmJobState['nonce']> {
  if (nonce === null) return 'next'
  const countAt = async (block: number) =>
    Number(await ask<Hex>('eth_getTransactionCount', [signer, toRpcQuantity(block)]))
  const used = await countAt(latest)
  if (used < nonce) return 'later'
  if (used === nonce) return 'next'
  return ((await readAtConfirmed(confirmed, countAt)) ?? 0) > nonce ? 'confirmed' : 'unconfirmed'
}

async function readDoneState(
  ask: RpcCall,
  call: JobCall,
  { kind }: Pick<EvmJob, 'kind'>,
  { latest, confirmed }: HeadNumbers,
): Promise<EvmJobState['done']> {
  if (call.kind === 'noop') return kind === 'noop' ? 'confirmed' : 'no'
  const isDoneAt = async (block: number): Promise<boolean> => {
    if (call.kind === 'deliver')
      return areBidsDelivered(ask, call.hub, call.bids, toRpcQuantity(block))
    if ('payments' in call) return areNoPaymentsHeld(ask, call.payments, call.of, block)
    const state = await readPacketState(ask, call.endpoint, call.packet, toRpcQuantity(block))
    return call.kind === 'verify' ? state.isVerified : state.isExecuted
  }
  if (!(await isDoneAt(latest))) return 'no'
  return (await readAtConfirmed(confirmed, isDoneAt)) ? 'confirmed' : 'unconfirmed'
}

/**
 * An answer as of the newest confirmed block. Null where no block is confirmed, or where the node does not have the
 * state of that block (after a restart). Callers treat null as unconfirmed.
 */
const readAtConfirmed = async <T>(
  confirmed: number,
  question: (block: number) => Promise<T>,
): Promise<T | null> =>
  confirmed < 0
    ? null
    : fallbackOnExpectedError(question(confirmed), (error) => error instanceof RpcError, null)

async function findReceipt(
  ask: RpcCall,
  { txs }: EvmJob,
  confirmed: number,
): Promise<MinedReceipt | null> {
  for (const { hash, gas, maxFeePerGas } of [...txs].reverse()) {
    const receipt = await readTransactionReceipt(ask, hash)
    if (!receipt) continue
    const block = parseQuantity(receipt.blockNumber)
    // a field that is missing in the receipt counts as its largest possible value
    const gasUsed = atMostSigned(gas, receipt.gasUsed)
    const gasPrice = atMostSigned(maxFeePerGas, receipt.effectiveGasPrice)
    return {
      hash,
      block,
      succeeded: hasTransactionSucceeded(receipt),
      isConfirmed: block <= confirmed,
      feeWei: gasUsed * gasPrice,
    }
  }
  return null
}

/** A node's number, or `signed` where the node has none or reports more than was signed. */
function atMostSigned(signed: bigint, reported: Hex | null | undefined): bigint {
  const value = BigInt(reported ?? signed)
  return value < signed ? value : signed
}
