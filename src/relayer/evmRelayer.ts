import PQueue from 'p-queue'
import type { Hex } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { ChainUnavailableError } from '../chains/chain.js'
import { GAS_PER_PAYMENT_REFUSAL } from '../chains/evm/community/ending.js'
import { createGasPriceCap, readLeastGasPriceWei } from '../chains/evm/gasPrice.js'
import { accountWithoutKey } from '../chains/evm/relayerAccount.js'
import { createEvmJobSender, createRpcCallCache, type RpcCallCache } from '../chains/evm/signer.js'
import type { DeliverySettings } from '../config/index.js'
import {
  findMessagesToQueue,
  findStuckMessages,
  type StoredMessage,
  settleReceivedMessages,
} from '../db/bridge/openMessages.js'
import { findDueEvmJobs, findJobs, hasActiveJobs } from '../db/outbox/due.js'
import {
  inRelayerTransaction,
  insertJobs,
  type NewJob,
  type SignerRowKey,
  saveJobs,
} from '../db/outbox/jobs.js'
import { queueReleases } from '../db/outbox/payouts.js'
import { endParkedRefusals, parkOrResumeCostlyRefusals } from '../db/outbox/refusals.js'
import type { JobRow } from '../db/outbox/rows.js'
import { readSignerStats } from '../db/outbox/stats.js'
import { queuePaymentDeliveries } from '../db/payments/open.js'
import { DAY_MS } from '../ops/alarms.js'
import { failpoint } from '../ops/failpoint.js'
import { fallbackOnExpectedError, isInternalError } from '../ops/logger/errors.js'
import { type EvmJobTx, MAX_JOBS_PER_BATCH } from '../registry/outbox.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { decideMessageExecution, isDeliveryVoid, jobCallOf } from './calls.js'
import {
  ChainRelayer,
  type ChainRelayerOptions,
  COSTLY_READ_INTERVAL_MS,
  jobLogFields,
} from './chainRelayer.js'
import { groupJobs } from './groups.js'
import type { SpendPolicy } from './machine/index.js'
import { hasJobEnded, toParkedJob } from './machine/job.js'
import { NonceKeeper } from './nonces.js'
import type { RelayerChain } from './run.js'
import { decideJobStep, isProgressOutcome, type JobStepOutcome, type SaveJob } from './step.js'
import type { DeliveryPath, RelayTarget } from './targets.js'

/** Interval at which due releases are queued, ms. `releaseAfterMs` replaces it where that is shorter. */
const MAX_RELEASE_INTERVAL_MS = 60_000
/** Maximum number of transactions in one step, for the present key and again for all former keys. */
const MAX_TRANSACTIONS_PER_STEP = 200
/** Transactions whose state is read before the first of them is sent. Few, so that the last one's state is not old. */
const OBSERVATION_BATCH_SIZE = 64
const MAX_PARALLEL_OBSERVATIONS = 16
/** Maximum number of actions on one job in a step. A queued job is sent after two actions. */
const MAX_ACTIONS_PER_STEP = 6

export interface EvmRelayerOptions extends ChainRelayerOptions, RelayTarget {
  /** The paying account. Null: the relayer only watches. */
  account: LocalAccount | null
  settings: DeliverySettings
}

type EvmJobRow = JobRow<EvmJobTx>
/** Gas price cap, fixed for all actions of one `#advanceAll`, and the step's sign of life. */
type AdvanceContext = Pick<SpendPolicy, 'gasPriceCapWei'> & { alive: () => void }

/** Runs the jobs of one signer on an EVM chain, where a transaction is valid until its nonce is used. */
export class EvmRelayer extends ChainRelayer {
  protected readonly key: SignerRowKey | null
  readonly #options: EvmRelayerOptions
  readonly #gasPriceCapWei: () => Promise<bigint>
  readonly #nonces: NonceKeeper | null
  readonly #isLocal: boolean
  #releasesQueuedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: EvmRelayerOptions) {
    const { pool, epoch, at, path, account, settings } = options
    super(options, at.chain, {
      chain: at.label,
      unit: 'wei',
      account: account?.address ?? null,
      stuck: path && [],
    })
    const { nowMs } = this.clock
    this.#options = options
    this.#gasPriceCapWei = createGasPriceCap(at.rpc, at.config)
    this.key = account && { ...this.place, signer: fromHex(account.address) }
    this.#nonces =
      account &&
      this.key &&
      new NonceKeeper({
        pool,
        key: this.key,
        signer: { chain: at, account },
        epoch,
        nowMs,
        gasPriceCapWei: this.#gasPriceCapWei,
        dailyCapWei: settings.dailyCapWei,
        guard: (about, work) => this.guard(about, work),
      })
    this.#isLocal = path?.lane.hub.isLocal ?? false
  }

  protected async queue(): Promise<number> {
    const { path } = this.#options
    return (path ? await this.#queueDeliveries(path) : 0) + (await this.#queueEndings())
  }

  /** False while a setting of the bridge is missing. No packet matches then, so messages wait instead of being parked. */
  get #hasSpokes(): boolean {
    return (this.#options.path?.lane.spokes.length ?? 0) > 0
  }

  /** Repairs nonces, then advances at most `MAX_TRANSACTIONS_PER_STEP` jobs of this key, and as many of former keys. */
  protected async advance(isBusy: boolean, alive: () => void): Promise<boolean> {
    // a chain without deliveries is called only if a job waits
    if (!this.#options.path && !isBusy) return false
    const { mended, isSound, gaps, claimed } = await this.#nonces!.step(alive)
    this.state.nonceGaps = gaps
    this.state.nonceClaimed = claimed
    // a local chain may lose confirmed transactions at any time, so its nonces are checked at each step
    this.quietMs = isSound && !this.#isLocal ? COSTLY_READ_INTERVAL_MS : 0
    const nowMs = this.clock.nowMs()
    const due = await findDueEvmJobs(this.#options.pool, this.key!, nowMs, this.reportUnreadable)
    const held = due.filter(({ nonce }) => nonce !== null)
    const waiting = due.filter(
      ({ nonce, message }) => nonce === null && (message === null || this.#hasSpokes),
    )
    const transactions = isSound ? [...held, ...(await this.#group(waiting, nowMs))] : held
    // jobs of a former key may wait for long, and must not take the places of this key's jobs
    const isOwn = ({ nonce, signer }: EvmJobRow) =>
      nonce === null || signer?.equals(this.key!.signer) === true
    const first = [true, false].flatMap((isOwnJob) =>
      transactions.filter((row) => isOwn(row) === isOwnJob).slice(0, MAX_TRANSACTIONS_PER_STEP),
    )
    return (await this.#advanceAll(first, alive)) || mended > 0
  }

  /**
   * Groups waiting jobs by the transaction that will execute them. A job that the chain has refused, that is backed off
   * or that can't be executed gets a transaction of its own. The step of a job that can't be executed parks it.
   */
  async #group(waiting: readonly EvmJobRow[], nowMs: number): Promise<EvmJobRow[]> {
    const isAlone = (row: EvmJobRow) =>
      row.alone || row.nextMs > nowMs || !this.#hasCall(row, nowMs)
    const of = (kind: EvmJobRow['kind']) => MAX_JOBS_PER_BATCH[kind] ?? 1
    return groupJobs(waiting, { of, takenBy: () => 1, isAlone }).map(([first, ...others]) => ({
      ...first!,
      others,
    }))
  }

  /**
   * True if a job has a call. False also where building the call fails by a fault of our code, which the job's step
   * reports.
   */
  #hasCall(row: EvmJobRow, nowMs: number): boolean {
    try {
      return typeof this.#callOf(row, nowMs) !== 'string'
    } catch (error) {
      if (!isInternalError(error)) throw error
      return false
    }
  }

  #callOf(row: EvmJobRow, nowMs: number) {
    const { at, path } = this.#options
    return jobCallOf(row, path, at.config.communityPayments, nowMs)
  }

  /**
   * Queues a delivery for each confirmed payment that matches a quote of ours, since nobody else delivers it, and jobs
   * for each confirmed message that the hub has not received. On public networks, only stuck messages get jobs, and
   * only with `executeStranded`. Without an account, nothing is queued. Also settles received messages, and reads which
   * ones are stuck.
   * @returns number of queued jobs
   */
  async #queueDeliveries(path: DeliveryPath): Promise<number> {
    const { pool, network, epoch, account, settings } = this.#options
    const nowMs = this.clock.nowMs()
    const stuckMs = nowMs - settings.strandedAfterMs
    const delivers =
      account !== null && this.#hasSpokes && (this.#isLocal || settings.executeStranded)
    const { queued, stuck } = await inRelayerTransaction(
      pool,
      { network, epoch },
      async (client) => {
        await settleReceivedMessages(client, network, nowMs)
        const sentBeforeMs = this.#isLocal ? Number.MAX_SAFE_INTEGER : stuckMs
        const fresh = delivers ? await findMessagesToQueue(client, network, sentBeforeMs) : []
        const deliveries = account ? await queuePaymentDeliveries(client, this.place, nowMs) : 0
        const jobs: NewJob[] = []
        for (const message of fresh) {
          const about = { message: toHex(message.guid) }
          jobs.push(...((await this.guard(about, () => this.#jobsFor(message, path))) ?? []))
        }
        return {
          queued: deliveries + (await insertJobs(client, network, jobs, nowMs)),
          stuck: await findStuckMessages(client, network, stuckMs),
        }
      },
    )
    if (queued > 0) failpoint('relay.queued')
    this.state.stuck = stuck.map(({ guid }) => toHex(guid))
    return queued
  }

  /**
   * Queues due releases of payments for community names. Ends parked refusals and releases whose payment has an
   * outcome. Parks refusals that cost too much for their payment, and resumes them once they no longer do.
   * @returns number of changed jobs
   */
  async #queueEndings(): Promise<number> {
    const { pool, network, at, epoch, settings } = this.#options
    const { releaseAfterMs, refusalWorth } = settings
    const { key } = this
    if (!key || at.communityPayments === null) return 0
    const nowMs = this.clock.nowMs()
    const isTime =
      Math.abs(nowMs - this.#releasesQueuedAtMs) >=
      Math.min(releaseAfterMs, MAX_RELEASE_INTERVAL_MS)
    const weighsRefusals = refusalWorth > 0 && (isTime || (await hasActiveJobs(pool, key)))
    if (!isTime && !weighsRefusals) return 0
    const leastWei = weighsRefusals ? await this.#leastRefundedWei(refusalWorth) : null
    const changed = await inRelayerTransaction(pool, { network, epoch }, async (client) => {
      const released = isTime ? await queueReleases(client, key, { releaseAfterMs, nowMs }) : 0
      const ended = isTime ? await endParkedRefusals(client, key, nowMs) : 0
      if (leastWei === null) return released + ended
      return released + ended + (await parkOrResumeCostlyRefusals(client, key, leastWei))
    })
    if (isTime) this.#releasesQueuedAtMs = nowMs
    return changed
  }

  /**
   * Smallest payment whose `refuse` job we pay for, wei: `worth` times its gas cost. Jobs of smaller payments are
   * parked. Null while too few nodes return a gas price.
   */
  async #leastRefundedWei(worth: number): Promise<bigint | null> {
    const priceWei = await fallbackOnExpectedError(
      readLeastGasPriceWei(this.#options.at.rpc),
      (error) => error instanceof ChainUnavailableError,
      null,
    )
    if (priceWei === null) return null
    return (GAS_PER_PAYMENT_REFUSAL * priceWei * BigInt(Math.round(worth * 1_000))) / 1_000n
  }

  /**
   * New jobs of a message. On local networks we are the only verifier. An execution that we refuse is queued too, so
   * that operators see a parked job.
   */
  #jobsFor(message: StoredMessage, { lane, messageLib }: DeliveryPath): NewJob[] {
    const job = { chain: this.#options.at.chain, subject: message.guid }
    const decision = decideMessageExecution(message, lane)
    const valueWei = 'refusal' in decision ? 0n : decision.option.value
    const execute: NewJob = { ...job, kind: 'execute', valueWei }
    const isVerifiedHere = messageLib !== null && decision.packet !== null
    return isVerifiedHere ? [{ ...job, kind: 'verify' }, execute] : [execute]
  }

  /**
   * Takes actions on each job, in the given order, until it waits or has ended, at most `MAX_ACTIONS_PER_STEP`.
   * @returns whether something was stored
   */
  async #advanceAll(rows: readonly EvmJobRow[], alive: () => void): Promise<boolean> {
    if (rows.length === 0) return false
    const gasPriceCapWei = await this.#gasPriceCapWei()
    let hasStored = false
    for (let i = 0; i < rows.length; i += OBSERVATION_BATCH_SIZE) {
      let going: readonly EvmJobRow[] = rows.slice(i, i + OBSERVATION_BATCH_SIZE)
      for (let actions = 0; actions < MAX_ACTIONS_PER_STEP && going.length > 0; actions++) {
        const done = await this.#actOnAll(going, { gasPriceCapWei, alive })
        hasStored ||= done.some(({ outcome }) => isProgressOutcome(outcome))
        going = done.flatMap(({ after }) => (after && !hasJobEnded(after) ? [after] : []))
      }
    }
    return hasStored
  }

  /**
   * Takes one action on each job of `rows`. First reads the state of all jobs on the chain, in parallel. Then takes the
   * actions one after the other, so that new nonces follow the order of `rows`.
   * @returns the outcome of each job that had no error, with the stored job if it changed
   */
  async #actOnAll(rows: readonly EvmJobRow[], context: AdvanceContext) {
    const memo = createRpcCallCache()
    const observations = new PQueue({ concurrency: MAX_PARALLEL_OBSERVATIONS })
    const acts = await observations.addAll(
      rows.map((row) => async () => {
        const act = await this.guard(jobLogFields(row), () => this.#observe(row, memo, context))
        context.alive()
        return act
      }),
    )
    const done: { row: EvmJobRow; outcome: JobStepOutcome }[] = []
    for (const [i, act] of acts.entries()) {
      const row = rows[i]!
      const outcome = act && (await this.guard(jobLogFields(row), act))
      context.alive()
      if (outcome) done.push({ row, outcome })
    }
    const { pool, network, onOutcome } = this.#options
    const changed = done.filter(({ outcome }) => isProgressOutcome(outcome) || outcome === 'stale')
    const ids = changed.map(({ row }) => row.id)
    const stored = new Map(
      (await findJobs<EvmJobTx>(pool, network, ids, this.reportUnreadable)).map((row) => [
        row.id,
        row,
      ]),
    )
    return done.map(({ row, outcome }) => {
      const after = stored.get(row.id)
      onOutcome?.(after ?? row, outcome)
      return { after, outcome }
    })
  }

  /** Reads a job's state on the chain. @returns function that takes the next action and stores the result */
  async #observe(
    row: EvmJobRow,
    memo: RpcCallCache,
    { gasPriceCapWei }: AdvanceContext,
  ): Promise<() => Promise<JobStepOutcome>> {
    const { at, account, settings, onNodeError } = this.#options
    // not the time at which the step began: a step may last long, and payments have deadlines
    const nowMs = this.clock.nowMs()
    // a nonce belongs to the key that it was taken for, even after a key rotation
    const isOwn = row.nonce === null || row.signer!.equals(this.key!.signer)
    const by = isOwn ? account! : accountWithoutKey(toHex(row.signer!))
    const save = this.#saverOf(row, fromHex(by.address))
    const call = this.#callOf(row, nowMs)
    const voided = isDeliveryVoid(row, nowMs) ? 'reclaimed' : null
    const reason = typeof call === 'string' ? call : voided
    if (reason !== null && row.nonce === null)
      return async () => ((await save(toParkedJob(row, reason))) ? 'parked' : 'stale')
    // a signed transaction can be mined until a cancel has used its nonce. This requests the cancel. Afterwards the job
    // is queued without a nonce, and is parked above if the reason still holds
    if (reason !== null && row.release === null)
      return async () =>
        (await save({ ...row, release: 'queue', reason, nextMs: 0 })) ? 'failed' : 'stale'
    const made = typeof call === 'object' ? call : ({ kind: 'noop' } as const)
    const sender = createEvmJobSender({ chain: at, account: by }, made, memo)
    const spendCapWei = settings.spendCapWei * BigInt(1 + row.others.length)
    const ports = {
      sender,
      save,
      clock: this.clock,
      onNodeError: (error: Error) => onNodeError?.(row, error),
    }
    return decideJobStep(row, ports, { spendCapWei, gasPriceCapWei })
  }

  /** Creates the function that stores a job's changes, only if the row is unchanged and this process leads. */
  #saverOf(row: EvmJobRow, signer: Buffer): SaveJob {
    const { pool, epoch, settings } = this.#options
    const { dailyCapWei } = settings
    return (after) => {
      const hasNonce = typeof after === 'function' || after.nonce !== null
      const by = { epoch, nowMs: this.clock.nowMs(), ...(hasNonce && { signer, dailyCapWei }) }
      return saveJobs(pool, [{ job: row, after }], by)
    }
  }

  protected async readBalance(): Promise<bigint> {
    const { pool, at, account } = this.#options
    const stats = await readSignerStats(pool, this.key!, this.clock.nowMs())
    this.state.signedToday = stats.signedTodayWei
    const balance = await at.rpc.onOneNode(async (ask) =>
      BigInt(await ask<Hex>('eth_getBalance', [account!.address, 'latest'])),
    )
    const { spentLastDayWei, isDry } = stats
    if (isDry || balance === 0n) this.state.runwayMs = 0
    else
      this.state.runwayMs =
        spentLastDayWei === 0n ? null : (Number(balance) / Number(spentLastDayWei)) * DAY_MS
    return balance
  }
}

/** Makes an EVM chain one of the chains of `runRelayer`. */
export const createEvmRelayerChain = (
  target: RelayTarget,
  { account, settings }: Pick<EvmRelayerOptions, 'account' | 'settings'>,
): RelayerChain => ({
  label: target.at.label,
  followsOthers: false,
  pollMs: target.at.config.pollMs,
  open: async (options) => new EvmRelayer({ ...options, ...target, account, settings }),
})
