import { capGasFees } from '../chains/evm/gasFees.js'
import type { TransactionSigner } from '../chains/evm/jobView.js'
import { createEvmJobSender, type SimulatedTx } from '../chains/evm/signer.js'
import { transientError } from '../chains/rpc/errors.js'
import type { RpcCall } from '../chains/rpc/nodes.js'
import { findJobs } from '../db/outbox/due.js'
import {
  inRelayerTransaction,
  insertNoopJob,
  reserveSpending,
  type SignerRowKey,
  saveJobs,
} from '../db/outbox/jobs.js'
import {
  moveNextNonce,
  readSignerNonces,
  type SignerNonces,
  storeClaimedTxCount,
} from '../db/outbox/signers.js'
import type { LeaderContext } from '../ops/context.js'
import { failpoint } from '../ops/failpoint.js'
import { fallbackOnExpectedError } from '../ops/logger/errors.js'
import { DailyCapError, type EvmJobTx, maxNonceCostWei } from '../registry/outbox.js'
import {
  decideNonce,
  findLostNonces,
  type MissingNonce,
  missingNonceSince,
  type NonceCountReport,
  type NonceDecision,
} from './gaps.js'
import { applyJobEvent } from './machine/index.js'

/** Age from which a gap of lost nonces is repaired, ms. A lagging node may show a gap that does not exist. */
const GAP_REPAIR_DELAY_MS = 600_000
const LOCAL_GAP_REPAIR_DELAY_MS = 2_000
/** No account has sent more transactions, so a larger answer is not a count. */
const MAX_TRANSACTION_COUNT = 2 ** 32

interface NonceKeeperOptions extends Pick<LeaderContext, 'pool' | 'epoch'> {
  key: SignerRowKey
  signer: TransactionSigner
  /** Highest price that may be paid for a unit of gas, wei. */
  gasPriceCapWei: () => Promise<bigint>
  /** Maximum wei that the signer may commit in a day. */
  dailyCapWei: bigint
  nowMs: () => number
  /**
   * Runs work on one nonce and catches its error, so that other nonces are repaired.
   * @returns null if the work failed
   */
  guard<T>(about: object, work: () => Promise<T>): Promise<T | null>
}

/**
 * Keeps a signer's nonces without gaps. Every nonce is taken together with signed bytes, so a gap has an external
 * cause: a chain that lost confirmed blocks (a killed local chain), or another transaction with our key that a reorg
 * removed. No transaction after a gap can be mined, so nothing is signed with a later nonce.
 */
export class NonceKeeper {
  readonly #options: NonceKeeperOptions
  readonly #isLocal: boolean
  #missing: MissingNonce | null = null
  #undecided: NonceCountReport | null = null
  #claimedTxCount: number | null = null

  constructor(options: NonceKeeperOptions) {
    this.#options = options
    this.#isLocal = options.signer.chain.config.local
  }

  /**
   * Compares the chain's transaction count with the stored nonces and repairs old gaps. A transaction that used a lost
   * nonce is sent again. A nonce that no transaction used is used up by a noop.
   * @param alive called after each repair, to show that the step still works
   * @returns the number of repaired nonces, whether the next nonce may be given out, the number of lost nonces that
   * block others, and the chain's count that an operator has to confirm, if any
   * @throws ChainUnavailableError, LostLeadershipError
   */
  async step(alive: () => void) {
    let { observations, stored, decision } = await this.#decide()
    // after the stored next nonce changed, the chain's count is read again before anything is signed
    if (decision.kind === 'changed') ({ observations, stored, decision } = await this.#decide())
    const { next, holders } = stored
    const lost =
      next === null
        ? []
        : findLostNonces(Math.max(...observations.map(({ count }) => count)), next, holders)
    const mended = await this.#repair(lost, holders, alive)
    return {
      mended,
      isSound: decision.kind === 'sound',
      gaps: lost.length,
      claimed: this.#claimedTxCount,
    }
  }

  async #decide(): Promise<{
    observations: NonceCountReport[]
    stored: SignerNonces
    decision: NonceDecision
  }> {
    const { observations, stored } = await this.#observe()
    const decision = decideNonce(stored, observations, this.#earlier(stored, observations))
    this.#undecided = 'observed' in decision ? decision.observed : null
    await this.#storeDecision(decision, stored)
    return { observations, stored, decision }
  }

  /**
   * Reads the signer's transaction count from one node, and from every node where the count does not match the stored
   * nonce.
   */
  async #observe(): Promise<{ observations: NonceCountReport[]; stored: SignerNonces }> {
    const { pool, key, signer } = this.#options
    const { rpc } = signer.chain
    const first = [await rpc.onOneNode((ask) => readTransactionCount(ask, signer))]
    const stored = await readSignerNonces(pool, key, first[0]!.count)
    if (decideNonce(stored, first, null).kind === 'sound') return { observations: first, stored }
    const observations = await rpc.onEveryNode((ask) => readTransactionCount(ask, signer))
    const from = Math.min(...observations.map(({ count }) => count))
    return { observations, stored: await readSignerNonces(pool, key, from) }
  }

  /**
   * The earlier observation with which a new observation is compared. On a local chain the signer's first count needs
   * no second observation: such a chain may restart from an older state at any time anyway.
   */
  #earlier({ next }: SignerNonces, [first]: readonly NonceCountReport[]): NonceCountReport | null {
    return this.#isLocal && next === null && first ? { ...first, head: -1 } : this.#undecided
  }

  async #storeDecision(decision: NonceDecision, { next }: SignerNonces): Promise<void> {
    const { pool, key, epoch } = this.#options
    const claimed = decision.kind === 'too_far' ? decision.count : null
    if (decision.kind !== 'changed' && claimed === this.#claimedTxCount) return
    await inRelayerTransaction(pool, { network: key.network, epoch }, async (client) => {
      if (decision.kind === 'changed') await moveNextNonce(client, key, next, decision.next)
      else await storeClaimedTxCount(client, key, claimed)
    })
    this.#claimedTxCount = claimed
  }

  async #repair(
    lost: readonly number[],
    holders: SignerNonces['holders'],
    alive: () => void,
  ): Promise<number> {
    const { nowMs } = this.#options
    this.#missing = missingNonceSince(this.#missing, lost, nowMs())
    const patienceMs = this.#isLocal ? LOCAL_GAP_REPAIR_DELAY_MS : GAP_REPAIR_DELAY_MS
    if (!this.#missing || nowMs() - this.#missing.sinceMs < patienceMs) return 0
    let mended = 0
    for (const nonce of lost) {
      const holder = holders.find((one) => one.nonce === nonce)
      const mend = () => (holder ? this.#sendAgain(holder.id) : this.#insertNoop(nonce))
      if (await this.#options.guard({ nonce }, mend)) mended += 1
      alive()
    }
    return mended
  }

  /**
   * Stores that the chain has lost a confirmed transaction, as after a reorg, so that it is sent again.
   * @returns false where the job is gone or has no nonce any more, or another process has changed it
   */
  async #sendAgain(id: string): Promise<boolean> {
    const { pool, key, epoch, nowMs } = this.#options
    const [row] = await findJobs<EvmJobTx>(pool, key.network, [id])
    if (!row || row.nonce === null) return false
    const after = applyJobEvent(row, { is: 'reorged' }, { nowMs: nowMs(), random: 0 })
    return saveJobs(pool, [{ job: row, after }], { epoch, nowMs: nowMs() })
  }

  /**
   * Signs a transaction that uses up a nonce, and stores it as a job.
   * @returns false where the transaction can't be prepared (such as for lack of funds), gas costs more than the cap,
   * the daily cap is reached, or another job holds the nonce
   */
  async #insertNoop(nonce: number): Promise<boolean> {
    const { pool, key, signer, epoch, nowMs, gasPriceCapWei, dailyCapWei } = this.#options
    const sender = createEvmJobSender(signer, { kind: 'noop' })
    const capWei = await gasPriceCapWei()
    const isEnough = (one: SimulatedTx) => 'fees' in one && capGasFees(one.fees, capWei) !== null
    const prepared = await sender.prepare('cancel', 0n, isEnough)
    if ('failure' in prepared) return false
    const fees = capGasFees(prepared.fees, capWei)
    if (!fees) return false
    const { gas } = prepared
    const tx = await sender.sign({ purpose: 'cancel', gas, fees, valueWei: 0n }, nonce)
    const stored = inRelayerTransaction(pool, { network: key.network, epoch }, async (client) => {
      await reserveSpending(client, key, maxNonceCostWei([tx]), { nowMs: nowMs(), dailyCapWei })
      return insertNoopJob(client, key, { nonce, tx, nowMs: nowMs() })
    })
    const isStored = await fallbackOnExpectedError(
      stored,
      (error) => error instanceof DailyCapError,
      false,
    )
    failpoint('relay.noop')
    return isStored
  }
}

/** Reads the signer's transaction count from one node. @throws RpcError where the answer is not a count */
async function readTransactionCount(
  ask: RpcCall,
  { account }: TransactionSigner,
): Promise<NonceCountReport> {
  const [count, head] = await Promise.all([
    ask<string>('eth_getTransactionCount', [account.address, 'latest']).then(Number),
    ask<string>('eth_blockNumber', []).then(Number),
  ])
  if (!(count >= 0 && count < MAX_TRANSACTION_COUNT))
    throw transientError(`eth_getTransactionCount: ${count} is no count`)
  return { count, head }
}
