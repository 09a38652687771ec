import { type Hex, keccak256 } from 'viem'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import {
  type EvmJobTx,
  PARKED_ABOVE_DELIVERY_LIMIT,
  type TxFailure,
  type TxPurpose,
  WAITS_FOR_FUNDS,
} from '../../registry/outbox.js'
import { ChainUnavailableError } from '../chain.js'
import { addPriceMargin } from '../margins.js'
import { fallbackIfRefused, isRefusalByNode, RefusedByNodesError, RpcError } from '../rpc/errors.js'
import { type EvmRpc, type RpcCall, toRpcQuantity } from '../rpc/evm.js'
import {
  type BridgeCall,
  buildDeliverBidsCall,
  buildExecutePacketCall,
  buildVerifyPacketCall,
  contractErrorOfRevert,
  readPacketState,
} from './bridge/calls.js'
import { buildRefuseOrReleaseCall } from './community/ending.js'
import { hubAbi } from './contracts/index.js'
import { createContractReader } from './contracts/read.js'
import { type GasFees, maxTransactionCostWei } from './gasFees.js'
import { readGasFees } from './gasPrice.js'
import {
  combineEvmJobStates,
  type EvmJob,
  type EvmJobState,
  type JobCall,
  readEvmJobState,
  type TransactionSigner,
} from './jobView.js'

/** Gas and fees of a simulated transaction, and the signer's balance; or the reason why the transaction would fail. */
export type SimulatedTx =
  | { gas: bigint; fees: GasFees; balanceWei: bigint }
  | { failure: TxFailure }

/** Prepares, signs and sends the transactions of one job. All methods but `sign` throw the errors of the RPC calls. */
export type EvmJobSender = ReturnType<typeof createEvmJobSender>

/** Gas that LayerZero's endpoint uses besides the receiver's call, with a margin. Measured: 70,000. */
const ENDPOINT_GAS = 100_000n
/** Gas for each earlier packet that is verified but not executed: the endpoint iterates over such packets. */
const GAS_PER_PACKET_BEHIND = 2_600n
/** Gas for a non-zero byte of calldata, at the floor price (EIP-7623). */
const GAS_PER_BYTE = 40n
const TX_GAS = 21_000n
/** Largest gas limit of a transaction (EIP-7825). */
const MAX_TX_GAS = 1n << 24n

/** Caches a node's answers during one batch of jobs, so that all jobs of the batch see the same head. */
export type RpcCallCache = (ask: RpcCall) => RpcCall

/** Creates a cache of calls for one batch of jobs. Failed calls are not cached. */
export function createRpcCallCache(): RpcCallCache {
  const nodes = new Map<RpcCall, Map<string, Promise<unknown>>>()
  return (ask) => {
    const answers = nodes.get(ask) ?? new Map<string, Promise<unknown>>()
    nodes.set(ask, answers)
    return <T>(method: string, params: readonly unknown[]): Promise<T> => {
      const question = JSON.stringify([method, params])
      const known = answers.get(question)
      if (known) return known as Promise<T>
      const answer = ask<T>(method, params)
      answers.set(question, answer)
      answer.catch(() => answers.delete(question))
      return answer
    }
  }
}

/**
 * Creates the functions that prepare, sign and send a job's transactions.
 * @param memo cache shared by the batch's jobs, for calls before a transaction is sent
 */
export function createEvmJobSender(
  { chain, account }: TransactionSigner,
  call: JobCall,
  memo: RpcCallCache = (ask) => ask,
) {
  const { rpc, config } = chain
  const from = account.address
  const callFor = (purpose: TxPurpose) =>
    purpose === 'cancel' || call.kind === 'noop' ? null : call
  return {
    async look(job: EvmJob): Promise<EvmJobState> {
      const views = await rpc.onEveryNode((ask) =>
        readEvmJobState(memo(ask), { chain, account }, call, job),
      )
      return combineEvmJobStates(views, { configured: rpc.size, isLocal: config.local })
    },
    /**
     * Simulates the job's transaction at the newest block. A revert is returned as a failure, not thrown. Unless the
     * first node's answer is enough to sign, every node is asked, so that a single node stops no job by a failure or by
     * its fees: the call fails where two nodes say so, or the only one that answers. A permanent failure parks the job,
     * so it needs two nodes where two are configured, and no node on which the call succeeds.
     * @param isEnough true for an answer with which the transaction is signed
     */
    async prepare(
      purpose: TxPurpose,
      valueWei: bigint,
      isEnough: (simulated: SimulatedTx) => boolean,
    ): Promise<SimulatedTx> {
      const made = callFor(purpose)
      const simulate = (ask: RpcCall): Promise<SimulatedTx> =>
        simulateCall(memo(ask), from, made, valueWei)
      const first = await rpc.onOneNode(simulate)
      if (isEnough(first)) return first
      const views = await rpc.onEveryNode(simulate, isPermanent(first) ? 2 : 1)
      const success = views.find(isEnough) ?? views.find((one) => !isFailure(one))
      const failures = views.filter(isFailure)
      if (success && failures.length < 2) return success
      return failures.find((one) => !isPermanent(one)) ?? success ?? first
    },
    /** Signs; sends nothing to a node. @throws SignerUnavailableError */
    async sign({ purpose, gas, fees, valueWei }: SignOrder, nonce: number): Promise<EvmJobTx> {
      const made = callFor(purpose)
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId: config.chainId,
        nonce,
        gas,
        ...fees,
        ...(made ? contractCallOf(made) : { to: from }),
        value: valueWei,
      })
      const offer = { purpose, gas, valueWei, ...fees }
      return { hash: keccak256(raw), raw, ...offer, sentBlock: null, isRejected: false }
    },
    broadcast: (raw: Hex): Promise<number | null> => broadcastTransaction(rpc, raw),
  }
}

/** A transaction to sign. `valueWei`: 0 for a cancel. */
export interface SignOrder {
  purpose: TxPurpose
  gas: bigint
  fees: GasFees
  valueWei: bigint
}

/**
 * Sends a signed transaction to every node. After an error, the node is asked for the transaction by its hash, and this
 * answer decides, whatever the error says. A node that refuses the transaction is not at fault, and is still used. A
 * node that does not answer the question for the hash has not refused: it may have the transaction.
 * @returns number of the newest block when a node has the transaction; null where that number could not be read
 * @throws RefusedByNodesError where two nodes refuse the transaction, or the only node does; ChainUnavailableError or
 * RpcError where too few nodes answer
 */
export async function broadcastTransaction(rpc: EvmRpc, raw: Hex): Promise<number | null> {
  const hash = keccak256(raw)
  const answers = await rpc.toEveryNode<{ head: number | null } | { error: RpcError }>(
    async (ask) => {
      const head = ask<Hex>('eth_blockNumber', []).then(Number, () => null)
      try {
        await ask('eth_sendRawTransaction', [raw])
      } catch (error) {
        const tx = await findTransaction(ask, hash)
        if (tx === null && isRefusalByNode(error)) return { error }
        if (tx?.hash !== hash) throw error
      }
      return { head: await head }
    },
    (one) => 'head' in one,
  )
  const [answer] = answers
  if ('head' in answer) return answer.head
  // one of several nodes may refuse a transaction that the others accept, so one refusal raises no price and cancels
  // nothing
  if (answers.length < rpc.needed)
    throw new ChainUnavailableError(
      `chain "${rpc.label}": one node refuses the transaction (${answer.error.message}), and the others do not answer`,
      { cause: answer.error },
    )
  throw new RefusedByNodesError(answer.error)
}

/** A node's answer about a hash: null where it does not have the transaction, undefined where it does not answer. */
const findTransaction = (ask: RpcCall, hash: Hex): Promise<{ hash: Hex } | null | undefined> =>
  fallbackOnExpectedError(
    ask<{ hash: Hex } | null>('eth_getTransactionByHash', [hash]),
    (error) => error instanceof RpcError,
    undefined,
  )

type ContractCall = Exclude<JobCall, { kind: 'noop' }>

function contractCallOf(call: ContractCall): BridgeCall {
  if (call.kind === 'deliver') return buildDeliverBidsCall(call.hub, call.bids)
  if ('payments' in call) return buildRefuseOrReleaseCall(call.kind, call.payments, call.of)
  return call.kind === 'verify'
    ? buildVerifyPacketCall(call.messageLib, call.packet)
    : buildExecutePacketCall(call.endpoint, call.packet)
}

async function prepareTransfer(ask: RpcCall, from: Hex): Promise<SimulatedTx> {
  const fees = await readGasFees(ask)
  const gas = BigInt(await ask<Hex>('eth_estimateGas', [{ from, to: from }]))
  const balanceWei = await readBalance(ask, from)
  return balanceWei < maxTransactionCostWei(gas, fees, 0n)
    ? INSUFFICIENT_FUNDS
    : { gas, fees, balanceWei }
}

/** Failure where the balance is too low. Checked before anything is signed, since nodes have no common error for it. */
const INSUFFICIENT_FUNDS: SimulatedTx = { failure: { class: 'transient', reason: WAITS_FOR_FUNDS } }

const readBalance = async (ask: RpcCall, address: Hex): Promise<bigint> =>
  BigInt(await ask<Hex>('eth_getBalance', [address, 'latest']))

const isFailure = (
  simulated: SimulatedTx,
): simulated is Extract<SimulatedTx, { failure: unknown }> => 'failure' in simulated

const isPermanent = (simulated: SimulatedTx): boolean =>
  isFailure(simulated) && simulated.failure.class === 'permanent'

/**
 * Simulates a call, or a transfer to the own account where `call` is null, on one node. A node's refusal is a failure:
 * as an error it would end the simulation without asking another node.
 */
async function simulateCall(
  ask: RpcCall,
  from: Hex,
  call: ContractCall | null,
  valueWei: bigint,
): Promise<SimulatedTx> {
  try {
    return await (call ? prepareCall(ask, from, call, valueWei) : prepareTransfer(ask, from))
  } catch (error) {
    if (!(error instanceof RpcError) || error.fault !== 'refused') throw error
    const reason = contractErrorOfRevert(error) || error.reason || 'reverted'
    return { failure: call ? await failureOf(ask, call, reason) : { class: 'transient', reason } }
  }
}

async function prepareCall(
  ask: RpcCall,
  from: Hex,
  call: ContractCall,
  valueWei: bigint,
): Promise<SimulatedTx> {
  // a rewind removed the payments: their fields are unknown until the indexer has read them again
  if ('of' in call && call.of.every(({ payment }) => payment === null))
    return { failure: { class: 'transient', reason: 'unknown_payment' } }
  const fees = await readGasFees(ask)
  const balanceWei = await readBalance(ask, from)
  if (balanceWei < valueWei) return INSUFFICIENT_FUNDS
  const tx = { from, ...contractCallOf(call), value: toRpcQuantity(valueWei) }
  const leastGas = await minimumGasFor(ask, call, tx.data)
  await ask('eth_call', [
    leastGas === null ? tx : { ...tx, gas: toRpcQuantity(leastGas) },
    'latest',
  ])
  const estimated = addPriceMargin(BigInt(await ask<Hex>('eth_estimateGas', [tx])), 'gas')
  const gas = leastGas !== null && leastGas > estimated ? leastGas : estimated
  return balanceWei < maxTransactionCostWei(gas, fees, valueWei)
    ? INSUFFICIENT_FUNDS
    : { gas, fees, balanceWei }
}

/** Name of the error with which the hub's `deliver` reverts above the daily limit. */
const LIMIT_EXCEEDED = 'deliver_limit_exceeded'

/**
 * Failure of a simulated call. Permanent for a single bid above the daily delivery limit, which only the hub's owner can
 * raise.
 */
async function failureOf(ask: RpcCall, call: ContractCall, reason: string): Promise<TxFailure> {
  if (call.kind === 'deliver' && reason === LIMIT_EXCEEDED && (await isAboveLimit(ask, call)))
    return { class: 'permanent', reason: PARKED_ABOVE_DELIVERY_LIMIT }
  return { class: 'revert', reason }
}

async function isAboveLimit(
  ask: RpcCall,
  { hub, bids }: Extract<JobCall, { kind: 'deliver' }>,
): Promise<boolean> {
  const limit = await fallbackIfRefused(
    createContractReader(ask, hub, hubAbi)('deliverLimit'),
    null,
  )
  return limit !== null && bids.length === 1 && bids[0]!.amountWei > limit
}

/**
 * Gas limit with which the receiver gets the gas that the packet's options ask for, at most the largest gas limit of a
 * transaction. The endpoint forwards all but a 64th of its remaining gas (EIP-150). Null for calls that execute no
 * packet.
 */
async function minimumGasFor(ask: RpcCall, call: JobCall, data: Hex): Promise<bigint | null> {
  if (call.kind !== 'execute') return null
  const { behind } = await readPacketState(ask, call.endpoint, call.packet, 'latest')
  const around =
    TX_GAS + GAS_PER_BYTE * BigInt(data.length / 2) + ENDPOINT_GAS + GAS_PER_PACKET_BEHIND * behind
  const gas = around + (call.option.gas * 64n) / 63n
  return gas < MAX_TX_GAS ? gas : MAX_TX_GAS
}
