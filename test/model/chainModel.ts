import type { Hex } from '../../src/chains/chain.js'
import { estimateGasFees, type GasFees } from '../../src/chains/evm/gasFees.js'
import type { EvmJobState, MinedReceipt } from '../../src/chains/evm/jobView.js'
import type { EvmJobSender } from '../../src/chains/evm/signer.js'
import { RefusedByNodesError, RpcError } from '../../src/chains/rpc/errors.js'
import type { TxPurpose } from '../../src/registry/outbox.js'
import type { EvmJob } from '../../src/relayer/machine/job.js'
import type { SaveJob } from '../../src/relayer/step.js'

/**
 * A chain with one signer, its nodes' mempool and a database, in memory, reduced to what matters for delivering exactly
 * once. For property tests of the relayer's machine, since a real chain is too slow for thousands of histories.
 */
const MODEL_CONFIRMATIONS = 2
const GAS = 100_000n
const CANCEL_GAS = 21_000n
const FUNDS = { balanceWei: 10n ** 30n }

interface ModelTx extends GasFees {
  id: string
  purpose: TxPurpose
  nonce: number
}

interface Block {
  txs: { hash: Hex; tx: ModelTx; succeeded: boolean; feeWei: bigint }[]
  /** Ids of messages that somebody else executed in it. */
  byOthers: string[]
  /** Nonces of the signer that something else used in it. */
  foreign: number[]
}

export interface Model {
  blocks: Block[]
  pool: Map<Hex, ModelTx>
  /** Every transaction that a node ever accepted, in order. */
  taken: ModelTx[]
  baseFeeWei: bigint
  isPaused: boolean
  /** The receiver refuses a message that it has executed. */
  refusesSecond: boolean
  /** Nodes answer as of this many blocks ago. */
  lag: number
  rows: Map<string, EvmJob>
  nextNonce: number
}

export const emptyModel = (refusesSecond: boolean): Model => ({
  blocks: [{ txs: [], byOthers: [], foreign: [] }],
  pool: new Map(),
  taken: [],
  baseFeeWei: 1_000_000_000n,
  isPaused: false,
  refusesSecond,
  lag: 0,
  rows: new Map(),
  nextNonce: 0,
})

const toHash = (tx: ModelTx): Hex =>
  `0x${Buffer.from(JSON.stringify(tx, (_, v) => (typeof v === 'bigint' ? `${v}n` : v))).toString('hex')}`
const fromRaw = (raw: Hex): ModelTx =>
  JSON.parse(Buffer.from(raw.slice(2), 'hex').toString(), (_, v) =>
    typeof v === 'string' && /^\d+n$/.test(v) ? BigInt(v.slice(0, -1)) : v,
  ) as ModelTx

/** The signer's transaction count after a block. */
const countAt = (model: Model, block: number): number =>
  model.blocks
    .slice(0, Math.max(0, block + 1))
    .reduce((count, { txs, foreign }) => count + txs.length + foreign.length, 0)

/** The blocks in which a message was executed. */
export const executionsOf = (model: Model, id: string): number[] =>
  model.blocks.flatMap(({ txs, byOthers }, block) => [
    ...byOthers.filter((other) => other === id).map(() => block),
    ...txs
      .filter(({ tx, succeeded }) => tx.id === id && tx.purpose === 'deliver' && succeeded)
      .map(() => block),
  ])

/** Mines what the mempool holds, by nonce, as far as it pays the base fee; or an empty block. */
export function mine(
  model: Model,
  { byOthers = [] as string[], isEmpty = false, foreign = 0 } = {},
): void {
  const block: Block = { txs: [], byOthers: [], foreign: [] }
  let nonce = countAt(model, model.blocks.length - 1)
  model.blocks.push(block)
  for (const id of byOthers) if (executionsOf(model, id).length === 0) block.byOthers.push(id)
  for (let i = 0; i < foreign; i++) block.foreign.push(nonce++)
  for (let next = isEmpty ? undefined : payable(model, nonce); next; next = payable(model, nonce)) {
    const [hash, tx] = next
    const isSecond = model.refusesSecond && executionsOf(model, tx.id).length > 0
    const succeeded = tx.purpose === 'cancel' || !(model.isPaused || isSecond)
    const used = tx.purpose === 'cancel' ? CANCEL_GAS : GAS
    block.txs.push({ hash, tx, succeeded, feeWei: used * model.baseFeeWei })
    nonce += 1
  }
  for (const [hash, tx] of model.pool) if (tx.nonce < nonce) model.pool.delete(hash)
}

const payable = (model: Model, nonce: number): [Hex, ModelTx] | undefined =>
  [...model.pool].find(([, tx]) => tx.nonce === nonce && tx.maxFeePerGas >= model.baseFeeWei)

/**
 * Reorgs unconfirmed blocks and mines one more. Their transactions return to the mempool, or are lost. A block in which
 * others used the key stays: without it, its nonce is a gap that nobody here fills (the relayer's nonce keeper does).
 */
export function reorg(model: Model, depth: number, isLost: boolean): void {
  const firstFree = model.blocks.findLastIndex(({ foreign }) => foreign.length > 0) + 1
  const gone = model.blocks.splice(
    Math.max(1, firstFree, model.blocks.length - Math.min(depth, MODEL_CONFIRMATIONS)),
  )
  if (!isLost) for (const { txs } of gone) for (const { hash, tx } of txs) model.pool.set(hash, tx)
  mine(model, { isEmpty: true })
  for (const _ of gone) mine(model, { isEmpty: true })
}

/** The chain as one job's step sees it. `fault` may throw at any call. */
export function modelSender(model: Model, id: string, fault: (call: string) => void): EvmJobSender {
  const receipt = (job: EvmJob, head: number): MinedReceipt | null => {
    for (const { hash } of job.txs) {
      for (const [block, { txs }] of model.blocks.slice(0, head + 1).entries()) {
        const found = txs.find((mined) => mined.hash === hash)
        if (found) {
          const { succeeded, feeWei } = found
          return {
            hash,
            block,
            succeeded,
            feeWei,
            isConfirmed: head - block >= MODEL_CONFIRMATIONS,
          }
        }
      }
    }
    return null
  }
  return {
    async look(job) {
      fault('look')
      const head = Math.max(0, model.blocks.length - 1 - model.lag)
      const executed = executionsOf(model, id).filter((block) => block <= head)
      const isConfirmed = executed.some((block) => head - block >= MODEL_CONFIRMATIONS)
      const unsure = executed.length > 0 ? 'unconfirmed' : 'no'
      return {
        head,
        isSure: true,
        done: isConfirmed ? 'confirmed' : unsure,
        nonce: nonceState(model, job.nonce, head),
        mined: receipt(job, head),
      }
    },
    async prepare(purpose) {
      fault('prepare')
      if (purpose === 'cancel')
        return { ...FUNDS, gas: CANCEL_GAS, fees: estimateGasFees(model.baseFeeWei, []) }
      const isSecond = model.refusesSecond && executionsOf(model, id).length > 0
      if (model.isPaused || isSecond) return { failure: { class: 'revert', reason: 'reverted' } }
      return { ...FUNDS, gas: GAS, fees: estimateGasFees(model.baseFeeWei, []) }
    },
    async sign({ purpose, gas, fees, valueWei }, nonce) {
      const hash = toHash({ id, purpose, nonce, ...fees })
      const offer = { purpose, gas, valueWei, ...fees }
      return { hash, raw: hash, ...offer, sentBlock: null, isRejected: false }
    },
    async broadcast(raw) {
      fault('broadcast')
      // a node that has the transaction is known by the hash, whatever it says
      if (!hasTransaction(model, raw)) take(model, raw)
      fault('broadcasted')
      return model.blocks.length - 1
    },
  }
}

function nonceState(model: Model, nonce: number | null, head: number): EvmJobState['nonce'] {
  if (nonce === null) return 'later'
  if (countAt(model, head - MODEL_CONFIRMATIONS) > nonce) return 'confirmed'
  const count = countAt(model, head)
  if (count > nonce) return 'unconfirmed'
  return count === nonce ? 'next' : 'later'
}

const refusal = (message: string): RpcError =>
  new RefusedByNodesError(new RpcError('transient', message))

const hasTransaction = (model: Model, hash: Hex): boolean =>
  model.pool.has(hash) || model.blocks.some(({ txs }) => txs.some((mined) => mined.hash === hash))

/** A node's mempool, with geth's error messages. */
function take(model: Model, raw: Hex): void {
  const tx = fromRaw(raw)
  if (tx.nonce < countAt(model, model.blocks.length - 1)) throw refusal('nonce too low')
  if (tx.maxFeePerGas < model.baseFeeWei) throw refusal('max fee per gas less than block base fee')
  for (const [hash, other] of model.pool) {
    if (other.nonce !== tx.nonce) continue
    const isRaised =
      tx.maxFeePerGas * 100n >= other.maxFeePerGas * 110n &&
      tx.maxPriorityFeePerGas * 100n >= other.maxPriorityFeePerGas * 110n
    if (!isRaised) throw refusal('replacement transaction underpriced')
    model.pool.delete(hash)
  }
  model.pool.set(raw, tx)
  model.taken.push(tx)
}

/** The database, for one job as it is read now. `fault` may throw before and after it stores. */
export function modelStore(model: Model, id: string, fault: (call: string) => void): SaveJob {
  const before = model.rows.get(id)
  return async (after) => {
    const isNew = typeof after === 'function'
    if (!isNew) fault('save')
    if (model.rows.get(id) !== before) return false
    if (isNew) {
      const nonce = Math.max(model.nextNonce, countAt(model, model.blocks.length - 1))
      const made = await after(nonce)
      fault('save')
      model.nextNonce = nonce + 1
      model.rows.set(id, made)
    } else model.rows.set(id, after)
    fault('saved')
    return true
  }
}

/** Count of nonces that the signer has used. */
export const usedNonces = (model: Model): number => countAt(model, model.blocks.length - 1)
