import { type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  ABOVE_DELIVER_LIMIT,
  INSUFFICIENT_FUNDS,
  type JobProgress,
  type NonceTx,
  type Purpose,
} from '../../registry/outbox.js'
import { RpcError } from '../rpc/errors.js'
import type { Call } from '../rpc/evm.js'
import {
  type BridgeCall,
  deliverCall,
  executeCall,
  type PaidBid,
  readAreDelivered,
  readPacketState,
  revertReason,
  verifyCall,
} from './bridge/calls.js'
import type { Packet } from './bridge/packet.js'
import type { LzReceiveOption } from './bridge/packetOptions.js'
import { type EvmChain, readHeads } from './chain.js'
import { areEnded, endingCall, type PaymentToEnd } from './community/ending.js'
import { hubAbi } from './contracts/index.js'
import { readContract } from './contracts/read.js'
import { capFees, type Fees, maxCostWei } from './fees.js'
import { readFees } from './gasPrice.js'
import { classifyTxError, type TxFailure } from './txErrors.js'

type NonceJob = JobProgress<NonceTx>

/** A transaction of a job in a block. */
export interface Mined {
  hash: Hex
  block: number
  succeeded: boolean
  isConfirmed: boolean
  /** Gas used times its price. */
  feeWei: bigint
}

/** Gas and fees of a transaction that a node has simulated, or why it would fail. */
export type Prepared = { gas: bigint; fees: Fees } | { failure: TxFailure }

/**
 * The chain's view of a job. The nonce is read before the receipts, else a transaction mined in between looks lost.
 */
export interface NonceView {
  /** Number of the newest block. */
  head: number
  /** Whether the job's effect is on chain, whoever caused it. */
  done: 'no' | 'unconfirmed' | 'confirmed'
  /** The job's nonce: behind another unused one, the signer's next, used in some block, used in a confirmed one. */
  nonce: 'later' | 'next' | 'unconfirmed' | 'confirmed'
  /** Receipt of whichever of the job's transactions has one. */
  mined: Mined | null
}

/** What all nodes know of a job, and how many were asked. */
export type Searched = Pick<NonceView, 'mined' | 'nonce'> & { searched: number }

/** States of a nonce, the least used first. */
const NONCE_STATES = ['later', 'next', 'unconfirmed', 'confirmed'] as const satisfies NonceView['nonce'][]

/** A job's view of its chain and signer. Each method may throw whatever the transport throws. */
export type NonceSender = ReturnType<typeof createNonceSender>

/** Gas that the endpoint uses around the receiver's call, with room; measured 70,000. */
const ENDPOINT_GAS = 100_000n
/** For each earlier packet that is verified and not executed, which the endpoint counts over. */
const GAS_PER_PACKET_BEHIND = 2_600n
/** The floor price of a byte of calldata that is not zero (EIP-7623). */
const GAS_PER_BYTE = 40n
const TX_GAS = 21_000n
/** No transaction may have more (EIP-7825). */
const MAX_TX_GAS = 1n << 24n

/** A key of ours on a chain. */
export interface Signer {
  chain: EvmChain
  account: PrivateKeyAccount
}

/** The call of a job's transaction; a noop calls nothing. */
export type JobCall =
  | { kind: 'verify'; endpoint: Hex; messageLib: Hex; packet: Packet }
  | { kind: 'execute'; endpoint: Hex; packet: Packet; option: LzReceiveOption }
  | { kind: 'deliver'; hub: Hex; bids: readonly PaidBid[] }
  | { kind: 'refuse' | 'release'; payments: Hex; of: readonly PaymentToEnd[] }
  | { kind: 'noop' }

/** Memoizes RPC calls per node within one batch, so that all jobs of the batch see the same head. */
export type Memo = (ask: Call) => Call

/** Starts a memo. A failed call is repeated. */
export function createMemo(): Memo {
  const nodes = new Map<Call, Map<string, Promise<unknown>>>()
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
 * A job's sender over all nodes of its chain.
 * @param memo shares what is asked before anything is sent with other jobs
 */
export function createNonceSender({ chain, account }: Signer, call: JobCall, memo: Memo = (ask) => ask) {
  const { rpc, config } = chain
  const from = account.address
  const callFor = (purpose: Purpose) => (purpose === 'cancel' || call.kind === 'noop' ? null : call)
  return {
    /** `mined` may come from one node. */
    look: (job: NonceJob): Promise<NonceView> => rpc.onOneNode((ask) => look(memo(ask), { chain, account }, call, job)),
    /** Asks every node for the job's receipts, and whether its nonce is used: it is where all say so. */
    search: async (job: NonceJob): Promise<Searched> => {
      const found = await rpc.onEveryNode((ask) => search(ask, { chain, account }, job))
      const mined = found.find((one) => one.mined?.isConfirmed) ?? found.find((one) => one.mined !== null)
      const [nonce = 'next'] = NONCE_STATES.filter((state) => found.some((one) => one.nonce === state))
      return { mined: mined?.mined ?? null, nonce, searched: found.length }
    },
    /** Simulates at the newest block, estimates gas and fees. A revert is a failure, not an exception. */
    prepare: (job: NonceJob, purpose: Purpose): Promise<Prepared> =>
      rpc.onOneNode(async (ask) => {
        const made = callFor(purpose)
        const fees = () => readFees(rpc, ask, memo)
        return made
          ? prepareCall(memo(ask), fees, from, { call: made, valueWei: job.valueWei })
          : prepareTransfer(memo(ask), fees, from)
      }),
    /** Signs offline; nothing is sent. */
    async sign({ purpose, nonce, gas, fees, valueWei }: SignOrder): Promise<{ hash: Hex; raw: Hex }> {
      const made = callFor(purpose)
      const target = made ? { ...callOf(made), value: valueWei } : { to: from, value: 0n }
      return signed(account, { chainId: config.chainId, nonce, gas, ...fees, ...target })
    },
    /** @returns the newest block when the node took the transaction, null where that could not be read */
    broadcast: (raw: Hex): Promise<number | null> => broadcast(chain, raw),
  }
}

type SignOrder = { purpose: Purpose; nonce: number; gas: bigint; fees: Fees; valueWei: bigint }

async function broadcast({ rpc }: EvmChain, raw: Hex): Promise<number | null> {
  // a node's word about the transaction is no fault of the node, which stays in use
  const answer = await rpc.onOneNode(async (ask) => {
    const head = ask<Hex>('eth_blockNumber', []).then(Number, () => null)
    try {
      await ask('eth_sendRawTransaction', [raw])
      return { head: await head }
    } catch (error) {
      if (classifyTxError(error).class === 'transient') throw error
      return { error }
    }
  })
  if ('error' in answer) throw answer.error
  return answer.head
}

/** Signs an EIP-1559 transaction offline. */
async function signed(
  account: PrivateKeyAccount,
  tx: Fees & { chainId: number; nonce: number; gas: bigint; to: Hex; value: bigint; data?: Hex },
): Promise<{ hash: Hex; raw: Hex }> {
  const raw = await account.signTransaction({ type: 'eip1559', ...tx })
  return { hash: keccak256(raw), raw }
}

function callOf(call: Exclude<JobCall, { kind: 'noop' }>): BridgeCall {
  if (call.kind === 'deliver') return deliverCall(call.hub, call.bids)
  if ('payments' in call) return endingCall(call.kind, call.payments, call.of)
  return call.kind === 'verify' ? verifyCall(call.messageLib, call.packet) : executeCall(call.endpoint, call.packet)
}

/** The blocks as of which a job is looked at. */
interface Heads {
  latest: number
  confirmed: number
}

async function look(ask: Call, { chain, account }: Signer, call: JobCall, job: NonceJob): Promise<NonceView> {
  const { latest, confirmed } = await readHeads(ask, chain.config)
  const heads = { latest: latest.number, confirmed }
  const nonce = await readNonce(ask, account.address, job.nonce, heads)
  const isUsed = nonce === 'unconfirmed' || nonce === 'confirmed'
  // an unused nonce has no receipt yet
  const mined = isUsed ? await findReceipt(ask, job, confirmed) : null
  return { head: latest.number, nonce, mined, done: await readDone(ask, call, heads) }
}

async function search(ask: Call, { chain, account }: Signer, job: NonceJob): Promise<Omit<Searched, 'searched'>> {
  const { latest, confirmed } = await readHeads(ask, chain.config)
  const nonce = await readNonce(ask, account.address, job.nonce, { latest: latest.number, confirmed })
  return { nonce, mined: await findReceipt(ask, job, confirmed) }
}

async function readNonce(
  ask: Call,
  signer: Hex,
  nonce: number | null,
  { latest, confirmed }: Heads,
): Promise<NonceView['nonce']> {
  if (nonce === null) return 'next'
  const countAt = async (block: number) =>
    Number(await ask<Hex>('eth_getTransactionCount', [signer, toQuantity(block)]))
  const used = await countAt(latest)
  if (used < nonce) return 'later'
  if (used === nonce) return 'next'
  return ((await atConfirmed(confirmed, countAt)) ?? 0) > nonce ? 'confirmed' : 'unconfirmed'
}

async function readDone(ask: Call, call: JobCall, { latest, confirmed }: Heads): Promise<NonceView['done']> {
  if (call.kind === 'noop') return 'confirmed'
  const isDoneAt = async (block: number): Promise<boolean> => {
    if (call.kind === 'deliver') return readAreDelivered(ask, call.hub, call.bids, toQuantity(block))
    if ('payments' in call) return areEnded(ask, call.payments, call.of, block)
    const state = await readPacketState(ask, call.endpoint, call.packet, toQuantity(block))
    return call.kind === 'verify' ? state.isVerified : state.isExecuted
  }
  if (!(await isDoneAt(latest))) return 'no'
  return (await atConfirmed(confirmed, isDoneAt)) ? 'confirmed' : 'unconfirmed'
}

/**
 * An answer as of the newest confirmed block; null where there is none, or where the node doesn't hold that state
 * (after a restart): what can't be answered counts as unconfirmed.
 */
async function atConfirmed<T>(confirmed: number, question: (block: number) => Promise<T>): Promise<T | null> {
  if (confirmed < 0) return null
  try {
    return await question(confirmed)
  } catch (error) {
    if (error instanceof RpcError) return null
    throw error
  }
}

type RawReceipt = Record<'blockNumber' | 'status' | 'gasUsed' | 'effectiveGasPrice', Hex>

async function findReceipt(ask: Call, { txs }: NonceJob, confirmed: number): Promise<Mined | null> {
  for (const { hash } of [...txs].reverse()) {
    const receipt = await ask<RawReceipt | null>('eth_getTransactionReceipt', [hash])
    if (!receipt) continue
    const block = Number(receipt.blockNumber)
    return {
      hash,
      block,
      succeeded: receipt.status === '0x1',
      isConfirmed: block <= confirmed,
      feeWei: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
    }
  }
  return null
}

type ReadFees = () => Promise<Fees>

async function prepareTransfer(ask: Call, fees: ReadFees, from: Hex): Promise<{ gas: bigint; fees: Fees }> {
  return { fees: await fees(), gas: BigInt(await ask<Hex>('eth_estimateGas', [{ from, to: from }])) }
}

async function prepareCall(
  ask: Call,
  readFees: ReadFees,
  from: Hex,
  { call, valueWei }: { call: Exclude<JobCall, { kind: 'noop' }>; valueWei: bigint },
): Promise<Prepared> {
  // taken back by a rewind: their words are unknown until they are read again
  if ('of' in call && call.of.every(({ payment }) => payment === null))
    return { failure: { class: 'transient', reason: 'unknown_payment' } }
  const fees = await readFees()
  const tx = { from, ...callOf(call), value: toQuantity(valueWei) }
  try {
    const leastGas = await gasFor(ask, call, tx.data)
    await ask('eth_call', [leastGas === null ? tx : { ...tx, gas: toQuantity(leastGas) }, 'latest'])
    const estimated = (BigInt(await ask<Hex>('eth_estimateGas', [tx])) * 5n) / 4n
    const gas = leastGas !== null && leastGas > estimated ? leastGas : estimated
    const balance = BigInt(await ask<Hex>('eth_getBalance', [from, 'latest']))
    // checked here, so that no nonce is taken for it
    return balance < maxCostWei(gas, fees, valueWei)
      ? { failure: { class: 'transient', reason: INSUFFICIENT_FUNDS } }
      : { gas, fees }
  } catch (error) {
    const reason = revertReason(error)
    if (reason === null) throw error
    return { failure: await failureOf(ask, call, reason) }
  }
}

/** Revert of the hub's `deliver`. */
const LIMIT_EXCEEDED = 'deliver_limit_exceeded'

/** A bid above what deliveries may win in a day is never taken. */
async function failureOf(ask: Call, call: JobCall, reason: string): Promise<TxFailure> {
  if (call.kind === 'deliver' && reason === LIMIT_EXCEEDED && (await isAboveLimit(ask, call)))
    return { class: 'permanent', reason: ABOVE_DELIVER_LIMIT }
  return { class: 'revert', reason }
}

async function isAboveLimit(ask: Call, { hub, bids }: Extract<JobCall, { kind: 'deliver' }>): Promise<boolean> {
  const limit = await readContract(ask, hub, { abi: hubAbi, functionName: 'deliverLimit' })
  return bids.length === 1 && bids[0]!.amountWei > limit
}

/**
 * Gas with which the receiver gets what the packet's options ask for, as far as a transaction may have it: the endpoint
 * hands on all but a 64th (EIP-150) of what it doesn't use. Null for calls without such options.
 */
async function gasFor(ask: Call, call: JobCall, data: Hex): Promise<bigint | null> {
  if (call.kind !== 'execute') return null
  const { behind } = await readPacketState(ask, call.endpoint, call.packet, 'latest')
  const around = TX_GAS + GAS_PER_BYTE * BigInt(data.length / 2) + ENDPOINT_GAS + GAS_PER_PACKET_BEHIND * behind
  const gas = around + (call.option.gas * 64n) / 63n
  return gas < MAX_TX_GAS ? gas : MAX_TX_GAS
}

/**
 * Signs a transfer of nothing to the signer itself, at current fees, which uses a nonce up.
 * @returns null while gas costs more than the cap
 */
export async function signNoop({ chain, account }: Signer, nonce: number, capWei: bigint): Promise<NonceTx | null> {
  const { rpc, config } = chain
  const { gas, fees: fresh } = await rpc.onOneNode((ask) =>
    prepareTransfer(ask, () => readFees(rpc, ask), account.address),
  )
  const fees = capFees(fresh, capWei)
  if (!fees) return null
  const { chainId } = config
  const bytes = await signed(account, { chainId, nonce, gas, ...fees, to: account.address, value: 0n })
  return { ...bytes, purpose: 'cancel', gas, valueWei: 0n, ...fees, sentBlock: null, isRejected: false }
}

const toQuantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
