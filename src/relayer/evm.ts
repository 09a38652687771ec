import type { Hex } from 'viem'
import { keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type BridgeCall, executeCall, readPacketState, revertReason, verifyCall } from '../chains/evm/bridge/calls.js'
import { deliverCall, type PaidBid, readIsDelivered } from '../chains/evm/bridge/delivery.js'
import type { Packet } from '../chains/evm/bridge/packet.js'
import type { LzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { type EvmChain, readHeads } from '../chains/evm/chain.js'
import { type PaymentToRefuse, readHeldState, refuseCall } from '../chains/evm/community/refusal.js'
import { RpcError } from '../chains/rpc/errors.js'
import type { Call } from '../chains/rpc/evm.js'
import type { DeliveryChain, SignOrder } from './converge.js'
import { type Delivery, HOLD_OVER, type Purpose } from './delivery.js'
import { classifyError } from './errors.js'
import { estimateFees, type Fees, maxCostWei } from './fees.js'
import type { Mined, Prepared, Seen } from './machine.js'

/** What the endpoint itself uses around the receiver's call, with room; measured 70,000. */
const ENDPOINT_GAS = 100_000n
/** For each earlier packet that is verified and not executed, which the endpoint counts over. */
const GAS_PER_PACKET_BEHIND = 2_600n
/** The floor price of a byte of calldata that is not zero (EIP-7623). */
const GAS_PER_BYTE = 40n
const TX_GAS = 21_000n
/** No transaction may have more (EIP-7825). */
const MAX_TX_GAS = 1n << 24n
const FEE_HISTORY_BLOCKS = '0x5'
const MEDIAN_PERCENTILE = 50

/** The signer, and the chain on which it delivers. */
export interface Signer {
  chain: EvmChain
  account: PrivateKeyAccount
}

/**
 * What a delivery does: carries a packet one step further, tells the hub of a payment, gives a payment back, or only uses its
 * nonce up.
 */
export type Job =
  | { kind: 'verify'; endpoint: Hex; messageLib: Hex; packet: Packet }
  | { kind: 'execute'; endpoint: Hex; packet: Packet; option: LzReceiveOption }
  | { kind: 'deliver'; hub: Hex; bid: PaidBid }
  | { kind: 'refuse'; payments: Hex; payment: PaymentToRefuse }
  | { kind: 'fill' }

/**
 * Lets the deliveries that are looked at together share what they ask: the same question to the same node gets the same answer,
 * the head above all, so that every other answer is of one block.
 */
export type Share = (ask: Call) => Call

/** Answers shared from now on. A question that failed is asked again. */
export function shareAnswers(): Share {
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
 * A delivery's view of an EVM chain, over all of its nodes.
 * @param share what it asks before anything is sent is shared with others
 */
export function createDeliveryChain(signer: Signer, job: Job, share: Share = (ask) => ask): DeliveryChain {
  const { chain, account } = signer
  const { rpc } = chain
  const from = account.address
  const call = job.kind === 'fill' ? null : callOf(job)
  return {
    observe: (delivery) => rpc.onOneNode((ask) => observe(share(ask), signer, job, delivery)),
    search: async (delivery) => {
      const found = await rpc.onEveryNode(async (ask) => {
        const { confirmed } = await readHeads(ask, chain.config)
        return findReceipt(ask, delivery, confirmed)
      })
      return found.find((mined) => mined?.isConfirmed) ?? found.find((mined) => mined !== null) ?? null
    },
    prepare: (delivery, purpose) => rpc.onOneNode((ask) => prepare(share(ask), signer, job, delivery, purpose)),
    async sign(_delivery, { purpose, nonce, gas, fees, valueWei }: SignOrder) {
      const target = purpose === 'deliver' && call ? { ...call, value: valueWei } : { to: from, value: 0n }
      const { chainId } = chain.config
      return signed(account, { chainId, nonce, gas, ...fees, ...target })
    },
    async broadcast(raw) {
      // what a node says about the transaction is no fault of the node: it is not rested for it
      const answer = await rpc.onOneNode(async (ask) => {
        const head = ask<Hex>('eth_blockNumber', []).then(Number, () => null)
        try {
          await ask('eth_sendRawTransaction', [raw])
          return { head: await head }
        } catch (error) {
          if (classifyError(error).class === 'transient') throw error
          return { error }
        }
      })
      if ('error' in answer) throw answer.error
      return answer.head
    },
  }
}

/** Signs an EIP-1559 transaction offline. */
async function signed(
  account: PrivateKeyAccount,
  tx: Fees & { chainId: number; nonce: number; gas: bigint; to: Hex; value: bigint; data?: Hex },
): Promise<{ hash: Hex; raw: Hex }> {
  const raw = await account.signTransaction({ type: 'eip1559', ...tx })
  return { hash: keccak256(raw), raw }
}

function callOf(job: Exclude<Job, { kind: 'fill' }>): BridgeCall {
  if (job.kind === 'deliver') return deliverCall(job.hub, job.bid)
  if (job.kind === 'refuse') return refuseCall(job.payments, job.payment)
  return job.kind === 'verify' ? verifyCall(job.messageLib, job.packet) : executeCall(job.endpoint, job.packet)
}

async function observe(
  ask: Call,
  { chain, account }: Signer,
  job: Job,
  delivery: Delivery,
): Promise<Pick<Seen, 'head' | 'delivered' | 'nonce' | 'mined'>> {
  const { latest, confirmed } = await readHeads(ask, chain.config)
  const nonce = await readNonce(ask, account.address, delivery.nonce, latest.number, confirmed)
  const isUsed = nonce === 'unconfirmed' || nonce === 'confirmed'
  // a nonce that is unused has no receipt yet
  const mined = isUsed ? await findReceipt(ask, delivery, confirmed) : null
  return { head: latest.number, nonce, mined, delivered: await readDelivered(ask, job, latest.number, confirmed) }
}

async function readNonce(
  ask: Call,
  signer: Hex,
  nonce: number | null,
  latest: number,
  confirmed: number,
): Promise<Seen['nonce']> {
  if (nonce === null) return 'next'
  const countAt = async (block: number) => Number(await ask<Hex>('eth_getTransactionCount', [signer, hex(block)]))
  const used = await countAt(latest)
  if (used < nonce) return 'later'
  if (used === nonce) return 'next'
  return ((await atConfirmed(confirmed, countAt)) ?? 0) > nonce ? 'confirmed' : 'unconfirmed'
}

async function readDelivered(ask: Call, job: Job, latest: number, confirmed: number): Promise<Seen['delivered']> {
  if (job.kind === 'fill') return 'confirmed'
  const isDoneAt = async (block: number): Promise<boolean> => {
    if (job.kind === 'deliver') return readIsDelivered(ask, job.hub, job.bid.messageId, hex(block))
    if (job.kind === 'refuse') return (await readHeldState(ask, job.payments, job.payment, block)) === 'refused'
    const state = await readPacketState(ask, job.endpoint, job.packet, hex(block))
    return job.kind === 'verify' ? state.isVerified : state.isExecuted
  }
  if (!(await isDoneAt(latest))) return 'no'
  return (await atConfirmed(confirmed, isDoneAt)) ? 'confirmed' : 'unconfirmed'
}

/**
 * An answer as of the newest confirmed block; null where there is none, or where the node doesn't hold its state (one that has
 * just been restarted): what can't be told counts as unconfirmed.
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

interface RawReceipt {
  blockNumber: Hex
  status: Hex
  gasUsed: Hex
  effectiveGasPrice: Hex
}

async function findReceipt(ask: Call, { txs }: Delivery, confirmed: number): Promise<Mined | null> {
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

async function prepare(
  ask: Call,
  { account }: Signer,
  job: Job,
  delivery: Delivery,
  purpose: Purpose,
): Promise<Prepared> {
  const from = account.address
  const fees = await readFees(ask)
  if (purpose === 'cancel' || job.kind === 'fill') {
    return { gas: BigInt(await ask<Hex>('eth_estimateGas', [{ from, to: from }])), fees }
  }
  const tx = { from, ...callOf(job), value: toQuantity(delivery.valueWei) }
  try {
    const leastGas = await gasFor(ask, job, tx.data)
    await ask('eth_call', [leastGas === null ? tx : { ...tx, gas: toQuantity(leastGas) }, 'latest'])
    const estimated = (BigInt(await ask<Hex>('eth_estimateGas', [tx])) * 5n) / 4n
    const gas = leastGas !== null && leastGas > estimated ? leastGas : estimated
    const balance = BigInt(await ask<Hex>('eth_getBalance', [from, 'latest']))
    // found out here, no nonce is taken for it
    return balance < maxCostWei(gas, fees, delivery.valueWei)
      ? { failure: { class: 'transient', reason: 'insufficient_funds' } }
      : { gas, fees }
  } catch (error) {
    const reason = revertReason(error)
    if (reason !== null && (await isReleased(ask, job, reason)))
      return { failure: { class: 'permanent', reason: HOLD_OVER } }
    if (reason !== null) return { failure: { class: 'revert', reason } }
    throw error
  }
}

/** Whether a payment can't be given back any more: its hold is over, or it has been released to its recipient since. */
async function isReleased(ask: Call, job: Job, reason: string): Promise<boolean> {
  if (job.kind !== 'refuse') return false
  if (reason === HOLD_OVER) return true
  if (reason !== 'not_held') return false
  const latest = Number(await ask<Hex>('eth_blockNumber', []))
  return (await readHeldState(ask, job.payments, job.payment, latest)) === 'released'
}

/**
 * Gas with which the receiver gets what the packet's options ask for, as far as a transaction may have it: the endpoint hands on
 * all but a 64th (EIP-150) of what it doesn't use. null where nothing was asked.
 */
async function gasFor(ask: Call, job: Exclude<Job, { kind: 'fill' }>, data: Hex): Promise<bigint | null> {
  if (job.kind !== 'execute') return null
  const { behind } = await readPacketState(ask, job.endpoint, job.packet, 'latest')
  const around = TX_GAS + GAS_PER_BYTE * BigInt(data.length / 2) + ENDPOINT_GAS + GAS_PER_PACKET_BEHIND * behind
  const gas = around + (job.option.gas * 64n) / 63n
  return gas < MAX_TX_GAS ? gas : MAX_TX_GAS
}

async function readFees(ask: Call): Promise<Fees> {
  const history = await ask<{ baseFeePerGas: Hex[]; reward?: Hex[][] }>('eth_feeHistory', [
    FEE_HISTORY_BLOCKS,
    'latest',
    [MEDIAN_PERCENTILE],
  ])
  // the last one is the next block's
  const baseFeeWei = BigInt(history.baseFeePerGas.at(-1) ?? '0x0')
  return estimateFees(
    baseFeeWei,
    (history.reward ?? []).flatMap(([tip]) => (tip === undefined ? [] : [BigInt(tip)])),
  )
}

/** A transaction that only uses a nonce up, at what the chain asks for now. */
export async function signFill(signer: Signer, nonce: number): Promise<SignOrder & { hash: Hex; raw: Hex }> {
  const { chain, account } = signer
  const { fees, gas } = await chain.rpc.onOneNode(async (ask) => ({
    fees: await readFees(ask),
    gas: BigInt(await ask<Hex>('eth_estimateGas', [{ from: account.address, to: account.address }])),
  }))
  const { chainId } = chain.config
  const bytes = await signed(account, { chainId, nonce, gas, ...fees, to: account.address, value: 0n })
  return { purpose: 'cancel', nonce, gas, fees, valueWei: 0n, ...bytes }
}

const hex = (block: number): Hex => `0x${block.toString(16)}`
const toQuantity = (value: bigint): Hex => `0x${value.toString(16)}`
